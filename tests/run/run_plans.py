"""Small plans of real commands, run by the real executor."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tipc.plan.model import Cell, Plan, Step
from tipc.report.terminal import write_summary
from tipc.report.view import view_of
from tipc.run.executors.local import LocalExecutor
from tipc.run.record import run_store
from tipc.run.record.results import Run
from tipc.run.schedule.graph import build_graph
from tipc.run.schedule.order import order
from tipc.run.schedule.scheduler import Scheduler, Settings
from tipc.run.show.progress import Progress


def step(name: str, code: str = "", **changes: Any) -> Step:
    """A step that runs a line of python, or the argv that is given."""
    fields: dict[str, Any] = {
        "id": name,
        "kind": "train",
        "cell": "cell",
        "argv": (sys.executable, "-S", "-c", code),
        "env": {"CUDA_VISIBLE_DEVICES": None},
        "cwd": ".",
        "log": f"output/{name.replace('/', '_')}.log",
        "needs": (),
        "produces": (),
        "status_line": f" Run successfully with command - {name}!  ",
    }
    return Step(**{**fields, **changes})


def plan_of(repo: Path, *steps: Step, config: str = "config.txt", **changes: Any) -> Plan:
    """A plan of these steps in one cell."""
    fields: dict[str, Any] = {
        "config": config,
        "mode": "lite_train_lite_infer",
        "dialect": "models",
        "model": "toy",
        "repo": str(repo),
        "as_upstream": False,
        "cells": (Cell("cell", "norm_train", "0", "cpu"),),
        "steps": steps,
        "results_log": "output/results_python.log",
    }
    return Plan(**{**fields, **changes})


@dataclass
class Runner:
    """Runs plans in a home of its own, and keeps what was shown."""

    home: Path
    shown: io.StringIO = field(default_factory=io.StringIO)
    scheduler: Scheduler | None = None

    def __call__(
        self,
        *plans: Plan,
        wanted: Callable[[Step], bool] = lambda step: True,
        settings: Settings | None = None,
        **extra: Any,
    ) -> Run:
        journal = run_store.create_run(plans, {"host": "here"}, where=self.home)
        return self.go_on(journal, plans, wanted, settings, **extra)

    def go_on(
        self,
        journal: Any,
        plans: Sequence[Plan],
        wanted: Callable[[Step], bool] = lambda step: True,
        settings: Settings | None = None,
        **extra: Any,
    ) -> Run:
        """Run the plans with a journal that is there."""
        chosen = frozenset((plan.key, step.id) for plan in plans for step in plan.steps if wanted(step))
        executor = extra.pop("executor", None) or LocalExecutor(grace=1.0)
        self.scheduler = Scheduler(
            build_graph(plans, order(plans)),
            journal,
            executor,
            settings or Settings(cores=2),
            Progress(self.shown, len(chosen), verbosity=1),
            chosen,
            **extra,
        )
        with journal:
            try:
                self.scheduler.run()
            finally:
                executor.close()
            journal.finished("passed")
        run = run_store.load_run(journal.directory)
        write_summary(view_of(run, None), self.shown)
        return run

    @property
    def text(self) -> str:
        """Everything that was shown."""
        return self.shown.getvalue()
