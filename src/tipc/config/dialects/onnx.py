"""Conversion to ONNX: the converter's command, then inference with what it made."""

from __future__ import annotations

from tipc.config.dialects.chain_rules import chain
from tipc.config.dialects.layouts import changed, filler, header
from tipc.config.layout import Layout, Row
from tipc.config.rules import Choice, Conversion, Fixed, Inference, Whole
from tipc.kinds import CPU, GPU

# (line index, beginning of that line): what a family's files have at their places.
KEYS = {
    "models": ((4, "--model_dir:"), (7, "--save_file:"), (10, "inference:"), (11, "--onnx_file:")),
    "seg": ((4, "--model_dir:"), (7, "--save_file:"), (10, "inference:"), (11, "--onnx_file:")),
    "ocr": ((4, "--det_model_dir:"), (8, "--rec_model_dir:"), (9, "--rec_save_file:")),
    "clas": ((10, "inference_model_url:"), (12, "Global.use_onnx:"), (13, "Global.inference_model_dir:")),
    "det": ((3, "filename:"), (7, "norm_export:"), (15, "infer_mode:"), (17, "cmd:")),
}
MODE = "paddle2onnx_infer"
# The converter installs packages into the environment while it runs, unless its optimiser is switched off.
_QUIET = " --optimize_tool None"
# An option that was once experimental; converters of today do not know it and stop.
_DEV = " --enable_dev_version="
_NEVER = (("mode", "==", ""),)  # nothing is exported: the model is there
_LOG = "{log_path}/trans_model.log"
_INFER_LOG = "{log_path}/paddle2onnx_infer_%s.log"

_LINES = Layout(
    (
        header(0, "paddle2onnx_params"),
        Row(1, "model_name", "v", ("model_name",), "name"),
        Row(2, "python", "v", ("python",), "python"),
        Row(3, "converter", "v", ("2onnx",), "program"),
        Row(4, "model_dir", "kv", kind="path"),
        Row(5, "model_filename", "kv"),
        Row(6, "params_filename", "kv"),
        Row(7, "save_file", "kv", kind="path"),
        Row(8, "opset", "kv", kind="number"),
        Row(9, "checker", "kv", kind="flag"),
        Row(10, "inference", "v", ("inference",), "script"),
        Row(11, "onnx_file", "k", kind="path"),
        Row(12, "image_dir", "kv", kind="path"),
    ),
    limit=13,
)
_FILES = "{+model_filename} {+params_filename}"
_CONVERT = "{converter} {+model_dir} " + _FILES + " {+save_file} {+opset} {+checker}"
_RUN = "{python} {inference} {+image_dir} {onnx_file+save_file} > {log} 2>&1 "


def _whole(*conversions: Conversion, **more: object) -> Whole:
    return Whole(
        modes=(MODE,),
        reads_mode=False,
        export_when=_NEVER,
        saved="",
        kept="",
        conversions=conversions,
        **more,  # type: ignore[arg-type]
    )


def _quietly(command: str, end: str, dev: str = "") -> Fixed:
    """The converter's command without what breaks it today and without what it installs."""
    if not dev:
        return Fixed(("TF030",), command + end, command + _QUIET + end)
    return Fixed(("TF029", "TF030"), command + _DEV + dev + end, command + _QUIET + end)


MODELS = chain(
    "models",
    "the specification's files for ONNX",
    _LINES,
    _whole(Conversion(_quietly(_CONVERT, " > {log} 2>&1 "), "{save_file}", _LOG)),
    {CPU: Inference(_RUN, (), _INFER_LOG % CPU)},
    results_log="results_paddle2onnx.log",
)

SEG = chain(
    "seg",
    "PaddleSeg's files for ONNX",
    _LINES,
    _whole(Conversion(_quietly(_CONVERT, " >{log} 2>&1"), "{save_file}", _LOG)),
    {CPU: Inference(_RUN, (), _INFER_LOG % CPU)},
    # The script never sets its mode, so its logs lie in the model's own folder.
    log_path="./test_tipc/output/{model_name}/",
    results_log="results_paddle2onnx.log",
)

