"""The five scripts of zoo/segmentation as people call them, on data that is learnt in a moment."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from PIL import Image
from seg_helpers import call, make_data

from paddlezoo import checkpoint, resume

pytestmark = [pytest.mark.paddle, pytest.mark.xdist_group("seg_scripts")]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a trained and an exported model beside it."""
    root = tmp_path_factory.mktemp("trained") / "data"
    config = str(make_data(root))
    out = str(root.parent / "out")
    assert (
        call(
            "train.py", "--config", config, "--do_eval", f"--save_dir={out}", "--log_iters=2", "--device=cpu"
        )
        == 0
    )
    weights = f"{out}/best_model/model.pdparams"
    words = ["--config", config, f"--model_path={weights}", f"--save_dir={out}/inference", "--output_op=none"]
    assert call("tools/export_model.py", *words) == 0
    return root.parent


def test_training_writes_the_log_of_the_spec_and_the_weights(trained: Path) -> None:
    log = (trained / "out/train.log").read_text()
    last = [line for line in log.splitlines() if "[TRAIN]" in line][-1]
    for field in (
        "iter: 4/4",
        "loss: ",
        "lr: ",
        "avg_reader_cost: ",
        "avg_batch_cost: ",
        "avg_ips: ",
        "eta: ",
    ):
        assert field in last
    assert "[EVAL] iter: 4/4, mIoU: " in log
    for name in ("best_model/model.pdparams", "iter_4/model.pdparams", "latest.pdstates"):
        assert (trained / "out" / name).is_file()


def test_the_statistics_in_a_checkpoint_are_those_of_the_images(trained: Path) -> None:
    weights = checkpoint.arrays_in(checkpoint.read(trained / "out/iter_4/model.pdparams"))
    variances = [value for name, value in weights.items() if name.endswith("_variance")]
    # A moving average that starts at 1 cannot be below 0.9 to the fourth after four iterations.
    assert min(float(value.min()) for value in variances) < 0.9**4 / 2


