"""A traced plan on this machine, through the commands that people use: plan, plan --verify, run."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from models_script import SCRIPT, make_repository

from tipc.cli.main import main
from tipc.errors import UsageError
from tipc.plan.build import build_plan
from tipc.plan.model import Skip
from tipc.plan.request import PlanOptions
from tipc.plan.target.machine import Machine
from tipc.plan.trace.read.differences import differences
from tipc.plan.trace.tracing import trace_plan, verify_plan
from tipc.reasons import because

Make = Callable[..., Path]
CPU, TWO_GPUS = Machine(cores=2), Machine(cores=8, gpus=2)

MODELS = """\
===========================train_params===========================
model_name:toy
python:python3.7
gpu_list:0|0,1
use-gpu:True|True
--epochs:lite_train_lite_infer=2|whole_train_whole_infer=90
--output-dir:./output/
--batch-size:lite_train_lite_infer=4|whole_train_whole_infer=64
--pretrained:null
train_model_name:latest.pdparams
--data-path:./lite_data
##
trainer:norm_train
norm_train:train.py --device gpu
##
===========================eval_params===========================
eval:train.py --test-only
##
===========================infer_params===========================
--save-inference-dir:./output/toy_infer/
--pretrained:
norm_export:tools/export_model.py --model=toy
##
train_model:./pretrained/toy.pdparams
infer_export:tools/export_model.py --model=toy
##
inference:deploy/infer.py
--use-gpu:True|False
--batch-size:1
--model-dir:./output/toy_infer/
--img-path:./images/demo.jpg
--benchmark:True
"""


def test_on_a_machine_without_a_gpu_the_plan_is_for_the_cpu(tmp_path: Path) -> None:
    config = make_repository(tmp_path, MODELS)
    plan = trace_plan(config, "lite_train_lite_infer", PlanOptions(repo=str(tmp_path), machine=CPU))
    first, second = (step for step in plan.steps if step.kind == "train")
    assert first.argv[:4] == (sys.executable, "train.py", "--device", "cpu")
    assert second.argv[1:4] == ("-m", "paddle.distributed.launch", "--nproc_per_node=2")
    assert (second.env["OMP_NUM_THREADS"], second.processes, second.gpus) == ("1", 2, ())
    assert {step.env["CUDA_VISIBLE_DEVICES"] for step in plan.steps} == {None}
    assert {step.settings["device"] for step in plan.steps if step.kind == "infer"} == {"cpu"}
    assert [cell.runs_on for cell in plan.cells] == ["cpu", "2 × cpu (gloo)"]
    assert all(cell.not_certified for cell in plan.cells)
    assert {skip.reason for skip in plan.skipped} == {because("no-device", device="gpu")}
    assert plan.interpreter.asked == "python3.7"


def test_on_a_machine_with_gpus_everything_is_planned(tmp_path: Path) -> None:
    config = make_repository(tmp_path, MODELS)
    plan = trace_plan(
        config, "lite_train_lite_infer", PlanOptions(repo=str(tmp_path), machine=TWO_GPUS, python="py")
    )
    assert [step.kind for step in plan.steps] == ["train", "eval", "export", "infer", "infer"] * 2
    assert plan.steps[5].gpus == ("0", "1")
    assert plan.skipped == ()
    assert all(step.argv[0] == "py" for step in plan.steps)
    assert len({step.log for step in plan.steps}) == len(plan.steps)


def test_steps_for_another_device_are_called_by_it(tmp_path: Path) -> None:
    config = make_repository(tmp_path, MODELS)
    options = PlanOptions(repo=str(tmp_path), machine=Machine(2, 0, (("npu", 2),)), device="npu")
    plan = trace_plan(config, "lite_train_lite_infer", options)
    inferences = [step for step in plan.steps if step.kind == "infer"]
    assert {step.settings["device"] for step in inferences} == {"npu", "cpu"}
    for step in inferences:
        assert f"/infer-{step.settings['device']}" in step.id
        assert step.device == step.settings["device"]


def test_a_cell_that_asks_for_more_gpus_is_left_out_with_all_its_steps(tmp_path: Path) -> None:
    config = make_repository(tmp_path, MODELS)
    plan = trace_plan(
        config, "lite_train_lite_infer", PlanOptions(repo=str(tmp_path), machine=Machine(cores=2, gpus=1))
    )
    assert {step.cell for step in plan.steps} == {"norm_train-gpu0-False"}
    assert because("few-devices", device="gpu", asked=2, here=1) in [skip.reason for skip in plan.skipped]


def test_traced_and_native_plans_have_the_same_steps(tmp_path: Path) -> None:
    config = make_repository(tmp_path, MODELS)
    options = PlanOptions(repo=str(tmp_path), dialect="models", as_upstream=True)
    native = build_plan(config, "lite_train_lite_infer", options)
    traced = trace_plan(config, "lite_train_lite_infer", PlanOptions(repo=str(tmp_path), as_upstream=True))
    for ours, theirs in zip(native.steps, traced.steps, strict=True):
        assert (ours.kind, ours.argv, ours.cwd) == (theirs.kind, theirs.argv, theirs.cwd)
        assert ours.env["CUDA_VISIBLE_DEVICES"] == theirs.env["CUDA_VISIBLE_DEVICES"]
        assert " ".join(ours.status_line.split()) == " ".join(theirs.status_line.split())
        assert len(ours.needs) == len(theirs.needs)
    assert [cell.trainer for cell in native.cells] == [cell.trainer for cell in traced.cells]
    assert [cell.asked for cell in native.cells] == [cell.asked for cell in traced.cells]
    assert native.steps[0].produces == tuple(f"./{path}" for path in traced.steps[0].produces)


@pytest.mark.parametrize("mode", ["lite_train_lite_infer", "whole_train_whole_infer", "whole_infer"])
def test_verify_finds_no_difference_where_there_is_none(tmp_path: Path, mode: str) -> None:
    config = make_repository(tmp_path, MODELS)
    assert verify_plan(config, mode, tmp_path, "models") == []
    assert verify_plan(config, mode) == []


def test_a_call_that_a_trace_leaves_out_is_no_difference(tmp_path: Path) -> None:
    config = make_repository(tmp_path, MODELS)
    plan = trace_plan(config, "lite_train_lite_infer", PlanOptions(repo=str(tmp_path), as_upstream=True))
    asks = replace(plan.steps[0], id="asks", argv=("pip", "list"))
    with_it = replace(plan, steps=(asks, *plan.steps))
    assert [line.split(": ")[0] for line in differences(with_it, plan)] == ["only in the dialect"]
    left = Skip("", "prepare", because("asks-only"), argv=asks.argv)
    assert differences(with_it, replace(plan, skipped=(left,))) == []


def test_verify_shows_what_a_fork_has_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fork = SCRIPT.replace('run "$py $launch $(val 13)', 'run "$py $launch $(val 13) --amp')
    fork = fork.replace('        if [ "$(val 16)" != null ]; then', '        if [ "$ids" = 0 ]; then')
    config = make_repository(tmp_path, MODELS, fork)
    found = verify_plan(config, "lite_train_lite_infer", tmp_path, "models")
    assert len(found) == 4
    assert "the dialect has nothing, the script --amp" in found[0]
    assert found[2].startswith("only in the dialect: CUDA_VISIBLE_DEVICES=0 python3.7 train.py --test-only")
    assert "has CUDA_VISIBLE_DEVICES=0, the script CUDA_VISIBLE_DEVICES=(unset)" in found[3]
    arguments = ["plan", "--verify", "--dialect", "models", "--repo", str(tmp_path), str(config)]
    assert main(arguments) == 1
    assert "4 differences" in capsys.readouterr().out


def test_verify_needs_a_dialect(repository: Make) -> None:
    config = repository(name="test_tipc/test_train_inference_python.sh")
    with pytest.raises(UsageError, match="nothing to compare"):
        verify_plan(config, "lite", config.parents[2])


def test_a_script_that_no_dialect_fits_is_traced_without_being_asked(
    repository: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    config = repository(name="test_tipc/test_train_inference_python.sh")
    assert main(["plan", str(config), "lite", "--json", "--as-upstream"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["traced"] is True
    assert [step["kind"] for step in plan["steps"]].count("train") == 2


def test_a_wildcard_is_filled_in_when_the_step_starts(repository: Make) -> None:
    config = repository("python train.py --out=o\npython export.py --load o/*/x.pdparams --save=o/m\n")
    plan = trace_plan(config, "lite", PlanOptions(repo=str(config.parents[2]), machine=CPU))
    assert plan.steps[1].argv[2:] == ("--load", "o/*/x.pdparams", "--save=o/m")
    assert plan.steps[1].globs == ("o/*/x.pdparams",)


def test_the_script_may_stand_in_a_folder_of_the_repository(tmp_path: Path) -> None:
    root = tmp_path / "tests"
    config = make_repository(root, MODELS, "source test_tipc/more.sh\nfit $1\n")
    (root / "test_tipc" / "more.sh").write_text("fit() { python train.py --config=$1; }\n", encoding="utf-8")
    plan = trace_plan(config, "lite", PlanOptions(repo=str(tmp_path), as_upstream=True))
    assert plan.steps[0].argv[2] == "--config=test_tipc/configs/toy/train_infer_python.txt"
    assert plan.steps[0].cwd == "tests"


RUNNABLE = {
    "tools/fit.py": """
