"""Sections of a file that are trained twice: with the dynamic and with the static graph."""

from __future__ import annotations

from pathlib import Path

import pytest
from plan_samples import CLAS, SEG, write

from tipc.errors import UsageError
from tipc.plan.build import build_plan
from tipc.plan.model import Plan
from tipc.plan.request import PlanOptions
from tipc.plan.target.machine import Machine
from tipc.reasons import because


def file_of(sample: str, *names: str) -> str:
    """A file with sections of these names, each with the training part of a sample."""
    lines = sample.split("\n")[1:22]
    return "\n".join("\n".join([f"============== {name} ==============", *lines]) for name in names) + "\n"


def planned(tmp_path: Path, dialect: str, text: str, **more: object) -> Plan:
    path = write(tmp_path, text)
    path = path.rename(path.with_name("train_dy2static_python.txt"))
    options = {"dialect": dialect, "machine": Machine(cores=2, gpus=1), **more}
    return build_plan(path, "lite_train_lite_infer", PlanOptions(**options))  # type: ignore[arg-type]


def words(plan: Plan) -> list[str]:
    return [" ".join(step.argv) for step in plan.steps]


def test_every_section_is_trained_twice_on_one_gpu_into_folders_of_their_own(tmp_path: Path) -> None:
    plan = planned(tmp_path, "seg", file_of(SEG, "base_train", "amp_train"))
    assert plan.chain == "dy2static"
    trains = [step for step in plan.steps if step.cell.startswith(("base_train-", "amp_train-"))]
    assert [step.id.split("-")[:2] for step in trains if "norm_train" in step.id] == [
        ["base_train", "dygraph"],
        ["base_train", "to_static"],
        ["amp_train", "dygraph"],
        ["amp_train", "to_static"],
    ]
    assert ["to_static_training=True" in line for line in words(plan) if "norm" in line] == [
        False,
        True,
        False,
        True,
    ]
    assert not any("distributed.launch" in line for line in words(plan))
    assert all(step.env["FLAGS_cudnn_deterministic"] == "True" for step in plan.steps)
    assert len({step.model_dir or step.log for step in plan.steps}) == len(plan.steps)
    assert len({step.id for step in plan.steps}) == len(plan.steps)


def test_clas_chooses_another_trainer_for_the_static_graph(tmp_path: Path) -> None:
    plan = planned(tmp_path, "clas", file_of(CLAS, "base_train"))
    dynamic, static = (line for line in words(plan) if "train.py" in line)
    assert "Global.print_batch_step=1" in dynamic
    assert "to_static_train_gpus" in static


def test_as_upstream_the_losses_are_read_from_both_logs(tmp_path: Path) -> None:
    plan = planned(tmp_path, "clas", file_of(CLAS, "base_train"), as_upstream=True)
    assert [step.argv[:2] for step in plan.steps[-2:]] == [("python", "test_tipc/extract_loss.py")] * 2
    assert plan.steps[-1].argv[2:] == ("-v", "Iter:", "-e", "loss: {%f},")


def test_a_file_without_a_header_is_an_error(tmp_path: Path) -> None:
    text = file_of(SEG, "base_train").replace("==============", "=== ")
    with pytest.raises(UsageError, match="no section begins with a header"):
        planned(tmp_path, "seg", text)


def test_a_section_says_that_it_has_no_line_for_what_it_leaves_out(tmp_path: Path) -> None:
    plan = planned(tmp_path, "clas", file_of(CLAS, "base_train"))
    reasons = {(skip.kind, skip.reason) for skip in plan.skipped}
    assert reasons == {
        ("eval", because("no-line", kind="eval")),
        ("export", because("no-line", kind="export")),
    }
