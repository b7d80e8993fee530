"""Logs are free text: the readers find what is there, and survive anything."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tipc.certify.logs import (
    READ_LIMIT,
    autolog_block,
    evaluation_series,
    latency_stages,
    lines,
    training_series,
)
from tipc.certify.predictions import read_predictions

SPEC = (
    "[Epoch 3/5, iter: 10] top1: 0.25, top5: 1.0, lr: 1e-3, loss: 2.31, avg_reader_cost: 0.01 sec, "
    "avg_batch_cost: 0.27 sec, avg_samples: 4.0, avg_ips: 14.8 images/sec.\n"
)
SEG = (
    "2022-04-13 11:43:09 [INFO]\t[TRAIN] epoch: 1, iter: 10/50, loss: nan, lr: 0.0099, batch_cost: 0.1, "
    "reader_cost: 0.01, ips: 20.1 samples/sec | ETA 00:01\n"
)
BLOCK = """2022-04-13 11:43:09 [INFO]    ---------------------- Env info ----------------------
2022-04-13 11:43:09 [INFO]     OS_version: CentOS Linux 7
2022-04-13 11:43:09 [INFO]     CUDA_version: 11.2.67
Build cuda_11.2.r11.2/compiler.29373293_0
[2022/04/13 11:43:09] root INFO: ----------------------- Data info -----------------------
[2022/04/13 11:43:09] root INFO: batch_size: 1
----------------------- Perf info -----------------------
[run 7] cpu_rss(MB): 315.2656, gpu_rss(MB): None, gpu_util: 0.0%
 total time spent(s): 4.2386
 preprocess_time(ms): 33.7887, inference_time(ms): 50.7443
 preprocess_time_p50(ms): 33.1, inference_time_p50(ms): 50.1
"""


def write(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "a.log"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_training_line_of_the_spec_is_read_with_names_and_units(tmp_path: Path) -> None:
    [row] = training_series(write(tmp_path, "noise\n" + SPEC))
    assert (row["line"], row["epoch"], row["epochs"], row["iter"]) == (2, 3, 5, 10)
    assert (row["loss"], row["avg_ips"], row["avg_samples"], row["lr"]) == (2.31, 14.8, 4.0, 1e-3)
    assert row["units"] == {"avg_reader_cost": "sec", "avg_batch_cost": "sec", "avg_ips": "images/sec"}
    assert row["metrics"] == {"top1": 0.25, "top5": 1.0}


def test_the_names_of_other_families_are_mapped_and_kept(tmp_path: Path) -> None:
    [row] = training_series(write(tmp_path, SEG))
    assert math.isnan(row["loss"])
    assert (row["avg_ips"], row["names"]["avg_ips"], row["iters"]) == (20.1, "ips", 50)


def test_an_evaluation_line_is_no_training_line(tmp_path: Path) -> None:
    path = write(
        tmp_path, "[Epoch 1] eval loss: 1.2, top1: 0.5\n[EVAL] #Images: 8 mIoU: 0.71 Acc: 0.9\n" + SPEC
    )
    assert len(training_series(path)) == 1
    assert [row["metrics"] for row in evaluation_series(path)] == [{"top1": 0.5}, {"mIoU": 0.71, "Acc": 0.9}]


def test_the_benchmark_block_is_read_through_any_log_prefix(tmp_path: Path) -> None:
    block = autolog_block(write(tmp_path, "x\n" + BLOCK))
    assert block is not None
    assert block["env"] == {"OS_version": "CentOS Linux 7", "CUDA_version": "11.2.67"}
    assert block["data"] == {"batch_size": "1"}
    assert block["perf"]["total time spent(s)"] == 4.2386
    assert block["perf"]["gpu_rss(MB)"] == "None"
    assert latency_stages(block) == {
        "preprocess": {"mean": 33.7887, "p50": 33.1},
        "inference": {"mean": 50.7443, "p50": 50.1},
    }


def test_the_last_of_several_blocks_counts(tmp_path: Path) -> None:
    block = autolog_block(write(tmp_path, BLOCK + BLOCK.replace("4.2386", "9.5")))
    assert block is not None
    assert block["perf"]["total time spent(s)"] == 9.5


def test_a_log_that_is_not_there_has_no_lines(tmp_path: Path) -> None:
    assert not list(lines(tmp_path / "no.log"))
    assert training_series(tmp_path / "no.log") == []
    assert autolog_block(tmp_path / "no.log") is None


def test_of_a_giant_log_the_beginning_and_the_end_are_read(tmp_path: Path) -> None:
    path = write(tmp_path, SPEC.encode() + b"x" * (READ_LIMIT + 1000) + b"\n" + SPEC.encode())
    assert len(training_series(path)) == 2


@settings(max_examples=150, deadline=None)
@given(
    st.binary(max_size=400)
    | st.text(max_size=400).map(lambda text: (SPEC + text + SEG + BLOCK + text).encode())
)
def test_any_bytes_are_survived(data: bytes) -> None:
    import tempfile

    with tempfile.NamedTemporaryFile() as stream:
        stream.write(data)
        stream.flush()
        path = Path(stream.name)
        for row in training_series(path):
            assert isinstance(row["line"], int)
        evaluation_series(path)
        block = autolog_block(path)
        latency_stages(block or {})


HOSTILE = (
    "a" * 4000,
    "a." * 2000,
    "loss " * 800,
    "image:" + "a" * 3900,
    "-" * 4000,
    " " * 4000,
    "[Epoch " * 500,
    "a:" * 2000,
)


@pytest.mark.parametrize("line", HOSTILE, ids=lambda line: line[:8].strip() or "blanks")
def test_long_lines_of_one_kind_cost_no_more_than_their_length(tmp_path: Path, line: str) -> None:
    # With a pattern that tries every end from every beginning, this would take hours.
    path = write(tmp_path, f"{line}\n" * 300)
    training_series(path)
    evaluation_series(path)
    read_predictions(path)
    assert autolog_block(path) is None
