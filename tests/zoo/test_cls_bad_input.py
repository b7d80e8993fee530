"""What users do wrong with the classification scripts: one clear line, an exit code, nothing good lost."""

from __future__ import annotations

import os
import pickle
import resource
import shutil
from pathlib import Path

import cls_scripts as scripts
import numpy as np
import pytest

pytestmark = [pytest.mark.paddle, pytest.mark.filterwarnings("ignore")]
paddle = pytest.importorskip("paddle")

from paddlezoo import checkpoint, resume  # noqa: E402
from paddlezoo.cls import network  # noqa: E402
from paddlezoo.cls.transforms import Transform  # noqa: E402


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working folder with data and a checkpoint of four classes."""
    scripts.unpack(tmp_path)
    save(tmp_path / "good" / "latest.pdparams", 4)
    return tmp_path


def save(path: Path, classes: int, model: str = "mobilenet_v3_small") -> None:
    checkpoint.write(path, checkpoint.weights_of(network.build(model, classes)))
    network.Card(model, tuple("abcdefghij"[:classes]), Transform.for_size(64)).write(path)


def test_an_empty_data_folder(folder: Path) -> None:
    (folder / "empty").mkdir()
    done = scripts.train(folder, "--data-path=empty")
    assert "no train data: neither train_list.txt nor images in train/<class>/" in scripts.error_line(done)


def test_a_data_folder_that_is_not_there(folder: Path) -> None:
    assert "no such data folder" in scripts.error_line(scripts.train(folder, "--data-path=nowhere"))


def test_a_missing_data_folder_is_unpacked_from_the_archive_beside_it(folder: Path) -> None:
    shutil.rmtree(folder / "lite_data")
    shutil.copy(scripts.ROOT / "lite_data.tar", folder)
    done = scripts.run(folder, "eval.py", "--pretrained=good/latest.pdparams")
    assert done.code == 0, done.err
    assert (folder / "lite_data" / "val_list.txt").is_file()


@pytest.mark.parametrize("workers", [0, 2])
def test_a_truncated_jpeg(folder: Path, workers: int) -> None:
    for image in (folder / "lite_data" / "train").iterdir():
        image.write_bytes(image.read_bytes()[:-900])
    done = scripts.train(folder, "--epochs=1", f"--num_workers={workers}")
    assert ".jpg: damaged image" in scripts.error_line(done)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("train/a.jpg\n", "expected `path class-number`"),
        ("", "the list is empty"),
        ("x.jpg 9\n", "class number 9"),
    ],
)
def test_a_list_that_makes_no_sense(folder: Path, text: str, says: str) -> None:
    (folder / "lite_data" / "train_list.txt").write_text(text)
    assert says in scripts.error_line(scripts.train(folder))


@pytest.mark.parametrize("script", ["eval.py", "train.py"])
def test_a_class_count_that_does_not_fit_the_checkpoint(folder: Path, script: str) -> None:
    save(folder / "ten.pdparams", 10)
    line = scripts.error_line(scripts.run(folder, script, "--pretrained=ten.pdparams"))
    assert "the checkpoint has 10 classes, the data has 4" in line


@pytest.mark.parametrize("script", ["eval.py", "predict.py", "tools/export_model.py"])
def test_a_checkpoint_of_another_model(folder: Path, script: str) -> None:
    save(folder / "large.pdparams", 4, "mobilenet_v3_large")
    line = scripts.error_line(scripts.run(folder, script, "--pretrained=large.pdparams"))
    assert "a checkpoint of mobilenet_v3_large, not of mobilenet_v3_small" in line
    (folder / "large.yml").unlink()  # without its card the weights themselves tell
    line = scripts.error_line(scripts.run(folder, script, "--pretrained=large.pdparams"))
    assert "a checkpoint of another model" in line


def test_a_checkpoint_that_would_run_code(folder: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.mkdir, (str(folder / "ran"),)

    (folder / "evil.pdparams").write_bytes(pickle.dumps({"w": Evil()}))
    line = scripts.error_line(scripts.run(folder, "predict.py", "--pretrained=evil.pdparams"))
    assert "refused: not a checkpoint of arrays only" in line
    assert not (folder / "ran").exists()


def test_a_checkpoint_that_is_cut_short(folder: Path) -> None:
    path = folder / "good" / "latest.pdparams"
    path.write_bytes(path.read_bytes()[:1000])
    line = scripts.error_line(scripts.run(folder, "eval.py", "--pretrained=good/latest.pdparams"))
    assert "damaged" in line


def test_no_permission_to_write(folder: Path) -> None:
    (folder / "output").write_text("a file in the place of the folder")
    assert "cannot write the log output/train.log" in scripts.error_line(scripts.train(folder))
    line = scripts.error_line(
        scripts.run(
            folder,
            "tools/export_model.py",
            "--pretrained=good/latest.pdparams",
            "--save-inference-dir=output",
        )
    )
    assert "cannot export to output" in line


def test_a_full_disk_keeps_the_last_good_checkpoint(folder: Path) -> None:
    output = folder / "good"
    before = {path.name: path.read_bytes() for path in output.iterdir()}
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard))
    try:
        done = scripts.train(folder, "--epochs=1", "--output-dir=good")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    line = scripts.error_line(done)
    assert "cannot write good/latest.pdparams: the disk is full" in line
    assert "the earlier one is kept" in line
    assert (output / "latest.pdparams").read_bytes() == before["latest.pdparams"]
    assert not [path for path in output.iterdir() if path.name.startswith(".")]


def test_resuming_what_is_no_training_state(folder: Path) -> None:
    line = scripts.error_line(scripts.train(folder, "--resume=good/latest.pdparams"))
    assert "latest.pdstates: no such checkpoint" in line


def test_resuming_with_another_number_of_epochs(folder: Path) -> None:
    model = network.build("mobilenet_v3_small", 4)
    schedule = paddle.optimizer.lr.CosineAnnealingDecay(0.001, 28)
    optimizer = paddle.optimizer.Adam(schedule, parameters=model.parameters())
    progress = {"epoch": 1, "best": 0.5, "epochs": 7, "steps": 4}
    resume.save(folder / "good" / "latest.pdstates", model, optimizer, {}, progress)
    assert "--epochs=7" in scripts.error_line(scripts.train(folder, "--resume=good", "--epochs=3"))


def test_mixed_precision_that_may_not_be_emulated(folder: Path) -> None:
    line = scripts.error_line(scripts.train(folder, "--amp_level=O1", "--amp_emulate=never"))
    assert "does nothing on a CPU" in line


def test_quantisation_and_mixed_precision_together(folder: Path) -> None:
    assert "exclude each other" in scripts.error_line(scripts.train(folder, "--pact_quant", "--amp_level=O1"))


def test_inference_without_a_model_or_an_image(folder: Path) -> None:
    infer = "deploy/inference_python/infer.py"
    assert "export the model" in scripts.error_line(scripts.run(folder, infer, "--model-dir=nowhere"))
    done = scripts.run(
        folder, "tools/export_model.py", "--pretrained=good/latest.pdparams", "--save-inference-dir=m"
    )
    assert done.code == 0, done.err
    line = scripts.error_line(scripts.run(folder, infer, "--model-dir=m", "--img-path=no.jpg"))
    assert "no such image or folder" in line
    line = scripts.error_line(
        scripts.run(folder, infer, "--model-dir=m", "--img-path=lite_data/demo.jpg", "--use-gpu=True")
    )
    assert "there is no GPU here" in line
    line = scripts.error_line(
        scripts.run(folder, infer, "--model-dir=m", "--img-path=lite_data/demo.jpg", "--precision=int8")
    )
    assert "is not quantised" in line
    (folder / "m" / "inference.yml").write_text("model: [")
    assert "inference.yml: damaged" in scripts.error_line(scripts.run(folder, infer, "--model-dir=m"))


def test_a_gpu_that_is_not_there_is_said_and_training_runs_on(folder: Path) -> None:
    done = scripts.run(
        folder,
        "train.py",
        "--use-gpu=True",
        "--image-size=32",
        "--batch-size=16",
        "--epochs=1",
        "--output-dir=o",
    )
    assert done.code == 0, done.err
    assert "a GPU was asked for and there is none here: running on the CPU" in done.out
    assert "a GPU was asked for" in (folder / "o" / "train.log").read_text()


def test_the_lite_data_is_what_its_script_makes(tmp_path: Path) -> None:
    done = scripts.run(tmp_path, "tools/make_lite_data.py", f"--output-dir={tmp_path}")
    assert done.code == 0, done.err
    made, kept = scripts.unpack(tmp_path), scripts.unpack(tmp_path / "kept")
    assert (scripts.ROOT / "lite_data.tar").stat().st_size < 2_000_000
    for name in ("train_list.txt", "val_list.txt", "label_list.txt"):
        assert (made / name).read_text() == (kept / name).read_text()
    for split in ("train", "val"):
        assert 8 <= len((made / f"{split}_list.txt").read_text().splitlines()) <= 16
    assert np.array_equal(sorted(p.name for p in made.rglob("*")), sorted(p.name for p in kept.rglob("*")))
