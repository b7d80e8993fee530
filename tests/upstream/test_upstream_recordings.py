"""A plan as upstream is, word for word, what the family's real script ran for the same config."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from upstream_bases import BASES, TRAINING  # noqa: E402
from upstream_table import Case, cases  # noqa: E402

from tipc.plan.build import build_plan  # noqa: E402
from tipc.plan.request import PlanOptions  # noqa: E402

CASES = [(case, mode) for base in BASES for case in cases(base) for mode in case.modes]


def lines_of(base: str) -> list[dict[str, Any]]:
    """The lines of a file of recordings. A missing file is a failure, no reason to skip."""
    with gzip.open(HERE / f"{base}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


RECORDED: dict[str, dict[tuple[str, str], dict[str, Any]]] = {}  # base → (case, mode) → recording
CHECKOUTS: dict[str, str] = {}  # base → the folder's name: benchmark_train.sh names its logs after it
for _base in BASES:
    _header, *_runs = lines_of(_base)
    RECORDED[_base] = {(run["case"], run["mode"]): run for run in _runs}
    CHECKOUTS[_base] = Path(_header["checkout"]).name


def planned(case: Case, mode: str, folder: Path) -> list[dict[str, Any]]:
    """The commands of the plan as upstream, in the form of a recording."""
    root = folder / CHECKOUTS[case.base]
    path = root / case.config
    path.parent.mkdir(parents=True)
    path.write_bytes(case.text)
    options = PlanOptions(repo=str(root), dialect=case.family, as_upstream=True)
    plan = build_plan(path, mode, options)
    here = str(root.resolve())
    found = []
    for step in plan.steps:
        if step.argv[0] == "ln":
            continue  # no program that the recorder replaces
        call: dict[str, Any] = {"argv": [word.replace(here, "<ROOT>") for word in step.argv]}
        call["cuda"] = step.env["CUDA_VISIBLE_DEVICES"]
        if step.cwd != ".":
            call["cwd"] = step.cwd
        env = {name: value for name, value in step.env.items() if name != "CUDA_VISIBLE_DEVICES"}
        if env:
            call["env"] = env
        call["status"] = step.status_line.replace(here, "<ROOT>")
        found.append(call)
    return found


def succeeded(status: str) -> str:
    """A status line as it is for a success: whether a stub of the recorder succeeds tells nothing."""
    return status.replace("Run failed", "Run successfully", 1)


def named(case: Case, mode: str) -> Any:
    """A case for pytest."""
    return pytest.param(case, mode, id=f"{case.base}-{case.name}-{mode}")


@pytest.mark.parametrize(("case", "mode"), [named(case, mode) for case, mode in CASES])
def test_the_plan_as_upstream_is_what_the_script_ran(case: Case, mode: str, tmp_path: Path) -> None:
    run = RECORDED[case.base][case.name, mode]
    assert run["digest"] == case.digest, "the config was changed after its run was recorded: record.py"
    steps = planned(case, mode, tmp_path)
    status = [step.pop("status") for step in steps]
    assert steps == run["commands"]
    # A script also reports commands that never started; a plan has a status line for each of its steps.
    if len(run["status"]) == len(run["commands"]):
        assert [succeeded(line) for line in run["status"]] == [succeeded(line) for line in status]


@pytest.mark.parametrize("base", BASES)
def test_every_recording_belongs_to_a_config_of_the_table(base: str) -> None:
    wanted = {(case.name, mode) for case, mode in CASES if case.base == base}
    assert set(RECORDED[base]) == wanted
    assert len({name for name, _ in wanted}) >= (60 if base in TRAINING else 8)


def test_the_recordings_are_small() -> None:
    assert sum(path.stat().st_size for path in HERE.iterdir() if path.is_file()) <= 3_000_000
