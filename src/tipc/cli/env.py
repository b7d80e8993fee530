"""``tipc env``: tell what this machine can certify."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tipc.certify.abilities import PaddleFacts


def main(argv: list[str]) -> int:
    """Print processor, memory, GPUs, paddle, and what follows from them; 0 if a chain can be run at all, else
    3."""
    parser = argparse.ArgumentParser("tipc env", description="Tell what this machine can certify.")
    parser.add_argument(
        "--python", default="python3", metavar="PROGRAM", help="the interpreter of the configs"
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)

    from tipc.certify.abilities import ask_paddle
    from tipc.errors import ENVIRONMENT
    from tipc.plan.interpreter import resolve
    from tipc.run.environment import describe

    interpreter, _ = resolve(options.python, None)
    environment, paddle = describe(), ask_paddle(interpreter)
    data = summary(environment, paddle, interpreter)
    if options.json:
        json.dump(data, sys.stdout, indent=1, ensure_ascii=False)
        sys.stdout.write("\n")
    else:
        sys.stdout.write(as_text(data))
    return ENVIRONMENT if paddle.error else 0


def summary(environment: Mapping[str, Any], paddle: PaddleFacts, interpreter: str) -> dict[str, Any]:
    """Everything that is told, as JSON."""
    from tipc.certify.abilities import abilities, cpu_flags

    cpu = environment.get("cpu", {})
    return {
        "schema": "tipc.env/1",
        "platform": environment.get("platform", ""),
        "cpu": {"model": cpu.get("model", ""), "cores": cpu.get("cores", 0), "flags": cpu_flags(environment)},
        "memory": environment.get("memory", 0),
        "gpus": environment.get("gpus") or [],
        "interpreter": interpreter,
        "paddle": paddle.model_dump(),
        "can_certify": [vars(ability) for ability in abilities(environment, paddle)],
    }


def build(paddle: Mapping[str, Any]) -> str:
    if not paddle["compiled_with_cuda"]:
        return "a build for CPUs"
    return f"CUDA {paddle['cuda']}, cuDNN {paddle['cudnn']}"


def as_text(data: Mapping[str, Any]) -> str:
    """The same for people."""
    cpu, paddle = data["cpu"], data["paddle"]
    flags = "  ".join(f"{name} {'✔' if has else '✘'}" for name, has in cpu["flags"].items())
    rows = [
        ("platform", data["platform"]),
        ("cpu", f"{cpu['model'] or 'unknown'} × {cpu['cores']}   {flags}"),
        ("memory", f"{data['memory'] / 2**30:.1f} GB"),
    ]
    for gpu in data["gpus"]:
        name, memory, driver = (gpu.get(key, "?") for key in ("name", "memory.total", "driver_version"))
        rows.append(("gpu", f"{name}, {memory}, capability {gpu.get('compute_cap', '?')}, driver {driver}"))
    if not data["gpus"]:
        rows.append(("gpu", "none"))
    told = paddle["error"] or f"{paddle['version']}, {build(paddle)}"
    rows += [("paddle", told), ("python", data["interpreter"])]
    rows += [
        (f"{'✔' if one['ready'] else '✘'}", f"{one['name']}: {one['reason']}") for one in data["can_certify"]
    ]
    return "".join(f"{name:<9} {text}\n" for name, text in rows)
