"""Mixed precision, PACT, export and the engines, on networks of a few layers."""

from __future__ import annotations

import contextlib
import copy
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = [pytest.mark.paddle, pytest.mark.filterwarnings("ignore")]
paddle = pytest.importorskip("paddle")

from paddlezoo import amp, amp_emulation, batchnorm, checkpoint, export, resume  # noqa: E402
from paddlezoo.device import Device, amp_warning  # noqa: E402
from paddlezoo.errors import ZooError  # noqa: E402
from paddlezoo.predictor import Predictor, why_not  # noqa: E402
from paddlezoo.quant import convert, pact  # noqa: E402

CPU = Device("cpu")


class Tiny(paddle.nn.Layer):
    """Convolution, depthwise convolution, batch norm, activation and a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        nn = paddle.nn
        self.first = nn.Sequential(
            nn.Conv2D(3, 8, 3, padding=1, bias_attr=False), nn.BatchNorm2D(8), nn.Hardswish()
        )
        self.depth = nn.Sequential(nn.Conv2D(8, 8, 3, padding=1, groups=8), nn.BatchNorm2D(8), nn.ReLU())
        self.pool = nn.AdaptiveAvgPool2D(1)
        self.head = nn.Linear(8, 4)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.head(paddle.flatten(self.pool(self.depth(self.first(x))), 1))


def images(count: int = 4, seed: int = 0) -> paddle.Tensor:
    return paddle.to_tensor(np.random.default_rng(seed).normal(size=(count, 3, 16, 16)).astype("float32"))


def tiny(seed: int = 0) -> Tiny:
    paddle.seed(seed)
    return Tiny()


def train(
    model: paddle.nn.Layer, precision: amp.FullPrecision, steps: int = 8, rate: float = 0.01
) -> list[float]:
    optimizer = paddle.optimizer.Adam(rate, parameters=model.parameters())
    labels = paddle.to_tensor([0, 1, 2, 3])
    losses = []
    model.train()
    for _ in range(steps):
        with precision.autocast():
            loss = paddle.nn.functional.cross_entropy(model(images()), labels)
        precision.backward_and_step(loss, optimizer)
        optimizer.clear_grad()
        losses.append(float(loss))
    return losses


class TestMixedPrecision:
    @pytest.mark.parametrize("level", ["O1", "O2"])
    @pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
    def test_the_emulation_rounds_and_still_learns(self, level: str, dtype: str) -> None:
        full = train(tiny(), amp.FullPrecision())
        low = train(tiny(), amp.choose(level, dtype, CPU))
        assert low != full
        assert np.allclose(low, full, atol=0.1)
        assert low[-1] < low[0]

    def test_paddles_own_mixed_precision_does_nothing_on_a_cpu(self) -> None:
        """The reason for the emulation; should this fail, paddle has learnt it and the emulation can go."""
        x, model = images(), tiny()
        model.eval()
        with paddle.amp.auto_cast(level="O1", dtype="float16"):
            low = model(x)
        assert low.dtype == paddle.float32
        assert np.array_equal(low.numpy(), model(x).numpy())

    def test_o1_rounds_products_and_o2_also_what_lies_between(self) -> None:
        precisions = {level: amp.EmulatedAmp(level, "float16") for level in ("O1", "O2")}
        for precision in precisions.values():
            train(tiny(), precision, steps=1)
        assert dict(precisions["O1"].counts.low) == {"conv2d": 1, "depthwise_conv2d": 1, "linear": 1}
        assert precisions["O2"].counts.low["relu"] == 1
        assert precisions["O2"].counts.full["batch_norm"] == 2
        assert "cross_entropy_with_softmax" in precisions["O2"].counts.full

    def test_every_value_of_a_rounded_operator_is_a_float16(self) -> None:
        with amp_emulation.rounding("O1", "float16", amp_emulation.Counts()):
            value = paddle.nn.functional.linear(images().flatten(1), paddle.rand([768, 5])).numpy()
        assert np.array_equal(value, value.astype("float16").astype("float32"))

    def test_operators_are_as_before_outside_even_after_an_error(self) -> None:
        from paddle import _C_ops

        before = _C_ops.conv2d
        with (
            contextlib.suppress(RuntimeError),
            amp_emulation.rounding("O2", "float16", amp_emulation.Counts()),
        ):
            assert _C_ops.conv2d is not before
            raise RuntimeError
        assert _C_ops.conv2d is before

    def test_an_infinite_gradient_skips_the_step_and_halves_the_scale(self) -> None:
        weight = paddle.create_parameter([2], "float32")
        optimizer = paddle.optimizer.SGD(0.1, parameters=[weight])
        scaler = amp_emulation.LossScaler(first=8.0)
        before = weight.numpy().copy()
        scaler.scale((weight * float("inf")).sum()).backward()
        scaler.step(optimizer)
        assert np.array_equal(weight.numpy(), before)
        assert (scaler.value, scaler.skipped) == (4.0, 1)

    def test_gradients_are_unscaled_before_the_step_and_the_scale_grows(self) -> None:
        weight = paddle.create_parameter([2], "float32")
        optimizer = paddle.optimizer.SGD(0.1, parameters=[weight])
        scaler = amp_emulation.LossScaler(first=1024.0, grow_every=1)
        before = weight.numpy().copy()
        scaler.scale(weight.sum()).backward()
        scaler.step(optimizer)
        assert np.allclose(weight.numpy(), before - 0.1)
        assert scaler.value == 2048.0

    def test_the_log_says_emulated_at_both_ends_with_counts(self) -> None:
        precision = amp.choose("O2", "float16", CPU)
        model = tiny()
        train(model, precision, steps=2)
        assert "EMULATED" in precision.first_line(model)
        assert "Conv2D 2, Linear 1" in precision.first_line(model)
        assert "conv2d 2" in precision.last_line()
        assert "EMULATED" in precision.last_line()

    def test_never_emulate_refuses(self) -> None:
        with pytest.raises(ZooError, match="does nothing on a CPU"):
            amp.choose("O1", "float16", CPU, emulate="never")

    def test_a_gpu_gets_paddles_own(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(paddle.device.cuda, "get_device_capability", lambda: (6, 1))
        assert "compute capability 6.1 is below 7.0" in amp_warning(Device("gpu"))
        precision = amp.choose("O2", "float16", Device("gpu"))
        assert isinstance(precision, amp.PaddleAmp)
        assert "WARNING: compute capability 6.1" in precision.first_line(tiny())
        # On a CPU paddle's scaler is off, so the same calls train in fp32: the path itself can be run.
        assert train(tiny(), precision) == train(tiny(), amp.FullPrecision())

    def test_no_level_is_full_precision(self) -> None:
        assert type(amp.choose(None, "float16", CPU)) is amp.FullPrecision
        assert type(amp.choose("O0", "float16", CPU)) is amp.FullPrecision


class TestPact:
    def test_inside_the_clip_the_gradient_passes_and_outside_it_goes_to_the_clip(self) -> None:
        x = paddle.to_tensor([-3.0, -0.5, 0.25, 2.0], stop_gradient=False)
        alpha = paddle.to_tensor([1.0], stop_gradient=False)
        y = pact._Pact.apply(x, alpha)
        y.backward(paddle.to_tensor([1.0, 1.0, 1.0, 5.0]))
        assert np.allclose(y.numpy(), [-1.0, -0.5, 0.25, 1.0], atol=1 / 127)
        assert np.allclose(x.grad.numpy(), [0, 1, 1, 0])
        assert np.allclose(alpha.grad.numpy(), [5.0 - 1.0])

    def test_every_convolution_and_linear_layer_is_quantised_and_keeps_its_weights(self) -> None:
        model = tiny()
        quantised = pact.quantise(model)
        assert sorted(pact.quantised_layers(quantised)) == ["depth.0", "first.0", "head"]
        assert np.array_equal(quantised.head.weight.numpy(), model.head.weight.numpy())

    def test_clips_start_at_the_largest_activation_and_statistics_stay(self) -> None:
        model = pact.quantise(tiny())
        statistics = model.first[1]._mean.numpy().copy()
        assert pact.calibrate(model, [images()]) == 3
        clip = model.first[0].activation_quanter.alpha.item()
        assert clip == pytest.approx(float(images().abs().max()))
        assert np.array_equal(model.first[1]._mean.numpy(), statistics)

    def test_clips_move_in_training_and_the_checkpoint_shows_from_where(self) -> None:
        model = pact.quantise(tiny(), clip_learning_rate=10.0)
        pact.calibrate(model, [images()])
        assert pact.clips_moved(checkpoint.weights_of(model)) == (0, 3)
        train(model, amp.FullPrecision(), steps=3)
        assert pact.clips_moved(checkpoint.weights_of(model)) == (3, 3)

    def test_the_clips_learning_rate_is_their_own(self) -> None:
        moved = []
        for rate in (0.0, 10.0):
            model = pact.quantise(tiny(), clip_learning_rate=rate)
            pact.calibrate(model, [images()])
            train(model, amp.FullPrecision(), steps=2)
            moved.append(pact.clips_moved(checkpoint.weights_of(model))[0])
        assert moved == [0, 3]

    def test_folding_batch_norm_changes_nothing_but_last_bits(self) -> None:
        model = tiny()
        train(model, amp.FullPrecision())
        model.eval()
        before = model(images()).numpy()
        assert convert.fold_batch_norms(model) == 2
        assert np.allclose(model(images()).numpy(), before, atol=1e-5)
        assert not batchnorm.layers(model)

    def test_conversion_stores_int8_within_the_range_that_cannot_overflow(self) -> None:
        model = trained_pact()
        before = model(images()).numpy()
        assert convert.to_int8(model) == 3
        for layer in pact.quantised_layers(model).values():
            assert layer.weight.dtype == paddle.int8
            assert np.abs(layer.weight.numpy().astype("int32")).max() == convert.LARGEST_WEIGHT
        assert np.allclose(model(images()).numpy(), before, atol=0.05)
        assert convert.to_int8(model) == 3  # a second time changes nothing


def trained_pact() -> paddle.nn.Layer:
    model = pact.quantise(tiny())
    pact.calibrate(model, [images()])
    train(model, amp.FullPrecision(), rate=1e-3)
    batchnorm.recompute(model, [images()])
    model.eval()
    return model


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[paddle.nn.Layer, Path]]:
    """The same network exported in fp32 and, trained with PACT, in int8."""
    plain = tiny()
    train(plain, amp.FullPrecision())
    found = {}
    for name, model in {"fp32": plain, "int8": trained_pact()}.items():
        model.eval()
        found[name] = (model, export.save(model, [None, 3, 16, 16], tmp_path_factory.mktemp(name)))
    return found


class TestExport:
    def test_the_network_stays_a_dynamic_one(self, exported: dict) -> None:
        model = copy.deepcopy(exported["fp32"][0])
        model.train()
        model(images()).sum().backward()

    @pytest.mark.parametrize("kind", ["fp32", "int8"])
    def test_the_plain_engine_computes_what_the_training_engine_computes(
        self, exported: dict, kind: str
    ) -> None:
        model, prefix = exported[kind]
        assert export.largest_difference(model, prefix, images(7).numpy()) <= 1e-6

    @pytest.mark.parametrize("engine", ["onednn", "openvino"])
    def test_fast_engines_agree_in_fp32_for_any_batch_size(self, exported: dict, engine: str) -> None:
        model, prefix = exported["fp32"]
        predictor = Predictor(prefix, engine)
        for count in (1, 3):
            expected = model(images(count)).numpy()
            assert np.allclose(predictor(images(count).numpy())[0], expected, atol=1e-4)

    @pytest.mark.parametrize("engine", ["onednn", "openvino"])
    def test_int8_engines_agree_with_the_simulation(self, exported: dict, engine: str) -> None:
        model, prefix = exported["int8"]
        expected = model(images(8)).numpy()
        got = Predictor(prefix, engine, "int8")(images(8).numpy())[0]
        assert np.abs(got - expected).max() < 0.1 * np.abs(expected).max()

    def test_a_failed_export_is_one_error_and_leaves_the_old_model(
        self, exported: dict, tmp_path: Path
    ) -> None:
        (tmp_path / "file").write_text("not a folder")
        with pytest.raises(ZooError, match="cannot export to"):
            export.save(exported["fp32"][0], [None, 3, 16, 16], tmp_path / "file")

    @pytest.mark.slow
    @pytest.mark.parametrize("engine", ["onednn", "openvino"])
    def test_the_engine_itself_says_that_it_ran_int8(self, exported: dict, engine: str) -> None:
        code = (
            "import sys, numpy as np; from paddlezoo.predictor import Predictor; "
            "Predictor(sys.argv[1], sys.argv[2], 'int8')(np.zeros((1, 3, 16, 16), 'float32'))"
        )
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code, str(exported["int8"][1]), engine],
            env=os.environ | {"ONEDNN_VERBOSE": "1"},
            capture_output=True,
            text=True,
            check=True,
        )
        run = [line for line in done.stdout.splitlines() if ",convolution," in line and "exec" in line]
        assert run
        assert all("s8" in line for line in run)


class TestRefusals:
    @pytest.mark.parametrize(
        ("kind", "engine", "precision", "device", "says"),
        [
            ("fp32", "tensorrt", "fp32", "cpu", "TensorRT needs a GPU"),
            ("fp32", "onednn", "fp32", "gpu", "there is no GPU here"),
            ("fp32", "native", "fp16", "cpu", "no fp16 kernels"),
            ("fp32", "onednn", "int8", "cpu", "is not quantised"),
            ("int8", "native", "int8", "cpu", "runs a quantised model in fp32"),
            ("int8", "openvino", "fp32", "cpu", "ask for --precision=int8"),
        ],
    )
    def test_what_cannot_run_here_is_refused_with_the_reason(
        self, exported: dict, kind: str, engine: str, precision: str, device: str, says: str
    ) -> None:
        assert says in why_not(exported[kind][1], engine, precision, device)
        with pytest.raises(ZooError, match="cannot run"):
            Predictor(exported[kind][1], engine, precision, device=device)

    def test_a_missing_model_says_to_export_it(self, tmp_path: Path) -> None:
        with pytest.raises(ZooError, match="export the model first"):
            Predictor(tmp_path / "inference")

    def test_a_damaged_model_is_one_error(self, exported: dict, tmp_path: Path) -> None:
        for suffix in (".pdmodel", ".pdiparams"):
            whole = exported["fp32"][1].with_suffix(suffix).read_bytes()
            (tmp_path / f"inference{suffix}").write_bytes(whole[: len(whole) // 2])
        with pytest.raises(ZooError, match="cannot load it"):
            Predictor(tmp_path / "inference")


class TestResume:
    def test_a_restored_optimizer_goes_on_bit_for_bit_under_other_parameter_names(
        self, tmp_path: Path
    ) -> None:
        def steps(model: paddle.nn.Layer, optimizer: paddle.optimizer.Optimizer, count: int) -> list[float]:
            losses = []
            for _ in range(count):
                loss = paddle.nn.functional.cross_entropy(model(images()), paddle.to_tensor([0, 1, 2, 3]))
                loss.backward()
                optimizer.step()
                optimizer.clear_grad()
                optimizer._learning_rate.step()
                losses.append(float(loss))
            return losses

        def adam(model: paddle.nn.Layer) -> paddle.optimizer.Optimizer:
            schedule = paddle.optimizer.lr.CosineAnnealingDecay(0.01, 20)
            return paddle.optimizer.Adam(schedule, parameters=model.parameters())

        model = tiny()
        optimizer = adam(model)
        steps(model, optimizer, 3)
        resume.save(tmp_path / "latest.pdstates", model, optimizer, {"value": 8.0}, {"epoch": 3})
        expected = steps(model, optimizer, 3)

        again = tiny(seed=9)  # other weights, and paddle gives its parameters other names
        fresh = adam(again)
        assert resume.load(tmp_path, again, fresh) == ({"value": 8.0}, {"epoch": 3})
        assert steps(again, fresh, 3) == expected
        assert all(
            np.array_equal(a.numpy(), b.numpy())
            for a, b in zip(model.state_dict().values(), again.state_dict().values(), strict=True)
        )

    def test_weights_alone_are_not_a_training_state(self, tmp_path: Path) -> None:
        model = tiny()
        checkpoint.write(tmp_path / "x.pdstates", checkpoint.weights_of(model))
        with pytest.raises(ZooError, match="--pretrained takes weights alone"):
            resume.load(tmp_path / "x.pdstates", model, None)


class TestWeights:
    def test_paddle_reads_ours_and_we_read_paddles(self, tmp_path: Path) -> None:
        model, other = tiny(), tiny(seed=5)
        checkpoint.write(tmp_path / "ours.pdparams", checkpoint.weights_of(model))
        other.set_state_dict(paddle.load(str(tmp_path / "ours.pdparams")))
        assert np.array_equal(other.head.weight.numpy(), model.head.weight.numpy())
        paddle.save(model.state_dict(), str(tmp_path / "theirs.pdparams"))
        arrays = checkpoint.arrays_in(checkpoint.read(tmp_path / "theirs.pdparams"))
        checkpoint.load_weights(tiny(seed=6), arrays, "theirs")

    def test_weights_of_another_network_are_refused_by_name(self) -> None:
        arrays = checkpoint.weights_of(paddle.nn.Linear(2, 2))
        with pytest.raises(ZooError, match="a checkpoint of another model"):
            checkpoint.load_weights(tiny(), arrays, "x.pdparams")

    def test_weights_of_another_shape_are_refused(self) -> None:
        arrays = checkpoint.weights_of(tiny()) | {"head.weight": np.zeros((8, 5), "float32")}
        with pytest.raises(ZooError, match=r"head.weight has the shape \[8, 5\]"):
            checkpoint.load_weights(tiny(), arrays, "x.pdparams")


def test_recomputed_statistics_are_those_of_all_batches_and_momentum_is_kept() -> None:
    model = tiny()
    batches = [images(4, seed) for seed in range(3)]
    assert batchnorm.recompute(model, batches) == 3
    outputs = model.first[0](paddle.concat(batches)).numpy()
    assert np.allclose(model.first[1]._mean.numpy(), outputs.mean(axis=(0, 2, 3)), atol=1e-5)
    assert np.allclose(model.first[1]._variance.numpy(), outputs.var(axis=(0, 2, 3)), rtol=1e-3)
    assert model.first[1]._momentum == 0.9
    assert copy.deepcopy(model).training
