"""Quantisation and conversion to ONNX: planned as the scripts run them, and as they should."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from tipc.errors import UsageError
from tipc.plan.build import build_plan
from tipc.plan.model import Plan
from tipc.plan.request import PlanOptions
from tipc.plan.target.machine import Machine

UPSTREAM = Path(os.environ.get("TIPC_UPSTREAM", Path(__file__).parents[3] / "shared" / "upstream")).resolve()
RECORDED = ("models-ptq", "PaddleSeg-ptq", "models-onnx", "PaddleSeg-onnx")
PTQ = """===========================ptq_params===========================
model_name:toy
python:python3
--use_gpu:False
--model_path:./infer
--output_dir:./int8
--data_dir:./data
--batch_num:2
--batch_size:4
##
trainer:PTQ
PTQ:quantise.py
##
===========================infer_params===========================
inference:infer.py
--use-gpu:True|False
--batch-size:1|8
--model-dir:./int8
--img-path:./demo.jpg
--benchmark:True
"""
ONNX = """===========================paddle2onnx_params===========================
model_name:toy
python:python3
2onnx: paddle2onnx
--model_dir:./infer
--model_filename:inference.pdmodel
--params_filename:inference.pdiparams
--save_file:./onnx/model.onnx
--opset_version:11
--enable_onnx_checker:True
inference:infer_onnx.py
--onnx_file:./elsewhere.onnx
--img_path:./demo.jpg
"""


def planned(
    tmp_path: Path, text: str, name: str, dialect: str = "models", mode: str = "", **more: object
) -> Plan:
    path = tmp_path / "test_tipc" / "configs" / "toy" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    options = PlanOptions(**{"dialect": dialect, "machine": Machine(cores=2), **more})  # type: ignore[arg-type]
    return build_plan(path, mode, options)


@pytest.mark.skipif(not UPSTREAM.is_dir(), reason=f"no recordings at {UPSTREAM} (TIPC_UPSTREAM)")
@pytest.mark.parametrize("repository", RECORDED)
def test_the_plan_as_upstream_is_what_the_script_ran(repository: str) -> None:
    root = UPSTREAM / repository
    dialect = "models" if repository.startswith("models") else "seg"
    with gzip.open(root / "commands.jsonl.gz", "rt", encoding="utf-8") as file:
        runs = [json.loads(line) for line in file]
    for run in runs:
        plan = build_plan(
            root / run["config"], run["mode"], PlanOptions(dialect=dialect, as_upstream=True, prepare=False)
        )
        steps = [(list(step.argv), step.env["CUDA_VISIBLE_DEVICES"], step.cwd) for step in plan.steps]
        wanted = [(one["argv"], one["cuda"], one.get("cwd") or ".") for one in run["commands"]]
        assert steps == wanted, run["config"]
        # The script of models reports a quantisation that it has not run.
        reported = run["status"][len(run["status"]) - len(steps) :]
        assert [step.status_line for step in plan.steps] == reported


def test_the_quantisation_runs_although_the_script_has_it_in_a_comment(tmp_path: Path) -> None:
    plan = planned(tmp_path, PTQ, "train_ptq_infer_python.txt")
    assert (plan.chain, plan.mode) == ("ptq", "whole_infer")
    assert [step.kind for step in plan.steps] == ["quantise", "infer", "infer"]
    quantise, infer, _ = plan.steps
    assert quantise.argv[2:] == (
        "--use_gpu=False",
        "--model_path=./infer",
        "--batch_num=2",
        "--batch_size=4",
        "--data_dir=./data",
        "--output_dir=./int8",
    )
    assert quantise.produces == ("./int8/*.pdmodel|./int8/*.json", "./int8/*.pdiparams")
    assert infer.needs == (quantise.id,)
    assert {"TF027", "TF028"} <= {fix.id for fix in plan.fixes}
    upstream = planned(tmp_path, PTQ, "train_ptq_infer_python.txt", as_upstream=True)
    assert [step.kind for step in upstream.steps] == ["infer"] * 4
    assert [skip.reason.code for skip in upstream.skipped] == ["commented-out"]


def test_the_default_mode_means_the_chains_own_but_not_to_the_letter(tmp_path: Path) -> None:
    name, mode = "train_ptq_infer_python.txt", "lite_train_lite_infer"
    assert planned(tmp_path, PTQ, name, mode=mode).mode == "whole_infer"
    upstream = planned(tmp_path, PTQ, name, mode=mode, as_upstream=True)
    assert (upstream.mode, upstream.steps) == (mode, ())


def test_a_conversion_installs_nothing_and_inference_reads_what_it_made(tmp_path: Path) -> None:
    plan = planned(tmp_path, ONNX, "paddle2onnx_infer_python.txt")
    convert, infer = plan.steps
    assert (convert.kind, convert.produces) == ("convert", ("./onnx/model.onnx",))
    assert convert.argv[-2:] == ("--optimize_tool", "None")
    assert "--onnx_file=./onnx/model.onnx" in infer.argv
    assert infer.needs == (convert.id,)
    assert [fix.id for fix in plan.fixes if fix.id > "TF026"] == ["TF030"]


def test_a_mode_that_trains_is_refused_for_a_chain_that_does_not(tmp_path: Path) -> None:
    path = tmp_path / "test_tipc" / "configs" / "train_ptq_infer_python.txt"
    path.parent.mkdir(parents=True)
    path.write_text(PTQ)
    with pytest.raises(UsageError, match="whole_infer"):
        build_plan(path, "whole_train_whole_infer", PlanOptions(dialect="models"))


CLAS_ONNX = ONNX.replace(
    "inference:infer_onnx.py\n--onnx_file:./elsewhere.onnx\n--img_path:./demo.jpg\n", ""
) + (
    "inference_model_url:https://host/model.tar\n"
    "inference:./python/predict_cls.py\n"
    "Global.use_onnx:True\n"
    "Global.inference_model_dir:./models/toy\n"
    "Global.use_gpu:False\n"
    "-c:configs/inference_cls.yaml\n"
)


def test_the_dev_option_is_dropped_and_inference_runs_in_deploy(tmp_path: Path) -> None:
    plan = planned(tmp_path, CLAS_ONNX, "paddle2onnx_infer_python.txt", "clas")
    convert, infer = plan.steps
    assert not any(word.startswith("--enable_dev_version") for word in convert.argv)
    assert infer.cwd == "deploy"
    assert infer.argv[2:5] == ("-o", "Global.inference_model_dir=./models/toy", "-o")
    assert {"TF029", "TF030", "TF031"} <= {fix.id for fix in plan.fixes}
    upstream = planned(tmp_path, CLAS_ONNX, "paddle2onnx_infer_python.txt", "clas", as_upstream=True)
    assert upstream.steps[0].argv[-1] == "--enable_dev_version=False"
    assert "cd deploy && python3 ./python/predict_cls.py" in upstream.steps[1].status_line


@pytest.mark.parametrize(
    ("model", "made"),
    [
        ("toy_det", ["./det.onnx"]),
        ("toy_rec", ["./rec.onnx"]),
        ("ch_PP-OCRv3", ["./det.onnx", "./rec.onnx"]),
        ("slanet", ["./det.onnx"]),
    ],
)
def test_the_name_of_an_ocr_model_says_what_is_converted(tmp_path: Path, model: str, made: list[str]) -> None:
    text = (
        "===========================paddle2onnx_params===========================\n"
        f"model_name:{model}\npython:python3\n2onnx: paddle2onnx\n--det_model_dir:./det\n"
        "--model_filename:a.pdmodel\n--params_filename:a.pdiparams\n--det_save_file:./det.onnx\n"
        "--rec_model_dir:./rec\n--rec_save_file:./rec.onnx\n--opset_version:10\n--enable_onnx_checker:True\n"
        "inference:infer.py\n--use_gpu:False\n--det_model_dir:\n--rec_model_dir:\n--image_dir:./images\n"
    )
    plan = planned(tmp_path, text, "paddle2onnx_infer_python.txt", "ocr")
    assert [step.produces[0] for step in plan.steps if step.kind == "convert"] == made
    assert [word for word in plan.steps[-1].argv if word.endswith(".onnx")] == [
        f"--{name.split('/')[1].split('.')[0]}_model_dir={name}" for name in made
    ]


def test_blanks_at_the_end_of_a_value_drop_no_inference(plan) -> None:
    made = plan("models", {28: "--use-gpu:cpu "})
    assert [step.kind for step in made.steps if step.kind == "infer"]
    assert "TF019" in {fix.id for fix in made.fixes}
