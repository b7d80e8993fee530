"""Others' work beside the steps: it takes what they leave free, and hardly disturbs one that measures."""

from __future__ import annotations

from pathlib import Path

import pytest
from run_plans import Runner, plan_of, step
from test_scheduler_order import Played

from tipc.run.executors.executor import Task, TaskOutcome
from tipc.run.record.results import StepResult
from tipc.run.schedule.scheduler import Settings


class Quiet(Played):
    """Ends nothing at the first call: a quiet moment, in which the others are let in."""

    def wait(self, timeout: float | None) -> list[tuple[int, TaskOutcome]]:
        if not self.order or not hasattr(self, "waited"):
            self.waited = True
            return []
        return super().wait(timeout)


class Errands:
    """Has something to do for each step that ends."""

    def __init__(self, repo: Path, names: tuple[str, ...] = ()) -> None:
        self.repo = repo
        self.todo = list(names)
        self.heard: list[str] = []
        self.done: list[str] = []
        self.tickets: dict[int, str] = {}

    def settled(self, result: StepResult) -> None:
        self.heard.append(result.step)
        self.todo.append(f"after {result.step}")

    def next_task(self) -> Task | None:
        if not self.todo:
            return None
        return Task(self.todo.pop(0), ("true",), self.repo, {}, self.repo / "errand.log", None)

    def started(self, task: Task, ticket: int) -> None:
        self.tickets[ticket] = task.name

    def ended(self, ticket: int, outcome: TaskOutcome) -> None:
        self.done.append(self.tickets.pop(ticket))

    def look_after(self) -> None: ...

    def pulse(self) -> None: ...


def test_what_others_want_runs_where_a_core_is_free(runner: Runner, repo: Path) -> None:
    played, errands = Quiet(), Errands(repo)
    plan = plan_of(repo, step("a"), step("b", needs=("a",)))
    run = runner(plan, executor=played, settings=Settings(cores=2), beside=lambda: errands)
    assert run.ok
    assert errands.heard == ["a", "b"]
    assert {"b", "after a"} in played.together


def test_steps_come_first(runner: Runner, repo: Path) -> None:
    played, errands = Quiet(), Errands(repo)
    plan = plan_of(repo, step("a"), step("b", needs=("a",)), step("c", needs=("a",)))
    runner(plan, executor=played, settings=Settings(cores=2), beside=lambda: errands)
    assert played.order[:3] == ["a", "b", "c"]
    assert {"b", "c", "after a"} not in played.together


def test_steps_do_not_wait_for_what_others_have_begun(runner: Runner, repo: Path) -> None:
    played, errands = Quiet(), Errands(repo, ("long",))
    plan = plan_of(repo, step("a"), step("b", needs=("a",)), step("c", needs=("a",)))
    runner(plan, executor=played, settings=Settings(cores=2), beside=lambda: errands)
    assert {"long", "b", "c"} in played.together


def test_who_wants_one_thing_at_a_time_gets_nothing_beside_it(runner: Runner, repo: Path) -> None:
    played, errands = Quiet(), Errands(repo)
    plan = plan_of(repo, step("a"), step("b", needs=("a",)))
    runner(plan, executor=played, settings=Settings(cores=8, jobs=1), beside=lambda: errands)
    assert played.order == ["a", "b"]


@pytest.mark.parametrize(("cores", "threads"), [(2, 1), (8, 7)])
def test_beside_a_step_that_measures_others_may_use_a_whole_core(
    runner: Runner, repo: Path, cores: int, threads: int
) -> None:
    played, errands = Quiet(), Errands(repo, ("one", "two", "three"))
    steps = [step("a"), step("m", needs=("a",), measures=True, threads=threads)]
    settings = Settings(cores=cores, whole_cores=cores)
    run = runner(plan_of(repo, *steps), executor=played, settings=settings, beside=lambda: errands)
    assert run.ok
    beside = [together - {"m"} for together in played.together if "m" in together]
    assert any(beside)
    assert all(len(others) <= 1 for others in beside)


@pytest.mark.parametrize(
    ("cores", "whole", "threads"), [(2, 0, 1), (8, 0, 1), (2, 1, 1), (2, 2, 2), (8, 4, 4)]
)
def test_nothing_runs_beside_a_step_that_measures_where_no_whole_core_is_left(
    runner: Runner, repo: Path, cores: int, whole: int, threads: int
) -> None:
    played, errands = Quiet(), Errands(repo)
    steps = [
        step("a"),
        step("m", needs=("a",), measures=True, threads=threads),
        step("n", needs=("a",), measures=True, threads=threads),
    ]
    settings = Settings(cores=cores, whole_cores=whole)
    run = runner(plan_of(repo, *steps), executor=played, settings=settings, beside=lambda: errands)
    assert run.ok
    assert all(len(together) == 1 for together in played.together if together & {"m", "n"})


