"""Training benchmarks: the block of a training config as a training for each batch size and precision."""

from __future__ import annotations

from pathlib import Path

import pytest
from plan_samples import SAMPLES, write

from tipc.errors import UsageError
from tipc.plan.build import build_plan
from tipc.plan.model import Plan
from tipc.plan.request import PlanOptions
from tipc.plan.target.machine import Machine

BLOCKS = {
    "seg": [
        "batch_size:2|4",
        "fp_items:fp32|fp16",
        "epoch:30",
        "--profiler_options:state=GPU",
        "flags:A=1;B=2",
    ],
    "ocr": ["batch_size:8", "fp_items:fp32|fp16", "epoch:1", "--profiler_options:state=GPU", "flags:null"],
    "det": [
        "batch_size:2",
        "fp_items:fp32",
        "epoch:1",
        "repeat:3",
        "--profiler_options:state=GPU",
        "flags:null",
    ],
}
EIGHT = Machine(cores=2, gpus=8)


def text_of(dialect: str, *more: str) -> str:
    lines = [SAMPLES[dialect].rstrip("\n"), "===train_benchmark_params===", *BLOCKS[dialect], *more]
    return "\n".join(lines) + "\n"


def planned(tmp_path: Path, dialect: str, text: str = "", **more: object) -> Plan:
    path = write(tmp_path, text or text_of(dialect))
    options = {"dialect": dialect, "machine": EIGHT, **more}
    return build_plan(path, "benchmark_train", PlanOptions(**options))  # type: ignore[arg-type]


def test_every_batch_size_and_precision_is_trained_on_one_and_on_eight_gpus(tmp_path: Path) -> None:
    plan = planned(tmp_path, "seg")
    assert (plan.chain, plan.mode, plan.traced) == ("benchmark_train", "benchmark_train", False)
    assert {step.kind for step in plan.steps} == {"train"}  # no evaluation, no export, no inference
    names = [step.id.partition("-")[0] for step in plan.steps]
    assert names[:3] == ["bs2_fp32_N1C1_profiling", "bs2_fp32_N1C1", "bs2_fp32_N1C8"]
    assert len(names) == 2 * 2 * 3
    assert plan.steps[2].gpus == tuple("01234567")
    assert "--iters=30" in plan.steps[0].argv
    assert "--batch_size=4" in plan.steps[-1].argv
    assert [any("state=GPU" in word for word in step.argv) for step in plan.steps[:3]] == [True, False, False]


def test_a_run_has_the_flags_and_files_of_its_own_and_is_measured_alone(tmp_path: Path) -> None:
    plan = planned(tmp_path, "seg")
    assert {(step.env["A"], step.env["B"]) for step in plan.steps} == {("1", "2")}
    for part in ("id", "log", "weights"):
        assert len({getattr(step, part) for step in plan.steps}) == len(plan.steps)
    assert all(step.measures for step in plan.steps)


def test_what_reads_the_speed_from_the_scripts_logs_is_left_out_and_named(tmp_path: Path) -> None:
    text = text_of("seg", "log_iters:5;skip_iters:2;repeats:9")
    ours, upstream = planned(tmp_path, "seg", text), planned(tmp_path, "seg", text, as_upstream=True)
    left = [skip.argv[1] for skip in ours.skipped if skip.reason.code == "reads-own-logs"]
    run = [step.argv[1] for step in upstream.steps if step.kind == "prepare"]
    assert left == run
    assert run[:3] == ["test_tipc/filter_log.py", "/scripts/analysis.py", "/scripts/analysis.py"]
    assert ours.steps[0].argv[-4:] == ("--log_iters", "5", "--repeats", "9")


def test_the_fixes_of_a_benchmark_are_named(tmp_path: Path) -> None:
    assert {"TF034", "TF035"} <= {fix.id for fix in planned(tmp_path, "seg").fixes}
    assert "TF033" in {fix.id for fix in planned(tmp_path, "det").fixes}
    ocr = planned(tmp_path, "ocr")
    assert "TF036" in {fix.id for fix in ocr.fixes}
    letter = planned(tmp_path, "ocr", as_upstream=True)
    assert not letter.fixes
    assert not any("use_amp" in word for step in letter.steps for word in step.argv)
    assert any("use_amp" in word for step in ocr.steps for word in step.argv)
    assert letter.steps[0].argv[0] == "python"


def test_a_line_that_is_missing_in_the_block_is_named_with_its_place(tmp_path: Path) -> None:
    text = text_of("det").replace("repeat:3\n", "")
    with pytest.raises(UsageError, match="should be `repeat:…`") as error:
        planned(tmp_path, "det", text)
    assert error.value.line == text[: text.index("--profiler")].count("\n") + 1


def test_an_empty_list_is_an_error_and_runs_nothing_in_the_script(tmp_path: Path) -> None:
    text = text_of("ocr").replace("batch_size:8", "batch_size:")
    with pytest.raises(UsageError, match="lists no batch size"):
        planned(tmp_path, "ocr", text)
    assert planned(tmp_path, "ocr", text, as_upstream=True).steps == ()


def test_on_a_machine_without_a_gpu_it_runs_on_the_cpu_and_says_what_that_does_not_prove(
    tmp_path: Path,
) -> None:
    plan = planned(tmp_path, "seg", machine=Machine(cores=2))
    assert {step.device for step in plan.steps} == {"cpu"}
    assert all(cell.not_certified for cell in plan.cells)


def test_a_dialect_without_a_table_for_it_refuses(tmp_path: Path) -> None:
    text = SAMPLES["models"] + "===train_benchmark_params===\nbatch_size:2\n"
    with pytest.raises(UsageError, match=r"training benchmark \(benchmark_train\)"):
        planned(tmp_path, "models", text)
