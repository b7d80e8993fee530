"""Post-training quantisation: a command that makes 8 bits of an exported model, then inference with it."""

from __future__ import annotations

from tipc.config.dialects import TRAIN_KEYS, clas
from tipc.config.dialects.chain_rules import chain
from tipc.config.dialects.families import MKLDNN_FP16, QUANT_NOT_INT8
from tipc.config.dialects.layouts import changed, filler, header
from tipc.config.layout import Layout, Row
from tipc.config.rules import Fixed, Inference, SkipRule, Whole
from tipc.kinds import CPU, GPU, QUANTISE

# (line index, beginning of that line): what a family's files have at their places.
KEYS = {
    "models": ((4, "--model_path:"), (5, "--output_dir:"), (10, "trainer:"), (17, "--model-dir:")),
    "seg": ((4, "--model_dir:"), (6, "--config:"), (10, "trainer:"), (17, "--config:")),
    "ocr": ((3, "Global.pretrained_model:"), (4, "Global.save_inference_dir:"), (5, "infer_model:")),
    "clas": TRAIN_KEYS["clas"],
    "det": ((3, "filename:"), (6, "weights:"), (7, "kl_quant_export:")),
}

# ------------------------------------------------------------------------------------- models, seg: 20 lines
_LINES = Layout(
    (
        header(0, "ptq_params"),
        Row(1, "model_name", "v", ("model_name",), "name"),
        Row(2, "python", "v", ("python",), "python"),
        Row(3, "quant_use_gpu", "kv", kind="flag"),
        Row(4, "model_path", "kv", kind="path"),
        Row(5, "output_dir", "kv", kind="path"),
        Row(6, "data_dir", "kv", kind="path"),
        Row(7, "batch_num", "kv", kind="number"),
        Row(8, "quant_batch_size", "kv", kind="number"),
        filler(9),
        Row(10, "trainer", keys=("trainer",)),
        Row(11, "quantise", "v", ("PTQ",), "script"),
        filler(12),
        header(13, "infer_params"),
        Row(14, "inference", "v", ("inference",), "script"),
        Row(15, "use_gpu", "kl", kind="flag"),
        Row(16, "batch_size", "kl", kind="number"),
        Row(17, "model_dir", "k", kind="path"),
        Row(18, "image_dir", "kv", kind="path"),
        Row(19, "benchmark", "kv", kind="flag"),
    ),
    limit=32,
)
_QUANTISE = (
    "{python} {quantise} USE_GPU {+model_path} {+batch_num} BATCH {+data_dir} {+output_dir} > {log} 2>&1"
)
# The keys of the inference are read into the same variables, before the quantisation's command is made.
_WRONG_KEYS = ("{use_gpu+quant_use_gpu}", "{batch_size+quant_batch_size}")
_OWN_KEYS = ("{+quant_use_gpu}", "{+quant_batch_size}")
_BY_BATCH = "{log_path}/python_infer_%s_batchsize_{batch_size}.log"


def _quantise(keys: tuple[str, str], end: str) -> str:
    return _QUANTISE.replace("USE_GPU", keys[0]).replace("BATCH", keys[1]) + end


def _infer(model: str) -> dict[str, Inference]:
    command = (
        f"{{python}} {{inference}} {{=use_gpu}} {model} {{+batch_size}} {{image_dir+image}} {{+benchmark}}"
        " > {log} 2>&1 "
    )
    return {device: Inference(command, ("batch_size",), _BY_BATCH % device) for device in (CPU, GPU)}


MODELS = chain(
    "models",
    "the specification's files for quantisation",
    _LINES,
    Whole(
        kind=QUANTISE,
        script="{quantise}",
        export_when=(),
        export=Fixed(("TF028",), _quantise(_WRONG_KEYS, " "), _quantise(_OWN_KEYS, " ")),
        export_log="{log_path}/export.log",
        commented_out="TF027",
        saved="{output_dir}",
        quant="True",
    ),
    _infer("{model_dir+model_path}"),
)

SEG = chain(
    "seg",
    "PaddleSeg's files for quantisation",
    changed(_LINES, Row(17, "infer_config", "kv", kind="path")),
    Whole(
        kind=QUANTISE,
        script="{quantise}",
        export_when=(),
        export=Fixed(("TF028",), _quantise(_WRONG_KEYS, ""), _quantise(_OWN_KEYS, "")),
        export_log="{log_path}/export.log",
        saved="{infer_config_dir}",
        quant="True",
    ),
    _infer("{+infer_config}"),
)

# --------------------------------------------------------------------------------- clas: the training's lines
_CLAS_CPU = "usemkldnn_{mkldnn}_threads_{cpu_threads}_batchsize_{batch_size}"
_CLAS_GPU = "usetrt_{use_trt}_precision_{precision}_batchsize_{batch_size}"
# The script does the same in each, below a folder of its name.
_EVERY_MODE = ("whole_infer", "lite_train_lite_infer", "lite_train_whole_infer", "whole_train_whole_infer")
CLAS = chain(
    "clas",
    "PaddleClas' files for quantisation",
    clas.DIALECT.layout,
    clas.RULES.whole._replace(kind=QUANTISE, modes=_EVERY_MODE, export="{python} {script} >{log} 2>&1"),
    {
        CPU: clas.RULES.infer[CPU]._replace(
            loops=("mkldnn", "cpu_threads", "batch_size"), log="{log_path}/infer_cpu_" + _CLAS_CPU + ".log"
        ),
        GPU: clas.RULES.infer[GPU]._replace(log="{log_path}/infer_gpu_" + _CLAS_GPU + ".log"),
    },
    log_path=clas.RULES.log_path,
    infer_cwd="deploy",
    skips=clas.RULES.skips,
)

