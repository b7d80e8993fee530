"""Classification from training to deployment, through the real scripts on the lite data."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import cls_scripts as scripts
import numpy as np
import pytest

pytestmark = [pytest.mark.paddle, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
paddle = pytest.importorskip("paddle")

from paddlezoo import checkpoint, pictures  # noqa: E402
from paddlezoo.cls import deploy, network  # noqa: E402
from paddlezoo.predictor import Predictor  # noqa: E402
from paddlezoo.quant import pact  # noqa: E402

LINE = re.compile(
    r"epoch: \[(\d+)/\d+\], iter: \[\d+/\d+\], loss: ([\d.]+), top1: [\d.]+, top5: [\d.]+, lr: [\d.e-]+, "
    r"avg_reader_cost: ([\d.]+) sec, avg_batch_cost: ([\d.]+) sec, avg_samples: ([\d.]+), "
    r"avg_ips: ([\d.]+) images/sec, eta: \d+:\d\d:\d\d"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder with data and a model of each kind: fp32, AMP O2 and, from the fp32 weights, PACT."""
    path = tmp_path_factory.mktemp("classification")
    scripts.unpack(path)
    done = scripts.train(path, "--epochs=5", "--output-dir=fp32", "--save_freq=2")
    assert done.code == 0, done.err
    for kind, arguments in {
        "amp": ("--amp_level=O2", "--epochs=2"),
        "pact": ("--pact_quant", "--pretrained=fp32/latest.pdparams", "--epochs=2", "--lr=0.0002"),
    }.items():
        done = scripts.train(path, f"--output-dir={kind}", *arguments)
        assert done.code == 0, done.err
    for kind in ("fp32", "amp", "pact"):
        done = scripts.run(
            path,
            "tools/export_model.py",
            f"--pretrained={kind}/latest.pdparams",
            f"--save-inference-dir={kind}_infer",
        )
        assert done.code == 0, done.err
    return path


def log_of(folder: Path, kind: str) -> str:
    return (folder / kind / "train.log").read_text(encoding="utf-8")


def test_every_line_of_training_has_the_fields_of_the_spec_and_they_fit_together(folder: Path) -> None:
    lines = [LINE.search(line) for line in log_of(folder, "fp32").splitlines() if ", iter: " in line]
    assert len(lines) == 5 * 4
    for found in lines:
        assert found
        reader, batch, samples, ips = map(float, found.groups()[2:])
        assert reader <= batch
        assert samples == 4.0
        assert ips == pytest.approx(samples / batch, rel=1e-2)


def test_training_learns(folder: Path) -> None:
    results = re.findall(r"eval epoch: \[\d/5\], loss: ([\d.]+), top1: ([\d.]+)", log_of(folder, "fp32"))
    assert len(results) == 5
    assert float(results[-1][0]) < float(results[0][0])
    assert float(results[-1][1]) >= 0.5  # chance is 0.25


def test_the_checkpoints_are_latest_best_and_every_second_epoch(folder: Path) -> None:
    names = {path.name for path in (folder / "fp32").glob("*.pdparams")}
    assert names == {"latest.pdparams", "best.pdparams", "epoch_2.pdparams", "epoch_4.pdparams"}


@pytest.mark.parametrize("kind", ["fp32", "amp", "pact"])
def test_evaluation_finds_what_training_found(folder: Path, kind: str) -> None:
    expected = re.findall(r"eval epoch: \S+ (loss: .*)", log_of(folder, kind))[-1]
    weights = f"--pretrained={kind}/latest.pdparams"
    for arguments in (("eval.py", weights), ("train.py", "--test-only", weights)):
        done = scripts.run(folder, *arguments)
        assert done.code == 0, done.err
        assert expected in done.out


def test_amp_says_emulated_in_the_first_and_the_last_line(folder: Path) -> None:
    lines = log_of(folder, "amp").splitlines()
    assert "AMP O2 float16 EMULATED" in lines[0]
    assert re.search(r"AMP O2 float16 EMULATED .*conv2d \d+.*batch_norm \d+", lines[-1])


def test_pact_started_from_the_fp32_weights_and_moved_its_clips(folder: Path) -> None:
    weights = checkpoint.arrays_in(checkpoint.read(folder / "pact" / "latest.pdparams"))
    assert pact.clips_moved(weights) == (54, 54)
    assert "54 of 54 clips moved" in log_of(folder, "pact")
    first = re.search(r"iter: \[1/4\], loss: ([\d.]+)", log_of(folder, "pact"))
    assert first
    assert float(first[1]) < 1.0  # a new network starts at ln 4 = 1.39 or above


