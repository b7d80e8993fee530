"""Plans of repositories that no dialect fits; the comparison of a dialect with a repository's script."""

from __future__ import annotations

import os
from pathlib import Path

from tipc.config.identify import find_repo, identify
from tipc.config.scripts import reading_script
from tipc.config.source import read_source
from tipc.errors import UsageError, wording
from tipc.kinds import BENCHMARK_CHAIN
from tipc.plan.model import Plan
from tipc.plan.modes import mode_of_chain
from tipc.plan.request import PlanOptions
from tipc.plan.trace.read.adapt import adapted
from tipc.plan.trace.read.calls import inside
from tipc.plan.trace.read.derive import derive
from tipc.plan.trace.read.differences import differences
from tipc.plan.trace.record.find_script import find_script
from tipc.plan.trace.record.passes import trace
from tipc.plan.trace.record.sandbox import isolation_waived


def trace_plan(path: str | Path, mode: str, options: PlanOptions, script: str | None = None) -> Plan:
    """The plan that the repository's own script has for a config, made for this machine.

    ``options.as_upstream`` leaves its commands word for word. Raises UsageError where there is no script to
    trace, and EnvironmentProblem where it cannot be isolated.
    """
    plan = trace_upstream(path, mode, options.repo or None, script, asked=options.trace)
    if options.as_upstream:
        return plan
    return adapted(plan, options)


def trace_upstream(
    path: str | Path, mode: str, repo: str | Path | None, script: str | None = None, *, asked: bool = False
) -> Plan:
    """The plan that the repository's own script has for a config: its commands, word for word.

    The script is isolated. Only who has ``asked`` for the trace can waive that, see ``isolation_waived``.
    """
    config = Path(path).absolute()
    source = read_source(config)
    root = Path(repo).resolve() if repo else find_repo(config.resolve())
    relative = inside(str(config.resolve()), root)
    if os.path.isabs(relative):
        raise UsageError(
            wording("the config is not in the repository {root}", root=root),
            path=str(path),
            remedy="--repo DIR",
        )
    chosen = find_script(root / relative, root, script or os.environ.get("TIPC_TRACE_SCRIPT"))
    if not (root / chosen).resolve().is_relative_to(root):
        raise UsageError(
            wording(
                "{chosen} leads out of the repository {root}: it is not traced", chosen=chosen, root=root
            ),
            path=str(path),
        )
    traced = trace(root, chosen, Path(relative), mode, isolate=not (asked and isolation_waived()))
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
    identity = identify(source, root, dialect=dialect or "", mode=mode)
    known = identity.dialect or identity.family
    if known is None:
        raise UsageError(
            "no dialect fits this file, so there is nothing to compare its script with", path=str(path)
        )
    options = PlanOptions(repo=str(root), dialect=known, as_upstream=True, prepare=False)
    mode = mode_of_chain(mode, identity.chain)
    native = build_plan(config, mode, options)
    script = None
    if identity.chain == BENCHMARK_CHAIN:
        script = reading_script(str(config), str(root), BENCHMARK_CHAIN).path
    traced = trace_upstream(config, mode, root, script, asked=True)
    return differences(native, traced)
