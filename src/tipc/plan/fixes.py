"""Where the default plan differs from the upstream scripts: each difference has a name and a reason."""

from __future__ import annotations

from typing import NamedTuple


class Fix(NamedTuple):
    """One difference. ``dialects`` names the scripts that get it wrong."""

    id: str
    title: str
    reason: str
    dialects: tuple[str, ...]


ALL = ("models", "seg", "ocr", "clas", "det")

_TABLE = (
    Fix(
        "TF001",
        "the image path is passed to inference",
        "The script reads a variable that is never set, so after a training inference gets no image.",
        ("models",),
    ),
    Fix(
        "TF002",
        "the data path is passed to training and evaluation",
        "Line 11 is parsed and never used: training takes whatever data its script defaults to.",
        ("models",),
    ),
    Fix(
        "TF003",
        "the device of line 5 is passed to training and evaluation",
        "Line 5 is parsed and never used. It is passed where its key is an option (--device:gpu).",
        ("models",),
    ),
    Fix(
        "TF004",
        "every GPU entry has a device",
        "The device list is indexed by the GPU entry; entries beyond its end train with no device "
        "option. The last item holds for them.",
        ("seg", "ocr", "clas"),
    ),
    Fix(
        "TF005",
        "a quantised model runs in int8 on a GPU",
        "The skip rule leaves out exactly the int8 combinations of a quantised model.",
        ("seg", "ocr"),
    ),
    Fix(
        "TF006",
        "GPU ids above 9, and more than eight GPUs",
        "The scripts guess from the text's length: `10` gets no CUDA_VISIBLE_DEVICES, nine GPUs are "
        "taken for a list of machines and trained in one process.",
        ALL,
    ),
    Fix(
        "TF007",
        "CUDA_VISIBLE_DEVICES does not leak",
        "It is exported and unset in different branches, so a command can inherit that of the cell "
        "before it.",
        ALL,
    ),
    Fix(
        "TF008",
        "one log, and one result directory, for each command",
        "Names lack the cell or are missing: a later command overwrites what an earlier one wrote.",
        ALL,
    ),
    Fix(
        "TF009",
        "no exact duplicates",
        "A loop over a setting that is not passed on repeats the same command: 24 % of all commands "
        "of PaddleClas.",
        ALL,
    ),
    Fix(
        "TF010",
        "per-mode epochs are used",
        "The script forgets to pass the mode on, finds nothing, and always trains 2 epochs.",
        ("clas",),
    ),
    Fix(
        "TF011",
        "inference does not change the training's device",
        "Both loops use the variable `use_gpu`: the second trainer trains with the last inference device.",
        ("det",),
    ),
    Fix(
        "TF012",
        "a pipe inside a value stays in it",
        "`|` becomes a blank, and in PaddleDetection a live pipe: `use_gpu=True|False` starts a "
        "program `False`.",
        ALL,
    ),
    Fix(
        "TF013",
        "a training's status is its own exit code",
        "The status that is printed is that of copying the training's log: a crash is reported as a success.",
        ("ocr", "clas"),
    ),
    Fix(
        "TF014",
        "the output directory is not called *.log",
        "The directory of weights and exported model has the name of a log file.",
        ("models",),
    ),
    Fix(
        "TF015",
        "a pact or fpgm training keeps its pretrained weights",
        "It starts from the last norm training of any GPU entry; where there was none, the option is "
        "dropped.",
        ("seg",),
    ),
    Fix(
        "TF016",
        "a training is not ended after five minutes",
        "Every training runs under `timeout 5m`, whatever the mode; tipc has a timeout of its own.",
        ("det",),
    ),
    Fix(
        "TF017",
        "a missing or misspelt quantisation flag means False",
        "`Fasle` is neither True nor False for the skip rules, and a missing flag shifts the arguments.",
        ("seg", "ocr", "det"),
    ),
    Fix(
        "TF019",
        "carriage returns and blanks at its end, or around null, are no part of a value",
        "A file with Windows line ends runs nothing at all and exits 0; ` null` is taken for a value, and "
        "a blank after `cpu` leaves out all inference.",
        ALL,
    ),
    Fix(
        "TF020",
        "a value goes on after its second colon",
        "Values are cut there: `https://host/file` becomes `https`.",
        ("models", "seg", "ocr", "clas"),
    ),
    Fix(
        "TF021",
        "a mode that a line does not list takes the nearest entry",
        "No option is passed then, and a lite training runs the full schedule. An entry with the same "
        "training part (lite_train, whole_train) or a plain value is used.",
        ("models", "seg", "ocr", "det"),
    ),
    Fix(
        "TF023",
        "a recognition model is exported with its weights",
        "The export of GeneralRecognition and MetaBIN models is given no weights: it exports random ones.",
        ("clas",),
    ),
    Fix(
        "TF024",
        "each cell has the weights that its own training leaves",
        "A training without --do_eval keeps no best_model: the script then takes the last iteration's "
        "weights for all later cells, too.",
        ("seg",),
    ),
    Fix(
        "TF025",
        "inference on a GPU gets a result directory, too",
        "The option is only passed on a CPU: on a GPU all pictures go to one place.",
        ("seg",),
    ),
    Fix(
        "TF026",
        "an amp_train really trains with AMP",
        "The script ends every command with AMP.use_amp=False unless the autocast line says amp or "
        "fp16, which no amp config does: mixed precision is switched off again.",
        ("clas",),
    ),
    Fix(
        "TF027",
        "the quantisation really runs",
        "The line that runs it is a comment; the status that is reported is that of printing the command.",
        ("models",),
    ),
    Fix(
        "TF028",
        "the quantisation has options of its own",
        "The keys of the device and of the batch size are overwritten by those of the inference before its "
        "command is made.",
        ("models", "seg"),
    ),
    Fix(
        "TF029",
        "the converter is not given --enable_dev_version",
        "Today's paddle2onnx does not know the option and stops: no model is converted.",
        ("clas", "ocr"),
    ),
    Fix(
        "TF030",
        "the converter installs nothing",
        "paddle2onnx installs packages into the environment while it runs, unless it is given "
        "`--optimize_tool None`.",
        ALL,
    ),
    Fix(
        "TF031",
        "an inference with an ONNX model has its own status",
        "The status of the conversion is reported a second time: a crash is called a success.",
        ("clas",),
    ),
    Fix(
        "TF032",
        "several machines are launched with --master, --nnodes and --rank",
        "The scripts launch with --ips, which paddle 3 no longer has. Each machine has a command of its own.",
        ALL,
    ),
    Fix(
        "TF033",
        "a training benchmark changes no file of the repository",
        "The script writes how often a data set is repeated into line 10 of three files of configs/datasets, "
        "and leaves it there.",
        ("det",),
    ),
    Fix(
        "TF034",
        "a run of a training benchmark is not ended after five minutes",
        "A run that is profiled, and in PaddleClas a run on several GPUs, is under `timeout 5m`; tipc has a "
        "timeout of its own.",
        ("seg", "ocr", "clas", "det"),
    ),
    Fix(
        "TF035",
        "a training benchmark runs the interpreter of its config",
        "The script puts `python` into line 3, whatever the config names.",
        ("seg", "ocr", "clas", "det"),
    ),
    Fix(
        "TF036",
        "fp16 in the block of a training benchmark trains with AMP",
        "The training script only knows `amp`: with `fp16` it trains in fp32, and the speed is filed as that "
        "of fp32.",
        ("ocr",),
    ),
)

FIXES: dict[str, Fix] = {fix.id: fix for fix in _TABLE}