def test_evaluation_scores_the_weights(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    weights = str(trained / "out/best_model/model.pdparams")
    assert call("eval.py", "--config", str(trained / "data/config.yml"), "--model_path", weights) == 0
    told = capsys.readouterr().out
    best = (trained / "out/train.log").read_text().rpartition("best mIoU: ")[2].split()[0]
    assert f"images: 4, mIoU: {best}" in told
    assert "class   1   IoU " in told


def test_deploy_yaml_says_what_was_exported(trained: Path) -> None:
    entry = yaml.safe_load((trained / "out/inference/deploy.yaml").read_text())["Deploy"]
    config = yaml.safe_load((trained / "data/config.yml").read_text())
    assert entry == {
        "model": "model.pdmodel",
        "params": "model.pdiparams",
        "transforms": config["val_dataset"]["transforms"],
        "input_shape": [-1, 3, -1, -1],
        "output_op": "none",
        "output_dtype": "float32",
    }


@pytest.mark.parametrize("mkldnn", ["True", "False"])
def test_inference_draws_what_prediction_draws(trained: Path, tmp_path: Path, mkldnn: str) -> None:
    images = str(trained / "data/list.txt")
    predict = [
        "--config",
        str(trained / "data/config.yml"),
        "--image_path",
        images,
        f"--save_dir={tmp_path}/a",
    ]
    assert call("predict.py", *predict, f"--model_path={trained}/out/best_model/model.pdparams") == 0
    infer = ["--config", str(trained / "out/inference/deploy.yaml"), "--image_path", images]
    infer += [f"--save_dir={tmp_path}/b", "--batch_size=2", f"--enable_mkldnn={mkldnn}", "--device=cpu"]
    assert call("deploy/python/infer.py", *infer) == 0
    for index in range(4):
        one, other = (np.asarray(Image.open(tmp_path / side / f"{index}.png")) for side in "ab")
        assert one.shape == (40, 40)
        assert (one == other).mean() >= 0.999
        assert (tmp_path / f"b/{index}_overlay.jpg").is_file()


def test_a_benchmark_prints_the_blocks_of_autolog(
    trained: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = [
        "--config",
        str(trained / "out/inference/deploy.yaml"),
        f"--image_path={trained}/data/images/0.png",
    ]
    words += [
        "--benchmark=True",
        f"--save_dir={tmp_path}",
        "--model_name=toy",
        "--enable_mkldnn=True",
        "--cpu_threads=1",
    ]
    assert call("deploy/python/infer.py", *words) == 0
    told = "".join(capfd.readouterr())
    for part in ("Env info", "Conf info", "model_name: toy", "enable_mkldnn: True", "preprocess_time(ms)"):
        assert part in told


def test_a_resumed_training_ends_with_the_same_weights(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = resume.save

    def save_and_keep(path: Path, model: Any, optimizer: Any, scaler: Any, progress: dict[str, Any]) -> None:
        written(path, model, optimizer, scaler, progress)
        if progress["iter"] == 2:
            shutil.copy(path, tmp_path / "two.pdstates")  # what an interruption would have left

    monkeypatch.setattr(resume, "save", save_and_keep)
    words = ["--config", str(trained / "data/config.yml"), "--save_interval=2", "--device=cpu"]
    assert call("train.py", *words, f"--save_dir={tmp_path}/whole") == 0
    rest = [f"--save_dir={tmp_path}/rest", f"--resume_model={tmp_path}/two.pdstates"]
    assert call("train.py", *words, *rest) == 0
    assert not (tmp_path / "rest/iter_2").exists()
    one, other = (checkpoint.read(tmp_path / run / "iter_4/model.pdparams") for run in ("whole", "rest"))
    assert all(np.array_equal(one[name], other[name]) for name in one)


def test_a_quantised_training_becomes_an_int8_model(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config, out = str(trained / "data/config.yml"), str(tmp_path / "pact")
    start = f"--model_path={trained}/out/best_model/model.pdparams"
    words = ["--config", config, "--pact_quant", start, f"--save_dir={out}", "--device=cpu", "--do_eval"]
    assert call("train.py", *words) == 0
    assert "clips were learnt" in capsys.readouterr().out
    export = [
        "--config",
        config,
        f"--model_path={out}/best_model/model.pdparams",
        f"--save_dir={out}/inference",
    ]
    assert call("tools/export_model.py", *export) == 0
    assert b"dequantize_linear" in (tmp_path / "pact/inference/model.pdmodel").read_bytes()
    infer = [
        f"--config={out}/inference/deploy.yaml",
        f"--image_path={trained}/data/images",
        f"--save_dir={out}/result",
    ]
    assert call("deploy/python/infer.py", *infer, "--precision=int8", "--enable_mkldnn=True") == 0
    assert len(list((tmp_path / "pact/result").glob("*.png"))) == 4


def test_mixed_precision_says_what_it_is(trained: Path, tmp_path: Path) -> None:
    words = [
        "--config",
        str(trained / "data/config.yml"),
        "--iters=2",
        f"--save_dir={tmp_path}",
        "--device=cpu",
    ]
    assert call("train.py", *words, "--precision=fp16", "--amp_level=O2") == 0
    log = (tmp_path / "train.log").read_text()
    assert "AMP O2 float16" in log
    assert "conv2d " in log


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("class", "list.txt:2: {root}/masks/1.png: class 9 is out of range"),
        ("size", "list.txt:1: {root}/masks/0.png: the mask is 20x40 and its image 40x40"),
        ("missing", "list.txt:3: no such file: {root}/images/2.png"),
        ("empty", "list.txt: the list is empty"),
        ("truncated", "list.txt:4: {root}/images/3.png: damaged image"),
        ("model", "model.type: 'unet' is not a model; known are pp_liteseg_stdc1"),
    ],
)
def test_bad_input_is_one_line_and_an_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: str, told: str
) -> None:
    root = tmp_path / "data"
    config = make_data(root)
    if change == "class":
        Image.fromarray(np.full((40, 40), 9, np.uint8)).save(root / "masks/1.png")
    elif change == "size":
        Image.fromarray(np.zeros((40, 20), np.uint8)).save(root / "masks/0.png")
    elif change == "missing":
        (root / "images/2.png").unlink()
    elif change == "empty":
        (root / "list.txt").write_text("\n")
    elif change == "truncated":
        path = root / "images/3.png"
        path.write_bytes(path.read_bytes()[:150])
    else:
        config.write_text(config.read_text().replace("pphumanseg_lite", "unet"))
    assert call("train.py", "--config", str(config), f"--save_dir={tmp_path}/out", "--batch_size=4") == 1
    stderr = capsys.readouterr().err
    assert told.format(root=root) in stderr
    assert "Traceback" not in stderr
    assert len([line for line in stderr.splitlines() if line.startswith("error: ")]) == 1


@pytest.mark.parametrize(
    ("script", "words", "told"),
    [
        ("eval.py", ["--model_path=nowhere.pdparams"], "nowhere.pdparams: no such checkpoint"),
        (
            "tools/export_model.py",
            ["--model_path=x", "--input_shape", "1", "1", "8", "8"],
            "--input_shape is batch, 3",
        ),
    ],
)
def test_weights_that_are_not_there_are_named(
    trained: Path, capsys: pytest.CaptureFixture[str], script: str, words: list[str], told: str
) -> None:
    assert call(script, "--config", str(trained / "data/config.yml"), *words) == 1
    assert told in capsys.readouterr().err


def test_weights_of_another_model_or_number_of_classes_are_refused(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (trained / "data/config.yml").read_text()
    weights = f"--model_path={trained}/out/best_model/model.pdparams"
    for change, told in (
        (("num_classes: 2", "num_classes: 3"), "another number of classes or another model"),
        (("pphumanseg_lite", "fcn_hrnetw18_small"), "a checkpoint of another model"),
    ):
        config = tmp_path / "other.yml"
        config.write_text(text.replace(*change))
        assert call("eval.py", "--config", str(config), weights) == 1
        assert told in capsys.readouterr().err


def test_what_cannot_run_here_is_refused(trained: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--config", str(trained / "out/inference/deploy.yaml"), f"--image_path={trained}/data/images"]
    for extra, told in (
        (["--precision=int8", "--enable_mkldnn=True"], "is not quantised"),
        (["--use_trt=True"], "--use_trt=True needs --device=gpu"),
    ):
        assert call("deploy/python/infer.py", *words, *extra) == 1
        assert told in capsys.readouterr().err


def test_the_parity_protocol_compares_both_engines(trained: Path) -> None:
    import runpy

    import paddle
    from seg_helpers import SEGMENTATION

    from paddlezoo.predictor import Predictor
    from paddlezoo.seg import config, network
    from paddlezoo.seg.output import WithOutput

    protocol = runpy.run_path(str(SEGMENTATION / "test_tipc/parity.py"))
    request = {
        "weights": str(trained / "out/best_model/model.pdparams"),
        "model_dir": str(trained / "out/inference"),
        "train_argv": ["python", "train.py", "--config", str(trained / "data/config.yml")],
        "repo": ".",
    }
    paths = protocol["samples"](request)
    batch = protocol["train_preprocess"](request, paths)
    assert np.array_equal(batch, protocol["deploy_preprocess"](request, paths))
    settings = config.read(trained / "data/config.yml")
    model = WithOutput(network.load(settings.model, request["weights"]), "none")
    model.eval()
    with paddle.no_grad():
        expected = model(paddle.to_tensor(batch)).numpy()
    (got,) = Predictor(trained / "out/inference/model")(batch)
    assert np.abs(got - expected).max() <= 1e-4
    name, value = protocol["metric"](request, got, paths)
    assert name == "mIoU"
    assert 0 <= value <= 1
    assert json.dumps(value)


def test_an_export_as_pir_runs_and_draws_the_same(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config, weights = str(trained / "data/config.yml"), f"{trained}/out/best_model/model.pdparams"
    export = ["--config", config, f"--model_path={weights}", f"--save_dir={tmp_path}/pir", "--format=pir"]
    assert call("tools/export_model.py", *export) == 0
    assert (tmp_path / "pir/model.json").is_file()
    assert not (tmp_path / "pir/model.pdmodel").exists()
    words = ["--config", str(tmp_path / "pir/deploy.yaml"), f"--image_path={trained}/data/images"]
    assert call("deploy/python/infer.py", *words, f"--save_dir={tmp_path}/a") == 0
    words[1] = str(trained / "out/inference/deploy.yaml")
    assert call("deploy/python/infer.py", *words, f"--save_dir={tmp_path}/b") == 0
    for index in range(4):
        one, other = (np.asarray(Image.open(tmp_path / side / f"{index}.png")) for side in "ab")
        assert (one == other).mean() >= 0.999
    capsys.readouterr()
    words[1] = str(tmp_path / "pir/deploy.yaml")
    assert call("deploy/python/infer.py", *words, "--engine=openvino") == 1
    assert "OpenVINO reads the legacy format only" in capsys.readouterr().err


def test_int8_weights_are_not_exported_as_pir() -> None:
    from paddlezoo import export
    from paddlezoo.errors import ZooError
    from paddlezoo.models import MODELS
    from paddlezoo.quant import pact

    with pytest.raises(ZooError, match="no int8 weights as PIR"):
        export.refuse_pir(pact.quantise(MODELS["pphumanseg_lite"](2)))


@pytest.mark.parametrize(
    ("engine", "version", "told"),
    [("onednn", "3.3.1", "Paddle#77340"), ("onednn", "3.2.2", ""), ("native", "3.3.1", "")],
)
def test_a_defect_of_a_release_is_named_with_its_number(engine: str, version: str, told: str) -> None:
    from paddlezoo.predictor import pir_problem

    assert told in pir_problem(engine, version)
    assert bool(pir_problem(engine, version)) == bool(told)


def test_operators_of_the_legacy_graph_are_those_of_paddle() -> None:
    import paddle
    from paddle.pir_utils import OldIrGuard

    from paddlezoo import ops

    random = np.random.default_rng(0)
    x, y = (random.normal(size=shape).astype("float32") for shape in ((2, 3, 4), (2, 4, 5)))
    with OldIrGuard():
        paddle.enable_static()
        try:
            program = paddle.static.Program()
            with paddle.static.program_guard(program):
                a, b = (paddle.static.data(name, array.shape) for name, array in (("a", x), ("b", y)))
                results = [ops.sigmoid(a), ops.bmm(a, b), ops.argmax(a, 1, "int32")]
                found = paddle.static.Executor().run(program, feed={"a": x, "b": y}, fetch_list=results)
        finally:
            paddle.disable_static()
    eager = [ops.sigmoid(paddle.to_tensor(x)), ops.bmm(paddle.to_tensor(x), paddle.to_tensor(y))]
    eager.append(ops.argmax(paddle.to_tensor(x), 1, "int32"))
    for static, dynamic in zip(found, eager, strict=True):
        assert np.allclose(static, dynamic.numpy(), atol=1e-6)
        assert static.dtype == dynamic.numpy().dtype
