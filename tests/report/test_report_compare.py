"""Comparing runs: equal ones raise no alarm, a real slow-down is found, unlike machines are kept apart."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from pathlib import Path

import pytest
from fabric import MACHINE, Recipe, fabricate

from tipc.cli.compare import percentage
from tipc.cli.main import main
from tipc.report.comparison import BETTER, EQUAL, UNJUDGED, WORSE, compare
from tipc.report.history import Entry, History, entry_of
from tipc.report.spread import between_runs, quantile
from tipc.report.view import view_of

# The standard deviation of a run's own speed, and again of each step's: two runs differ by about 2 %.
NOISE = 0.01


def made(tmp_path: Path, number: int, **more: object) -> Entry:
    recipe = Recipe(seed=number, noise=NOISE, started=1000.0 * number, name=f"r{number}")
    return entry_of(view_of(*fabricate(tmp_path, replace(recipe, **more))))  # type: ignore[arg-type]


@pytest.fixture
def twenty(tmp_path: Path) -> list[Entry]:
    return [made(tmp_path, number) for number in range(1, 21)]


def test_twenty_equal_runs_raise_no_alarm(twenty: list[Entry]) -> None:
    for place in range(1, 20):
        for old in (twenty[place - 1], twenty[0]):
            result = compare(old, twenty[place], twenty[:place])
            assert not result.regression, [change for change in result.changes if change.verdict == WORSE]


def test_a_slow_down_of_a_tenth_is_found_after_twenty_runs(tmp_path: Path, twenty: list[Entry]) -> None:
    for number in range(100, 110):
        slow = made(tmp_path, number, slower=1.1)
        result = compare(twenty[-1], slow, twenty)
        assert result.regression
        assert result.twins == 20
        assert "all steps" in {change.old.step for change in result.of(WORSE)}


def test_a_speed_up_is_no_regression(tmp_path: Path, twenty: list[Entry]) -> None:
    result = compare(twenty[-1], made(tmp_path, 100, slower=0.8), twenty)
    assert not result.regression
    assert result.of(BETTER)


def test_the_bound_comes_from_the_spread_of_the_runs(tmp_path: Path) -> None:
    def bound(noise: float) -> float:
        runs = [made(tmp_path, number, noise=noise) for number in range(1, 13)]
        result = compare(runs[-2], runs[-1], runs[:-1])
        return max(change.bound or 0.0 for change in result.changes if change.old.metric == "ips")

    assert bound(0.03) > 2 * bound(0.005)


def test_what_was_measured_once_is_not_judged_without_repeats(tmp_path: Path) -> None:
    old, new = made(tmp_path, 1), made(tmp_path, 2, slower=1.5)
    result = compare(old, new, [old])
    verdicts = {change.old.metric: change.verdict for change in result.changes}
    assert verdicts["wall_s"] == UNJUDGED
    assert verdicts["ips"] == WORSE  # its samples tell how much it varies
    judged = compare(old, new, [old], worth=0.05)
    assert {change.verdict for change in judged.changes if change.old.metric == "wall_s"} == {WORSE}


def test_a_lost_point_of_accuracy_is_found_and_an_equal_one_is_not(
    tmp_path: Path, twenty: list[Entry]
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
    assert result.twins == 0
    assert {change.verdict for change in result.changes if change.old.metric == "wall_s"} == {UNJUDGED}


def test_runs_of_other_configs_are_no_repeats(tmp_path: Path) -> None:
    others = [made(tmp_path, number, models=("other",)) for number in range(1, 9)]
    result = compare(made(tmp_path, 20), made(tmp_path, 21), others)
    assert result.twins == 0
    speeds = [change for change in result.changes if change.old.metric == "ips"]
    assert {change.source for change in speeds} == {"samples"}


def test_new_gone_and_broken_cells_are_named(tmp_path: Path) -> None:
    old = made(tmp_path, 1, gpus=("0", "0,1"))
    new = made(tmp_path, 2, gpus=("0", "0,1,2"), states={"gpu0-null/eval": "failed"})
    result = compare(old, new, [])
    assert [cell for _, cell in result.appeared] == ["norm_train-gpu0,1,2-null"]
    assert [cell for _, cell in result.vanished] == ["norm_train-gpu0,1-null"]
    ((_, cell, before, now),) = result.broken
    assert (cell, before, now) == ("norm_train-gpu0-null", "not certified", "failed")
    assert result.regression


def test_an_old_change_in_the_history_hardly_widens_the_bound() -> None:
    random.seed(1)
    steady = [random.gauss(0, 0.01) for _ in range(20)]
    stepped = [value + (0.1 if place >= 10 else 0.0) for place, value in enumerate(steady)]
    first, second = between_runs(steady), between_runs(stepped)
    assert first is not None
    assert second is not None
    assert second.sigma < 2.5 * first.sigma
    assert between_runs(steady[:3]) is None


def test_the_quantiles_are_those_of_student() -> None:
    # Table values of the one-sided t distribution.
    for chance, freedom, value in (
        (0.05, 10, 1.812),
        (0.005, 10, 3.169),
        (0.001, 20, 3.552),
        (0.001, 1e9, 3.090),
    ):
        assert math.isclose(quantile(chance, freedom), value, rel_tol=0.01)


def test_the_command_exits_with_one_on_a_regression(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with History(home) as history:
        for number in range(1, 9):
            history.put(made(home, number))
        history.put(made(home, 20, slower=1.3, gpus=("0",)))
    assert main(["compare", "r7", "r8"]) == 0
    assert "NO REGRESSION" in capsys.readouterr().out
    assert main(["compare", "r8", "r20"]) == 1
    text = capsys.readouterr().out
    assert "A is compared as the median of 8 runs" in text
    assert "gone    norm_train-gpu0,1-null" in text
    assert text.rstrip().splitlines()[-1].startswith("REGRESSION · ")
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