CLAS = chain(
    "clas",
    "PaddleClas' files for ONNX",
    changed(
        _LINES,
        Row(10, "inference_model_url", keys=("inference_model_url",)),
        Row(11, "inference", "v", ("inference",), "script"),
        Row(12, "use_onnx", "kv", kind="flag"),
        Row(13, "infer_model_dir", "kv", kind="path"),
        Row(14, "hardware", "kv", kind="flag"),
        Row(15, "infer_config", "kv", kind="path"),
        limit=16,
    ),
    _whole(
        Conversion(_quietly(_CONVERT, " > {log} 2>&1", "False"), "{save_file}", _LOG),
        infer_when=(("inference", "!==", "null"),),
        cwd="deploy",
    ),
    {
        CPU: Inference(
            "{python} {inference} -o {+infer_model_dir} -o {+use_onnx} -o {+hardware} {+infer_config}"
            " > {log} 2>&1",
            (),
            _INFER_LOG % CPU,
            printed="cd deploy && {command} && cd ../",
        )
    },
    log_path="{root}/test_tipc/output/{model_name}/{mode}",
    results_log="results_paddle2onnx.log",
    # The status of the inference is that of the conversion: it is not read again.
    status_of="conversion",
)

# ------------------------------------------------------------------------------------------- ocr: 17 lines
_OCR_LINES = changed(
    _LINES,
    Row(4, "det_model_dir", "kv", kind="path"),
    Row(7, "det_save_file", "kv", kind="path"),
    Row(8, "rec_model_dir", "kv", kind="path"),
    Row(9, "rec_save_file", "kv", kind="path"),
    Row(10, "opset", "kv", kind="number"),
    Row(11, "checker", "kv", kind="flag"),
    Row(12, "inference", "v", ("inference",), "script"),
    Row(13, "use_gpu", "kl", kind="flag"),
    Row(14, "det_model", "k", kind="path"),
    Row(15, "rec_model", "k", kind="path"),
    Row(16, "image_dir", "kv", kind="path"),
    limit=17,
)
_PIPELINES = ("ch_PP-OCRv2", "ch_PP-OCRv3", "ch_ppocr_mobile_v2_0", "ch_ppocr_server_v2_0")
_TABLES = ("slanet", "en_table_structure")


def _ocr_conversion(part: str, dev: str, when: tuple[tuple[str, str, str], ...]) -> Conversion:
    command = (
        f"{{converter}} {{--model_dir+{part}_model_dir}} {_FILES} {{--save_file+{part}_save_file}}"
        " {+opset} {+checker}"
    )
    return Conversion(
        _quietly(command, " > {log} 2>&1 ", dev),
        f"{{{part}_save_file}}",
        f"{{log_path}}/trans_model_{part}.log",
        when,
    )


_OCR_RUN = "{python} {inference} {+use_gpu} {+image_dir} {models} --use_onnx=True > {log} 2>&1 "
OCR = chain(
    "ocr",
    "PaddleOCR's files for ONNX",
    _OCR_LINES,
    _whole(
        _ocr_conversion("det", "False", (("converts", "~", "det"),)),
        _ocr_conversion("rec", "False", (("converts", "~", "rec"),)),
        _ocr_conversion("det", "True", (("converts", "==", "table"),)),
        infer_when=(("converts", "!==", ""),),
    ),
    {device: Inference(_OCR_RUN, (), _INFER_LOG % device) for device in (CPU, GPU)},
    # Which parts are converted is told by the model's name; a later row outdoes an earlier one.
    choices=(
        *(Choice("converts", "table", (("model_name", "=", name),)) for name in _TABLES),
        Choice("converts", "rec", (("model_name", "~", "rec"),)),
        Choice("converts", "det", (("model_name", "~", "det"),)),
        *(Choice("converts", "det rec", (("model_name", "=", name),)) for name in _PIPELINES),
        Choice("models", "{det_model+det_save_file}"),
        Choice("models", "{rec_model+rec_save_file}", (("converts", "==", "rec"),)),
        Choice(
            "models",
            "{det_model+det_save_file} {rec_model+rec_save_file}",
            (("converts", "==", "det rec"),),
        ),
    ),
    options=(("--model_dir", ""), ("--save_file", "")),
    log_path="./test_tipc/output/{model_name}/paddle2onnx",
    results_log="results_paddle2onnx.log",
)

