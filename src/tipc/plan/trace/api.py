"""Plans of repositories that no dialect fits; the comparison of a dialect with a repository's script."""

from __future__ import annotations

import os
from pathlib import Path

from tipc.config.detect import by_text, detect, find_repo
from tipc.config.dialects import load
from tipc.config.text import read_source
from tipc.errors import UsageError
from tipc.plan.devices import target_device
from tipc.plan.machine import Machine, this_machine
from tipc.plan.model import Plan
from tipc.plan.trace.adapt import adapted
from tipc.plan.trace.calls import inside
from tipc.plan.trace.derive import derive
from tipc.plan.trace.passes import trace
from tipc.plan.trace.script import find_script
from tipc.plan.trace.verify import differences


def trace_plan(
    path: str | Path,
    mode: str,
    repo: str | Path | None = None,
    *,
    as_upstream: bool = False,
    python: str | None = None,
    device: str | None = None,
    machine: Machine | None = None,
    allow_shell: bool = False,
    script: str | None = None,
) -> Plan:
    """The plan that the repository's own script has for a config, made for this machine.

    ``as_upstream`` leaves its commands word for word. Raises UsageError where there is no script to trace,
    and EnvironmentProblem where it cannot be isolated.
    """
    plan = trace_upstream(path, mode, repo, script)
    if as_upstream:
        return plan
    here = machine or this_machine()
    target = target_device(device, here)
    return adapted(plan, device=target, machine=here, python=python, allow_shell=allow_shell)


def trace_upstream(path: str | Path, mode: str, repo: str | Path | None, script: str | None = None) -> Plan:
    """The plan that the repository's own script has for a config: its commands, word for word."""
    config = Path(path).absolute()
    source = read_source(config)
    root = Path(repo).resolve() if repo else find_repo(config.resolve())
    relative = inside(str(config.resolve()), root)
    if os.path.isabs(relative):
        raise UsageError(f"the config is not in the repository {root}", path=str(path), remedy="--repo DIR")
    chosen = find_script(root / relative, root, script or os.environ.get("TIPC_TRACE_SCRIPT"))
    traced = trace(root, chosen, Path(relative), mode)
    return derive(traced, source, relative, mode, root, chosen)


def verify_plan(
    path: str | Path, mode: str, repo: str | Path | None = None, dialect: str | None = None
) -> list[str]:
    """How the dialect's commands differ from those of the repository's own script; empty: not at all."""
    from tipc.plan.build import build_plan

    config = Path(path)
    root = Path(repo).resolve() if repo else find_repo(config).resolve()
    source = read_source(config)
    # A fork's script may have lost what tells its dialect: then the config's own lines do.
    known = load(dialect) if dialect else detect(source, root) or by_text(source)
    if known is None:
        raise UsageError(
            "no dialect fits this file, so there is nothing to compare its script with", path=str(path)
        )
    native = build_plan(config, mode, repo=root, dialect=known.name, as_upstream=True)
    return differences(native, trace_upstream(config, mode, root))