# ------------------------------------------------------------------------------------------- ocr: 21 lines
_OCR_LINES = Layout(
    (
        header(0, "kl_quant_params"),
        Row(1, "model_name", "v", ("model_name",), "name"),
        Row(2, "python", "v", ("python",), "python"),
        Row(3, "export_weight", "k", kind="weights"),
        Row(4, "save_infer", "k", kind="path"),
        Row(5, "infer_model", "l", ("infer_model",), "weights"),
        Row(6, "infer_export", "l", ("infer_export",), "script"),
        Row(7, "infer_quant", "l", ("infer_quant",), "flag", unused=True),
        Row(8, "inference", "v", ("inference",), "script"),
        Row(9, "use_gpu", "kl", kind="flag"),
        Row(10, "mkldnn", "kl", kind="flag"),
        Row(11, "cpu_threads", "kl", kind="number"),
        Row(12, "batch_size", "kl", kind="number"),
        Row(13, "use_trt", "kl", kind="flag"),
        Row(14, "precision", "kl"),
        Row(15, "model_dir", "k", kind="path"),
        Row(16, "image_dir", "kv", kind="path"),
        Row(17, "save_log", "kv"),
        Row(18, "benchmark", "kv", kind="flag"),
        Row(19, "infer1", "kv"),
    ),
    limit=17,
)
_OCR_CPU = "usemkldnn_{mkldnn}_threads_{cpu_threads}_precision_{precision}_batchsize_{batch_size}"
OCR = chain(
    "ocr",
    "PaddleOCR's files for quantisation",
    _OCR_LINES,
    Whole(
        kind=QUANTISE,
        over="infer_model",
        scripts="infer_export",
        export="{python} {script} {export_weight+item} {save_infer+saved} > {log} 2>&1 ",
        export_log="{log_path}/{mode}_export_{index}.log",
        saved="{item}_klquant",
        quant="True",
    ),
    {
        CPU: Inference(
            "{python} {inference} {=use_gpu} {+mkldnn} {+cpu_threads} {model_dir+model_path} {+batch_size}"
            " {+save_log} {image_dir+image} {+benchmark} {+precision} {+infer1} > {log} 2>&1 ",
            ("mkldnn", "cpu_threads", "batch_size", "precision"),
            "{log_path}/python_infer_cpu_" + _OCR_CPU + ".log",
        ),
        GPU: Inference(
            "{python} {inference} {=use_gpu} {+use_trt} {+precision} {model_dir+model_path} {+batch_size}"
            " {image_dir+image} {+benchmark} {+infer1} {+save_log} > {log} 2>&1 ",
            ("use_trt", "precision", "batch_size"),
            "{log_path}/python_infer_gpu_" + _CLAS_GPU + ".log",
        ),
    },
    skips=(
        MKLDNN_FP16,
        QUANT_NOT_INT8,
        SkipRule(GPU, (("quant", "=", "True"), ("precision", "!=", "int8")), "quantised-runs-int8"),
    ),
)

# ------------------------------------------------------------------------------------------- det: 20 lines
_DET_LINES = Layout(
    (
        header(0, "ptq_params"),
        Row(1, "model_name", "v", ("model_name",), "name"),
        Row(2, "python", "v", ("python",), "python"),
        Row(3, "filename_key", "k"),
        filler(4),
        Row(5, "save_infer", "kv", kind="path"),
        Row(6, "export_weight", "kv", ("weights",), "weights"),
        Row(7, "quantise", "v", ("kl_quant_export",), "script"),
        Row(8, "export1", "kv", unused=True),
        filler(9),
        Row(10, "inference", "v", ("inference",), "script"),
        Row(11, "use_gpu", "kl", kind="flag"),
        Row(12, "mkldnn", "kl", kind="flag"),
        Row(13, "cpu_threads", "kl", kind="number"),
        Row(14, "batch_size", "kl", kind="number"),
        Row(15, "precision", "kl"),
        Row(16, "model_dir", "k", kind="path"),
        Row(17, "image_dir", "kv", kind="path"),
        Row(18, "benchmark", "kv", kind="flag"),
        Row(19, "infer1", "kv"),
    ),
    value="rest of line",
)
_DET_CPU = "usemkldnn_{mkldnn}_threads_{cpu_threads}_mode_paddle_batchsize_{batch_size}"
DET = chain(
    "det",
    "PaddleDetection's files for quantisation",
    _DET_LINES,
    Whole(
        kind=QUANTISE,
        reads_mode=False,
        script="{quantise}",
        export_when=(),
        export="{python} {script} {+export_weight} {filename_key+model_name} {+save_infer}",
        export_log="{log_path}/export.log",
        saved="{save_infer}/{model_name}",
        quant="True",
    ),
    {
        CPU: Inference(
            "{python} {inference} {+use_gpu} {+mkldnn} {+cpu_threads} {model_dir+model_path} {+batch_size}"
            " {image_dir+image} {+benchmark} {+infer1} > {log} 2>&1 ",
            ("mkldnn", "cpu_threads", "batch_size"),
            "{log_path}/python_infer_cpu_" + _DET_CPU + ".log",
        ),
        GPU: Inference(
            "{python} {inference} {+use_gpu} {+precision} {model_dir+model_path} {+batch_size}"
            " {image_dir+image} {+benchmark} {+infer1} > {log} 2>&1 ",
            ("precision", "batch_size"),
            "{log_path}/python_infer_gpu_mode_{precision}_batchsize_{batch_size}.log",
        ),
    },
    skips=(
        SkipRule(
            GPU, (("precision", "!==", "paddle"), ("precision", "!==", "trt_int8")), "quantised-runs-int8"
        ),
    ),
    device_words=(CPU, GPU),
    results_log="results_ptq_python.log",
)
