"""``tipc plan``: what a config runs, before anything runs."""

from __future__ import annotations

import argparse
import os
import sys

from tipc.errors import UsageError
from tipc.plan.build import Wishes, draft_plan
from tipc.plan.draft import Plan
from tipc.plan.inputs import expand
from tipc.plan.machine import Machine, this_machine


def parser() -> argparse.ArgumentParser:
    """The arguments of ``tipc plan``."""
    made = argparse.ArgumentParser(
        prog="tipc plan",
        description="Show what a config runs: cells, commands, what is left out and why.",
        # argparse would import shutil to ask for the terminal's width each time an argument is added.
        formatter_class=lambda prog: argparse.HelpFormatter(prog, width=100),
    )
    add = made.add_argument
    add(
        "configs", nargs="+", metavar="CONFIG", help="config files, directories or globs, then perhaps a MODE"
    )
    add("--mode", help="the mode, where it is not the last word (default: lite_train_lite_infer)")
    add("--repo", metavar="DIR", help="the repository's root (default: the directory that holds test_tipc/)")
    add("--dialect", metavar="NAME", help="models, seg, ocr, clas or det (default: told from the file)")
    add(
        "--as-upstream",
        action="store_true",
        help="the commands of the bash script to the letter, bugs included",
    )
    add("--python", metavar="PATH", help="the interpreter to run, whatever the config names")
    add("--device", metavar="KIND", help="plan for cpu, gpu, npu, xpu, … (default: what this machine has)")
    add("--gpus", type=int, metavar="N", help="plan for a machine with N GPUs")
    add("--allow-shell", action="store_true", help="accept commands that only a shell can run")
    add("--trace", action="store_true", help="take the plan from the repository's own script")
    add("--verify", action="store_true", help="compare the dialect's plan with the repository's own script")
    output = made.add_mutually_exclusive_group()
    output.add_argument("--commands", action="store_true", help="print lines that can be pasted into a shell")
    output.add_argument("--json", action="store_true", help="print one JSON object a config")
    return made


def main(argv: list[str]) -> int:
    """Run ``tipc plan``; several configs are all planned, and every error among them is told."""
    options = parser().parse_args(argv)
    paths, mode = expand(options.configs, options.mode)
    if options.verify:
        return _verify(paths, mode, options)
    plans: list[Plan] = []
    errors: list[UsageError] = []
    for path in paths:
        try:
            plans.append(_plan(path, mode, options))
        except UsageError as error:
            errors.append(error)
    if errors:
        sys.stderr.write(_printable("".join(f"{one}\n" for one in errors)))
        return UsageError.exit_code
    _print(plans, options)
    return 0


def _plan(path: str, mode: str, options: argparse.Namespace) -> Plan:
    wishes = Wishes(
        as_upstream=options.as_upstream,
        python=options.python,
        device=options.device,
        machine=_machine(options.gpus),
        allow_shell=options.allow_shell,
        trace=options.trace,
    )
    return draft_plan(path, mode, options.repo, options.dialect, wishes)


def _machine(gpus: int | None) -> Machine:
    here = this_machine()
    return here if gpus is None else here._replace(gpus=max(0, gpus))


def _print(plans: list[Plan], options: argparse.Namespace) -> None:
    if options.json:
        import json

        from tipc.plan.schema import plan_to_json

        text = "".join(json.dumps(plan_to_json(plan)) + "\n" for plan in plans)
    elif options.commands:
        from tipc.plan.paste import commands_text

        text = "".join(commands_text(plan, os.getcwd()) for plan in plans)
    else:
        from tipc.plan.show import plan_text

        text = "\n".join(plan_text(plan, _machine(options.gpus)) for plan in plans)
    sys.stdout.write(_printable(text))


def _verify(paths: list[str], mode: str, options: argparse.Namespace) -> int:
    from tipc.plan.trace.api import verify_plan

    different = 0
    for path in paths:
        differences = verify_plan(path, mode, options.repo, options.dialect)
        different += bool(differences)
        count = f"{len(differences)} difference{'s' * (len(differences) > 1)}"
        verdict = count if differences else "the same commands"
        sys.stdout.write(
            _printable("\n".join([f"{path}: {verdict}", *(f"  {line}" for line in differences)]) + "\n")
        )
    return 1 if different else 0


def _printable(text: str) -> str:
    """The text as this terminal can show it; bytes of a config that are no UTF-8 become escapes."""
    encoding = sys.stdout.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)
