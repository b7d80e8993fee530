"""The training benchmark: how each family's benchmark_train.sh turns a training config into several.

A block of a training config, after the line ``===train_benchmark_params===``, lists batch sizes and
precisions. For each of them the script writes other values into lines of a copy of the config, and has the
training script run that copy. Lines are counted from 1, in the file.
"""

from __future__ import annotations

from typing import NamedTuple

COPY = "test_tipc/benchmark_train.txt"  # the config that each run has
PROFILE_LINE = 13  # becomes the profiler's option for a run that is profiled
RUN_MODE = "DP"


class LineEdit(NamedTuple):
    """A line that gets another value; what stands before its colon stays."""

    line: int
    value: str  # with holes for the variables of a run


class TrainingBenchmark(NamedTuple):
    """What a family's script does with the block."""

    block: tuple[str, ...]  # what the lines of the block hold, in order
    devices: tuple[str, ...]  # N1C8: one machine with eight GPUs
    edits: tuple[LineEdit, ...]
    skip_steps: str  # that the speed is not measured in
    units: tuple[str, str]  # of the speed: on one GPU, on several
    names_model: tuple[bool, bool]  # whether the status line does: on one GPU, on several
    whole_word: bool = True  # False: the block's header is any line that has its word as a part
    forgets_model: bool = False  # after the first status line its name is empty
    loops: tuple[str, ...] = ("batch_size", "fp_items")  # lists of the block, the outermost first
    indent: int = 24  # of the lines of the command that reads the speed, as it is printed
    replaced: tuple[tuple[str, str], ...] = ()  # texts of the whole file, before it is read
    replaced_in_runs: tuple[tuple[str, str], ...] = ()  # after it is read
    # Options of the training that the last line of the file may have: ``log_iters:15;repeats:500``.
    last_line: tuple[str, ...] = ()
    filters_log: bool = False  # where the last line has skip_iters
    # What the training script does in this mode: (line that it reads, key, the key that it takes instead).
    renamed_keys: tuple[tuple[int, str, str], ...] = ()
    trains_in: tuple[tuple[str, str], ...] = ()  # a precision of the block, and what the training knows it as
    labels: tuple[tuple[str, str], ...] = ()  # a precision, and the name that its results have; else "fp32"
    # Models that get as many epochs as GPUs; for others the data set is repeated. Empty: no such rule.
    scaled_epochs: tuple[str, ...] = ()
    writes_data_sets: bool = False  # the repetition is written into files of the repository
    limits_several: bool = False  # runs on several GPUs are ended after five minutes, too


_EVAL_AND_EXPORT = (LineEdit(24, "null"), LineEdit(30, "null"))
_USUAL = (
    *_EVAL_AND_EXPORT,
    LineEdit(6, "{precision}"),
    LineEdit(9, "benchmark_train={batch_size}"),
    LineEdit(7, "benchmark_train={epoch}"),
    LineEdit(4, "{gpus}"),
)
_LINES = ("batch_size", "fp_items", "epoch", "profile", "flags")

BENCHMARKS = {
    "seg": TrainingBenchmark(
        block=_LINES,
        devices=("N1C1", "N1C8"),
        edits=_USUAL,
        skip_steps="2",
        units=("samples/s", "images/s"),
        names_model=(False, True),
        last_line=("log_iters", "repeats"),
        filters_log=True,
        renamed_keys=((6, "Global.auto_cast", "--precision"),),
    ),
    "ocr": TrainingBenchmark(
        block=_LINES,
        devices=("N1C4",),
        edits=_USUAL,
        skip_steps="2",
        units=("samples/s", "images/s"),
        names_model=(False, False),
        forgets_model=True,
        trains_in=(("fp16", "amp"),),
        labels=(("amp", "fp16"),),
    ),
    "clas": TrainingBenchmark(
        block=("batch_size", "fp_items", "epoch", "model_type", "num_workers", "profile", "flags"),
        devices=("N1C4",),
        edits=(
            *_EVAL_AND_EXPORT,
            LineEdit(17, "null"),
            LineEdit(18, "null"),
            LineEdit(6, "{precision}"),
            LineEdit(9, "{batch_size}"),
            LineEdit(7, "{epoch}"),
            LineEdit(15, "{model_type}"),
            LineEdit(4, "{gpus}"),
        ),
        skip_steps="100",
        units=("samples/s", "images/s"),
        names_model=(True, True),
        whole_word=False,
        loops=("batch_size", "fp_items", "model_type"),
        indent=28,
        replaced=(
            (" -o DataLoader.Train.sampler.shuffle=False", " -o Global.print_batch_step=1"),
            ("-o DataLoader.Train.loader.use_shared_memory=False", " -o Global.eval_during_train=False"),
        ),
        replaced_in_runs=(
            (
                " -o DataLoader.Train.loader.num_workers=0",
                " -o DataLoader.Train.loader.num_workers={num_workers}",
            ),
        ),
        limits_several=True,
    ),
    "det": TrainingBenchmark(
        block=("batch_size", "fp_items", "epoch", "repeat", "profile", "flags"),
        devices=("N1C4",),
        edits=_USUAL,
        skip_steps="4",
        units=("images/s", "images/s"),
        names_model=(True, True),
        scaled_epochs=("higherhrnet", "hrnet", "tinypose", "ppyoloe_r_crn_s_3x_spine_coco"),
        writes_data_sets=True,
    ),
}
