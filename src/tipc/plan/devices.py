"""A command for the device that is really there: what the config asks of a GPU, said to a CPU, an NPU, …"""

from __future__ import annotations

from tipc.plan.gpus import SINGLE, Placement
from tipc.plan.machine import Machine

LAUNCHER = ("-m", "paddle.distributed.launch")
LAUNCH_OPTIONS = ("--gpus", "--devices", "--ips")
SWITCHES = ("use_gpu", "use-gpu")


def target_device(device: str | None, machine: Machine) -> str:
    """The device to plan for: the one that was asked for, else a GPU where there is one, else the CPU."""
    return device or ("gpu" if machine.gpus else "cpu")


def _device_word(name: str, value: str, device: str) -> tuple[str, str]:
    """A device option for another device; anything else as it is."""
    last = name.lstrip("-").rpartition(".")[2]
    if last == "device" and (value == "gpu" or value.startswith("gpu:")):
        return name, device
    if last in SWITCHES and value.lower() == "true":
        if device == "cpu":
            return name, "False" if value == "True" else "false"
        return name.removesuffix("gpu") + device, value
    return name, value


def for_device(argv: tuple[str, ...], device: str) -> tuple[str, ...]:
    """The same command with its device options for ``device``."""
    if device == "gpu":
        return argv
    words = list(argv)
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        if equals:
            name, value = _device_word(name, value, device)
            words[index] = f"{name}={value}"
        elif word.startswith("-") and index + 1 < len(words):
            words[index], words[index + 1] = _device_word(word, words[index + 1], device)
    return tuple(words)


def launched(argv: tuple[str, ...], device: str, placement: Placement) -> tuple[str, ...]:
    """A launch for this machine: no other machines; on a CPU as many processes as GPUs were asked for."""
    at = next((i for i in range(len(argv) - 1) if argv[i : i + 2] == LAUNCHER), None)
    if at is None:
        return argv
    start = at + 2
    end = start
    while end < len(argv) and argv[end].startswith("-"):
        end += 1
    kept = [word for word in argv[start:end] if word.partition("=")[0] not in LAUNCH_OPTIONS]
    ids = placement.gpu.split(",")
    if device == "cpu":
        kept.insert(0, f"--nproc_per_node={len(ids)}")
    else:
        flag = "--gpus" if any(word.startswith("--gpus") for word in argv[start:end]) else "--devices"
        kept.insert(0, f"{flag if device == 'gpu' else '--devices'}={placement.gpu}")
    return (*argv[:start], *kept, *argv[end:])


def processes(placement: Placement) -> int:
    """How many processes a training starts."""
    return 1 if placement.launch == SINGLE else max(1, len(placement.gpu.split(",")))
