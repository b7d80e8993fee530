"""Which device is taken, and what is said about it."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.paddle
pytest.importorskip("paddle")

from paddlezoo.device import choose, wanted  # noqa: E402
from paddlezoo.errors import ZooError  # noqa: E402


def test_a_gpu_that_is_not_there_falls_back_with_a_warning() -> None:
    chosen = choose("gpu")
    assert chosen.name == "cpu"
    assert "there is none here: running on the CPU" in chosen.note


def test_two_words_for_the_device_may_not_contradict() -> None:
    assert wanted(None, True) == "gpu"
    with pytest.raises(ZooError, match="contradict"):
        wanted("cpu", True)
