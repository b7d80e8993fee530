"""``tipc.align``: what is recorded comes back, and the first tensor that differs is named."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipc.align import STAGES, Recorder, compare, read_recording
from tipc.cli.main import main
from tipc.errors import UsageError


def recorded(path: Path, change: Any = None) -> Path:
    """A small training: two stages of data, a forward pass, a loss, a gradient and a weight."""
    arrays = {
        "data/images": np.arange(12.0).reshape(3, 4),
        "forward/backbone": np.ones((3, 4)),
        "forward/logits": np.full((3, 2), 0.5),
        "loss/loss": np.float32(1.25),
        "optimizer/lr": 0.01,
        "backward/head.weight": np.full((2, 4), 0.25),
        "weights/head.weight": np.zeros((2, 4)),
    }
    if change:
        change(arrays)
    with Recorder(path) as record:
        for key, value in arrays.items():
            stage, _, name = key.partition("/")
            getattr(record, stage)(name, value)
    return path


def test_what_is_recorded_comes_back_in_its_order(tmp_path: Path) -> None:
    arrays = read_recording(recorded(tmp_path / "a.npz"))
    assert list(arrays)[:3] == ["data/images", "forward/backbone", "forward/logits"]
    assert arrays["data/images"].shape == (3, 4)
    assert float(arrays["loss/loss"]) == 1.25


def test_equal_recordings_are_aligned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = recorded(tmp_path / "a.npz"), recorded(tmp_path / "b.npz")
    assert main(["align", str(one), str(other)]) == 0
    assert "ALIGNED · 7 tensors" in capsys.readouterr().out


def shifted(key: str, amount: float) -> Any:
    def change(arrays: dict[str, Any]) -> None:
        arrays[key] = arrays[key] + amount

    return change


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (shifted("forward/logits", 2e-6), "forward/logits: mean |Δ| 2.00e-06 where 1e-06"),
        (shifted("loss/loss", 1e-3), "loss/loss: mean |Δ| 1.00e-03"),
        (shifted("weights/head.weight", 1e-3), "weights/head.weight"),
        (lambda arrays: arrays.pop("forward/backbone"), "forward/backbone: not in ours"),
        (lambda arrays: arrays.update({"forward/more": np.ones(1)}), "forward/more: not in the reference"),
        (
            lambda arrays: arrays.update({"data/images": np.ones((4, 3))}),
            "data/images: shape [3, 4] in the reference, [4, 3] in ours",
        ),
        (lambda arrays: arrays.update({"loss/loss": np.float32("nan")}), "loss/loss: not finite"),
    ],
)
def test_the_first_that_differs_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: Any, told: str
) -> None:
    one, other = recorded(tmp_path / "a.npz"), recorded(tmp_path / "b.npz", change)
    assert main(["align", str(one), str(other)]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert "NOT ALIGNED" in out
    assert told in out


@pytest.mark.parametrize(("key", "amount"), [("forward/logits", 9e-7), ("loss/loss", 9e-6)])
def test_what_is_within_the_threshold_of_its_stage_is_equal(tmp_path: Path, key: str, amount: float) -> None:
    one, other = recorded(tmp_path / "a.npz"), recorded(tmp_path / "b.npz", shifted(key, amount))
    assert main(["align", str(one), str(other)]) == 0


def test_an_earlier_stage_is_named_first_whatever_was_recorded_first(tmp_path: Path) -> None:
    reference = {"weights/w": np.zeros(2), "forward/y": np.zeros(2)}
    ours = {"weights/w": np.ones(2), "forward/y": np.ones(2)}
    first = compare(reference, ours).first
    assert first is not None
    assert (first.stage, first.name) == ("forward", "y")


@pytest.mark.parametrize("name", ["forward", "forward/logits", "forward/log*"])
def test_a_threshold_can_be_set_for_a_stage_a_name_or_a_pattern(tmp_path: Path, name: str) -> None:
    one, other = recorded(tmp_path / "a.npz"), recorded(tmp_path / "b.npz", shifted("forward/logits", 1e-3))
    assert main(["align", str(one), str(other)]) == 1
    assert main(["align", str(one), str(other), "--threshold", f"{name}=0.01"]) == 0


def test_json_has_every_tensor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = recorded(tmp_path / "a.npz"), recorded(tmp_path / "b.npz", shifted("loss/loss", 1))
    assert main(["align", str(one), str(other), "--json"]) == 1
    content = json.loads(capsys.readouterr().out)
    assert content["aligned"] is False
    assert [tensor["name"] for tensor in content["tensors"] if tensor["state"] != "equal"] == ["loss"]


def test_what_is_no_recording_is_one_error(tmp_path: Path) -> None:
    good = recorded(tmp_path / "good.npz")
    (tmp_path / "text.npz").write_text("x")
    (tmp_path / "half.npz").write_bytes(good.read_bytes()[:200])
    np.savez(tmp_path / "other.npz", weights=np.ones(2))
    np.savez(tmp_path / "pickled.npz", **{"data/x": np.array([{}], dtype=object)})
    for name in ("nowhere.npz", "text.npz", "half.npz", "other.npz", "pickled.npz"):
        with pytest.raises(UsageError):
            read_recording(tmp_path / name)
        assert main(["align", str(good), str(tmp_path / name)]) == 2


def test_texts_are_no_recording(tmp_path: Path) -> None:
    np.savez(tmp_path / "texts.npz", **{"data/x": np.array(["a", "b"])})
    with pytest.raises(UsageError, match="holds no numbers"):
        read_recording(tmp_path / "texts.npz")
    with pytest.raises(ValueError, match="neither a tensor nor a number"):
        Recorder(tmp_path / "a.npz").data("x", "text")


def test_a_threshold_that_fits_nothing_is_one_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = recorded(tmp_path / "a.npz")
    assert main(["align", str(one), str(one), "--threshold", "forwrd=1"]) == 2
    assert "forwrd" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("key", "reference", "ours"),
    [
        ("optimizer/lr", 1e-6, 1.5e-6),
        ("optimizer/weight_decay", 4e-7, 0.0),
        ("backward/head.weight", np.full((2, 4), 3e-6), np.zeros((2, 4))),
        ("weights/head.weight", np.full((2, 4), 5e-5), np.full((2, 4), 1e-5)),
    ],
)
def test_values_below_the_threshold_are_not_equal_to_anything(key: str, reference: Any, ours: Any) -> None:
    alignment = compare({key: np.array(reference)}, {key: np.array(ours)})
    assert not alignment.ok
    assert compare({key: np.array(reference)}, {key: np.array(ours)}, {key: 1e-4}).ok, "a given one is kept"


def test_a_gradient_that_is_rounding_alone_may_differ() -> None:
    """That of a bias before a batch norm: nothing but noise, in a stage of larger ones."""
    reference = {"backward/conv.weight": np.full(4, 0.01), "backward/conv.bias": np.full(4, 1e-9)}
    ours = {"backward/conv.weight": np.full(4, 0.01), "backward/conv.bias": np.full(4, -3e-9)}
    assert compare(reference, ours).ok


def test_the_sign_of_an_imaginary_part_is_a_difference() -> None:
    first = compare({"forward/y": np.array([1 + 1j])}, {"forward/y": np.array([1 - 1j])}).first
    assert first is not None


def test_stages_that_nobody_recorded_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Recorder(tmp_path / "a.npz") as record:
        record.data("images", [1.0])
    assert main(["align", str(tmp_path / "a.npz"), str(tmp_path / "a.npz")]) == 0
    assert "not recorded: forward, loss, optimizer, backward, weights" in capsys.readouterr().out


def test_the_conclusion_and_the_page_speak_chinese(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = recorded(tmp_path / "a.npz")
    other = recorded(tmp_path / "b.npz", shifted("forward/logits", 1e-3))
    page = tmp_path / "align.html"
    assert main(["--lang", "zh", "align", str(one), str(other), "--html", str(page)]) == 1
    assert "未对齐" in capsys.readouterr().out
    text = page.read_text()
    assert "第一个是 forward/logits" in text
    assert "<html lang=zh>" in text


def test_names_are_kept_apart_and_stages_are_known(tmp_path: Path) -> None:
    record = Recorder(tmp_path / "a.npz")
    record.forward("y", 1.0)
    with pytest.raises(ValueError, match="a name of its own"):
        record.forward("y", 2.0)
    with pytest.raises(ValueError, match="is not a stage"):
        record.add("later", "y", 1.0)
    with pytest.raises(ValueError, match="forward/z: a NoneType is neither a tensor nor a number"):
        record.forward("z", None)


def test_a_recording_that_breaks_off_writes_nothing(tmp_path: Path) -> None:
    def break_off() -> None:
        with Recorder(tmp_path / "a.npz") as record:
            record.forward("y", 1.0)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        break_off()
    assert not list(tmp_path.iterdir())


def test_tensors_of_other_frameworks_become_arrays(tmp_path: Path) -> None:
    class OnGpu:
        def detach(self) -> OnGpu:
            return self

        def cpu(self) -> OnGpu:
            return self

        def numpy(self) -> np.ndarray:
            return np.ones(3)

    with Recorder(tmp_path / "a.npz") as record:
        record.forward("y", OnGpu())
    assert read_recording(tmp_path / "a.npz")["forward/y"].tolist() == [1, 1, 1]


def test_bfloat16_is_recorded_as_numbers_and_not_as_bits(tmp_path: Path) -> None:
    class Tensor:
        """As paddle's: numpy() of a bfloat16 tensor gives the bits as uint16."""

        def __init__(self, dtype: str) -> None:
            self.dtype = dtype

        def astype(self, dtype: str) -> Tensor:
            return Tensor(dtype)

        def numpy(self) -> np.ndarray:
            if self.dtype == "float32":
                return np.array([1.5], dtype=np.float32)
            return np.array([16320], dtype=np.uint16)

    with Recorder(tmp_path / "a.npz") as record:
        record.forward("y", Tensor("paddle.bfloat16"))
    assert read_recording(tmp_path / "a.npz")["forward/y"].tolist() == [1.5]


