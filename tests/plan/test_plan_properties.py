"""Whatever a file holds, there is a plan or a message with its place, and never another exception."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plan_samples import SAMPLES, write

from tipc.errors import UsageError
from tipc.plan.build import build_plan
from tipc.plan.modes import MODES
from tipc.plan.plan_json import plan_from_json, plan_to_json
from tipc.plan.request import PlanOptions
from tipc.plan.target.machine import Machine

QUIET = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
MACHINES = st.sampled_from([Machine(cores=2), Machine(cores=8, gpus=2)])
PIECES = [
    *(
        "null",
        " null",
        "|",
        "||",
        ":",
        "::",
        "=",
        "",
        " ",
        "\t",
        "\r",
        "'",
        '"',
        "\\",
        "$HOME",
        "$",
        "${",
        "$(x)",
    ),
    *(";", "&", ">", "*", "[", "{a,b}", "~", "#", "##", "-n", "-1", "0,1", "Fasle", "lite_train_lite_infer="),
    *("é", "\udcff", "\x00", "10.0.0.1,10.0.0.2;0,1"),
]


def planned(path: Path, mode: str, machine: Machine, **more: object) -> None:
    try:
        plan = build_plan(path, mode, PlanOptions(machine=machine, **more))
    except UsageError as error:
        message, code = str(error), error.exit_code
        assert (str(path) in message, code) == (True, 2), message
        return
    data = json.loads(json.dumps(plan_to_json(plan)))
    assert plan_to_json(plan_from_json(data)) == data
    assert all(step.argv for step in plan.steps)
    known = {step.id for step in plan.steps}
    assert all(set(step.needs) <= known for step in plan.steps)


@QUIET
@given(st.binary(max_size=400), st.sampled_from(sorted(SAMPLES)), st.booleans(), MACHINES)
def test_any_bytes_give_a_plan_or_a_place(
    tmp_path: Path, data: bytes, dialect: str, exact: bool, machine
) -> None:
    path = write(tmp_path, data)
    planned(path, MODES[0], machine, dialect=dialect, as_upstream=exact)
    planned(path, MODES[0], machine)


def mutated(text: str, seed: int) -> str:
    """The text with a few lines removed, doubled, swapped, cut or spoilt."""
    chance = random.Random(seed)
    lines = text.split("\n")
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(lines))
        spoilt = lines[at]
        cut = chance.randint(0, len(spoilt))
        change = chance.randrange(6)
        if change == 0:
            lines[at : at + 1] = []
        elif change == 1:
            lines.insert(at, chance.choice(lines))
        elif change == 2:
            lines[at] = spoilt[:cut] + chance.choice(PIECES) + spoilt[cut:]
        elif change == 3:
            lines[at] = spoilt.partition(":")[0] + ":" + chance.choice(PIECES)
        elif change == 4:
            lines[at] = spoilt.replace(":", chance.choice(["", "=", " :", ": "]), 1)
        else:
            lines[at:] = lines[at : at + chance.randint(0, 3)]
        lines = lines or [""]
    return "\n".join(lines)


@QUIET
@given(
    st.sampled_from(sorted(SAMPLES)),
    st.integers(0, 2**32),
    st.sampled_from(MODES),
    st.booleans(),
    st.booleans(),
    MACHINES,
)
def test_any_mutation_of_a_config_gives_a_plan_or_a_place(
    tmp_path: Path, dialect: str, seed: int, mode: str, exact: bool, shell: bool, machine: Machine
) -> None:
    path = write(tmp_path, mutated(SAMPLES[dialect], seed))
    planned(path, mode, machine, dialect=dialect, as_upstream=exact, allow_shell=shell)


@pytest.mark.parametrize("dialect", SAMPLES)
@pytest.mark.parametrize("exact", [False, True])
def test_every_single_missing_line_gives_a_plan_or_a_place(tmp_path: Path, dialect: str, exact: bool) -> None:
    lines = SAMPLES[dialect].split("\n")
    for number in range(len(lines) - 1):
        path = write(tmp_path, "\n".join(lines[:number] + lines[number + 1 :]))
        for mode in (MODES[0], "whole_infer"):
            planned(path, mode, Machine(cores=2), dialect=dialect, as_upstream=exact)
