"""The line of a running training, in the forms of the families."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipc.run.show.training_line import training_line


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "[Epoch 3, iter: 10] loss: 1.20412, avg_reader_cost: 0.1 sec, avg_ips: 14.125 images/sec",
            "epoch 3 iter 10 loss 1.204 14.12 images/sec",
        ),
        (
            "[INFO] [TRAIN] epoch: 1, iter: 10/20, loss: 0.6931, ips: 12.5 samples/sec | ETA 00:00:05",
            "epoch 1 iter 10/20 loss 0.6931 12.5 samples/sec eta 00:00:05",
        ),
        (
            "[Train][Epoch 1/2][Iter: 0/2]lr: 0.1, CELoss: 7.04844, loss: 7.04844, batch_cost: 5.46512s,"
            " reader_cost: 2.5, ips: 1.46383 samples/s, eta: 0:00:21",
            "epoch 1/2 iter 0/2 loss 7.048 1.464 samples/s eta 0:00:21",
        ),
        (
            "epoch: [1/2], global_step: 4, loss: 12.5, ips: 3.2 samples/s, eta: 0:00:10",
            "epoch 1/2 iter 4 loss 12.5 3.2 samples/s eta 0:00:10",
        ),
        (
            "Epoch: [0] [0/4] loss: 3.25 eta: 0:00:19 batch_cost: 4.8 ips: 0.4140 images/s",
            "epoch 0 loss 3.25 0.414 images/s eta 0:00:19",
        ),
    ],
)
def test_every_family_is_told_in_a_few_words(line: str, told: str) -> None:
    assert training_line(["something before", line, "a line after it"]) == told


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("[Epoch 3/5] loss: 1.5", "epoch 3/5 loss 1.5 eta ~1:00"),  # two of five epochs in 40 s
        ("iter: 30/90, loss: 1.5", "iter 30/90 loss 1.5 eta ~1:20"),
        ("[Epoch 2/4, iter: 1/2] loss: 1.5", "epoch 2/4 iter 1/2 loss 1.5 eta ~1:07"),
        ("[Epoch 1/5] loss: 1.5", "epoch 1/5 loss 1.5"),
        ("[Epoch 3] loss: 1.5", "epoch 3 loss 1.5"),
        ("[Epoch 0/0, iter: 5/0] loss: 1.5", "epoch 0/0 iter 5/0 loss 1.5"),
    ],
)
def test_what_is_done_tells_how_long_the_rest_takes_where_the_log_does_not(line: str, told: str) -> None:
    assert training_line([line], elapsed=40.0) == told


def test_warnings_and_rules_are_passed_over() -> None:
    lines = ["saving the model", "----------", "  warnings.warn('old')", ""]
    assert training_line(lines) == "saving the model"
    assert training_line([]) == ""


@given(st.lists(st.text(max_size=200), max_size=5))
def test_any_log_gives_one_line(lines: list[str]) -> None:
    assert isinstance(training_line(lines), str)


@pytest.mark.parametrize(
    ("room", "told"),
    [
        (80, "epoch 4/5 iter 1/2 loss 0.5255 6.552 images/s eta 0:09"),
        (45, "epoch 4/5 loss 0.5255 6.552 images/s eta 0:09"),
        (40, "epoch 4/5 loss 0.5255 eta 0:09"),
        (20, "epoch 4/5 eta 0:09"),
        (3, "epoch 4/5 eta 0:09"),
    ],
)
def test_on_a_narrow_terminal_how_long_it_takes_goes_last(room: int, told: str) -> None:
    line = "[Epoch 4/5, iter: 1/2] loss: 0.5255, ips: 6.552 images/s, eta: 0:09"
    assert training_line([line], room=room) == told


@pytest.mark.parametrize(
    "noise",
    [
        "I1118 03:47:11.183208 13699 tcp_utils.cc:181] The server starts to listen",
        "LAUNCH INFO 2026-11-18 03:46:57,101 Run Pod: abc",
        "UserWarning: something is old",
    ],
)
def test_what_paddle_itself_prints_is_not_shown(noise: str) -> None:
    assert training_line(["reading the data", noise]) == "reading the data"
    assert training_line([noise]) == ""