def test_the_recorder_needs_numpy_alone() -> None:
    code = (
        "import sys, tipc.align\n"
        "print([name for name in ('paddle', 'torch', 'pydantic', 'rich', 'jinja2') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@given(st.dictionaries(st.text(min_size=1, max_size=20), st.floats(-1e3, 1e3), min_size=1, max_size=5))
def test_any_name_survives_and_equals_itself(values: dict[str, float]) -> None:
    reference = {f"{STAGES[index % 6]}/{name}": np.array(v) for index, (name, v) in enumerate(values.items())}
    assert compare(reference, reference).ok
    assert len(compare(reference, {}).tensors) == len(reference)
    assert not compare(reference, {}).ok


def test_the_page_has_every_tensor_and_its_place_in_the_plot(tmp_path: Path) -> None:
    one = recorded(tmp_path / "a.npz")
    other = recorded(tmp_path / "b.npz", shifted("forward/logits", 1e-3))
    page = tmp_path / "new" / "align.html"
    assert main(["align", str(one), str(other), "--html", str(page)]) == 1
    text = page.read_text()
    assert "the first is forward/logits" in text
    assert text.count("<circle") == 7
    assert text.count("class=off") == 1
    assert "http" not in text.replace("http-equiv", "")


def test_names_of_a_recording_are_text_on_the_page(tmp_path: Path) -> None:
    for name in ("a.npz", "b.npz"):
        with Recorder(tmp_path / name) as record:
            record.forward("<script>alert(1)</script>", [1.0])
    page = tmp_path / "align.html"
    assert main(["align", str(tmp_path / "a.npz"), str(tmp_path / "b.npz"), "--html", str(page)]) == 0
    assert "<script>" not in page.read_text()
