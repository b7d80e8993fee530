"""Logs are free text: the readers find what is there, and survive anything."""

from __future__ import annotations

import gc
import math
import textwrap
import weakref
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tipc.certify.evidence.benchmark_block import autolog_block, latency_stages
from tipc.certify.evidence.log_lines import LINE_LIMIT, lines
from tipc.certify.evidence.log_readers import EvaluationReader, TrainingReader
from tipc.certify.evidence.log_records import EvaluationLine, TrainingLine
from tipc.certify.evidence.logs import chart_rows, read_log
from tipc.certify.evidence.predictions import read_predictions

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


def training(tmp_path: Path, text: str | bytes) -> tuple[TrainingLine, ...]:
    return read_log(write(tmp_path, text)).training


def evaluations(tmp_path: Path, text: str) -> tuple[EvaluationLine, ...]:
    return read_log(write(tmp_path, text)).evaluations


def test_a_training_line_of_the_spec_is_read_with_names_and_units(tmp_path: Path) -> None:
    [row] = training(tmp_path, "noise\n" + SPEC)
    assert (row.line, row.epoch, row.epochs, row.iteration) == (2, 3, 5, 10)
    assert row.values == {
        "lr": 1e-3,
        "loss": 2.31,
        "avg_reader_cost": 0.01,
        "avg_batch_cost": 0.27,
        "avg_samples": 4.0,
        "avg_ips": 14.8,
    }
    assert row.units == {"avg_reader_cost": "sec", "avg_batch_cost": "sec", "avg_ips": "images/sec"}
    assert row.metrics == {"top1": 0.25, "top5": 1.0}


