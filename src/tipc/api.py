"""The public functions: plan, run, certify, lint and load_run. ``from tipc import …`` gives them.

They do what the commands of the same names do, print nothing, and raise ``TipcError`` where those end with
a message. docs/library.md says what is stable.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tipc.plan.modes import DEFAULT_MODE

if TYPE_CHECKING:
    from tipc.certify.verdict import Verdict
    from tipc.config.lint.finding import LintFinding
    from tipc.plan.model import Plan
    from tipc.plan.request import PlanOptions
    from tipc.run.record.results import Run

PathLike = str | os.PathLike[str]


def plan(config: PathLike, mode: str = DEFAULT_MODE, options: PlanOptions | None = None) -> Plan:
    """What a config runs in a mode."""
    from tipc.plan.build import build_plan
    from tipc.plan.request import PlanOptions

    return build_plan(config, mode, options or PlanOptions())


def lint(config: PathLike, *, dialect: str = "", repo: PathLike | None = None) -> list[LintFinding]:
    """What is wrong in a config file, in the order of its lines."""
    from tipc.config.lint.linter import lint_file

    return lint_file(os.fspath(config), dialect=dialect, repo=os.fspath(repo or ""))


def run(
    configs: PathLike | Sequence[PathLike],
    mode: str = DEFAULT_MODE,
    options: PlanOptions | None = None,
    *,
    select: str = "",
    only: Sequence[str] = (),
    timeout: float | None = None,
    retries: int = 0,
    jobs: int | None = None,
    executor: str = "local",
) -> Run:
    """Run the plans of some configs and wait for the end. ``select`` is an expression as of ``-k``.

    The run is recorded below ``$TIPC_HOME`` or ``./.tipc``, as one of the command is.
    """
    from tipc.plan.request import PlanOptions
    from tipc.run.execution import execute
    from tipc.run.executors.executor_kinds import executor_kind
    from tipc.run.schedule.scheduler import Settings
    from tipc.run.session import Request, new
    from tipc.run.show.progress import Progress

    if isinstance(configs, (str, os.PathLike)):
        configs = [configs]
    request = Request(
        configs=tuple(map(os.path.abspath, configs)),
        mode=mode,
        plan=options or PlanOptions(),
        expression=select,
        only=",".join(only),
    )
    session = new(request)
    kind = executor_kind(executor)
    where = kind.make()
    settings = Settings(
        cores=kind.cores(where),
        jobs=jobs,
        queued=kind.queues,
        timeout=timeout,
        retries=retries,
        python=request.plan.python,
    )
    try:
        with open(os.devnull, "w", encoding="utf-8") as nothing:
            progress = Progress(nothing, len(session.wanted))
            done, interrupted = execute(session, where, settings, progress, ())
    finally:
        where.close()
    if interrupted:
        raise KeyboardInterrupt
    return done


def certify(done: Run, *, strict: bool = False) -> Verdict:
    """Make every check on a run, and keep the verdict in its directory."""
    from tipc.certify.certifier import certify as make_every_check

    return make_every_check(done, strict=strict)


def load_run(ref: PathLike | None = None, home: Path | None = None) -> Run:
    """A run of before: by its id, the beginning of one, or its directory; the newest without any."""
    from tipc.run.record import run_store

    if ref is not None:
        ref = os.fspath(ref)
    return run_store.load_run(ref, home)
