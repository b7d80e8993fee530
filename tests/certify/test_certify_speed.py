"""A speed that a log tells is held against the samples and the steps that were seen, in every dialect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from certify_answers import alarms
from certify_chain import plan_of, run_chain
from certify_facts import Honest
from certify_lies import TRAIN
from certify_plain_repo import edit, make_plain_repo

from tipc.certify.verdict import FAIL, PASS, UNCHECKED, Finding
from tipc.run.record.results import Run

OLD = """        print(f"[Epoch {epoch}, iter: {iteration}] top1: 0.50000, lr: 0.00100, loss: {loss:.5f}, "
              f"avg_reader_cost: 0.01000 sec, avg_batch_cost: 0.10000 sec, avg_samples: 4.0, "
              f"avg_ips: 40.00000 images/sec.")"""
# The same training in the form of PaddleSeg: its cost, its wait for data and its speed are put in.
SEG = """        print(f"[TRAIN] epoch: {epoch}, iter: {2 * epoch + iteration - 1}/6, loss: {loss:.4f}, "
              f"lr: 0.05, %s")"""

Judge = Callable[..., list[Finding]]
Chain = Callable[..., Run]


@pytest.fixture
def seg_run(tmp_path: Path) -> Chain:
    """A chain of another dialect than ``models`` whose log has these figures."""

    def make(figures: str, processes: int = 1) -> Run:
        repo = make_plain_repo(tmp_path)
        edit(repo, TRAIN, OLD, SEG % figures)
        plan = plan_of(repo)
        steps = tuple(replace(one, processes=processes) for one in plan.steps)
        return run_chain(repo, replace(plan, dialect="seg", steps=steps))

    return make


def found_by(check: str, found: list[Finding]) -> list[tuple[str, str]]:
    return [(one.status, one.message) for one in found if one.check == check]


@pytest.mark.parametrize(
    "figures",
    [
        "batch_cost: 0.1000, reader_cost: 0.01, ips: 40.0 samples/sec | ETA 00:00:00",
        "batch_cost: 0.1000s, reader_cost: 0.01, ips: 40.0 images/s, eta: 0:00:11",
        "batch_cost: 0.0900, reader_cost: 0.01, ips: 40.0 samples/sec",  # the wait is told apart
        "batch_cost: 0.0600, reader_cost: 0.0200, ips: 66.7 samples/sec",  # the optimiser is not timed
        "ips: 40.0 samples/sec",
        "ips: 40.0",
        "ips: 10.0 steps/s",
        "ips: 10.0 it/s",
        "batch_cost: 0.1000, ips: 20.0 images/s",  # every batch is the short one of its epoch
    ],
)
def test_an_honest_speed_passes_in_any_usual_unit(figures: str, seg_run: Chain, judge: Judge) -> None:
    def with_short_batches(honest: Honest) -> None:
        honest.change_training(batch_sizes=(4, 2))

    found = judge(seg_run(figures), with_short_batches)
    assert not alarms(found), alarms(found)
    assert [status for status, _ in found_by("TT904", found)] == [PASS]


@pytest.mark.parametrize(
    ("figures", "check", "words"),
    [
        ("batch_cost: 0.1000, reader_cost: 0.01, ips: 40000 samples/sec", "TT904", "4e+04 samples a second"),
        (
            "batch_cost: 0.1000, reader_cost: 0.01, ips: 40000 samples/sec",
            "TL104",
            "ips 4e+04, but 4 samples",
        ),
        ("batch_cost: 0.1000, reader_cost: 0.01, ips: 70 samples/sec", "TL104", "are 40 per second"),
        ("ips: 40000 samples/sec", "TT904", "4e+04 samples a second"),
        ("ips: 40000", "TT904", "4e+04 samples a second"),
        ("ips: 10000 steps/s", "TT904", "samples a second"),
    ],
)
def test_a_speed_that_the_steps_do_not_allow_fails_in_every_dialect(
    figures: str, check: str, words: str, seg_run: Chain, judge: Judge
) -> None:
    told = found_by(check, judge(seg_run(figures)))
    assert [status for status, _ in told] == [FAIL]
    assert words in told[0][1]


def test_a_speed_may_be_that_of_all_processes_and_of_gathered_batches(seg_run: Chain, judge: Judge) -> None:
    run = seg_run("ips: 600 samples/sec", processes=2)  # of at most 4 x 2 x 2 in a quarter of 0.1 s
    assert found_by("TT904", judge(run))[0][0] == FAIL
    gathered = judge(run, lambda honest: honest.change_training(gathered=2))
    assert found_by("TT904", gathered)[0][0] == PASS


def test_a_speed_in_tokens_is_left_open_and_does_not_hinder(seg_run: Chain, judge: Judge) -> None:
    found = judge(seg_run("ips: 512000 tokens/sec"))
    assert not alarms(found), alarms(found)
    assert [status for status, _ in found_by("TT904", found)] == [PASS, UNCHECKED]


@pytest.mark.parametrize(
    ("samples", "asked", "facts", "processes", "status"),
    [
        ("1.0", 4, {"batch_sizes": (1,), "forwards": 24}, 1, FAIL),
        ("8.0", 4, {"batch_sizes": (8,)}, 1, FAIL),
        ("2.0", 4, {"batch_sizes": (2,), "forwards": 3}, 1, PASS),  # an epoch is one batch: there are no more
        ("3.0", 4, {"batch_sizes": (4, 2)}, 1, PASS),  # the last one is short, and the log tells the mean
        ("2.0", 4, {"batch_sizes": (2,)}, 2, PASS),  # of all processes
        ("8.0", 4, {"batch_sizes": (4,)}, 2, PASS),  # of one
        ("2.0", 4, {"batch_sizes": (2,), "gathered": 2}, 1, PASS),
        ("4.0", 4, {"batch_sizes": (4,)}, 1, PASS),
    ],
)
def test_the_batch_size_of_the_command_is_held_against_what_was_fed(
    samples: str,
    asked: int,
    facts: dict[str, Any],
    processes: int,
    status: str,
    tmp_path: Path,
    judge: Judge,
) -> None:
    repo = make_plain_repo(tmp_path)
    speed = 10 * float(samples)
    edit(repo, TRAIN, "avg_samples: 4.0, ", f"avg_samples: {samples}, ")
    edit(repo, TRAIN, "avg_ips: 40.00000", f"avg_ips: {speed}")
    plan = plan_of(repo)
    steps = []
    for one in plan.steps:
        argv = tuple(word.replace("--batch-size=4", f"--batch-size={asked}") for word in one.argv)
        steps.append(replace(one, argv=argv, processes=processes))
    run = run_chain(repo, replace(plan, steps=tuple(steps)))
    [told] = found_by("TT904", judge(run, lambda honest: honest.change_training(**facts)))
    assert told[0] == status, told
    assert status == PASS or "the command asks for batches of 4" in told[1]