# One line in the form of each family: epoch, epochs, iteration, iterations, loss, batch cost, speed, unit.
FAMILIES = {
    "seg": (SEG.replace("nan", "0.5"), (1, None, 10, 50, 0.5, 0.1, 20.1, "samples/sec")),
    "clas": (
        "[2024/01/02 03:04:05] x INFO: [Train][Epoch 2/3][Iter: 5/9]lr(LinearWarmup): 0.32500000, top1: 0.5, "
        "CELoss: 6.5, loss: 6.5, batch_cost: 4.10546s, reader_cost: 0.1, ips: 1.94863 samples/s, eta: 0:08",
        (2, 3, 5, 9, 6.5, 4.10546, 1.94863, "samples/s"),
    ),
    "ocr": (
        "[2024/01/02 03:04:05] x INFO: epoch: [1/2], global_step: 4, lr: 0.0005, acc: 0.0, "
        "norm_edit_dis: 0.05, loss: 92.44, avg_reader_cost: 0.1 s, avg_batch_cost: 1.4 s, avg_samples: 8.0, "
        "ips: 5.4 samples/s",
        (1, 2, 4, None, 92.44, 1.4, 5.4, "samples/s"),
    ),
    "det": (
        "[01/02 03:04:05] x INFO: Epoch: [0] [3/4] learning_rate: 0.00001 loss_vfl: 16.0 loss: 18.1 "
        "eta: 0:00:04 batch_cost: 5.5382 data_cost: 0.0002 ips: 0.3611 images/s",
        (0, None, 3, 4, 18.1, 5.5382, 0.3611, "images/s"),
    ),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_training_line_of_each_family_is_read(family: str, tmp_path: Path) -> None:
    text, wanted = FAMILIES[family]
    [row] = training(tmp_path, text)
    values = row.get("loss"), row.get("avg_batch_cost"), row.get("avg_ips"), row.units.get("avg_ips")
    assert (row.epoch, row.epochs, row.iteration, row.iterations, *values) == wanted


def test_the_summary_of_an_epoch_is_neither_training_nor_evaluation(tmp_path: Path) -> None:
    log = read_log(
        write(tmp_path, "x INFO: [Train][Epoch 1/2][Avg]top1: 0.00000, CELoss: 7.02, loss: 7.02\n")
    )
    assert not log.training
    assert not log.evaluations


def test_the_progress_of_an_evaluation_is_not_its_result(tmp_path: Path) -> None:
    text = (
        "Test:  [0/4]  eta: 0:00:07  loss: 64.0491 (64.0491)  acc1: 0.0000 (0.0000)  time: 1.7904\n"
        "x INFO: [Eval][Epoch 0][Iter: 0/1]loss: 48.0, top1: 0.0, batch_cost: 1.9s, reader_cost: 0.8, "
        "ips: 4.1 images/sec\n"
    )
    log = read_log(write(tmp_path, text))
    assert not log.evaluations
    assert not log.training


def test_results_of_evaluations_are_read_in_every_familys_form(tmp_path: Path) -> None:
    text = (
        " * Acc@1 0.062 Acc@5 0.312\n"
        "x INFO: [Eval][Epoch 0][Avg]CELoss: 48.0, loss: 48.0, top1: 0.25\n"
        "[EVAL] #Images: 4 mIoU: 0.9219 Acc: 0.9863 Kappa: 0.9165 Dice: 0.9583\n"
        "x INFO: acc:0.5\n"
        " Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.412\n"
        " Average Precision  (AP) @[ IoU=0.50:0.95 | area= small | maxDets=100 ] = -1.000\n"
        "x INFO: mAP(0.50, 11point) = 12.34%\n"
    )
    assert [dict(row.metrics) for row in evaluations(tmp_path, text)] == [
        {"Acc@1": 0.062, "Acc@5": 0.312},
        {"top1": 0.25},
        {"mIoU": 0.9219, "Acc": 0.9863, "Kappa": 0.9165, "Dice": 0.9583},
        {"acc": 0.5},
        {"AP@0.50:0.95/all/100": 0.412},
        {"mAP": 12.34},
    ]


@pytest.mark.parametrize(
    ("line", "metrics"),
    [
        ("{'loss': [0.4], 'acc': 0.75}", {"acc": 0.75}),
        ('{"mode": "eval", "top1": 0.75}', {"top1": 0.75}),
        ("eval {'loss': [0.8], 'acc': np.float64(0.625), 'batch_size': 4}", {"acc": 0.625}),
        ("mIoU: array([0.5])", {"mIoU": 0.5}),
        ("评估完成，准确率：87.50%", {"准确率": 87.5}),
        ("评估结果：acc：0.875", {"acc": 0.875}),
        ("Evaluation: mae: 3.25, rmse: 4.5", {"mae": 3.25, "rmse": 4.5}),
        ("Accuracy of the network on the 8 test images: 87 %", {"Accuracy": 87.0}),
        ("val acc is 0.8", {"acc": 0.8}),
        ("| top1   | 0.8000 |", {"top1": 0.8}),
        ("[Eval][Epoch 0][Avg]recall1: 0.5, recall5: 0.75", {"recall1": 0.5, "recall5": 0.75}),
        ("mAP@0.5: 0.25 Recall@1: 0.5 hit@10: 0.75", {"mAP@0.5": 0.25, "Recall@1": 0.5, "hit@10": 0.75}),
        ("valid loss 2.1000, ppl 8.170", {"ppl": 8.17}),
        ("metric fid 12.5", {"fid": 12.5}),
        ("│ accuracy │ 0.6250 │", {"accuracy": 0.625}),
        ("┃ mIoU     ┃ 62.5 % ┃", {"mIoU": 62.5}),
        ("Test set: Average loss: 0.43, Accuracy: 950/1000 (95%)", {"Accuracy": 0.95}),
        ("top1 0.5 top5 1.0", {"top1": 0.5, "top5": 1.0}),
        ("Validation loss: 0.25", {"loss": 0.25}),
        ("epoch 3 val_loss: 0.25", {"loss": 0.25}),
        ("class 7: acc: nan (no samples), mean of the others: acc: 0.5", {"acc": 0.5}),
    ],
)
def test_a_metric_is_read_in_the_words_of_scripts_of_ones_own(
    line: str, metrics: dict[str, float], tmp_path: Path
) -> None:
    log = read_log(write(tmp_path, line))
    assert [dict(row.metrics) for row in log.evaluations] == [metrics]
    assert log.not_finite is None


@pytest.mark.parametrize(
    "line",
    [
        *("训练准确率：0.9", "top 5.3", "accuracy of three methods", "map 3.11", "loss: 0.3"),
        *("[Train] acc: 0.5", "Validation loss: 0.2, batch_cost: 0.1 s"),
    ],
)
def test_what_is_no_metric_of_an_evaluation_is_left_out(line: str, tmp_path: Path) -> None:
    assert not evaluations(tmp_path, line)


def test_a_table_of_classes_is_not_taken_for_the_result_that_stands_before_it(tmp_path: Path) -> None:
    text = (
        "[06:10:01] [EVAL] images: 8, mIoU: 0.4832, Dice: 0.6174, Class IoU: [0.7161 0.2502]\n"
        "[06:10:01] [EVAL] class   0   IoU 0.7161   Dice 0.8346\n"
        "[06:10:01] [EVAL] class   1   IoU 0.2502   Dice 0.4003\n"
    )
    [line] = evaluations(tmp_path, text)
    assert (line.metrics["mIoU"], line.metrics["Dice"]) == (0.4832, 0.6174)


def test_a_loss_of_an_evaluation_counts_only_where_there_is_no_metric(tmp_path: Path) -> None:
    rows = evaluations(tmp_path, "Validation loss: 0.25\nValidation acc: 0.5\n")
    assert [dict(row.metrics) for row in rows] == [{"acc": 0.5}]


@pytest.mark.parametrize(
    "line",
    [
        "第 3/5 轮，损失：2.31，avg_reader_cost：0.01 sec，avg_batch_cost：0.27 sec，avg_ips：14.8",
        '{"epoch": 3, "loss": 2.31, "avg_reader_cost": 0.01, "avg_batch_cost": 0.27, "avg_ips": 14.8}',
    ],
)
def test_training_lines_in_chinese_and_in_json_are_read(line: str, tmp_path: Path) -> None:
    [row] = training(tmp_path, line)
    assert (row.epoch, *row.values.values()) == (3, 2.31, 0.01, 0.27, 14.8)


def test_an_evaluation_line_is_no_training_line(tmp_path: Path) -> None:
    log = read_log(write(tmp_path, "[Epoch 1] eval loss: 1.2, top1: 0.5\n" + SPEC))
    assert len(log.training) == 1
    assert [row.metrics for row in log.evaluations] == [{"top1": 0.5}]


@pytest.mark.parametrize(
    "line",
    [
        *("loss: nan", "[Train][Epoch 1/2][Avg] CELoss: inf", "Evaluation: mIoU: nan", SEG.strip()),
        *("{'loss': nan, 'top1': 0.5}", '{"loss": NaN}', "loss nan", "step 3 loss nan lr 0.1"),
        *(" * Acc@1 nan Acc@5 0.5", "lr: nan", "loss: tensor(nan)", "| loss | nan |", "avg_samples: nan"),
        *("loss: [nan]", "CTCLoss/loss=nan", "loss: -inf", "grad_norm: nan", "best_loss: nan", "loss: nan%"),
        *("x INFO: loss: inf", "loss: paddle.to_tensor([nan])", "损失：nan", "准确率: nan", "class acc: nan"),
        *("{'loss': np.float64(nan)}", "class 7: loss: nan", "mIoU: nan, class 7: acc: nan"),
    ],
)
def test_a_figure_that_is_not_finite_is_found_in_any_line(line: str, tmp_path: Path) -> None:
    found = read_log(write(tmp_path, f"x\n{line}\ny\n")).not_finite
    assert found is not None
    assert found.line == 2
    assert not math.isfinite(found.value)


@pytest.mark.parametrize(
    "line",
    [
        *("best: -inf", "patience: inf", "information: 3", "loss: 3 (nan values are 0)"),
        *("no checkpoint found, best_loss: inf", "best val loss: inf", "min_loss=inf", "loss_max: -inf"),
        *("step 1 skipped by the loss scaler, grad_norm: inf, scale: 32768", "grad: inf"),
        *(
            "weights contain nan: False",
            "if loss nan then stop",
            "loss: nanosecond",
            "loss: info",
            "eta: nan",
        ),
        *("loss nan() is checked", "the loss: NaN_check is on", "INFO: loss 0.3"),
    ],
)
def test_settings_that_are_infinite_are_no_figures(line: str, tmp_path: Path) -> None:
    assert read_log(write(tmp_path, line)).not_finite is None


ERRORS = {
    "python": "Traceback (most recent call last):\n  File 'a.py', line 3\nRuntimeError: no data\ngoes on\n",
    "rich": "╭──── Traceback (most recent call last) ────╮\n│ a.py:60 in <module>  │\n╰──╯\n"
    "RuntimeError: x\ngoes on\n",
    "colours": "\x1b[31mTraceback (most recent call last):\x1b[0m\n\x1b[1mValueError: bad\x1b[0m\ngoes on\n",
    "segfault": "bash: line 1: 4711 Segmentation fault      (core dumped) python a.py\n",
    "paddle": "C++ Traceback (most recent call last):\n",
    "paddle's summary": "Error Message Summary:\nPreconditionNotMetError: Tensor holds no memory.\ngoes on\n",
    "killed": "Killed\n",
    "last word": "Traceback (most recent call last):\nModuleNotFoundError: No module named 'x'\n",
    "cause of another": "Traceback (most recent call last):\nImportError: x\n\nDuring handling of "
    "the above exception, another exception occurred:\n\n"
    "Traceback (most recent call last):\nKeyError: 'y'\ngoes on\n",
}


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_that_escaped_is_found(name: str, tmp_path: Path) -> None:
    errors = read_log(write(tmp_path, "begin\n" + ERRORS[name])).errors
    assert [one for one in errors if not one.handled], errors


def test_an_error_in_the_middle_of_a_giant_log_is_found(tmp_path: Path) -> None:
    fill = ("x" * 99 + "\n") * 100_000
    log = read_log(write(tmp_path, fill + ERRORS["python"] + fill))
    assert [(one.line, one.text) for one in log.errors] == [(100_003, "RuntimeError: no data")]


@pytest.mark.parametrize(
    "text",
    [
        "Traceback (most recent call last):\nModuleNotFoundError: No module named 'visualdl'\ngoes on\n",
        "WARNING:root:no curves\nTraceback (most recent call last):\nOSError: no server\ngoes on without\n",
    ],
)
def test_an_error_that_was_handled_is_told_from_one_that_escaped(text: str, tmp_path: Path) -> None:
    [error] = read_log(write(tmp_path, text)).errors
    assert error.handled


CPP = "C++ Traceback (most recent call last):\nNo stack trace in paddle\nError Message Summary:\n"
SIGTERM = (
    "FatalError: `Termination signal` is detected by the operating system.\n  [SignalInfo: *** SIGTERM\n"
)
SIGSEGV = (
    "FatalError: `Segmentation fault` is detected by the operating system.\n  [SignalInfo: *** SIGSEGV\n"
)


def test_a_worker_that_was_ended_by_its_pool_is_no_crash(tmp_path: Path) -> None:
    errors = read_log(write(tmp_path, CPP + SIGTERM + CPP + CPP + SIGTERM + SIGTERM)).errors
    assert len(errors) == 6
    assert all(one.handled for one in errors)


@pytest.mark.parametrize(
    "text", [CPP + SIGSEGV, CPP + SIGTERM + CPP + SIGSEGV, CPP + CPP + SIGTERM + SIGSEGV]
)
def test_a_worker_that_crashed_is_told_from_one_that_was_ended(text: str, tmp_path: Path) -> None:
    errors = read_log(write(tmp_path, text)).errors
    assert "Segmentation fault" in [one.text for one in errors if not one.handled][-1]


def test_a_warning_of_python_handles_nothing(tmp_path: Path) -> None:
    text = "  warnings.warn(message)\nTraceback (most recent call last):\nOSError: no server\ngoes on\n"
    [error] = read_log(write(tmp_path, text)).errors
    assert not error.handled


@pytest.mark.parametrize(
    "line",
    [
        "[2024/01/02 03:04:05] ppocr ERROR: No Images in train dataset",
        "ERROR - Unable to QAT",
        "[ERROR] no data",
    ],
)
def test_a_line_of_the_level_error_is_kept_as_a_likely_cause(line: str, tmp_path: Path) -> None:
    [complaint] = read_log(write(tmp_path, f"a\n{line}\nb\n")).complaints
    assert complaint.text == line


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


@pytest.mark.parametrize("kind", [TrainingReader, EvaluationReader])
def test_a_reader_is_gone_with_its_log(kind: type) -> None:
    """Without the garbage collector, which may come late: there are readers for thousands of logs."""
    gc.disable()
    try:
        reader = kind()
        reader.feed(1, "epoch: 1, iter: 2, loss: 0.5, avg_ips: 3.0, acc: 0.5")
        gone = weakref.ref(reader)
        del reader
        assert gone() is None
    finally:
        gc.enable()


def test_a_log_that_is_not_there_has_no_lines(tmp_path: Path) -> None:
    assert not list(lines(tmp_path / "no.log"))
    assert read_log(tmp_path / "no.log").training == ()
    assert autolog_block(tmp_path / "no.log") is None


def test_a_giant_log_is_read_whole(tmp_path: Path) -> None:
    data = SPEC.encode() + b"x" * 20_000_000 + b"\n" + SPEC.encode() + b"y\n" * 100_000 + SPEC.encode()
    assert [row.line for row in training(tmp_path, data)] == [1, 3, 100_004]


def test_a_long_line_is_handed_on_in_pieces_without_cutting_a_figure(tmp_path: Path) -> None:
    text = " ".join(f"loss: {number}.25," for number in range(3000))
    pieces = [piece for _, piece in lines(write(tmp_path, text))]
    assert all(len(piece) <= LINE_LIMIT for piece in pieces)
    assert "".join(pieces) == text
    assert all(piece.count("loss") == piece.count(".25,") for piece in pieces)


def test_the_states_of_a_progress_bar_are_lines_of_one_number(tmp_path: Path) -> None:
    assert list(lines(write(tmp_path, "a\n 10%\r 50%\r100%\nb"))) == [
        (1, "a"),
        (2, " 10%"),
        (2, " 50%"),
        (2, "100%"),
        (3, "b"),
    ]


def test_a_chart_of_many_lines_is_thinned(tmp_path: Path) -> None:
    rows = chart_rows(training(tmp_path, SPEC * 3000))
    assert len(rows) == 500
    assert rows[0]["iter"] == 10


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
        for row in read_log(path).training:
            assert isinstance(row.line, int)
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
    "(" * 4000,
    "ERROR " * 600,
    "\x1b]" * 2000,
    "loss: 1, epoch" + " " * 3900 + "x",
    "blanks: loss:" + " " * 3900 + "x",
    "digits: loss: " + "1" * 3900 + "x",
    "share: acc: " + "1" * 3900 + ".1x",
    "nan: loss nan a" + " " * 3900 + "x",
    "[nan: loss:" + " " * 3900 + "nan_",
    "class" + " " * 3900 + "iou: nan",
)


