"""The readers on real logs of the five families; they lie beside the checkout, and are not part of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tipc.certify.evidence.benchmark_block import autolog_block
from tipc.certify.evidence.logs import Log, read_log

LOGS = Path(__file__).parents[3] / "shared" / "upstream" / "logs"
pytestmark = pytest.mark.skipif(not LOGS.is_dir(), reason="needs the logs in ../shared/upstream/logs")


def log_of(family: str, name: str) -> Log:
    return read_log(LOGS / family / name)


# family, log → training lines, last (epoch, iteration), whether each has loss, costs and speed
TRAININGS = {
    ("PaddleClas", "train.log"): (2, (2, 0)),
    ("PaddleClas", "train-2procs.log"): (2, (2, 0)),
    ("PaddleSeg", "train.log"): (2, (5, 20)),
    ("PaddleSeg", "train-2procs.log"): (2, (10, 20)),
    ("PaddleOCR", "train.log"): (2, (2, 8)),
    ("PaddleDetection", "train.log"): (4, (0, 3)),
    ("PaddleDetection", "train-2procs.log"): (2, (0, 1)),
    ("models-Step6", "train.log"): (5, (4, 0)),
}


@pytest.mark.parametrize("where", TRAININGS, ids="/".join)
def test_the_training_lines_are_those_of_the_intervals(where: tuple[str, str]) -> None:
    count, last = TRAININGS[where]
    log = log_of(*where)
    assert len(log.training) == count
    assert (log.training[-1].epoch, log.training[-1].iteration) == last
    for row in log.training:
        assert {"loss", "avg_reader_cost", "avg_batch_cost", "avg_ips"} <= set(row.values)
    assert log.not_finite is None
    assert not log.errors


EVALUATIONS = {
    ("PaddleClas", "eval.log"): {"top1": 0.25, "top5": 1.0},
    ("PaddleSeg", "train.log"): {"mIoU": 0.9219, "Acc": 0.9863, "Kappa": 0.9165, "Dice": 0.9583},
    ("PaddleOCR", "eval.log"): {"acc": 0.0, "norm_edit_dis": 0.025001218748476495},
    ("models-Step6", "eval.log"): {"Acc@1": 0.062, "Acc@5": 0.312},
}


@pytest.mark.parametrize("where", EVALUATIONS, ids="/".join)
def test_the_result_of_an_evaluation_is_found_and_nothing_else(where: tuple[str, str]) -> None:
    found = {}
    for row in log_of(*where).evaluations:
        found.update(row.metrics)
    assert found == EVALUATIONS[where]


def test_average_precisions_of_coco_are_metrics_by_their_settings() -> None:
    names = [name for row in log_of("PaddleDetection", "eval.log").evaluations for name in row.metrics]
    assert "AP@0.50:0.95/all/100" in names
    assert len(names) == len(set(names)) == 8  # of twelve; of small and of large objects there are none


@pytest.mark.parametrize("family", ["PaddleClas", "PaddleOCR"])
def test_a_failed_inference_shows_its_error(family: str) -> None:
    [path] = (LOGS / family).glob("infer*.log")
    [error] = read_log(path).errors
    assert not error.handled


@pytest.mark.parametrize("family", ["PaddleSeg", "models-Step6"])
def test_the_benchmark_block_of_a_deployment_is_read(family: str) -> None:
    [path] = (LOGS / family).glob("infer*.log")
    block = autolog_block(path)
    assert block is not None
    assert block["perf"]["inference_time(ms)"] > 0
