"""TA204: the GPU under a mixed-precision training has Tensor Cores."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tipc.certify.registry import Outcome, check, failed, passed, unchecked
from tipc.certify.scene import CellScene
from tipc.kinds import AMP, GPU
from tipc.message import wording
from tipc.run.missing import OLDEST_CAPABILITY


@check(
    "TA204",
    "The GPU has compute capability 7.0 or higher",
    scope="cell",
    reads="the run's environment: the GPUs and their compute capability",
    remedy="run mixed precision on a GPU with Tensor Cores: Volta (V100), Turing (T4) or newer",
)
def capability(scene: CellScene) -> Iterator[Outcome]:
    """Mixed precision is fast only on Tensor Cores, which the specification wants checked first.
    Below 7.0 the training runs, and is slower than fp32."""
    if scene.cell.precision != AMP or GPU not in scene.cell.runs_on:
        return
    known = known_capabilities(scene.run.environment.get("gpus") or ())
    if not known:
        yield unchecked("the driver does not tell the compute capability", required=False)
        return
    weakest, name = min(known)
    number = ".".join(map(str, weakest))
    told = wording("{name} has {capability}", name=name, capability=number)
    if weakest < OLDEST_CAPABILITY:
        yield failed(told, capability=number)
    else:
        yield passed(told, capability=number)


def known_capabilities(gpus: Iterable[Mapping[str, Any]]) -> list[tuple[tuple[int, ...], str]]:
    """The compute capability of each GPU whose driver tells it, and its name."""
    known = []
    for gpu in gpus:
        numbers = tuple(map(int, re.findall(r"\d+", str(gpu.get("compute_cap", "")))))
        if numbers:
            known.append((numbers, str(gpu.get("name", "GPU"))))
    return known