@pytest.mark.parametrize("line", HOSTILE, ids=lambda line: line[:8].strip() or "blanks")
def test_long_lines_of_one_kind_cost_no_more_than_their_length(tmp_path: Path, line: str) -> None:
    # With a pattern that tries every end from every beginning, this would take hours.
    path = write(tmp_path, f"{line}\n" * 300)
    read_log(path)
    read_predictions(path)
    assert autolog_block(path) is None


WHOLE = (
    "[Epoch 1, iter: {iter}] loss: 2.532866, avg_reader_cost: 0.018950 sec, avg_batch_cost: 0.189971 sec, "
    "avg_samples: 4, avg_ips: 21.05585 images/sec"
)


@pytest.mark.parametrize("width", [50, 60, 70, 80, 100, 120, 200])
def test_training_lines_that_were_wrapped_are_read_whole(width: int, tmp_path: Path) -> None:
    lines = []
    for number in range(3):
        lines += textwrap.wrap(WHOLE.format(iter=number), width)
    log = tmp_path / "train.log"
    log.write_text("\n".join(["starting", *lines, "Evaluation: top1: 0.8750", "saved to out:8"]))
    rows = read_log(log).training
    assert [row.iteration for row in rows] == [0, 1, 2]
    for row in rows:
        assert row.values == {
            "loss": 2.532866, "avg_reader_cost": 0.01895, "avg_batch_cost": 0.189971, "avg_samples": 4.0,
            "avg_ips": 21.05585,
        }  # fmt: skip
        assert row.units["avg_reader_cost"] == "sec"