import pathlib, sys
options = dict(word.split("=", 1) for word in sys.argv if word.startswith("--") and "=" in word)
if "--judge" in sys.argv:
    assert pathlib.Path(options["--weights"]).exists()
    print("acc: 1.0")
else:
    save = pathlib.Path(options["--save_dir"])
    save.mkdir(parents=True, exist_ok=True)
    (save / "final.pdparams").write_text("weights")
""",
    "tools/freeze.py": """
import pathlib, sys
options = dict(word.split("=", 1) for word in sys.argv if "=" in word)
out = pathlib.Path(options["--out"])
out.mkdir(parents=True, exist_ok=True)
(out / "model.pdmodel").write_text("m")
(out / "model.pdiparams").write_text("p")
""",
    "deploy/run.py": "print('top-1: 7')\n",
}


def test_a_traced_plan_runs(
    repository: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    config = repository(
        config="name:toy\ninterpreter:python3\ncards:0\nnorm_train:tools/fit.py -c toy.yml\n"
        "eval:tools/fit.py -c toy.yml --judge\nnorm_export:tools/freeze.py\ninference:deploy/run.py\n"
    )
    root = config.parents[2]
    for name, code in RUNNABLE.items():
        (root / name).write_text(code, encoding="utf-8")
    monkeypatch.chdir(root)
    monkeypatch.setenv("TIPC_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TIPC_TRACE_SCRIPT", "test_tipc/go.sh")
    code = main(["run", str(config), "lite", "--trace", "--cold", "--no-checks"])
    captured = capfd.readouterr()
    assert code == 0, captured.out + captured.err
    assert (root / "work/toy/lite/run1/final.pdparams").read_text(encoding="utf-8") == "weights"
    assert "acc: 1.0" in (root / "work/toy/lite/eval1.log").read_text(encoding="utf-8")


def test_a_script_that_only_builds_and_copies_has_no_plan(repository: Make) -> None:
    config = repository("make -j4\nadb push model /data\n", name="test_tipc/test_lite_arm_cpp.sh")
    lite = config.rename(config.with_name("toy_lite_arm_cpp.txt"))
    lite.write_text("===========================lite_params===========================\ninference:x\n")
    with pytest.raises(UsageError, match=r"\(lite\): test_tipc/test_lite_arm_cpp.sh calls nothing"):
        build_plan(lite, "lite_train_lite_infer")


def test_a_training_script_that_calls_nothing_says_so(repository: Make) -> None:
    config = repository("echo nothing\n", name="test_tipc/test_train_inference_python.sh")
    plan = build_plan(config, "lite_train_lite_infer")
    assert not plan.steps
    assert any("called nothing in the mode lite_train_lite_infer" in note for note in plan.notes)
