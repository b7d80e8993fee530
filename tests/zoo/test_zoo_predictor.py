"""The OpenVINO engine of the predictor: compiled for the shapes of the first call, right for all others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytestmark = [pytest.mark.paddle, pytest.mark.filterwarnings("ignore")]
paddle = pytest.importorskip("paddle")

from paddlezoo import export, predictor, seeding  # noqa: E402
from paddlezoo.errors import ZooError  # noqa: E402
from paddlezoo.predictor import Predictor  # noqa: E402


def images(count: int, size: int = 16) -> np.ndarray:
    return seeding.generator(count).normal(size=(count, 3, size, size)).astype("float32")


@pytest.fixture(scope="module")
def network() -> paddle.nn.Layer:
    seeding.seed_at(0)
    layers = [paddle.nn.Conv2D(3, 8, 3), paddle.nn.Hardswish(), paddle.nn.AdaptiveAvgPool2D(1)]
    network = paddle.nn.Sequential(*layers, paddle.nn.Flatten(), paddle.nn.Linear(8, 4))
    network.eval()
    return network


@pytest.fixture(scope="module")
def any_count(network: paddle.nn.Layer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export.save(network, [None, 3, 16, 16], tmp_path_factory.mktemp("any_count"))


def test_batches_of_any_size_in_any_order_give_what_the_network_gives(
    network: paddle.nn.Layer, any_count: Path
) -> None:
    predict = Predictor(any_count, "openvino")
    for count in (1, 1, 3, 1, 2):
        expected = network(paddle.to_tensor(images(count))).numpy()
        assert np.allclose(predict(images(count))[0], expected, atol=1e-5)


def test_a_model_for_pictures_of_any_size_runs_on_several_sizes(
    network: paddle.nn.Layer, tmp_path: Path
) -> None:
    predict = Predictor(export.save(network, [None, 3, None, None], tmp_path), "openvino")
    for size in (16, 24, 16):
        expected = network(paddle.to_tensor(images(2, size))).numpy()
        assert np.allclose(predict(images(2, size))[0], expected, atol=1e-5)


@pytest.mark.parametrize(
    ("batch", "compiled_for"),
    [((5, 3, 16, 16), [5, 3, 16, 16]), ((5, 3, 32, 32), [5, 3, 16, 16]), ((3, 16), [-1, 3, 16, 16])],
    ids=["open sizes are filled in", "fixed sizes stay", "another number of dimensions changes nothing"],
)
def test_the_sizes_that_the_export_left_open_are_those_of_the_batch(
    any_count: Path, batch: tuple[int, ...], compiled_for: list[int]
) -> None:
    program = predictor._read_program(any_count)
    predictor._set_shapes(program, [batch])
    written = program.serialize_to_string()
    assert paddle.base.core.ProgramDesc(written).block(0).find_var(b"x").shape() == compiled_for


def test_pictures_of_a_size_that_the_export_did_not_allow_are_refused(any_count: Path) -> None:
    with pytest.raises(RuntimeError, match="requires input_shape"):
        Predictor(any_count, "openvino")(images(1, 32))


@pytest.mark.parametrize("share", [0.5, 0], ids=["cut off", "empty"])
def test_a_damaged_model_is_one_error_at_once(any_count: Path, tmp_path: Path, share: float) -> None:
    for suffix in (".pdmodel", ".pdiparams"):
        whole = any_count.with_suffix(suffix).read_bytes()
        (tmp_path / f"inference{suffix}").write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(ZooError, match="cannot load it"):
        Predictor(tmp_path / "inference", "openvino")


def test_nothing_is_left_in_the_folder_for_temporary_files(
    any_count: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    Predictor(any_count, "openvino")(images(1))
    assert not list(tmp_path.iterdir())
