"""What the dialects have in common: trainers, skip rules, and what all their documentations promise."""

from __future__ import annotations

from typing import Any

from tipc.config.rules import SkipRule, Trainer
from tipc.kinds import CPU, GPU

NORM = Trainer("norm_train", "{norm_train}", "{norm_export}")
PACT = Trainer("pact_train", "{pact_train}", "{pact_export}", quant=True)
FPGM = Trainer("fpgm_train", "{fpgm_train}", "{fpgm_export}", compare="quoted")
DISTILL = Trainer("distill_train", "{distill_train}", "{distill_export}", compare="quoted")
TRAINER1 = Trainer("trainer1", "{trainer1}", "{export1}")
TRAINER2 = Trainer("trainer2", "{trainer2}", "{export2}", compare="pattern")
TO_STATIC = Trainer("to_static", "{norm_train}  {to_static}", "{norm_export}", compare="quoted")

MKLDNN_FP16 = SkipRule(CPU, (("mkldnn", "=", "False"), ("precision", "=", "fp16")), "fp16-needs-onednn")
QUANT_NOT_INT8 = SkipRule(CPU, (("quant", "=", "True"), ("precision", "!=", "int8")), "quantised-runs-int8")
GPU_INT8_UNQUANTISED = SkipRule(
    GPU, (("quant", "==", "False"), ("precision", "~", "int8")), "int8-needs-quantised"
)
GPU_FP16_WITHOUT_TRT = SkipRule(
    GPU, (("precision", "~", "fp16"), ("use_trt", "=", "False")), "fp16-needs-tensorrt"
)
GPU_INT8_WITHOUT_TRT = SkipRule(
    GPU, (("precision", "~", "int8"), ("use_trt", "=", "False")), "int8-needs-tensorrt"
)

# What the documentation of every family promises, and what each script breaks in its own way.
PROMISE: dict[str, Any] = {
    "use_gpu": "each",
    "cpu_use_gpu": "",
    "device_leaks": False,
    "exported": (),
    "without_flag": {},
    "live_pipe": (),
    "mistakes": False,
    "time_limit": "",
    "status_of": "exit",
}
