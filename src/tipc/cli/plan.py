"""``tipc plan``: what a config runs, before anything runs."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TextIO

from tipc.cli.options import Parser, parse
from tipc.config.identify import each_file_once
from tipc.errors import code_of
from tipc.kinds import GPU
from tipc.plan.model import Plan
from tipc.plan.plan_text import not_planned_text
from tipc.plan.request import PlanOptions, expand
from tipc.plan.several import plan_each
from tipc.plan.target.machine import Machine, this_machine
from tipc.visible import visible


def parser() -> argparse.ArgumentParser:
    """The arguments of ``tipc plan``."""
    made = Parser(
        prog="tipc plan",
        description="Show what a config runs: cells, commands, what is left out and why.",
    )
    add = made.add_argument
    add(
        "configs", nargs="+", metavar="CONFIG", help="config files, directories or globs, then perhaps a MODE"
    )
    add("--mode", help="the mode, where it is not the last word (default: lite_train_lite_infer)")
    add(
        "--repo",
        metavar="DIR",
        default="",
        help="the repository's root (default: the directory that holds test_tipc/)",
    )
    add(
        "--dialect",
        metavar="NAME",
        default="",
        help="models, seg, ocr, clas or det (default: as the file shows)",
    )
    add(
        "--as-upstream",
        action="store_true",
        help="the commands of the bash script to the letter, bugs included",
    )
    add("--python", metavar="PATH", default="", help="the interpreter to run, whatever the config names")
    add(
        "--device",
        metavar="KIND",
        default="",
        help="plan for cpu, gpu, npu, xpu, … (default: what this machine has)",
    )
    add("--gpus", type=int, metavar="N", help="plan for a machine with N GPUs")
    add("--allow-shell", action="store_true", help="accept commands that only a shell can run")
    add("--trace", action="store_true", help="take the plan from the repository's own script")
    add(
        "--no-prepare", dest="prepare", action="store_false", help="leave out the step that prepares the data"
    )
    add("--verify", action="store_true", help="compare the dialect's plan with the repository's own script")
    add("-v", "--verbose", action="store_true", help="also show by what chain and dialect are known")
    output = made.add_mutually_exclusive_group()
    output.add_argument("--commands", action="store_true", help="print lines that can be pasted into a shell")
    output.add_argument("--json", action="store_true", help="print one JSON object a config")
    return made


def main(argv: list[str]) -> int:
    """Run ``tipc plan``; every config in order is planned, and every problem of the others is told."""
    options = parse(parser(), argv, "plan")
    with each_file_once():
        return _plan(options)


def _plan(options: argparse.Namespace) -> int:
    expansion = expand(options.configs, options.mode, trace=options.trace)
    if options.verify:
        return _verify(expansion.configs, expansion.mode, options)
    planned = plan_each(expansion.configs, expansion.mode, _plan_options(options))
    _print(planned.plans, options)
    sys.stdout.flush()
    _write(sys.stderr, _weak_gpus(planned.plans))
    _write(sys.stderr, not_planned_text(expansion.left_out, planned.problems))
    return planned.exit_code


def _weak_gpus(plans: Sequence[Plan]) -> str:
    """A GPU of this machine that is too old for the mixed precision of the plans, one a line."""
    if not this_machine().gpus or not any(map(_uses_gpus, plans)):
        return ""
    from tipc.language import say, sentence
    from tipc.run.missing import weak_gpus

    lines: dict[str, None] = {}
    for plan in plans:
        for reason in weak_gpus(plan):
            lines[f"{say('missing: ')}{sentence(reason)}\n"] = None
    return "".join(lines)


def _uses_gpus(plan: Plan) -> bool:
    return any(GPU in cell.runs_on for cell in plan.cells)


def _plan_options(options: argparse.Namespace) -> PlanOptions:
    return PlanOptions(
        repo=options.repo,
        dialect=options.dialect,
        as_upstream=options.as_upstream,
        python=options.python,
        device=options.device,
        machine=_machine(options.gpus),
        allow_shell=options.allow_shell,
        trace=options.trace,
        prepare=options.prepare,
    )


def _machine(gpus: int | None) -> Machine:
    here = this_machine()
    if gpus is None:
        return here
    return replace(here, gpus=max(0, gpus))


def _print(plans: Sequence[Plan], options: argparse.Namespace) -> None:
    texts = []
    if options.json:
        from tipc.plan.plan_json import plan_json_text

        for plan in plans:
            sys.stdout.write(plan_json_text(plan) + "\n")  # ASCII, which every terminal can show
        return
    if options.commands:
        from tipc.plan.shell_lines import commands_text

        for plan in plans:
            texts.append(commands_text(plan, os.getcwd()))
        sys.stdout.write(_printable("".join(texts)))
        return
    from tipc.plan.plan_text import plan_text

    machine = _machine(options.gpus)
    for plan in plans:
        if texts:
            texts.append("\n")
        texts.append(plan_text(plan, machine, verbose=options.verbose, among_others=len(plans) > 1))
    _write(sys.stdout, "".join(texts))


def _verify(paths: Sequence[str], mode: str, options: argparse.Namespace) -> int:
    from tipc.language import plural, say
    from tipc.message import spoken
    from tipc.plan.trace.tracing import verify_plan

    same = True
    for path in paths:
        differences = verify_plan(path, mode, options.repo, options.dialect)
        verdict = say("the same commands")
        if differences:
            same = False
            verdict = plural(len(differences), "difference")
        lines = [say("{title}: {text}", title=path, text=verdict), *map(spoken, differences)]
        sys.stdout.write(_printable("\n  ".join(lines) + "\n"))
    return code_of(same)


def _write(stream: TextIO, text: str) -> None:
    """Prose: folded on a terminal. Elsewhere nothing more is imported, so that a plan starts quickly."""
    if not stream.isatty():
        stream.write(_printable(text))
        return
    from tipc.run.show.fold import write_folded

    write_folded(stream, _printable(text))


def _printable(text: str) -> str:
    """The text as this terminal can show it; bytes of a config that are no UTF-8 become escapes."""
    encoding = sys.stdout.encoding or "utf-8"
    return visible(text).encode(encoding, "backslashreplace").decode(encoding)
