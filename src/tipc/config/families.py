"""What the dialects have in common: trainers, skip rules, and what all their documentations promise."""

from __future__ import annotations

from tipc.config.rules import SkipRule, Trainer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NORM = Trainer("norm_train", "{norm_train}", "{norm_export}")
PACT = Trainer("pact_train", "{pact_train}", "{pact_export}", quant=True)
FPGM = Trainer("fpgm_train", "{fpgm_train}", "{fpgm_export}", compare="quoted")
DISTILL = Trainer("distill_train", "{distill_train}", "{distill_export}", compare="quoted")
TRAINER1 = Trainer("trainer1", "{trainer1}", "{export1}")
TRAINER2 = Trainer("trainer2", "{trainer2}", "{export2}", compare="pattern")
TO_STATIC = Trainer("to_static", "{norm_train}  {to_static}", "{norm_export}", compare="quoted")

MKLDNN_FP16 = SkipRule(
    "cpu", (("mkldnn", "=", "False"), ("precision", "=", "fp16")), "fp16 on a CPU needs oneDNN"
)
QUANT_NOT_INT8 = SkipRule(
    "cpu", (("quant", "=", "True"), ("precision", "!=", "int8")), "a quantised model runs in int8"
)
GPU_INT8_UNQUANTISED = SkipRule(
    "gpu", (("quant", "==", "False"), ("precision", "~", "int8")), "int8 needs a quantised model"
)
GPU_FP16_WITHOUT_TRT = SkipRule(
    "gpu", (("precision", "~", "fp16"), ("use_trt", "=", "False")), "fp16 on a GPU needs TensorRT"
)
GPU_INT8_WITHOUT_TRT = SkipRule(
    "gpu", (("precision", "~", "int8"), ("use_trt", "=", "False")), "int8 on a GPU needs TensorRT"
)

# What the documentation of every family promises, and what each script breaks in its own way.
PROMISE: dict[str, Any] = {
    "gpu_rule": "ids",
    "visible": "own",
    "use_gpu": "each",
    "cpu_use_gpu": "",
    "device_leaks": False,
    "exported": (),
    "shift_without_flag": False,
    "live_pipe": (),
    "per_mode": "nearest",
    "colons": "kept",
    "tidy": True,
    "lost_weights": "",
    "logs": "own",
    "mistakes": False,
    "time_limit": "",
    "status_of": "exit",
}
