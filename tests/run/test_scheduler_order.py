"""What starts when: needs, resources, fairness. A clockless executor plays the machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from run_plans import Runner, plan_of, step

from tipc.errors import UsageError
from tipc.kinds import PASSED
from tipc.plan.model import Step
from tipc.reasons import because
from tipc.run.executors.executor import Task, TaskOutcome
from tipc.run.schedule.graph import build_graph
from tipc.run.schedule.ready_queue import ALONE_OVERTAKES, OVERTAKES, ReadyQueue
from tipc.run.schedule.resources import Claim, Resources, claim_of
from tipc.run.schedule.scheduler import Settings
from tipc.run.show.progress import Progress


class Played:
    """Ends one task a call of ``wait``, the oldest; notes what runs together."""

    name = "played"

    def __init__(self, failing: frozenset[str] = frozenset()) -> None:
        self.failing = failing
        self.tasks: list[tuple[int, Task]] = []
        self.order: list[str] = []
        self.together: list[set[str]] = []
        self._ticket = 0

    def start(self, task: Task) -> int:
        self._ticket += 1
        self.tasks.append((self._ticket, task))
        self.order.append(task.name)
        self.together.append({task.name for _, task in self.tasks})
        return self._ticket

    def wait(self, timeout: float | None) -> list[tuple[int, TaskOutcome]]:
        ticket, task = self.tasks.pop(0)
        return [(ticket, TaskOutcome(1 if task.name in self.failing else 0))]

    def begun(self, ticket: int) -> float:
        return 0.0

    def kill(self, ticket: int) -> None: ...

    def close(self) -> None: ...


def test_a_step_waits_for_what_it_needs(runner: Runner, repo: Path) -> None:
    played = Played()
    plan = plan_of(repo, step("c", needs=("b",)), step("b", needs=("a",)), step("a"))
    run = runner(plan, executor=played)
    assert played.order == ["a", "b", "c"]
    assert run.ok


def test_independent_steps_share_the_cores(runner: Runner, repo: Path) -> None:
    played = Played()
    runner(plan_of(repo, *(step(name) for name in "abcd")), executor=played, settings=Settings(cores=2))
    assert max(map(len, played.together)) == 2
    assert played.order == list("abcd")


def test_jobs_bounds_what_runs_at_once(runner: Runner, repo: Path) -> None:
    played = Played()
    plan = plan_of(repo, *(step(name) for name in "abcd"))
    runner(plan, executor=played, settings=Settings(cores=8, jobs=1))
    assert max(map(len, played.together)) == 1


def test_threads_or_processes_are_the_cores_of_a_step(runner: Runner, repo: Path) -> None:
    played = Played()
    plan = plan_of(repo, step("a", threads=4, processes=2), step("b"), step("c"))
    runner(plan, executor=played, settings=Settings(cores=4))
    assert played.together == [{"a"}, {"b"}, {"b", "c"}]


def test_an_executor_with_a_queue_is_given_all_that_is_ready(runner: Runner, repo: Path) -> None:
    played = Played()
    steps = [step("m", measures=True), step("g", gpus=("0",)), step("h", gpus=("0",)), step("t", threads=9)]
    asked = {}
    start = played.start

    def note(task: Task) -> int:
        asked[task.name] = (task.cores, task.gpus)
        return start(task)

    played.start = note  # type: ignore[method-assign]
    runner(plan_of(repo, *steps), executor=played, settings=Settings(cores=4, queued=True))
    assert played.together[-1] == {"m", "g", "h", "t"}
    assert asked == {"m": (4, ()), "g": (1, ("0",)), "h": (1, ("0",)), "t": (4, ())}


def test_a_distributed_launch_leaves_half_of_its_cores_to_others(runner: Runner, repo: Path) -> None:
    played = Played()
    plan = plan_of(repo, step("launch", threads=2, processes=2), step("b"), step("c"), step("d"))
    runner(plan, executor=played, settings=Settings(cores=2))
    assert played.together == [{"launch"}, {"launch", "b"}, {"b", "c"}, {"c", "d"}]


def test_a_step_that_asks_for_more_cores_than_there_are_gets_them_all(runner: Runner, repo: Path) -> None:
    played = Played()
    run = runner(plan_of(repo, step("a", threads=64), step("b")), executor=played, settings=Settings(cores=2))
    assert run.ok
    assert played.together == [{"a"}, {"b"}]


def test_a_gpu_is_held_by_one_step_at_a_time_and_cells_use_different_gpus(runner: Runner, repo: Path) -> None:
    played = Played()
    steps = [step(f"{gpu}{number}", device="gpu", gpus=(gpu,)) for gpu in "01" for number in (1, 2)]
    both = step("both", device="gpu", gpus=("0", "1"))
    runner(plan_of(repo, *steps, both), executor=played, settings=Settings(cores=1))
    for together in played.together:
        assert len({name[0] for name in together}) == len(together)
        assert together == {"both"} or "both" not in together
    assert {"01", "11"} in played.together


def test_a_measuring_step_is_alone_on_a_cpu_and_comes_after_the_others(runner: Runner, repo: Path) -> None:
    played = Played()
    plan = plan_of(
        repo, step("m1", measures=True), step("a"), step("m2", measures=True), step("b"), step("c")
    )
    runner(plan, executor=played, settings=Settings(cores=4))
    for together in played.together:
        assert not together & {"m1", "m2"} or len(together) == 1
    assert played.order[-2:] == ["m1", "m2"]


def test_a_measuring_step_on_a_gpu_lets_other_devices_work(runner: Runner, repo: Path) -> None:
    played = Played()
    steps = [
        step("m", measures=True, device="gpu", gpus=("0",)),
        step("a"),
        step("b", device="gpu", gpus=("1",)),
    ]
    runner(plan_of(repo, *steps), executor=played, settings=Settings(cores=2))
    assert {"m", "a", "b"} in played.together


def test_a_failure_blocks_its_dependants_and_nothing_else(runner: Runner, repo: Path) -> None:
    steps = [step("a"), step("b", needs=("a",)), step("c", needs=("b",)), step("x"), step("y", needs=("x",))]
    run = runner(plan_of(repo, *steps), executor=Played(frozenset({"a"})))
    states = {key[1]: result.state for key, result in run.results.items()}
    assert states == {"a": "failed", "b": "blocked", "c": "blocked", "x": "passed", "y": "passed"}
    assert run.results["config.txt:lite_train_lite_infer", "c"].reason == because("needs", step="b")


def test_a_very_long_chain_is_blocked_without_recursion(runner: Runner, repo: Path) -> None:
    steps = [step("s0")] + [step(f"s{n}", needs=(f"s{n - 1}",)) for n in range(1, 3000)]
    run = runner(plan_of(repo, *steps), executor=Played(frozenset({"s0"})))
    assert sum(result.state == "blocked" for result in run.results.values()) == 2999


def test_fail_fast_starts_nothing_more(runner: Runner, repo: Path) -> None:
    played = Played(frozenset({"a"}))
    plan = plan_of(repo, step("a"), step("b"), step("c"))
    run = runner(plan, executor=played, settings=Settings(cores=1, fail_fast=True))
    assert played.order == ["a"]
    assert run.result(plan, plan.steps[2]).state == "pending"


def test_several_plans_run_as_one_graph(runner: Runner, repo: Path) -> None:
    played = Played()
    one, two = (plan_of(repo, step("a"), step("b", needs=("a",)), config=name) for name in ("1.txt", "2.txt"))
    run = runner(one, two, executor=played, settings=Settings(cores=2))
    assert played.together[1] == {"a"}  # the first step of each plan
    assert len(run.results) == 4
    assert run.ok


def test_plans_that_write_the_same_files_run_one_by_one(runner: Runner, repo: Path) -> None:
    one = plan_of(repo, step("a", model_dir="./out"), step("b", needs=("a",)), config="1.txt")
    for folder, expected in (("out", ["a", "b", "x"]), ("elsewhere", ["a", "x", "b"])):
        played = Played()
        two = plan_of(repo, step("x", model_dir=folder), config="2.txt")
        runner(one, two, executor=played, settings=Settings(cores=2))
        assert played.order == expected


def test_needs_in_a_circle_are_refused(repo: Path) -> None:
    plan = plan_of(repo, step("a", needs=("b",)), step("b", needs=("a",)))
    with pytest.raises(UsageError, match="need each other"):
        build_graph([plan], {})


def test_a_need_that_is_not_in_the_plan_is_refused(repo: Path) -> None:
    with pytest.raises(UsageError, match="does not have"):
        build_graph([plan_of(repo, step("a", needs=("nobody",)))], {})


def test_a_deselected_need_counts_if_its_artefact_is_there(runner: Runner, repo: Path) -> None:
    plan = plan_of(repo, step("train", produces=("model",)), step("export", kind="export", needs=("train",)))
    run = runner(plan, wanted=lambda s: s.kind == "export", executor=Played())
    assert run.result(plan, plan.steps[1]).state == "blocked"
    assert run.result(plan, plan.steps[1]).reason == because(
        "needs-not-selected", step=plan.steps[0].id, path="model"
    )
    (repo / "model").write_text("from before")
    run = runner(plan, wanted=lambda s: s.kind == "export", executor=Played())
    assert run.result(plan, plan.steps[1]).state == PASSED
    assert run.result(plan, plan.steps[0]).reason == because("not-selected")


def test_a_deselected_need_is_outdated_when_what_it_needs_runs_again(runner: Runner, repo: Path) -> None:
    (repo / "exported").write_text("of an older training")
    plan = plan_of(
        repo,
        step("train"),
        step("export", kind="export", needs=("train",), produces=("exported",)),
        step("infer", kind="infer", needs=("export",)),
    )
    run = runner(plan, wanted=lambda s: s.kind != "export", executor=Played())
    assert run.result(plan, plan.steps[2]).state == "blocked"
    assert run.result(plan, plan.steps[2]).reason == because("needs-outdated", step=plan.steps[1].id)


def test_a_waiting_step_is_overtaken_only_so_often() -> None:
    queue, resources = ReadyQueue(), Resources(2)
    wide, narrow = Claim(cores=2), Claim()
    resources.take(narrow)
    queue.add(0, wide)
    for number in range(1, OVERTAKES + 5):
        queue.add(number, narrow)
    overtook = 0
    while queue.take(resources) is not None:
        overtook += 1  # it ends at once, the first narrow one still runs
    assert overtook == OVERTAKES
    resources.give(narrow)
    assert queue.take(resources) == 0


def test_a_step_on_another_device_overtakes_nobody() -> None:
    queue, resources = ReadyQueue(), Resources(1)
    gpu = Claim(cores=0, gpus=frozenset({"gpu:0"}))
    resources.take(gpu)
    queue.add(0, gpu)
    for number in range(1, ALONE_OVERTAKES):
        queue.add(number, Claim())
        assert queue.take(resources) == number


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_claim_is_ever_broken_and_everything_ends(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    home = tmp_path_factory.mktemp("any")
    cores = data.draw(st.integers(1, 4))
    count = data.draw(st.integers(1, 12))
    steps: list[Step] = []
    for number in range(count):
        gpus = data.draw(st.sets(st.sampled_from("01"), max_size=2))
        needs = data.draw(st.sets(st.integers(0, number - 1), max_size=2)) if number else set()
        steps.append(
            step(
                str(number),
                device="gpu" if gpus else "cpu",
                gpus=tuple(sorted(gpus)),
                threads=data.draw(st.integers(1, 3)),
                measures=data.draw(st.booleans()),
                needs=tuple(map(str, sorted(needs))),
            )
        )
    played = Played()
    run = Runner(home)(plan_of(home, *steps), executor=played, settings=Settings(cores=cores))
    assert run.ok
    claims = {one.id: claim_of(one, cores) for one in steps}
    for together in played.together:
        held = [gpu for name in together for gpu in claims[name].gpus]
        assert len(held) == len(set(held))
        assert sum(claims[name].cores for name in together if claims[name].cores) <= cores
        assert len(together) == 1 or not any(claims[name].alone for name in together)
    for number, one in enumerate(steps):
        assert all(played.order.index(need) < played.order.index(str(number)) for need in one.needs)


def test_the_watcher_is_told_once_when_the_program_of_a_step_begins(
    runner: Runner, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Waiting(Played):
        """Its step waits for something, then runs, then ends."""

        def __init__(self) -> None:
            super().__init__()
            self.moments = [0.0, 7.0, 7.0]

        def begun(self, ticket: int) -> float:
            return self.moments.pop(0)

        def wait(self, timeout: float | None) -> list[tuple[int, TaskOutcome]]:
            if len(self.moments) > 1:
                return []
            return super().wait(timeout)

    told: list[float] = []
    monkeypatch.setattr(Progress, "begun", lambda self, plan, step, at: told.append(at))
    assert runner(plan_of(repo, step("a")), executor=Waiting()).ok
    assert told == [7.0]
