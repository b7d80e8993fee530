"""Averages that training keeps in a file of their own, and that evaluation and export load."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from certify_facts import Honest, weights_of

from tipc.certify.evidence.saved_beside import are_averages
from tipc.certify.verdict import FAIL, PASS, Finding
from tipc.run.record.results import Run
from tipc.run.record.step_facts import WeightsFile

Judge = Callable[..., list[Finding]]


def evaluated(run: Run, judge: Judge, **fields: Any) -> str:
    """What TT905 says where another file than the one that the config names was loaded and evaluated."""

    def edit(honest: Honest) -> None:
        [named] = honest.processes["cell/train"].saves
        path = str(Path(named.path).with_suffix(".pdema"))
        save = replace(WeightsFile(path, weights_of(0.9), 6, apart=0.2, judged=2), **fields)
        honest.change("train", saves=(named, save))
        load = WeightsFile(str(Path(named.path).with_suffix(".pdema")), weights_of(0.9), 0)
        [evaluation] = honest.processes["cell/eval"].evaluations
        evaluation = replace(evaluation, weights=weights_of(0.9))
        honest.change("eval", loads=(load,), evaluations=(evaluation,))

    [found] = [one for one in judge(run, edit) if one.check == "TT905"]
    return found.status


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({}, PASS),
        ({"apart": 5.0}, FAIL),  # another network's
        ({"apart": -1.0}, FAIL),  # nobody knows what they are
        ({"strayed": ("conv.weight",)}, FAIL),
        ({"changed": "conv.weight"}, FAIL),
        ({"at_step": 3}, FAIL),  # on the way
        ({"weights": weights_of(0.8)}, FAIL),  # others than those that were loaded
        ({"path": "/elsewhere/latest.pdema"}, FAIL),
    ],
)
def test_averages_that_are_loaded_in_place_of_the_weights_are_the_trained_ones(
    fields: dict[str, Any], status: str, run: Run, judge: Judge
) -> None:
    assert evaluated(run, judge, **fields) == status


def test_a_few_tensors_of_an_average_may_lie_off_their_ways() -> None:
    save = WeightsFile("/w", weights_of(), 6, apart=0.1, judged=20, strayed=("a", "b"))
    assert are_averages(save)
    assert not are_averages(replace(save, judged=19))
