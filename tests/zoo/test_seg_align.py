"""Every segmentation network computes what paddleseg 2.8.0 computed with the same weights and images.

The recordings in zoo/segmentation/align were made with paddleseg's own code by
`benchmarks/seg_parity.py --record zoo/segmentation/align`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from paddlezoo.models import MODELS
from paddlezoo.seg import aligning
from tipc.align import Recorder, compare, read_recording
from tipc.cli.main import main

pytestmark = pytest.mark.paddle
RECORDINGS = Path(__file__).parents[2] / "zoo" / "segmentation" / "align"
NAMES = [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in MODELS]
# Both sides compute in float64: another CPU or number of threads changes only the last of 16 digits. What it
# is enlarged to by batch norms over few pixels was 7e-12 of a tensor's largest value (AVX512 and AVX2).
ROUNDING = 1e-8


def recorded(name: str, path: Path) -> Path:
    with Recorder(path) as recorder:
        aligning.record(MODELS[name](), recorder)
    return path


@pytest.mark.parametrize("name", NAMES)
def test_a_network_is_aligned_with_paddleseg(name: str, tmp_path: Path) -> None:
    reference = read_recording(RECORDINGS / f"{name}.npz")
    allowed = {key: ROUNDING * max(1.0, float(abs(value).max())) for key, value in reference.items()}
    alignment = compare(reference, read_recording(recorded(name, tmp_path / "ours.npz")), allowed)
    assert alignment.ok, alignment.first
    assert {tensor.stage for tensor in alignment.tensors} == {
        "data", "forward", "loss", "optimizer", "backward", "weights"
    }  # fmt: skip


def test_a_layer_that_computes_something_else_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from paddle import nn

    real = nn.BatchNorm2D.forward
    monkeypatch.setattr(nn.BatchNorm2D, "forward", lambda self, x: real(self, x) * 1.001)
    ours = recorded("pphumanseg_lite", tmp_path / "ours.npz")
    assert main(["align", str(RECORDINGS / "pphumanseg_lite.npz"), str(ours)]) == 1
    assert "the first is forward/" in " ".join(capsys.readouterr().out.split())
