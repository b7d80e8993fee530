"""``results_python.log`` and the names of logs, as the specification writes them."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tipc.plan.model import Plan, Step
from tipc.run.show import results_log

STEP = Step(
    id="infer", kind="infer", cell="c", argv=("python", "infer.py"), env={}, cwd=".", log="./out/a.log",
    needs=(), produces=(), status_line=" Run successfully with command - net - python infer.py --b=1!  ",
)  # fmt: skip


def test_the_line_of_an_inference_says_where_its_output_went() -> None:
    line = results_log.with_redirection(STEP, STEP.status_line)
    assert line == " Run successfully with command - net - python infer.py --b=1 > ./out/a.log 2>&1 !  "
    assert results_log.with_redirection(STEP, line) == line
    assert results_log.with_redirection(replace(STEP, kind="train"), STEP.status_line) == STEP.status_line
    named = " Run successfully with command - net - python infer.py --b=1 - ./out/a.log  "
    told = " Run successfully with command - net - python infer.py --b=1 > ./out/a.log 2>&1  - ./out/a.log  "
    assert results_log.with_redirection(STEP, named) == told


@pytest.mark.parametrize(
    ("log", "name"),
    [
        ("norm_train_gpus_0_python_infer_cpu_batchsize_1.log", "python_infer_cpu_batchsize_1.log"),
        (
            "norm_train_gpus_0,1_autocast_null_python_infer_cpu_gpu_0,1_usemkldnn_True_threads_1_batchsize_2.log",
            "python_infer_cpu_usemkldnn_True_threads_1_batchsize_2.log",
        ),
    ],
)
def test_the_log_is_also_found_under_the_name_of_the_specification(
    tmp_path: Path, log: str, name: str
) -> None:
    plan = Plan("a.txt", "mode", "models", "net", str(tmp_path), False, (), ())
    for cell in ("first", "last"):  # of two cells the last one's
        (tmp_path / f"{cell}_{log}").write_text(cell)
        results_log.link_log(plan, replace(STEP, log=f"./{cell}_{log}"))
    assert (tmp_path / name).read_text() == "last"
    assert os.readlink(tmp_path / name) == f"last_{log}"


def test_other_steps_and_missing_logs_get_no_link(tmp_path: Path) -> None:
    plan = Plan("a.txt", "mode", "models", "net", str(tmp_path), False, (), ())
    results_log.link_log(plan, replace(STEP, log="./x_python_infer_cpu_batchsize_1.log"))
    (tmp_path / "x_python_infer_cpu_batchsize_1.log").touch()
    results_log.link_log(plan, replace(STEP, kind="train", log="./x_python_infer_cpu_batchsize_1.log"))
    assert len(list(tmp_path.iterdir())) == 1
