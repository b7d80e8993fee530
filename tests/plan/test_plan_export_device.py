"""An export that is not told its device is told, at a place where its script accepts it."""

from __future__ import annotations

import pytest

from tipc.plan.target.devices import with_device


@pytest.mark.parametrize(
    ("words", "key", "told"),
    [
        # PaddleDetection: -o takes every word up to the next option.
        (
            "python tools/export_model.py -c a.yml -o weights=w filename=m --output_dir=d",
            "use_gpu",
            "python tools/export_model.py -c a.yml -o weights=w filename=m use_gpu=True --output_dir=d",
        ),
        # PaddleClas: every -o takes one.
        (
            "python tools/export_model.py -c a.yaml -o Global.pretrained_model=w",
            "-o Global.device",
            "python tools/export_model.py -c a.yaml -o Global.pretrained_model=w -o Global.device=gpu",
        ),
        ("python export.py --model=m", "--use-gpu", "python export.py --model=m --use-gpu=True"),
        ("python export.py --device cpu", "-o Global.device", "python export.py --device cpu"),
    ],
)
def test_the_device_is_said_where_the_script_reads_it(words: str, key: str, told: str) -> None:
    assert with_device(tuple(words.split()), key) == tuple(told.split())
