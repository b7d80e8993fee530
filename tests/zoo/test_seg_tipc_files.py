"""The files under test_tipc/: every model has its three configs, and what they name exists."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from seg_helpers import SEGMENTATION

from paddlezoo.models import MODELS
from paddlezoo.seg import config, losses, transforms

pytestmark = pytest.mark.paddle
FILES = (
    "train_infer_python.txt",
    "train_linux_gpu_normal_amp_infer_python_linux_gpu_cpu.txt",
    "train_pact_infer_python.txt",
)
HEADS = {"pp_liteseg_stdc1": 3, "pp_liteseg_stdc2": 3, "ocrnet_hrnetw18": 2, "ocrnet_hrnetw48": 2}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("file", FILES)
def test_a_config_has_the_52_lines_of_paddleseg_and_names_what_exists(name: str, file: str) -> None:
    lines = (SEGMENTATION / "test_tipc/configs" / name / file).read_text().splitlines()
    assert len(lines) == 52
    assert lines[1] == f"model_name:{name}"
    named = re.findall(r"(?<=[: ])(\S+\.(?:py|yml))", "\n".join(lines))
    assert len(named) >= 4
    assert not [each for each in named if not (SEGMENTATION / each).is_file()]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("path", ["configs/{0}.yml", "test_tipc/configs/{0}/{0}.yml"])
def test_a_training_config_is_whole(name: str, path: str) -> None:
    settings = config.read(SEGMENTATION / path.format(name))
    assert settings.model.type == name
    assert len([losses.build(entry) for entry in settings.loss.types]) == HEADS.get(name, 1)
    for part in (settings.train_dataset, settings.val_dataset):
        assert transforms.build(part.transforms)
        assert part.num_classes == settings.model.num_classes


def prepare(*words: str, cwd: Path = SEGMENTATION) -> subprocess.CompletedProcess[str]:
    command = ["bash", str(SEGMENTATION / "test_tipc/prepare.sh"), *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "usage: bash test_tipc/prepare.sh"),
        (("nowhere.txt",), "nowhere.txt: no such config"),
        (("test_tipc/configs/pphumanseg_lite/nothing.txt",), "nothing.txt: no such config"),
        (("test_tipc/configs/pp_humanseg/train_infer_python.txt",), "no such config"),
        (("test_tipc/configs/pphumanseg_lite/train_infer_python.txt", "lite"), "lite: not a mode"),
        (
            ("test_tipc/configs/pphumanseg_lite/train_infer_python.txt", "whole_train_whole_infer"),
            "needs data: bash test_tipc/prepare.sh",
        ),
    ],
)
def test_a_wrong_call_of_prepare_is_told(words: tuple[str, ...], told: str) -> None:
    done = prepare(*words)
    assert done.returncode == 2
    assert told in done.stderr


def test_prepare_unpacks_the_lite_data_from_wherever_it_is_called(tmp_path: Path) -> None:
    config = SEGMENTATION / "test_tipc/configs/pphumanseg_lite/train_infer_python.txt"
    done = prepare(str(config), "lite_train_lite_infer", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "lite_data: 24 images to train with, 16 to test\n")


@pytest.mark.parametrize("name", ["pp_humanseg_lite", "pp_humanseg_mobile", "pp_humanseg_server"])
def test_the_scripts_take_the_specifications_name_of_a_model(name: str) -> None:
    config = f"test_tipc/configs/{name}/train_infer_python.txt"
    assert prepare(config, "lite_train_lite_infer").returncode == 0
    script = SEGMENTATION / "test_tipc/test_train_inference_python.sh"
    command = ["bash", str(script), config, "lite_train_lite_infer", "--dry-run"]
    done = subprocess.run(command, cwd=SEGMENTATION, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "train.py --config" in done.stdout
