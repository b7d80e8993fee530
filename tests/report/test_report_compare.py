"""Comparing runs: equal ones raise no alarm, a real slow-down is found, unlike machines are kept apart."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from statistics import median

import jsonschema
import pytest
from fabric import MACHINE, Recipe, fabricate

from tipc.cli.compare import percentage
from tipc.cli.main import main
from tipc.language import choose
from tipc.report.history.comparison import BETTER, EQUAL, UNJUDGED, WORSE, Comparison, compare
from tipc.report.history.history_store import Figure, History, PastRun, entry_of
from tipc.report.history.past import Past
from tipc.report.history.spread import between_runs, within_builds
from tipc.report.history.step_differences import differences
from tipc.report.html.past_page import past_page
from tipc.report.machine_facts import build
from tipc.report.terminal import text_of
from tipc.report.view import view_of

# The standard deviation of a run's own speed, and again of each step's: two runs differ by about 2 %.
NOISE = 0.01


def made(tmp_path: Path, number: int, **more: object) -> PastRun:
    recipe = Recipe(seed=number, noise=NOISE, started=1000.0 * number, name=f"r{number}")
    return entry_of(view_of(*fabricate(tmp_path, replace(recipe, **more))))  # type: ignore[arg-type]


@pytest.fixture
def twenty(tmp_path: Path) -> list[PastRun]:
    return [made(tmp_path, number) for number in range(1, 21)]


def test_twenty_equal_runs_raise_no_alarm(twenty: list[PastRun]) -> None:
    for place in range(1, 20):
        for old in (twenty[place - 1], twenty[0]):
            result = compare(old, twenty[place], twenty[:place])
            assert not result.regression, [change for change in result.changes if change.verdict == WORSE]


def test_a_slow_down_of_a_tenth_is_found_after_twenty_runs(tmp_path: Path, twenty: list[PastRun]) -> None:
    for number in range(100, 110):
        slow = made(tmp_path, number, slower=1.1)
        result = compare(twenty[-1], slow, twenty)
        assert result.regression
        assert (result.old_runs, result.new_runs) == (20, 1)
        assert "all steps" in {change.old.step for change in result.of(WORSE)}


def test_a_speed_up_is_no_regression(tmp_path: Path, twenty: list[PastRun]) -> None:
    result = compare(twenty[-1], made(tmp_path, 100, slower=0.8), twenty)
    assert not result.regression
    assert result.of(BETTER)


def test_the_bound_comes_from_the_spread_of_the_runs(tmp_path: Path) -> None:
    def bound(noise: float) -> float:
        runs = [made(tmp_path, number, noise=noise) for number in range(1, 13)]
        result = compare(runs[-2], runs[-1], runs[:-1])
        assert result.seen_from is not None
        return result.seen_from

    assert bound(0.03) > 2 * bound(0.005)


def test_what_was_measured_once_is_not_judged_without_repeats(tmp_path: Path) -> None:
    old, new = made(tmp_path, 1), made(tmp_path, 2, slower=1.7)
    result = compare(old, new, [old])
    verdicts = {change.old.metric: change.verdict for change in result.changes}
    assert verdicts["wall_s"] == UNJUDGED
    assert verdicts["ips"] == WORSE  # its samples tell how much it varies
    judged = compare(old, new, [old], worth=0.05)
    assert {change.verdict for change in judged.changes if change.old.metric == "wall_s"} == {WORSE}


def test_a_lost_point_of_accuracy_is_found_and_an_equal_one_is_not(
    tmp_path: Path, twenty: list[PastRun]
) -> None:
    worse = made(tmp_path, 100, accuracy=0.90)
    found = {change.old.metric for change in compare(twenty[-1], worse, twenty).of(WORSE)}
    assert "acc1" in found
    assert "acc1" not in {
        change.old.metric for change in compare(twenty[0], twenty[-1], twenty[:-1]).of(WORSE)
    }


def test_of_unlike_machines_only_loss_and_accuracy_are_compared(tmp_path: Path) -> None:
    other = {**MACHINE, "cpu": {"model": "slow", "cores": 1}}
    result = compare(made(tmp_path, 1), made(tmp_path, 2, slower=3.0, machine=other), [])
    assert not result.like
    assert {change.old.kind for change in result.changes} <= {"loss", "accuracy"}
    assert not result.regression


def test_runs_of_other_machines_do_not_tell_how_much_this_one_varies(tmp_path: Path) -> None:
    other = {**MACHINE, "cpu": {"model": "noisy", "cores": 1}}
    strangers = [made(tmp_path, number, machine=other) for number in range(1, 10)]
    result = compare(made(tmp_path, 20), made(tmp_path, 21), strangers)
    assert result.old_runs == 1
    assert {change.verdict for change in result.changes if change.old.metric == "wall_s"} == {UNJUDGED}


def test_runs_of_other_configs_are_no_repeats(tmp_path: Path) -> None:
    others = [made(tmp_path, number, models=("other",)) for number in range(1, 9)]
    result = compare(made(tmp_path, 20), made(tmp_path, 21), others)
    assert result.old_runs == 1
    speeds = [change for change in result.changes if change.old.metric == "ips"]
    assert {change.source for change in speeds} == {"samples"}


def test_the_page_of_one_config_says_nothing_of_configs_that_were_not_called(tmp_path: Path) -> None:
    old = made(tmp_path, 1, models=("a", "b"), gpus=("0", "0,1"))
    new = made(tmp_path, 2, models=("a",), gpus=("0",))
    result = compare(old, new, [])
    assert len(result.vanished) == 3
    of_this_run = {plan: "a" for plan, _ in result.vanished if "configs/a/" in plan}
    page = past_page(Past((old, new), result), of_this_run, dict.fromkeys(of_this_run, "x"))
    [gone] = page["comparison"]["cells"]
    assert gone[:3] == ("gone", "a", "norm_train-gpu0,1-null")


def test_new_gone_and_broken_cells_are_named(tmp_path: Path) -> None:
    old = made(tmp_path, 1, gpus=("0", "0,1"))
    new = made(tmp_path, 2, gpus=("0", "0,1,2"), states={"gpu0-null/eval": "failed"})
    result = compare(old, new, [])
    assert [cell for _, cell in result.appeared] == ["norm_train-gpu0,1,2-null"]
    assert [cell for _, cell in result.vanished] == ["norm_train-gpu0,1-null"]
    ((_, cell, before, now),) = result.broken
    assert (cell, before, now) == ("norm_train-gpu0-null", "not certified", "failed")
    assert result.regression


def recorded(name: str) -> tuple[list[PastRun], list[PastRun]]:
    """Real runs: equal ones, and some that do a tenth more work."""
    data = json.loads((Path(__file__).parent / "recorded_runs.json").read_text())[name]
    equal: list[PastRun] = []
    slower: list[PastRun] = []
    for number, run in enumerate(data["runs"]):
        figures = {}
        for (step, metric, label, kind, better, unit), value in zip(
            data["figures"], run["values"], strict=True
        ):
            one = Figure("small", "cell", step, label, metric, kind, better, unit, value)
            figures[one.key] = one
        version = "slower" if run["slower"] else "equal"
        entry = PastRun(
            f"run{number}", number, 3.0, "m", "m", "v", version, "PASSED", "", ("small",), figures
        )
        (slower if run["slower"] else equal).append(entry)
    return equal, slower


@pytest.mark.parametrize("name", ["calm", "busy"])
def test_no_two_of_twenty_real_equal_runs_raise_an_alarm(name: str) -> None:
    equal, _ = recorded(name)
    assert len(equal) == 20
    for place, new in enumerate(equal):
        for old in equal[:place]:
            assert not compare(old, new, equal[:place]).regression


@pytest.mark.parametrize("name", ["calm", "busy"])
def test_a_few_real_runs_from_a_calm_time_raise_no_alarm_about_later_ones(name: str) -> None:
    equal, _ = recorded(name)
    for count in (1, 3, 5, 8):
        for first in range(len(equal) - count):
            base = equal[first : first + count]
            for new in equal[first + count :]:
                assert not compare(base[-1], new, base).regression


def test_each_real_run_with_a_tenth_more_work_is_found() -> None:
    equal, slower = recorded("calm")
    for new in slower:
        result = compare(equal[-1], new, equal)
        assert result.regression
        assert result.seen_from is not None
        assert result.seen_from < 0.07


@pytest.mark.parametrize("name", ["calm", "busy"])
def test_versions_that_were_run_once_each_and_are_level_stand_for_each_other(name: str) -> None:
    equal, slower = recorded(name)
    nightly = [replace(run, build=run.id) for run in equal]
    for place, new in enumerate(nightly):
        for old in nightly[:place]:
            assert not compare(old, new, nightly[:place]).regression
    if name == "calm":
        assert all(compare(nightly[-1], new, nightly).regression for new in slower)


def test_a_history_with_a_step_in_it_is_no_level() -> None:
    equal, slower = recorded("calm")
    nightly = [replace(run, build=run.id) for run in [*slower, *equal[:10]]]
    level = compare(nightly[-1], equal[-1], [replace(run, build=run.id) for run in equal[:19]])
    stepped = compare(nightly[-1], equal[-1], nightly)
    assert not stepped.regression
    assert level.seen_from is not None
    assert stepped.seen_from is not None
    assert stepped.seen_from > 2 * level.seen_from


def slower_in(step: str, slower: list[PastRun], equal: list[PastRun]) -> list[PastRun]:
    """Runs in which only one step does more work."""
    return [
        replace(
            run,
            figures={key: run.figures[key] if step in key[1] else like.figures[key] for key in like.figures},
        )
        for run, like in zip(slower, equal, strict=False)
    ]


def test_one_step_that_is_slower_in_one_run_is_named_and_no_alarm() -> None:
    equal, slower = recorded("calm")
    (new,) = slower_in("bs1", slower[7:8], equal[2:])  # by 40 %: the machine was busy as well
    result = compare(equal[-1], new, equal)
    assert not result.regression
    assert "norm_train-gpu0/infer-cpu-bs1" in {change.old.step for change in result.changes if change.suspect}
    assert "perhaps slower: norm_train-gpu0/infer-cpu-bs1" in printed(result)
    assert "make 2 more of this version" in printed(result)


def calmer(runs: list[PastRun], share: float) -> list[PastRun]:
    """The same runs on a machine that varies by a share of what it did."""

    def drawn(key: tuple[str, str, str], figure: Figure) -> Figure:
        middle = median(run.figures[key].value for run in runs)
        return replace(figure, value=middle * (figure.value / middle) ** share if middle else 0.0)

    return [
        replace(run, figures={key: drawn(key, figure) for key, figure in run.figures.items()}) for run in runs
    ]


def test_one_step_that_is_a_tenth_slower_is_an_alarm_where_no_step_was_ever_off_by_as_much() -> None:
    equal = calmer(recorded("calm")[0], 0.1)
    last = equal[-1]
    step = "norm_train-gpu0/infer-cpu-bs1"
    slow = {
        key: replace(figure, value=1.1 * figure.value) if key[1:] == (step, "inference_ms") else figure
        for key, figure in last.figures.items()
    }
    result = compare(equal[-2], replace(last, id="new", figures=slow), equal[:-1])
    assert [change.old.step for change in result.of(WORSE)] == [step]
    assert not compare(equal[-2], last, equal[:-1]).regression
    few = compare(equal[9], replace(last, id="new", figures=slow), equal[:10])
    assert not few.regression
    assert step in {change.old.step for change in few.changes if change.suspect}


def test_repeats_of_the_new_run_count_with_it() -> None:
    equal, slower = recorded("busy")
    bounds = []
    for count in (1, 3, 8):
        result = compare(equal[-1], slower[count - 1], [*equal, *slower[: count - 1]])
        assert result.new_runs == count
        bounds.append(result.seen_from or 0.0)
    assert bounds[0] > 1.5 * bounds[1] > 1.5 * bounds[2] > 0
    assert "B is compared as the median of 8 runs" in printed(result)


def test_a_run_of_the_same_version_is_not_its_own_baseline() -> None:
    equal, _ = recorded("calm")
    result = compare(equal[3], equal[-1], equal)
    assert (result.old_runs, result.new_runs) == (19, 1)


def printed(result: Comparison) -> str:
    return "\n".join("".join(span.text for span in line) for line in differences(result))


def test_changes_that_are_not_committed_make_another_version() -> None:
    clean = {"tipc": "1", "repos": {"/r": {"commit": "abc", "changed": False}}}
    dirty = {"tipc": "1", "repos": {"/r": {"commit": "abc", "changed": True}}}
    assert build(clean, ["one"]) == build(clean, ["two"])
    assert build(dirty, ["one"]) != build(dirty, ["two"])
    assert build({"tipc": "1"}, ["one"]) != build({"tipc": "1"}, ["two"])


def test_runs_that_were_disturbed_do_not_widen_a_robust_spread() -> None:
    values = [[0.0, 0.01, -0.01, 0.005, -0.004, 0.3, 0.008, -0.006]]
    plain, robust = within_builds(values), within_builds(values, robust=True)
    assert plain is not None
    assert robust is not None
    assert robust.sigma < 0.02 < 0.1 < plain.sigma
    assert robust.freedom < plain.freedom
    assert within_builds([[0.0, 0.1], [1.0, 1.1]]) is None  # too few of either version


def test_an_old_change_in_the_history_hardly_widens_the_bound() -> None:
    random.seed(1)
    steady = [random.gauss(0, 0.01) for _ in range(20)]
    stepped = [value + (0.1 if place >= 10 else 0.0) for place, value in enumerate(steady)]
    first, second = between_runs(steady), between_runs(stepped)
    assert first is not None
    assert second is not None
    assert second.sigma < 2.5 * first.sigma
    assert between_runs(steady[:3]) is None


def test_the_command_exits_with_one_on_a_regression(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with History(home) as history:
        for number in range(1, 10):
            history.put(made(home, number))
        history.put(made(home, 20, slower=1.7, gpus=("0",)))
    assert main(["compare", "r7", "r8"]) == 0
    assert "NO REGRESSION" in capsys.readouterr().out
    assert main(["compare", "r8", "r20"]) == 1
    text = capsys.readouterr().out
    assert "A is compared as the median of 9 runs" in text
    assert "gone    norm_train-gpu0,1-null" in text
    assert "\nREGRESSION · " in text
    assert main(["compare", "r20"]) == 1  # with the one before it
    assert main(["compare", "r8", "r20", "--all"]) == 1
    assert EQUAL in capsys.readouterr().out


def test_the_call_is_checked(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "a", "b", "c"]) == 2
    assert main(["compare", "none"]) == 2
    assert "there is no run `none`" in capsys.readouterr().err
    with History(home) as history:
        history.put(made(home, 1))
    assert main(["compare", "r1"]) == 2
    assert "there is no run before r1" in capsys.readouterr().err
    assert percentage("5 %") == 0.05
    with pytest.raises(SystemExit):
        main(["compare", "--threshold", "lots"])


def test_what_cannot_be_judged_is_inconclusive(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with History(home) as history:
        history.put(made(home, 1))
        history.put(made(home, 2, slower=1.4))
    assert main(["compare", "r1", "r2"]) == 0
    assert "INCONCLUSIVE" in capsys.readouterr().out


def test_a_comparison_is_in_chinese_where_that_is_wished(home: Path) -> None:
    old, new = made(home, 3), made(home, 4)
    result = compare(old, new, [old])
    choose("zh")
    try:
        told = [text_of(line) for line in differences(result, everything=True)]
    finally:
        choose("")
    said = " ".join(line for line in told if not line.startswith(("A ", "B ")))
    assert "没有退化 · 0 项变差" in said
    for english in ("worse", "judged", "earlier", "measured", "equal", "spread", "figure"):
        assert english not in said


def test_a_comparison_is_also_json(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with History(home) as history:
        for number in range(1, 10):
            history.put(made(home, number))
        history.put(made(home, 20, slower=1.7))
    assert main(["compare", "r8", "r20", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    schema = json.loads(files("tipc").joinpath("schemas", "comparison.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(told)
    assert told["conclusion"] == "regression"
    assert told["old"]["median_of"] == 9
    worse = [change for change in told["changes"] if change["verdict"] == "worse"]
    assert worse
    assert all(change["worse_by"] > change["bound"] for change in worse)


@pytest.mark.parametrize("earlier", [1, 5, 20])
@pytest.mark.parametrize("slower", [1.0, 1.2, 2.0])
def test_a_brief_comparison_concludes_the_same_from_what_it_lists_and_counts(
    tmp_path: Path, twenty: list[PastRun], earlier: int, slower: float
) -> None:
    runs = twenty[:earlier]
    new = replace(made(tmp_path, 30, slower=slower), build="another")
    whole, brief = compare(runs[-1], new, runs), compare(runs[-1], new, runs, brief=True)
    assert brief.conclusion == whole.conclusion
    for verdict in (WORSE, BETTER, EQUAL, UNJUDGED):
        assert brief.count(verdict) == whole.count(verdict)
    assert brief.of(WORSE) == whole.of(WORSE)
    assert brief.of(BETTER) == whole.of(BETTER)
    assert not whole.left_out
    assert brief.left_out or slower == 2.0