def parity() -> ModuleType:
    spec = importlib.util.spec_from_file_location("cls_parity", scripts.ROOT / "test_tipc" / "parity.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def answers_of_the_trained(request: dict[str, str], batch: np.ndarray) -> np.ndarray:
    """The trained network's logits; after PACT those of the simulation that the int8 model must match."""
    model, _ = network.restore(request["weights"], request["model"])
    deploy.prepare(model)
    with paddle.no_grad():
        return np.asarray(model(paddle.to_tensor(batch)).numpy())


@pytest.mark.parametrize("kind", ["fp32", "amp", "pact"])
def test_the_inference_engine_computes_what_the_training_engine_computes(
    folder: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    check = parity()
    request = {
        "model": "mobilenet_v3_small",
        "weights": f"{kind}/latest.pdparams",
        "model_dir": f"{kind}_infer",
        "precision": kind,
    }
    paths = check.samples(request)
    assert len(paths) == 16
    batch = check.deploy_preprocess(request, paths)
    assert np.array_equal(batch, check.train_preprocess(request, paths))
    expected = answers_of_the_trained(request, batch)
    got = Predictor(f"{kind}_infer/inference", "native")(batch)[0]
    assert np.abs(got - expected).max() <= 1e-4 * max(1.0, np.abs(expected).max())
    fast = Predictor(
        f"{kind}_infer/inference",
        "openvino" if kind == "pact" else "onednn",
        "int8" if kind == "pact" else "fp32",
    )(batch)[0]
    assert np.array_equal(fast.argmax(1), expected.argmax(1))
    name, value = check.metric(request, expected, paths)
    assert name == "top1"
    assert f"top1: {value:.5f}" in scripts.run(folder, "eval.py", f"--pretrained={kind}/latest").out


def test_prediction_and_deployment_give_the_same_answer_and_a_picture(folder: Path) -> None:
    image = f"--img-path={scripts.ROOT / 'images' / 'demo.jpg'}"
    predicted = scripts.run(folder, "predict.py", "--pretrained=fp32/latest", image, "--json", "--save-dir=p")
    inferred = scripts.run(
        folder, "deploy/inference_python/infer.py", "--model-dir=fp32_infer", image, "--json", "--save-dir=i"
    )
    assert (predicted.code, inferred.code) == (0, 0), predicted.err + inferred.err
    one = json.loads(predicted.out.splitlines()[-1])
    other = json.loads(inferred.out.splitlines()[-1])
    assert [top["name"] for top in one["top"]] == [top["name"] for top in other["top"]]
    assert one["top"][0]["prob"] == pytest.approx(other["top"][0]["prob"], abs=1e-4)
    source = pictures.read(scripts.ROOT / "images" / "demo.jpg")
    for place in ("p", "i"):
        assert pictures.read(folder / place / "demo.jpg").height > source.height


def test_a_folder_goes_through_in_batches_and_the_last_one_may_be_smaller(folder: Path) -> None:
    done = scripts.run(
        folder,
        "deploy/inference_python/infer.py",
        *(
            "--model-dir=fp32_infer",
            "--img-path=lite_data/val",
            "--batch-size=5",
            "--engine=native,onednn,openvino",
        ),
    )
    assert done.code == 0, done.err
    assert done.out.count("class_id: ") == 3 * 16


def test_the_benchmark_prints_the_blocks_of_the_spec_for_each_engine(folder: Path) -> None:
    done = scripts.run(
        folder,
        "deploy/inference_python/infer.py",
        *(
            "--model-dir=pact_infer",
            "--img-path=lite_data/demo.jpg",
            "--benchmark=True",
            "--repeats=3",
            "--warmup=1",
        ),
        "--engine=native,openvino,tensorrt",
    )
    assert done.code == 0, done.err
    assert done.out.count("Perf info") == 2
    assert "precision: int8" in done.out
    assert "tensorrt is left out: not for a CPU" in done.out


def test_two_processes_train_one_model(tmp_path: Path) -> None:
    scripts.unpack(tmp_path)
    command = [sys.executable, "-W", "ignore", "-m", "paddle.distributed.launch", "--nproc_per_node=2"]
    arguments = [*scripts.SMALL, "--epochs=2", "--pact_quant"]
    done = subprocess.run(
        [*command, str(scripts.ROOT / "train.py"), *arguments],
        cwd=tmp_path,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    log = (tmp_path / "output" / "train.log").read_text()
    assert "processes: 2" in log
    assert "iter: [2/2]" in log
    assert "avg_samples: 8.0" in log
    expected = re.findall(r"eval epoch: \S+ (loss: .*)", log)[-1]
    # In a process of its own, as training was: in this one MKL may compute other last bits, and one of them
    # can turn a rounding to int8.
    evaluation = subprocess.run(
        [sys.executable, "-W", "ignore", str(scripts.ROOT / "eval.py"), "--pretrained=output/latest"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert expected in evaluation.stdout


@pytest.mark.parametrize(
    "arguments", [(), ("--amp_level=O2",), ("--pact_quant",)], ids=["fp32", "amp", "pact"]
)
def test_a_resumed_run_ends_with_the_same_weights_as_an_uninterrupted_one(
    tmp_path: Path, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    from paddlezoo import resume

    scripts.unpack(tmp_path)
    assert scripts.train(tmp_path, *arguments, "--epochs=3", "--output-dir=whole").code == 0
    save = resume.save

    def save_and_stop(*args: object) -> None:
        save(*args)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(resume, "save", save_and_stop)
        assert scripts.train(tmp_path, *arguments, "--epochs=3", "--output-dir=parts").code == 130
    done = scripts.train(tmp_path, *arguments, "--epochs=3", "--output-dir=parts", "--resume=parts")
    assert done.code == 0, done.err
    assert "epoch 1 is done" in done.out
    whole, parts = (tmp_path / name / "latest.pdparams" for name in ("whole", "parts"))
    assert whole.read_bytes() == parts.read_bytes()


def test_a_run_that_was_killed_is_resumed_from_its_last_whole_state(tmp_path: Path) -> None:
    scripts.unpack(tmp_path)
    arguments = [*scripts.SMALL, "--epochs=3", "--output-dir=out"]
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", str(scripts.ROOT / "train.py"), *arguments],
        cwd=tmp_path,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout
    for line in process.stdout:
        if "eval epoch: [2/3]" in line:
            break
    process.send_signal(signal.SIGKILL)
    process.communicate()
    done = scripts.train(tmp_path, "--epochs=3", "--output-dir=out", "--resume=out/latest.pdparams")
    assert done.code == 0, done.err
    assert "eval epoch: [3/3]" in done.out
