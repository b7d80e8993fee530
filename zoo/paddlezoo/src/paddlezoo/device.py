"""On what a script runs: what was asked for, what is there, and a line that says when the two differ."""

from __future__ import annotations

from dataclasses import dataclass

from paddlezoo import cpu
from paddlezoo.errors import ZooError

LOWEST_AMP_CAPABILITY = (7, 0)


@dataclass(frozen=True)
class Device:
    """``name`` is what paddle is told; ``note`` says why that is not what was asked for, or is empty."""

    name: str
    note: str = ""

    @property
    def is_gpu(self) -> bool:
        return self.name.startswith("gpu")


def gpu_is_there() -> bool:
    """True if this paddle can compute on a GPU here."""
    import paddle

    return bool(paddle.device.is_compiled_with_cuda()) and paddle.device.cuda.device_count() > 0


def wanted(device: str | None, use_gpu: bool | None) -> str | None:
    """``--device`` and ``--use-gpu`` as one word; they may not contradict each other."""
    by_flag = None if use_gpu is None else ("gpu" if use_gpu else "cpu")
    if device and by_flag and device != by_flag:
        raise ZooError(f"--device={device} and --use-gpu={use_gpu} contradict each other: give one of them")
    return device or by_flag


def choose(device: str | None, use_gpu: bool | None = None) -> Device:
    """Select the device for training, and tune this process for it.

    No GPU here: the CPU, with a note for the first lines of the log.
    """
    import paddle

    cpu.tune()
    word = wanted(device, use_gpu)
    there = gpu_is_there()
    if word == "gpu" and not there:
        paddle.set_device("cpu")
        return Device("cpu", "WARNING: a GPU was asked for and there is none here: running on the CPU")
    chosen = Device("gpu" if there and word != "cpu" else "cpu")
    paddle.set_device(chosen.name)
    return chosen


def amp_warning(device: Device) -> str:
    """A line for GPUs without Tensor Cores, where mixed precision is slower than fp32; else empty."""
    if not device.is_gpu:
        return ""
    import paddle

    capability = tuple(paddle.device.cuda.get_device_capability())
    if capability >= LOWEST_AMP_CAPABILITY:
        return ""
    found = ".".join(map(str, capability))
    return f"WARNING: compute capability {found} is below 7.0: no Tensor Cores, no gain by mixed precision"
