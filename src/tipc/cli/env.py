"""``tipc env``: tell what this machine can certify."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tipc.cli.options import Parser
from tipc.kinds import mark_of

if TYPE_CHECKING:
    from tipc.certify.abilities import PaddleFacts


def main(argv: list[str]) -> int:
    """Print processor, memory, GPUs, paddle, and what follows from them; 0 if a chain can be run at all, else
    3."""
    options = parser().parse_args(argv)
    if options.paddle:
        return list_releases(as_json=options.json)

    from tipc.certify.abilities import ask_paddle
    from tipc.errors import ENVIRONMENT
    from tipc.plan.target.interpreter import resolve
    from tipc.run.environment import describe

    interpreter = resolve(options.python).program
    environment, paddle = describe(), ask_paddle(interpreter)
    data = summary(environment, paddle, interpreter)
    data["missing"] = missing_in(options.configs, options.python) if options.configs else []
    if options.json:
        json.dump(data, sys.stdout, indent=1, ensure_ascii=False)
        sys.stdout.write("\n")
    else:
        sys.stdout.write(as_text(data))
    return ENVIRONMENT if paddle.error or data["missing"] else 0


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = Parser("tipc env", description="Tell what this machine can certify.")
    made.add_argument("configs", nargs="*", metavar="CONFIG", help="also tell what is missing for these")
    made.add_argument("--python", default="python3", metavar="PROGRAM", help="the interpreter of the configs")
    made.add_argument("--json", action="store_true", help="print it as JSON")
    made.add_argument("--paddle", action="store_true", help="list the releases of paddle that can be had")
    return made


def missing_in(configs: list[str], python: str) -> list[str]:
    """What the environment lacks for some configs, in sentences."""
    from tipc.language import sentence
    from tipc.plan.build import build_plan
    from tipc.plan.request import PlanOptions, expand
    from tipc.run.missing import missing_for

    chosen = "" if python == "python3" else python
    expansion = expand(configs, None)
    plans = [build_plan(config, expansion.mode, PlanOptions(python=chosen)) for config in expansion.configs]
    return [sentence(reason) for reason in missing_for(plans)]


def list_releases(*, as_json: bool) -> int:
    """The releases for ``tipc run --paddle``, the newest first."""
    from tipc.run.paddle_releases import available

    versions = available()
    if as_json:
        json.dump({"schema": "tipc.releases/1", "paddlepaddle": versions}, sys.stdout, indent=1)
        sys.stdout.write("\n")
    else:
        sys.stdout.write("".join(f"{version}\n" for version in versions))
    return 0


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
    flags = "  ".join(f"{name} {mark_of(has)}" for name, has in cpu["flags"].items())
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
    for one in data["can_certify"]:
        rows.append((mark_of(one["ready"]), f"{one['name']}: {one['reason']}"))
    rows += [("missing", text) for text in data.get("missing", ())]
    return "".join(f"{name:<9} {text}\n" for name, text in rows)