MODEL_FIT = """The loss value printed in the log is the current step
Epoch 1/2
step 1/2 - loss: 1.9635 - acc: 0.2500 - 161ms/step
step 2/2 - loss: 1.8685 - acc: 0.1250 - 82ms/step
Eval begin...
step 1/2 - loss: 0.6469 - acc: 0.7500 - 4ms/step
step 2/2 - loss: 1.2548 - acc: 0.3750 - 3ms/step
Eval samples: 8
Epoch 2/2
step 1/2 - loss: 0.5713 - acc: 1.0000 - 5ms/step
step 2/2 - loss: 1.1224 - acc: 0.6250 - 3ms/step
"""


def test_what_paddles_own_loop_prints_is_read_and_its_evaluations_are_told_apart(tmp_path: Path) -> None:
    log = read_log(write(tmp_path, MODEL_FIT))
    told = [(row.epoch, row.epochs, row.iteration, row.get("loss")) for row in log.training]
    assert told == [(1, 2, 1, 1.9635), (1, 2, 2, 1.8685), (2, 2, 1, 0.5713), (2, 2, 2, 1.1224)]
    # The last step of an evaluation tells the metric of all its samples; those of the training tell none.
    assert [(row.line, dict(row.metrics)) for row in log.evaluations] == [(7, {"acc": 0.375})]
