"""Models learn: from a seed, mIoU on the lite training images rises above 0.8 (all eight:
benchmarks/learn.py)."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from seg_helpers import ROOT

pytestmark = [pytest.mark.paddle, pytest.mark.slow]


@pytest.mark.parametrize("name", ["pphumanseg_lite", "pp_liteseg_stdc1"])
def test_it_learns_the_lite_images(name: str) -> None:
    command = [sys.executable, str(ROOT / "benchmarks/learn.py"), "--one", name]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    scores = json.loads(done.stdout.strip().splitlines()[-1])
    assert scores["before"] < 0.5
    assert scores["after"] > 0.8
