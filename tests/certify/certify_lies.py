"""Lies that need no paddle: edits of the honest repository of ``certify_plain_repo``."""

from __future__ import annotations

from dataclasses import dataclass

TRAIN, EXPORT, INFER = "train.py", "tools/export_model.py", "deploy/inference_python/infer.py"
LINE = '        print(f"[Epoch'


@dataclass(frozen=True)
class Lie:
    """One edit of the honest repository, and who must find it."""

    name: str
    file: str
    old: str
    new: str
    check: str
    cause: str  # words of the message
    precision: str = "fp32"
    infer_precision: str = "fp32"


LIES = [
    Lie(
        "training crashes after writing its log and its model",
        TRAIN,
        "WEIGHTS.items()}, stream)",
        "WEIGHTS.items()}, stream)\nraise RuntimeError('out of memory')",
        "TS001",
        "exit 1",
    ),
    Lie(
        "script prints a traceback and calls exit()",
        TRAIN,
        "loss = 2.31",
        "loss = 2.31\ntry:\n    open('nowhere')\nexcept OSError:\n    import traceback; "
        "traceback.print_exc()",
        "TS002",
        "FileNotFoundError",
    ),
    Lie(
        "script gives up quietly where the data are not there",
        TRAIN,
        "loss = 2.31",
        "print('no data'); sys.exit()",
        "TX701",
        "did not write",
    ),
    Lie("loss is NaN", TRAIN, "loss *= 0.9", "loss = float('nan')", "TL103", "loss is nan (test_tipc/output"),
    Lie("loss becomes infinite", TRAIN, "loss *= 0.9", "loss *= 1e200", "TL103", "loss is inf"),
    Lie("loss is constant", TRAIN, "loss *= 0.9", "pass", "TL105", "the loss is 2.31 in all 6"),
    Lie(
        "a field of the log is missing",
        TRAIN,
        "avg_reader_cost: 0.01000 sec, ",
        "",
        "TL101",
        "avg_reader_cost in 0 of 6",
    ),
    Lie("a field has another name than the spec's", TRAIN, "avg_ips:", "ips:", "TL101", "avg_ips in 0 of 6"),
    Lie(
        "training prints nothing at all",
        TRAIN,
        LINE,
        '        str(f"[Epoch',
        "TL101",
        "the training log is empty",
    ),
    Lie(
        "costs are in milliseconds",
        TRAIN,
        "avg_batch_cost: 0.10000 sec",
        "avg_batch_cost: 100.0 ms",
        "TL102",
        "`ms`",
    ),
    Lie(
        "costs have no unit",
        TRAIN,
        "avg_batch_cost: 0.10000 sec",
        "avg_batch_cost: 0.10000",
        "TL102",
        "no unit",
    ),
    Lie("speed in batches per second", TRAIN, "images/sec", "batches/sec", "TL102", "batches/sec"),
    Lie(
        "speed is eight times what it was",
        TRAIN,
        "avg_ips: 40.0",
        "avg_ips: 320.0",
        "TL104",
        "are 40 per second",
    ),
    Lie(
        "batch cost leaves out the wait for data",
        TRAIN,
        "avg_reader_cost: 0.01",
        "avg_reader_cost: 0.90",
        "TL104",
        "must contain it",
    ),
    Lie(
        "training stops after the first epoch",
        TRAIN,
        "    for iteration in range(2):",
        "    if epoch > 1: break\n    for iteration in range(2):",
        "TL107",
        "asked for 3 epochs, the log ends at epoch 1",
    ),
    Lie("evaluation over no images", TRAIN, "top1: 0.7500", "top1: nan", "TL106", "top1 is nan"),
    Lie(
        "export writes an empty parameter file",
        EXPORT,
        'stream.write(b"model")',
        'stream.write(b"model" if name.endswith("model") else b"")',
        "TX701",
        "inference.pdiparams is empty",
    ),
    Lie(
        "inference loses the rest of a batch",
        INFER,
        "enumerate(batch)",
        "enumerate(batch[:1])",
        "TP306",
        "has no prediction",
    ),
    Lie(
        "predictions depend on the batch size",
        INFER,
        "index = start + place",
        "index = start",
        "TP306",
        "class_id 1 against 0",
    ),
    Lie("benchmark without its block", INFER, "print(report)", "pass", "TB601", "no benchmark block"),
    Lie(
        "benchmark block without figures",
        INFER,
        "print(report)",
        "print(report[:report.index('----------------------- Perf')])",
        "TB601",
        "perf info",
    ),
    Lie(
        "whole time does not fit its stages", INFER, "runs * 0.0375", "runs * 0.015", "TB602", "the total is"
    ),
    Lie(
        "inference takes no time",
        INFER,
        "inference_time(ms): 25.0",
        "inference_time(ms): 0.0",
        "TB602",
        "0 ms",
    ),
    Lie(
        "benchmark ignores the batch size",
        INFER,
        " batch_size: {size}",
        " batch_size: 1",
        "TB603",
        "asked for 4",
    ),
    Lie(
        "benchmark without the oneDNN that was asked for",
        INFER,
        "enable_mkldnn: True",
        "enable_mkldnn: False",
        "TB603",
        "mkldnn: asked for True",
    ),
    Lie(
        "int8 asked for, fp32 reported",
        INFER,
        "precision: {args.precision}",
        "precision: fp32",
        "TQ404",
        "says precision fp32",
        infer_precision="int8",
    ),
    Lie(
        "log of a training that never was",
        TRAIN,
        "avg_batch_cost: 0.10000 sec, avg_samples: 4.0, ",
        "avg_batch_cost: 4.00000 sec, avg_samples: 160.0, ",
        "TL104",
        "the log says 24.0 s of training, but the step took",
    ),
    Lie(
        "benchmark of another run",
        INFER,
        "print(report)",
        "print(report.replace(f'spent(s): {runs * 0.0375:.4f}', 'spent(s): 60.0').replace(f'data_num: "
        "{runs}', "
        "'data_num: 1600'))",
        "TB602",
        "the benchmark says 60 s",
    ),
]
