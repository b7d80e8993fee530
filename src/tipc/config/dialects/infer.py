"""Inference of a published model: for each model an export, where there is one, and the inference matrix."""

from __future__ import annotations

from tipc.config.dialects.chain_rules import chain
from tipc.config.dialects.families import (
    GPU_FP16_WITHOUT_TRT,
    GPU_INT8_UNQUANTISED,
    GPU_INT8_WITHOUT_TRT,
    MKLDNN_FP16,
    QUANT_NOT_INT8,
)
from tipc.config.dialects.layouts import header
from tipc.config.layout import Layout, Row
from tipc.config.rules import Inference, SkipRule, Whole
from tipc.kinds import CPU, GPU

# (line index, beginning of that line): what a family's files have at their places.
KEYS = {"ocr": ((3, "infer_model:"), (4, "infer_export:"), (6, "inference:"))}
_LINES = Layout(
    (
        header(0, "infer_params"),
        Row(1, "model_name", "v", ("model_name",), "name"),
        Row(2, "python", "v", ("python",), "python"),
        Row(3, "infer_model", "l", ("infer_model",), "weights"),
        Row(4, "infer_export", "l", ("infer_export",), "script"),
        Row(5, "infer_quant", "l", ("infer_quant",), "flag"),
        Row(6, "inference", "v", ("inference",), "script"),
        Row(7, "use_gpu", "kl", kind="flag"),
        Row(8, "mkldnn", "kl", kind="flag"),
        Row(9, "cpu_threads", "kl", kind="number"),
        Row(10, "batch_size", "kl", kind="number"),
        Row(11, "use_trt", "kl", kind="flag"),
        Row(12, "precision", "kl"),
        Row(13, "model_dir", "k", kind="path"),
        Row(14, "image_dir", "kv", kind="path"),
        Row(15, "rec_model", "kv", kind="path"),
        Row(16, "benchmark", "kv", kind="flag"),
        Row(17, "infer1", "kv"),
    ),
    limit=20,
)
_CPU = "usemkldnn_{mkldnn}_threads_{cpu_threads}_precision_{precision}_batchsize_{batch_size}"
_GPU = "usetrt_{use_trt}_precision_{precision}_batchsize_{batch_size}"
OCR = chain(
    "ocr",
    "PaddleOCR's files for published models",
    _LINES,
    Whole(
        over="infer_model",
        scripts="infer_export",
        quants="infer_quant",
        # No line of these files names the options of the export.
        export="{python} {script} ={item} ={saved}",
        saved="{item_dir}",
    ),
    {
        CPU: Inference(
            "{python} {inference} {=use_gpu} {+mkldnn} {+cpu_threads} {model_dir+model_path} {+batch_size}"
            " {+rec_model} {image_dir+image} {+benchmark} {+precision} {+infer1} > {log} 2>&1 ",
            ("mkldnn", "cpu_threads", "batch_size", "precision"),
            "{log_path}/python_infer_cpu_" + _CPU + ".log",
        ),
        GPU: Inference(
            "{python} {inference} {=use_gpu} {+use_trt} {+precision} {model_dir+model_path} {+batch_size}"
            " {image_dir+image} {+benchmark} {+infer1} {+rec_model} > {log} 2>&1 ",
            ("use_trt", "precision", "batch_size"),
            "{log_path}/python_infer_gpu_" + _GPU + ".log",
        ),
    },
    skips=(
        SkipRule(CPU, (("mkldnn", "=", "False"), ("quant", "=", "True")), "int8-needs-onednn"),
        MKLDNN_FP16,
        QUANT_NOT_INT8,
        GPU_INT8_UNQUANTISED,
        GPU_FP16_WITHOUT_TRT,
        GPU_INT8_WITHOUT_TRT,
        SkipRule(GPU, (("use_trt", "==", "False"), ("quant", "=", "True")), "quantised-needs-tensorrt"),
        SkipRule(
            GPU, (("precision", "~", "int8"), ("quant", "=", "True")), "script-never-runs-int8", fix="TF005"
        ),
    ),
)
