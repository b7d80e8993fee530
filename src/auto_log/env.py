"""What the Env, Paddle and Conf blocks say: read from what is loaded, never by importing paddle."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

ABSENT = "None"
CONF_FIELDS = (
    "runtime_device",
    "ir_optim",
    "enable_memory_optim",
    "enable_tensorrt",
    "enable_mkldnn",
    "cpu_math_library_num_threads",
)


def environment() -> dict[str, str]:
    """The lines of the Env block; ``drivier_version`` is spelt as every existing log spells it."""
    paddle = sys.modules.get("paddle")
    return {
        "OS_version": os_version(),
        "CUDA_version": built_with(paddle, "cuda"),
        "CUDNN_version": built_with(paddle, "cudnn"),
        "drivier_version": driver_version(),
    }


def paddle_info() -> dict[str, str]:
    """Version and commit of the paddle that is loaded; of an installed one the version only."""
    paddle = sys.modules.get("paddle")
    if paddle is not None:
        commit = getattr(paddle, "__git_commit__", None) or getattr(version_module(paddle), "commit", ABSENT)
        return {"paddle_version": str(getattr(paddle, "__version__", ABSENT)), "paddle_commit": str(commit)}
    from importlib.metadata import PackageNotFoundError, version

    for name in ("paddlepaddle-gpu", "paddlepaddle"):
        try:
            return {"paddle_version": version(name), "paddle_commit": ABSENT}
        except PackageNotFoundError:
            continue
    return {"paddle_version": ABSENT, "paddle_commit": ABSENT}


def conf_info(config: Any) -> dict[str, str]:
    """The Conf block of a ``paddle.inference.Config``, of a dict with the same names, or of nothing."""
    if isinstance(config, Mapping):
        return {name: str(config.get(name, ABSENT)) for name in CONF_FIELDS}
    return {
        "runtime_device": device_of(config),
        "ir_optim": asked(config, "ir_optim"),
        "enable_memory_optim": memory_optim(config),
        "enable_tensorrt": asked(config, "tensorrt_engine_enabled"),
        "enable_mkldnn": asked(config, "mkldnn_enabled"),
        "cpu_math_library_num_threads": asked(config, "cpu_math_library_num_threads"),
    }


def device_of(config: Any) -> str:
    """The device that a config runs on."""
    if not hasattr(config, "use_gpu"):
        return ABSENT
    if config.use_gpu():
        return "gpu"
    return "xpu" if asked(config, "use_xpu") == "True" else "cpu"


def memory_optim(config: Any) -> str:
    """Read from the config's summary: paddle has no question for it."""
    if not hasattr(config, "summary"):
        return ABSENT
    for line in str(config.summary()).splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if "memory_optim" in cells:
            return str("true" in cells)
    return ABSENT


def asked(config: Any, question: str) -> str:
    """The answer of one of the config's questions, ``None`` where it has not got it (an ONNX session, …)."""
    method = getattr(config, question, None)
    return str(method()) if callable(method) else ABSENT


def version_module(paddle: ModuleType | None) -> Any:
    return getattr(paddle, "version", None)


def built_with(paddle: ModuleType | None, library: str) -> str:
    """The version of CUDA or cuDNN that the loaded paddle was built with; a CPU build answers ``False``."""
    answer = asked(version_module(paddle), library)
    return ABSENT if answer in ("False", "") else answer


def os_version() -> str:
    """Name and version of the distribution, as the logs have it: ``Ubuntu 16.04``."""
    import platform

    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return platform.platform(terse=True)
    return " ".join(filter(None, (release.get("NAME"), release.get("VERSION_ID"))))


def driver_version(path: str = "/proc/driver/nvidia/version") -> str:
    """NVIDIA's kernel driver, from /proc: no program is started for it."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            words = file.readline().split()
    except OSError:
        return ABSENT
    return next((word for word in words if word[0].isdigit() and "." in word), ABSENT)
