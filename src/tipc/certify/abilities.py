"""What a machine can certify, concluded from facts about it: its processor, its GPUs, its paddle."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tipc.message import Message, english_text, wording

PROBE = Path(__file__).parent / "probes" / "probe_paddle.py"
PATIENCE = 60.0
FLAGS = {
    "AVX2": ("avx2",),
    "AVX512": ("avx512f",),
    "VNNI": ("avx512_vnni", "avx_vnni"),
    "bf16": ("avx512_bf16", "amx_bf16"),
}
# What oneDNN may be limited to that has no instructions for int8: ONEDNN_MAX_CPU_ISA.
LIMITS_BELOW_VNNI = ("SSE41", "AVX", "AVX2", "AVX512_CORE")
FP16, BF16 = (7, 0), (8, 0)


class PaddleGpu(BaseModel):
    """A GPU as paddle sees it."""

    name: str = ""
    capability: str = ""


class PaddleFacts(BaseModel):
    """What the interpreter's paddle says about itself."""

    model_config = ConfigDict(extra="ignore")
    error: str = ""
    version: str = ""
    commit: str = ""
    cuda: str = ""
    cudnn: str = ""
    compiled_with_cuda: bool = False
    gpus: list[PaddleGpu] = Field(default_factory=list)


@dataclass(frozen=True)
class Ability:
    """One thing that this machine can or cannot certify, and why."""

    name: Message
    ready: bool
    reason: Message


def ask_paddle(interpreter: str) -> PaddleFacts:
    """Import paddle in a process of that interpreter, and ask; why not, where it cannot be."""
    try:
        done = subprocess.run(
            [interpreter, str(PROBE)],
            capture_output=True,
            timeout=PATIENCE,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return PaddleFacts(error=f"{interpreter}: {error}")
    if done.returncode:
        last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        return PaddleFacts(error=_ended(interpreter, done.returncode, last))
    try:
        return PaddleFacts.model_validate(json.loads(done.stdout))
    except (ValueError, ValidationError):
        return PaddleFacts(
            error=english_text("{program} gave no answer that can be read", program=interpreter)
        )


def _ended(interpreter: str, status: int, last: list[str]) -> str:
    return english_text(
        "{program} ended with status {status}: {line}", program=interpreter, status=status, line="".join(last)
    )


def cpu_flags(environment: Mapping[str, Any]) -> dict[str, bool]:
    """Which of the instructions that matter the processor has."""
    flags = set(environment.get("cpu", {}).get("flags", ()))
    return {name: bool(flags & set(words)) for name, words in FLAGS.items()}


def has_vnni(environment: Mapping[str, Any]) -> bool:
    """Whether oneDNN has instructions for int8: the processor has them, and no limit leaves them out."""
    limit = str(environment.get("cpu", {}).get("onednn_limit", ""))
    return cpu_flags(environment)["VNNI"] and limit.upper() not in LIMITS_BELOW_VNNI


def capability(text: str) -> tuple[int, int]:
    """``7.5`` as numbers; 0.0 where it is not told."""
    major, _, minor = text.partition(".")
    if not major.isdigit():
        return 0, 0
    return int(major), int(minor or 0)


def abilities(environment: Mapping[str, Any], paddle: PaddleFacts) -> list[Ability]:
    """What can be certified here: the base chain, GPUs, mixed precision, int8."""
    if paddle.error:
        return [Ability(wording("chains"), False, wording("no paddle: {error}", error=paddle.error))]
    vnni = wording("oneDNN, without VNNI: slower, and its sums can saturate")
    if has_vnni(environment):
        vnni = wording("oneDNN with VNNI")
    why_not = gpu_problem(environment.get("gpus") or [], paddle)
    return [
        Ability(wording("base chain on the CPU"), True, wording("paddle {version}", version=paddle.version)),
        Ability(wording("int8 inference on the CPU"), True, vnni),
        on_gpus(paddle, why_not),
        mixed_precision(paddle, why_not),
    ]


def on_gpus(paddle: PaddleFacts, why_not: Message | None) -> Ability:
    """Whether chains can be certified on a GPU."""
    name = wording("chains on a GPU")
    if why_not is not None:
        return Ability(name, False, why_not)
    return Ability(name, True, wording("{count} × {name}", count=len(paddle.gpus), name=paddle.gpus[0].name))


def mixed_precision(paddle: PaddleFacts, why_not: Message | None) -> Ability:
    """Whether mixed precision can be certified."""
    name = wording("mixed precision (AMP)")
    if why_not is not None:
        reason = wording("{why}; on a CPU paddle's AMP switches itself off and stays in fp32", why=why_not)
        return Ability(name, False, reason)
    best = max((capability(gpu.capability) for gpu in paddle.gpus), default=(0, 0))
    number = ".".join(map(str, best))
    if best < FP16:
        return Ability(name, False, wording("compute capability {number} is below 7.0", number=number))
    if best < BF16:
        return Ability(name, True, wording("fp16, compute capability {number}", number=number))
    return Ability(name, True, wording("fp16 and bf16, compute capability {number}", number=number))


def gpu_problem(gpus: list[Any], paddle: PaddleFacts) -> Message | None:
    """Why no GPU can be used; None if one can."""
    if paddle.gpus:
        return None
    if not gpus:
        return wording("there is no GPU")
    if not paddle.compiled_with_cuda:
        return wording(
            "there is a GPU, but paddle {version} is a build for CPUs (install paddlepaddle-gpu)",
            version=paddle.version,
        )
    return wording("there is a GPU, but paddle does not see it (CUDA_VISIBLE_DEVICES, or the driver)")
