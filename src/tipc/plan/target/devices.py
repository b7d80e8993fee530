"""A command for the device that is really there: what the config asks of a GPU, said to a CPU, an NPU, …"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from tipc.command import Command, Option
from tipc.kinds import CPU, EXPORT, GPU, INFER, TRAIN
from tipc.plan.target.placement import MACHINES, SINGLE, Placement

# What says where a launch runs.
LAUNCH_OPTIONS = ("--gpus", "--devices", "--ips", "--master", "--nnodes", "--rank")
MASTER_PORT = 6170  # where the machines of a launch meet: the first port that paddle takes by itself
DEVICE = "device"
SWITCHES = ("use_gpu", "use-gpu")


class Placed(NamedTuple):
    """What of a step depends on the device: as the script has it, or as it runs here."""

    argv: tuple[str, ...]
    env: Mapping[str, str | None]
    device: str
    gpus: tuple[str, ...]  # the device ids that it holds


def on_device(
    asked: Placed, kind: str, count: int, placement: Placement, target: str, device_key: str = ""
) -> Placed:
    """A step of ``count`` processes, made to run on ``target``; a cell without a GPU stays on the CPU.

    ``device_key`` is the option that says the device to an export whose command does not.
    """
    here = target
    if placement.cpu or (kind == INFER and asked.device == CPU):
        here = CPU
    argv = asked.argv
    if kind == EXPORT and device_key and here != GPU:
        argv = with_device(argv, device_key)
    if kind != INFER or here != CPU:
        argv = for_device(argv, here)
    if count > 1 or (kind == TRAIN and placement.launch == MACHINES):
        argv = launched(argv, here, placement)
    if here != CPU:
        return Placed(argv, dict(asked.env), here, asked.gpus or ("0",))
    # Where there are GPUs, inference on the CPU keeps what the script exports: it may look at it.
    hides_gpus = target != GPU or kind != INFER
    return Placed(argv, _env_on_cpu(asked.env, count, hides_gpus), CPU, ())


def _env_on_cpu(asked: Mapping[str, str | None], count: int, hides_gpus: bool) -> Mapping[str, str | None]:
    env = dict(asked)
    if hides_gpus:
        env["CUDA_VISIBLE_DEVICES"] = None
    if count > 1:
        env["OMP_NUM_THREADS"] = "1"
    return env


def with_device(argv: tuple[str, ...], key: str) -> tuple[str, ...]:
    """The command with the option that says its device; as it is where it has one.

    A key may be several words: ``-o Global.device``. One without dashes belongs to a ``-o`` that takes many
    words, so it stands right behind the others of that kind: another option may have closed the list.
    """
    *before, name = key.split()
    after_bare = len(argv)  # the place behind the last ``name=value`` without dashes
    for option in Command(argv).options():
        if option.last_name == DEVICE or option.last_name in SWITCHES:
            return argv
        if option.joined and not option.name.startswith("-"):
            after_bare = option.index + 1
    place = len(argv)
    if not before and not name.startswith("-"):
        place = after_bare
    value = "True"
    if name.lstrip("-").rpartition(".")[2] == DEVICE:
        value = GPU
    return (*argv[:place], *before, f"{name}={value}", *argv[place:])


def _device_words(option: Option, device: str) -> tuple[str, str]:
    """Name and value of an option for another device; as they are where it is no device option."""
    name, value = option.name, option.value
    if option.last_name == DEVICE and (value == GPU or value.startswith(f"{GPU}:")):
        return name, device
    if option.last_name in SWITCHES and value.lower() == "true":
        if device != CPU:
            return name.removesuffix(GPU) + device, value
        if value == "True":
            return name, "False"
        return name, "false"
    return name, value


def for_device(argv: tuple[str, ...], device: str) -> tuple[str, ...]:
    """The same command with its device options for ``device``."""
    if device == GPU or not any(GPU in word for word in argv):
        return argv
    words = list(argv)
    for option in Command(argv).options():
        if GPU not in option.name and GPU not in option.value:
            continue
        name, value = _device_words(option, device)
        if option.joined:
            words[option.index] = f"{name}={value}"
        elif option.value:
            words[option.index : option.index + 2] = [name, value]
    return tuple(words)


def launched(argv: tuple[str, ...], device: str, placement: Placement) -> tuple[str, ...]:
    """A launch for this machine; on a CPU as many processes as GPUs were asked for.

    Where this machine is one of several that the entry names, it takes its place among them.
    """
    machines = placement.machines
    rank = rank_here(machines)
    if rank is not None:
        return launched_on(argv, device, placement, rank)
    command = Command(argv)
    kept = command.launch_options_without(LAUNCH_OPTIONS)
    if device == CPU:
        where = f"--nproc_per_node={len(placement.gpu.split(','))}"
    else:
        old = any(word.startswith("--gpus") for word in command.launch_options)
        where = f"--devices={placement.gpu}"
        if old and device == GPU:
            where = f"--gpus={placement.gpu}"
    return command.with_launch_options((where, *kept)).argv


def launched_on(argv: tuple[str, ...], device: str, placement: Placement, rank: int) -> tuple[str, ...]:
    """The launch of one of several machines. The first is where they meet; paddle 3 has no ``--ips``."""
    command = Command(argv)
    machines = placement.machines
    where = [f"--master={machines[0]}:{MASTER_PORT}", f"--nnodes={len(machines)}", f"--rank={rank}"]
    if device == CPU:
        where.append(f"--nproc_per_node={len(placement.gpu.split(','))}")
    else:
        where.append(f"--devices={placement.gpu}")
    return command.with_launch_options((*where, *command.launch_options_without(LAUNCH_OPTIONS))).argv


def rank_here(machines: tuple[str, ...]) -> int | None:
    """Which of several machines this one is; None where it is none of them, or there is only one."""
    if len(machines) < 2:
        return None
    for rank, address in enumerate(machines):
        if _is_here(address):
            return rank
    return None


@cache
def _is_here(address: str) -> bool:
    """Whether an address is one of this machine: only its own can be bound."""
    import socket

    try:
        with socket.create_server((address, 0)):
            return True
    except OSError:
        return False


def threads_of(device: str, asked: str, count: int) -> int:
    """How many cores a step asks for: the threads of an inference on the CPU, else one for each process."""
    if device == CPU and asked.isdecimal() and int(asked):
        return int(asked)
    return count


def processes(placement: Placement, kind: str = TRAIN) -> int:
    """How many processes a step starts: several only where a training is launched."""
    if placement.launch == SINGLE or kind != TRAIN:
        return 1
    return max(1, len(placement.gpu.split(",")))
