"""What a machine can certify, concluded from facts about it: its processor, its GPUs, its paddle."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

PROBE = Path(__file__).parent / "probes" / "probe_paddle.py"
PATIENCE = 60.0
FLAGS = {
    "AVX2": ("avx2",),
    "AVX512": ("avx512f",),
    "VNNI": ("avx512_vnni", "avx_vnni"),
    "bf16": ("avx512_bf16", "amx_bf16"),
}
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

    name: str
    ready: bool
    reason: str


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
        return PaddleFacts(error=f"{interpreter} ended with status {done.returncode}: {''.join(last)}")
    try:
        return PaddleFacts.model_validate(json.loads(done.stdout))
    except (ValueError, ValidationError):
        return PaddleFacts(error=f"{interpreter} gave no answer that can be read")


def cpu_flags(environment: Mapping[str, Any]) -> dict[str, bool]:
    """Which of the instructions that matter the processor has."""
    flags = set(environment.get("cpu", {}).get("flags", ()))
    return {name: bool(flags & set(words)) for name, words in FLAGS.items()}


def capability(text: str) -> tuple[int, int]:
    major, _, minor = text.partition(".")
    return (int(major), int(minor or 0)) if major.isdigit() else (0, 0)


def abilities(environment: Mapping[str, Any], paddle: PaddleFacts) -> list[Ability]:
    """What can be certified here: the base chain, GPUs, mixed precision, int8."""
    if paddle.error:
        return [Ability("chains", False, f"no paddle: {paddle.error}")]
    flags = cpu_flags(environment)
    gpus = environment.get("gpus") or []
    vnni = "oneDNN with VNNI" if flags["VNNI"] else "oneDNN, without VNNI: slower, and its sums can saturate"
    best = max((capability(gpu.capability) for gpu in paddle.gpus), default=(0, 0))
    why_not = gpu_problem(gpus, paddle)
    found = [
        Ability("base chain on the CPU", True, f"paddle {paddle.version}"),
        Ability("int8 inference on the CPU", True, vnni),
        Ability("chains on a GPU", not why_not, why_not or f"{len(paddle.gpus)} × {paddle.gpus[0].name}"),
    ]
    if why_not:
        reason = f"{why_not}; on a CPU paddle's AMP switches itself off and stays in fp32"
    elif best < FP16:
        reason = f"compute capability {best[0]}.{best[1]} is below 7.0"
    else:
        kinds = "fp16 and bf16" if best >= BF16 else "fp16"
        reason = f"{kinds}, compute capability {best[0]}.{best[1]}"
    found.append(Ability("mixed precision (AMP)", not why_not and best >= FP16, reason))
    return found


def gpu_problem(gpus: list[Any], paddle: PaddleFacts) -> str:
    """Why no GPU can be used; "" if one can."""
    if paddle.gpus:
        return ""
    if not gpus:
        return "there is no GPU"
    if not paddle.compiled_with_cuda:
        return f"there is a GPU, but paddle {paddle.version} is a build for CPUs (install paddlepaddle-gpu)"
    return "there is a GPU, but paddle does not see it (CUDA_VISIBLE_DEVICES, or the driver)"
