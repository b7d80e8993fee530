"""The suite of lies, fourth part: the repositories of the zoo through ``tipc run``, each with one edit."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = [pytest.mark.paddle, pytest.mark.slow, pytest.mark.xdist_group("certify_paddle")]
pytest.importorskip("paddle")

ZOO = Path(__file__).parents[2] / "zoo"
LEFT_BEHIND = shutil.ignore_patterns("output", ".tipc", "lite_data", "log", "*_infer", "__pycache__")
CLASSIFIER = "classification", "mobilenet_v3_small/train_infer_python.txt"
QUANTISED = "classification", "mobilenet_v3_small/train_pact_infer_python.txt"
SEGMENTER = "segmentation", "pphumanseg_lite/train_infer_python.txt"
# The smallest chain that each config makes: one cell, few iterations, the engines of every machine.
SMALLER = (
    (r"gpu_list:.*", "gpu_list:0"),
    (r"--use-gpu:True\|True", "--use-gpu:True"),
    (r"--device:gpu\|gpu", "--device:gpu"),
    (r"--(epochs|iters):.*", r"--\1:lite_train_lite_infer={length}"),
    (r"--engine=\S+", "--engine=native,onednn"),
    (r"--batch_size:1\|2", "--batch_size:2"),
    (r"--enable_mkldnn:True\|False", "--enable_mkldnn:True"),
)


@dataclass(frozen=True)
class ZooLie:
    """One edit of a script, and the check that must find it."""

    name: str
    repo: tuple[str, str]
    file: str
    old: str
    new: str
    check: str
    length: int = 2


LIES = [
    ZooLie(
        "the optimiser never runs",
        CLASSIFIER,
        "train.py",
        "precision.backward_and_step(loss, optimizer)",
        "loss.backward()",
        "TT901",
    ),
    ZooLie(
        "the deployment feeds its images as BGR",
        CLASSIFIER,
        "deploy/inference_python/infer.py",
        "for path in some])",
        "for path in some])[:, ::-1]",
        "TP304",
    ),
    ZooLie(
        "int8 is printed, and fp32 computes",
        QUANTISED,
        "deploy/inference_python/infer.py",
        "predictor = Predictor(model.prefix, engine, precision, ",
        'predictor = Predictor(model.prefix, engine, "fp32", ',
        "TQ404",
    ),
    ZooLie(
        "the deployment of a segmentation feeds BGR, and only warms up with RGB",
        SEGMENTER,
        "deploy/python/infer.py",
        "batch = deployment.preprocess(paths)",
        "batch = deployment.preprocess(paths)[:, ::-1].copy()",
        "TP304",
        length=30,
    ),
    ZooLie(
        "the segmentation is drawn upside down",
        SEGMENTER,
        "deploy/python/infer.py",
        "masks = deploy.classes_of(outputs)",
        "masks = deploy.classes_of(outputs)[:, ::-1]",
        "TP311",
        length=30,
    ),
    ZooLie(
        "the exported segmentation answers upside down",
        SEGMENTER,
        "tools/export_model.py",
        "from __future__ import annotations\n",
        "from __future__ import annotations\nimport paddle\nfrom paddlezoo.seg import output\n"
        "honest = output.WithOutput.forward\n"
        "output.WithOutput.forward = lambda self, images: paddle.flip(honest(self, images), [-2])\n",
        "TP301",
        length=30,
    ),
]
MORE_EDITS = {
    "int8 is printed, and fp32 computes": [
        ("deploy/inference_python/infer.py", "model_precision=predictor.precision", 'model_precision="int8"')
    ]
}


def edited(text: str, old: str, new: str) -> str:
    assert old in text, f"there is no {old!r}"
    return text.replace(old, new)


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.name)
def test_a_lie_in_the_zoo_is_caught(lie: ZooLie, tmp_path: Path) -> None:
    folder, config = lie.repo
    repo = tmp_path / folder
    shutil.copytree(ZOO / folder, repo, ignore=LEFT_BEHIND)
    path = repo / "test_tipc" / "configs" / config
    text = path.read_text(encoding="utf-8")
    for pattern, new in SMALLER:
        text = re.sub(pattern, new.replace("{length}", str(lie.length)), text)
    path.write_text(text, encoding="utf-8")
    for file, old, new in [(lie.file, lie.old, lie.new), *MORE_EDITS.get(lie.name, [])]:
        script = repo / file
        script.write_text(edited(script.read_text(encoding="utf-8"), old, new), encoding="utf-8")
    command = [sys.executable, "-m", "tipc", "run", str(path), "lite_train_lite_infer"]
    done = subprocess.run(
        command, cwd=repo, env={**os.environ, "TIPC_HOME": str(tmp_path / "home")}, capture_output=True,
        text=True, timeout=900, check=False,
    )  # fmt: skip
    verdicts = list((tmp_path / "home" / "runs").glob("*/verdict.json"))
    assert verdicts, done.stdout[-3000:] + done.stderr[-3000:]
    findings = json.loads(verdicts[0].read_text(encoding="utf-8"))["findings"]
    failed = {one["check"]: one["message"] for one in findings if one["status"] == "fail"}
    assert done.returncode == 1
    assert lie.check in failed, failed
