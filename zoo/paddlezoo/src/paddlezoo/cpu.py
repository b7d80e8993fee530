"""Settings of a process for its CPU: two that make paddle's kernels faster in training, one without which
OpenVINO dies; and where code of ours may stand in for the kernels."""

from __future__ import annotations

import ctypes
import os
import platform
from pathlib import Path
from types import BuiltinFunctionType
from typing import Any

MKL_SWITCH = "MKL_DEBUG_CPU_TYPE"
MKL_AVX2 = "5"
ONEDNN_SWITCH = "ONEDNN_MAX_CPU_ISA"
ONEDNN_BEFORE_AMX = "AVX512_CORE_FP16"
CPU_INFO = Path("/proc/cpuinfo")
# Of glibc's mallopt: never map a large block of its own, never give memory back.
M_MMAP_MAX, M_TRIM_THRESHOLD, NEVER = -4, -1, 2**31 - 1


def tune() -> None:
    """Settings of this process for training; to be called before the first matrix product.

    The MKL in paddle's package uses AVX2 on Intel's CPUs only, and elsewhere computes with a quarter of what
    the CPU can do unless it is told. And glibc returns every large block at once, so that each operator's
    output is memory whose pages the kernel has to hand out and clear anew: more time than the operator takes.
    A ``MKL_DEBUG_CPU_TYPE`` that is set already is left as it is.
    """
    if has_avx2_that_mkl_leaves_unused():
        os.environ.setdefault(MKL_SWITCH, MKL_AVX2)
    if platform.libc_ver()[0] == "glibc":
        libc = ctypes.CDLL(None)
        libc.mallopt(M_MMAP_MAX, 0)
        libc.mallopt(M_TRIM_THRESHOLD, NEVER)


def has_avx2_that_mkl_leaves_unused(info: Path = CPU_INFO) -> bool:
    """True for another maker's CPU than Intel's that has AVX2 and FMA; False where that cannot be known."""
    words = words_of(info)
    return {"avx2", "fma"} <= words and "GenuineIntel" not in words


def leave_amx_out(info: Path = CPU_INFO) -> None:
    """To be called before OpenVINO is loaded: its int8 convolutions for AMX, in the build that is inside
    paddle 3.1 to 3.3, use tiles that they have not set up, and the process dies of an illegal instruction.

    An ``ONEDNN_MAX_CPU_ISA`` that is set already is left as it is.
    """
    if "amx_tile" in words_of(info):
        os.environ.setdefault(ONEDNN_SWITCH, ONEDNN_BEFORE_AMX)


def words_of(info: Path) -> set[str]:
    """What Linux says of the CPU; nothing where that cannot be known."""
    try:
        return set(info.read_text(encoding="utf-8", errors="replace").split())
    except OSError:
        return set()


def takes_over(x: Any, operator: str) -> bool:
    """True if code of ours may stand in for paddle's ``operator`` on this tensor: plain float32 on a CPU.

    A GPU, an exported graph and the emulation of mixed precision, which patches paddle's operators so as to
    round and count, get paddle's own.
    """
    import paddle
    from paddle import _C_ops

    if not paddle.in_dynamic_mode() or x.dtype != paddle.float32 or not x.place.is_cpu_place():
        return False
    return isinstance(getattr(_C_ops, operator), BuiltinFunctionType)
