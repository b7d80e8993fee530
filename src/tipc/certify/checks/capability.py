"""TA204: the GPU under a mixed-precision training has Tensor Cores."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tipc.certify.registry import Outcome, check, failed, passed, unchecked
from tipc.certify.scene import CellScene
from tipc.kinds import AMP, GPU
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
    known = []
    for gpu in scene.run.environment.get("gpus") or ():
        numbers = tuple(int(part) for part in re.findall(r"\d+", str(gpu.get("compute_cap", ""))))
        if numbers:
            known.append((numbers, str(gpu.get("name", "GPU"))))
    if not known:
        yield unchecked("the driver does not tell the compute capability", required=False)
        return
    weakest, name = min(known)
    told = ".".join(map(str, weakest))
    if weakest < OLDEST_CAPABILITY:
        yield failed(f"{name} has {told}", capability=told)
    else:
        yield passed(f"{name} has {told}", capability=told)
