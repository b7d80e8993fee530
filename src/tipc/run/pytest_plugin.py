"""``pytest test_tipc/configs``: each TIPC config is a file of tests, each step a test, each check another.

Configs are collected only when the command line names a path inside ``test_tipc``, so that a plain ``pytest``
never starts a training. The steps run as in ``tipc run``, by the same scheduler and side by side where they
fit; a test waits for its step. With several workers keep a file together (``--dist loadfile``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tipc.plan.model import Plan, Skip, Step
    from tipc.run.execution import SessionCall
    from tipc.run.record.results import Run

pytest_plugins = ("tipc.pytest_checks",)
FOLDER = "test_tipc"
_PLANS = pytest.StashKey["list[Plan]"]()
_CALL = pytest.StashKey["tuple[ExitStack, SessionCall]"]()
_RUN = pytest.StashKey["Run"]()


class PytestHooks:
    """What other parts of tipc add to the tests of a config."""

    @pytest.hookspec
    def pytest_tipc_items(self, file: pytest.File, plan: Plan) -> list[pytest.Item]:
        """Further tests of a plan."""
        raise NotImplementedError


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Make the hooks known."""
    pluginmanager.add_hookspecs(PytestHooks)


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
    from tipc.config.identify import is_config

    if not is_config(str(file_path)):
        return None
    collected: pytest.Collector = ConfigFile.from_parent(parent, path=file_path)
    return collected


def pytest_report_collectionfinish(config: pytest.Config, items: Sequence[pytest.Item]) -> list[str]:
    """Before the first test runs: the data that preparing would remove."""
    if config.option.collectonly:
        return []
    lines = []
    for item in items:
        if isinstance(item, StepItem):
            lines += item.warnings()
    return lines


def pytest_unconfigure(config: pytest.Config) -> None:
    """Nothing is left when pytest ends, however it ends."""
    finished_run(config)


def finished_run(config: pytest.Config) -> Run | None:
    """The run, ended if it is not yet; None where no step was started."""
    if _CALL not in config.stash:
        return config.stash.get(_RUN, None)
    from tipc.reasons import because

    stack, call = config.stash[_CALL]
    del config.stash[_CALL]
    with stack:
        unfinished = any(key not in call.scheduler.results for key in call.session.wanted)
        call.scheduler.stop(because("stopped"))
        call.scheduler.finish()
        call.finish(interrupted=unfinished)
        config.stash[_RUN] = call.run
    return config.stash[_RUN]


def _asked_for(config: pytest.Config, path: Path) -> bool:
    for argument in config.args:
        named = Path(config.invocation_params.dir, argument.partition("::")[0])
        if FOLDER in named.parts and path.is_relative_to(named):
            return True
    return False


class ConfigFile(pytest.File):
    """One config: its steps in order, then what is left out, then what others add."""

    def collect(self) -> Iterator[pytest.Item]:
        """Plan it; a config that is wrong is an error of the collection, with its lines."""
        from tipc.errors import TipcError
        from tipc.plan.build import build_plan
        from tipc.plan.modes import DEFAULT_MODE
        from tipc.plan.request import PlanOptions

        options = PlanOptions(prepare=not self.config.getoption("--tipc-no-prepare"))
        try:
            plan = build_plan(self.path, self.config.getoption("--tipc-mode") or DEFAULT_MODE, options)
        except TipcError as error:
            raise self.CollectError(str(error)) from error
        self.config.stash.setdefault(_PLANS, []).append(plan)
        for step in plan.steps:
            yield StepItem.from_parent(self, name=step.id, plan=plan, step=step)
        for skip in plan.skipped:
            yield SkipItem.from_parent(self, name=f"{skip.cell}/{skip.label}", skip=skip)
        for items in self.config.hook.pytest_tipc_items(file=self, plan=plan):
            yield from items


class StepItem(pytest.Item):
    """One step."""

    def __init__(self, *, plan: Plan, step: Step, **rest: Any) -> None:
        super().__init__(**rest)
        self.plan = plan
        self.step = step

    def warnings(self) -> list[str]:
        """What a user should know before it runs."""
        from tipc.kinds import PREPARE
        from tipc.run.show.prepare_notes import notes_before

        if self.step.kind != PREPARE:
            return []
        return notes_before(self.plan, "--tipc-no-prepare")

    def runtest(self) -> None:
        """Wait for its end; it passes, fails with everything that is known, or is blocked by a failure."""
        from tipc.kinds import BLOCKED, PREPARE
        from tipc.language import sentence

        result = self._call().scheduler.result_of((self.plan.key, self.step.id))
        if result.state == BLOCKED and result.reason and result.reason.code == "needs":
            pytest.skip(f"blocked: {sentence(result.reason)}")
        if not result.ok:
            from tipc.run.show.failure import failure_lines

            prepared = self._call().scheduler.results.get((self.plan.key, PREPARE))
            pytest.fail("\n".join(failure_lines(self.plan, self.step, result, prepared)), pytrace=False)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The line of the config that names the script."""
        return self.path, self.step.line - 1 if self.step.line else None, self.name

    def _call(self) -> SessionCall:
        stash = self.config.stash
        if _CALL not in stash:
            stash[_CALL] = _begin(self.session)
        return stash[_CALL][1]


def _begin(session: pytest.Session) -> tuple[ExitStack, SessionCall]:
    """Begin a run of the steps that are left after pytest's own selection."""
    import io

    from tipc.plan.request import PlanOptions
    from tipc.plan.target.machine import this_machine
    from tipc.run.execution import opened
    from tipc.run.executors.local import LocalExecutor
    from tipc.run.schedule.scheduler import Settings
    from tipc.run.session import Request, Session
    from tipc.run.show.progress import Progress

    config = session.config
    planned = config.stash[_PLANS]
    plans = tuple(planned)
    wanted = frozenset((item.plan.key, item.step.id) for item in session.items if isinstance(item, StepItem))
    request = Request(
        configs=tuple(str(Path(plan.repo, plan.config)) for plan in plans),
        mode=plans[0].mode,
        plan=PlanOptions(prepare=not config.getoption("--tipc-no-prepare")),
    )
    settings = Settings(
        cores=this_machine().cores,
        timeout=config.getoption("--tipc-timeout"),
        cold=config.getoption("--tipc-cold"),
    )
    executor = LocalExecutor()
    unseen = Progress(io.StringIO(), len(wanted))  # pytest itself shows what happens
    stack = ExitStack()
    call = stack.enter_context(
        opened(Session(plans, wanted, request), executor, settings, unseen, argv=["pytest"])
    )
    stack.callback(executor.close)
    call.scheduler.open()
    return stack, call


class SkipItem(pytest.Item):
    """A combination that is left out."""

    def __init__(self, *, skip: Skip, **rest: Any) -> None:
        super().__init__(**rest)
        self.skip = skip

    def runtest(self) -> None:
        """Say why."""
        from tipc.language import sentence

        pytest.skip(sentence(self.skip.reason))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The config."""
        return self.path, None, self.name