def test_steps_that_measure_never_run_together(runner: Runner, repo: Path) -> None:
    played, errands = Quiet(), Errands(repo)
    steps = [step("a"), step("m", needs=("a",), measures=True), step("n", needs=("a",), measures=True)]
    settings = Settings(cores=8, whole_cores=8)
    run = runner(plan_of(repo, *steps), executor=played, settings=settings, beside=lambda: errands)
    assert run.ok
    assert not any({"m", "n"} <= together for together in played.together)


def test_a_step_that_needs_the_whole_machine_waits_for_what_others_have_begun(
    runner: Runner, repo: Path
) -> None:
    played, errands = Quiet(), Errands(repo, ("long",))
    steps = [step("a"), step("m", needs=("a",), measures=True)]
    run = runner(plan_of(repo, *steps), executor=played, settings=Settings(cores=2), beside=lambda: errands)
    assert run.ok
    assert played.order.index("long") < played.order.index("m")
    assert "long" in errands.done


def test_what_can_be_made_ready_is_made_once_and_not_while_a_step_measures(
    runner: Runner, repo: Path
) -> None:
    class Slow(Played):
        """Between any two ends there is a quiet moment."""

        def wait(self, timeout: float | None) -> list[tuple[int, TaskOutcome]]:
            self.quiet = not getattr(self, "quiet", False)
            if self.quiet:
                return []
            return super().wait(timeout)

    played, seen = Slow(), []
    steps = [step("m", measures=True), step("a", needs=("m",)), step("b", needs=("a",))]
    run = runner(
        plan_of(repo, *steps),
        executor=played,
        settings=Settings(cores=2),
        when_idle=lambda: seen.append(played.order[-1]),
    )
    assert run.ok
    assert seen == ["a"]


def test_what_comes_next_and_is_wanted_is_made_ready_once_while_what_it_needs_runs(
    runner: Runner, repo: Path
) -> None:
    class Slow(Played):
        def wait(self, timeout: float | None) -> list[tuple[int, TaskOutcome]]:
            self.quiet = (getattr(self, "quiet", 0) + 1) % 3
            if self.quiet:
                return []
            return super().wait(timeout)

    played, ready = Slow(), []
    steps = [step("a"), step("b", needs=("a",)), step("c", needs=("b",)), step("d", needs=("b",))]
    plan = plan_of(repo, *steps)
    run = runner(
        plan,
        executor=played,
        settings=Settings(cores=2),
        wanted=lambda one: one.id != "d",
        get_ready=lambda task: ready.append((played.order[-1], task.name)),
    )
    assert run.results[plan.key, "c"].ok
    assert ready == [("a", "b"), ("b", "c")]


def test_without_a_quiet_moment_others_are_never_made(runner: Runner, repo: Path) -> None:
    made: list[Errands] = []

    def make() -> Errands:
        made.append(Errands(repo))
        return made[-1]

    runner(plan_of(repo, step("a")), executor=Played(), settings=Settings(cores=2), beside=make)
    assert not made


def test_others_that_cannot_be_made_do_not_end_the_run(runner: Runner, repo: Path) -> None:
    def make() -> Errands:
        raise OSError(28, "No space left on device")

    run = runner(plan_of(repo, step("a")), executor=Quiet(), settings=Settings(cores=2), beside=make)
    assert run.ok


def test_while_data_is_prepared_nothing_else_is_begun(runner: Runner, repo: Path) -> None:
    """Everything waits for it, and as a rule it is short: a moment lost then is lost for the whole run."""

    class Slow(Played):
        def wait(self, timeout: float | None) -> list[tuple[int, TaskOutcome]]:
            self.quiet = not getattr(self, "quiet", False)
            if self.quiet:
                return []
            return super().wait(timeout)

    played, seen = Slow(), []
    steps = [step("p", kind="prepare"), step("a", needs=("p",))]
    run = runner(
        plan_of(repo, *steps),
        executor=played,
        settings=Settings(cores=2),
        when_idle=lambda: seen.append(played.order[-1]),
    )
    assert run.ok
    assert seen == ["a"]
