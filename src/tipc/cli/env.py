"""``tipc env``: tell what this machine can certify."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tipc.cli.options import Parser
from tipc.kinds import mark_of
from tipc.language import DEFAULT, say, sentence
from tipc.reasons import Reason

if TYPE_CHECKING:
    from tipc.certify.abilities import Ability, PaddleFacts


def main(argv: list[str]) -> int:
    """Print processor, memory, GPUs, paddle, and what follows from them; 0 if a chain can be run at all, else
    3."""
    options = parser().parse_args(argv)
    if options.paddle:
        return list_releases(as_json=options.json)

    from tipc.certify.abilities import abilities, ask_paddle
    from tipc.errors import ENVIRONMENT, PASSED
    from tipc.plan.target.interpreter import resolve
    from tipc.run.environment import describe

    interpreter = resolve(options.python).program
    environment, paddle = describe(), ask_paddle(interpreter)
    found = abilities(environment, paddle)
    missing: list[Reason] = []
    if options.configs:
        missing = missing_in(options.configs, options.python)
    data = summary(environment, paddle, interpreter)
    if options.json:
        data["can_certify"] = [in_english_only(ability) for ability in found]
        data["missing"] = [sentence(reason, DEFAULT) for reason in missing]
        json.dump(data, sys.stdout, indent=1, ensure_ascii=False)
        sys.stdout.write("\n")
    else:
        from tipc.run.show.fold import write_folded

        write_folded(sys.stdout, as_text(data, found, missing), 10)
    if paddle.error or missing:
        return ENVIRONMENT
    return PASSED


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = Parser("tipc env", description="Tell what this machine can certify.")
    made.add_argument("configs", nargs="*", metavar="CONFIG", help="also tell what is missing for these")
    made.add_argument("--python", default="python3", metavar="PROGRAM", help="the interpreter of the configs")
    made.add_argument("--json", action="store_true", help="print it as JSON")
    made.add_argument("--paddle", action="store_true", help="list the releases of paddle that can be had")
    return made


def missing_in(configs: list[str], python: str) -> list[Reason]:
    """What the environment lacks for some configs."""
    from tipc.plan.build import build_plan
    from tipc.plan.request import PlanOptions, expand
    from tipc.run.missing import missing_for

    chosen = python
    if python == "python3":
        chosen = ""
    expansion = expand(configs, None)
    plans = [build_plan(config, expansion.mode, PlanOptions(python=chosen)) for config in expansion.configs]
    return missing_for(plans, looking=True)


def list_releases(*, as_json: bool) -> int:
    """The releases for ``tipc run --paddle``, the newest first."""
    from tipc.run.paddle_releases import available

    versions = available()
    if as_json:
        json.dump({"schema": "tipc.releases/1", "paddlepaddle": versions}, sys.stdout, indent=1)
        sys.stdout.write("\n")
        return 0
    for version in versions:
        sys.stdout.write(f"{version}\n")
    return 0


def summary(environment: Mapping[str, Any], paddle: PaddleFacts, interpreter: str) -> dict[str, Any]:
    """The facts, as JSON."""
    from tipc.certify.abilities import cpu_flags

    cpu = environment.get("cpu", {})
    return {
        "schema": "tipc.env/1",
        "platform": environment.get("platform", ""),
        "cpu": {"model": cpu.get("model", ""), "cores": cpu.get("cores", 0), "flags": cpu_flags(environment)},
        "memory": environment.get("memory", 0),
        "gpus": environment.get("gpus") or [],
        "interpreter": interpreter,
        "paddle": paddle.model_dump(),
    }


def in_english_only(ability: Ability) -> dict[str, Any]:
    """For a program, which must not depend on who reads."""
    return {
        "name": ability.name.in_english(),
        "ready": ability.ready,
        "reason": ability.reason.in_english(),
    }


def paddle_text(paddle: Mapping[str, Any]) -> str:
    """Which paddle there is, or why there is none."""
    if paddle["error"]:
        return str(paddle["error"])
    if not paddle["compiled_with_cuda"]:
        return say("{version}, a build for CPUs", version=paddle["version"])
    return f"{paddle['version']}, CUDA {paddle['cuda']}, cuDNN {paddle['cudnn']}"


def gpu_text(gpu: Mapping[str, Any]) -> str:
    """A GPU as its driver tells it."""
    return say(
        "{name}, {memory}, capability {capability}, driver {driver}",
        name=gpu.get("name", "?"),
        memory=gpu.get("memory.total", "?"),
        capability=gpu.get("compute_cap", "?"),
        driver=gpu.get("driver_version", "?"),
    )


def as_text(data: Mapping[str, Any], found: Sequence[Ability], missing: Sequence[Reason]) -> str:
    """The same for people."""
    from rich.cells import cell_len

    cpu = data["cpu"]
    flags = "  ".join(f"{name} {mark_of(has)}" for name, has in cpu["flags"].items())
    rows = [
        (say("platform"), data["platform"]),
        ("cpu", f"{cpu['model'] or say('unknown')} × {cpu['cores']}   {flags}"),
        (say("memory"), f"{data['memory'] / 2**30:.1f} GB"),
    ]
    for gpu in data["gpus"]:
        rows.append(("gpu", gpu_text(gpu)))
    if not data["gpus"]:
        rows.append(("gpu", say("none")))
    rows += [("paddle", paddle_text(data["paddle"])), ("python", data["interpreter"])]
    for one in found:
        rows.append((mark_of(one.ready), say("{title}: {text}", title=str(one.name), text=str(one.reason))))
    for reason in missing:
        rows.append((say("missing"), sentence(reason)))
    wide = max(cell_len(name) for name, _text in rows)
    lines = []
    for name, text in rows:
        lines.append(f"{name}{' ' * (wide - cell_len(name))}  {text}\n")
    return "".join(lines)
