"""Plans of repositories that no dialect fits; the comparison of a dialect with a repository's script."""

from __future__ import annotations

import os
from pathlib import Path

from tipc.config.detect import find_repo
from tipc.config.text import read_source
from tipc.errors import UsageError
from tipc.plan.model import Plan
from tipc.plan.trace.calls import inside
from tipc.plan.trace.derive import derive
from tipc.plan.trace.passes import trace
from tipc.plan.trace.script import find_script


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
