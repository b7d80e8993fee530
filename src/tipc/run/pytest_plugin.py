"""``pytest test_tipc/configs``: each TIPC config is a file of tests, each step a test.

Configs are collected only when the command line names a path inside ``test_tipc``, so that a plain ``pytest``
never starts a training. What a step needs comes before it: do not shuffle, and with several workers keep a
file together (``--dist loadfile``).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tipc.plan.model import Plan, Skip, Step
    from tipc.run.one_by_one import OneByOne

FOLDER = "test_tipc"
_PLANS = pytest.StashKey["list[Plan]"]()
_RUN = pytest.StashKey["OneByOne"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of their own, named so that they meet no other plug-in's."""
    group = parser.getgroup("tipc", "TIPC configs (pytest test_tipc/configs)")
    group.addoption("--tipc-mode", metavar="MODE", help="the mode to run (default: lite_train_lite_infer)")
    group.addoption("--tipc-timeout", metavar="SECONDS", type=float, help="end a step that takes longer")
    group.addoption("--tipc-cold", action="store_true", help="a new interpreter for every step")
    group.addoption("--tipc-no-prepare", action="store_true", help="the data is there: do not prepare")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A config, if it was asked for."""
    if (
        file_path.suffix != ".txt"
        or FOLDER not in file_path.parts
        or not _asked_for(parent.config, file_path)
    ):
        return None
    from tipc.plan.inputs import is_config

    if not is_config(str(file_path)):
        return None
    collected: pytest.Collector = ConfigFile.from_parent(parent, path=file_path)
    return collected


def pytest_unconfigure(config: pytest.Config) -> None:
    """Nothing is left when pytest ends, however it ends."""
    run = config.stash.get(_RUN, None)
    if run is not None:
        run.close()


def _asked_for(config: pytest.Config, path: Path) -> bool:
    for argument in config.args:
        named = Path(config.invocation_params.dir, argument.partition("::")[0])
        if FOLDER in named.parts and path.is_relative_to(named):
            return True
    return False


class ConfigFile(pytest.File):
    """One config: its steps in order, then what is left out."""

    def collect(self) -> Iterator[pytest.Item]:
        """Plan it; a config that is wrong is an error of the collection, with its lines."""
        from tipc.errors import TipcError
        from tipc.plan.build import build_plan
        from tipc.plan.modes import DEFAULT_MODE
        from tipc.run.prepare import with_prepare

        try:
            plan = build_plan(self.path, self.config.getoption("--tipc-mode") or DEFAULT_MODE)
        except TipcError as error:
            raise self.CollectError(str(error)) from error
        if not self.config.getoption("--tipc-no-prepare"):
            (plan,) = with_prepare([plan])
        self.config.stash.setdefault(_PLANS, []).append(plan)
        for step in plan.steps:
            yield StepItem.from_parent(self, name=step.id, plan=plan, step=step)
        for skip in plan.skipped:
            yield SkipItem.from_parent(self, name=f"{skip.cell}/{skip.what}", skip=skip)


class StepItem(pytest.Item):
    """One step."""

    def __init__(self, *, plan: Plan, step: Step, **rest: Any) -> None:
        super().__init__(**rest)
        self.plan = plan
        self.step = step

    def runtest(self) -> None:
        """Run it; it passes, fails with everything that is known, or is blocked by a step that failed."""
        from tipc.run.record import BLOCKED

        result = self._run().step(self.plan, self.step)
        if result.state == BLOCKED and result.attempts == 0 and self._run().failed(self.plan, self.step):
            pytest.skip(f"blocked: {result.reason}")
        if not result.ok:
            from tipc.run.failure import failure_lines

            pytest.fail("\n".join(failure_lines(self.plan, self.step, result)), pytrace=False)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The line of the config that names the script."""
        return self.path, self.step.line - 1 if self.step.line else None, self.name

    def _run(self) -> OneByOne:
        stash = self.config.stash
        if _RUN not in stash:
            from tipc.run.one_by_one import OneByOne

            timeout = self.config.getoption("--tipc-timeout")
            cold = self.config.getoption("--tipc-cold")
            plans = stash[_PLANS]
            stash[_RUN] = OneByOne(plans, timeout=timeout, cold=cold)
        return stash[_RUN]


class SkipItem(pytest.Item):
    """A combination that is left out."""

    def __init__(self, *, skip: Skip, **rest: Any) -> None:
        super().__init__(**rest)
        self.skip = skip

    def runtest(self) -> None:
        """Say why."""
        pytest.skip(self.skip.reason)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The config."""
        return self.path, None, self.name