# ------------------------------------------------------------------------------------------- det: 30 lines
_DET_LINES = Layout(
    (
        header(0, "paddle2onnx_params"),
        Row(1, "model_name", "v", ("model_name",), "name"),
        Row(2, "python", "v", ("python",), "python"),
        Row(3, "filename_key", "k"),
        filler(4),
        Row(5, "save_infer", "kv", kind="path"),
        Row(6, "export_weight", "kv", ("weights",), "weights"),
        Row(7, "norm_export", "v", ("norm_export",), "script"),
        Row(8, "pact_export", "v", ("quant_export", "pact_export"), "script"),
        Row(9, "fpgm_export", "v", ("fpgm_export",), "script"),
        Row(10, "distill_export", "v", ("distill_export",), "script"),
        Row(11, "export1", "kv", unused=True),
        Row(12, "export_param", "kv"),
        Row(13, "kl_quant_export", "v", ("kl_quant_export",), "script"),
        filler(14),
        Row(15, "infer_mode", "l", ("infer_mode",)),
        Row(16, "infer_quant", "l", ("infer_quant",), "flag", unused=True),
        Row(17, "converter", "v", ("cmd",), "program"),
        Row(18, "model_dir", "k", kind="path"),
        Row(19, "model_filename", "kv"),
        Row(20, "params_filename", "kv"),
        Row(21, "save_file", "kv", kind="path"),
        Row(22, "opset", "kv", kind="number"),
        Row(23, "checker", "kv", kind="flag"),
        Row(24, "convert1", "kv"),
        Row(25, "inference", "v", ("infer_py",), "script"),
        Row(26, "infer_config", "k", kind="path"),
        Row(27, "onnx_file", "k", kind="path"),
        Row(28, "image_dir", "kv", kind="path"),
        Row(29, "infer1", "kv"),
    ),
    value="rest of line",
)
_DET_MODEL = "{save_infer}/{model_name}"
_DET_CONVERT = (
    "{converter} {model_dir+det_model} " + _FILES + " {save_file+det_onnx} {+opset} {+checker} {+convert1}"
)
DET = chain(
    "det",
    "PaddleDetection's files for ONNX",
    _DET_LINES,
    Whole(
        modes=(MODE,),
        reads_mode=False,
        over="infer_mode",
        kinds={
            MODE: {
                "norm": "{norm_export}",
                "quant": "{pact_export}",
                "fpgm": "{fpgm_export}",
                "distill": "{distill_export}",
                "kl_quant": "{kl_quant_export}",
                "null": "",
            }
        },
        export_when=(("item", "!=", "null"),),
        export="{python} {script} {+export_weight} {filename_key+model_name} {+export_param} {+save_infer} ",
        export_log="{log_path}/export.log",
        saved=_DET_MODEL,
        kept=_DET_MODEL,
        conversions=(
            Conversion(
                Fixed(("TF030",), _DET_CONVERT, _DET_CONVERT + _QUIET), _DET_MODEL + "/{save_file}", _LOG
            ),
        ),
    ),
    {
        CPU: Inference(
            "{python} {inference} {infer_config+det_config} {onnx_file+det_onnx} {+image_dir} {+infer1}",
            (),
            _INFER_LOG % CPU,
        )
    },
    options=(
        ("det_model", _DET_MODEL),
        ("det_onnx", _DET_MODEL + "/{save_file}"),
        ("det_config", _DET_MODEL + "/infer_cfg.yml"),
    ),
    results_log="results_paddle2onnx.log",
)
