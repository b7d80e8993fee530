"""From the end of a log to a likely cause and something to try. Says nothing where it does not know."""

from __future__ import annotations

import re
import shlex
import signal
from collections.abc import Callable, Sequence
from typing import NamedTuple

from tipc.plan.model import Plan, Step
from tipc.run.record import TIMEOUT, StepResult
from tipc.run.shown import shown_config


class Diagnosis(NamedTuple):
    """One line each; empty where nothing is known."""

    cause: str = ""
    remedy: str = ""


Known = Callable[[Plan, Step, re.Match[str]], Diagnosis]


def _no_file(plan: Plan, step: Step, found: re.Match[str]) -> Diagnosis:
    return Diagnosis(
        f"{found['what']} is not there{_line(plan, step, found['what'])}",
        f"tipc prepare {shlex.quote(shown_config(plan))} {plan.mode}",
    )


def _no_module(plan: Plan, step: Step, found: re.Match[str]) -> Diagnosis:
    package = found["what"].split(".")[0]
    return Diagnosis(f"{step.argv[0]} has no module `{package}`", f"{step.argv[0]} -m pip install {package}")


def _no_room(plan: Plan, step: Step, found: re.Match[str]) -> Diagnosis:
    return Diagnosis("no room left on the disk", "make room, then run it again")


def _no_memory(plan: Plan, step: Step, found: re.Match[str]) -> Diagnosis:
    return Diagnosis("out of memory", "a smaller batch, or `--jobs 1` so that fewer steps run at once")


def _bad_argument(plan: Plan, step: Step, found: re.Match[str]) -> Diagnosis:
    return Diagnosis(f"the script does not know `{found['what']}`{_line(plan, step, found['what'])}")


def _traceback(plan: Plan, step: Step, found: re.Match[str]) -> Diagnosis:
    return Diagnosis(found["what"])


# The last line that matches counts; among patterns for one line, the first.
_KNOWN: tuple[tuple[re.Pattern[str], Known], ...] = (
    (re.compile(r"No space left on device|Disk quota exceeded"), _no_room),
    (re.compile(r"FileNotFoundError: .*?No such file or directory: '(?P<what>[^']+)'"), _no_file),
    (re.compile(r"FileNotFoundError: (?P<what>\S+)"), _no_file),
    (re.compile(r"can't open file '(?P<what>[^']+)'"), _no_file),
    (re.compile(r"(?P<what>\S+): No such file or directory"), _no_file),
    (re.compile(r"ModuleNotFoundError: No module named '(?P<what>[^']+)'"), _no_module),
    (re.compile(r"error: unrecognized arguments: (?P<what>\S+)"), _bad_argument),
    (re.compile(r"MemoryError|[Oo]ut of memory|ResourceExhaustedError"), _no_memory),
    (re.compile(r"^(?P<what>\w[\w.]*(?:Error|Exception)\b.*)"), _traceback),
)


def diagnose(plan: Plan, step: Step, result: StepResult, log: Sequence[str]) -> Diagnosis:
    """The likely cause of a failure."""
    if result.state == TIMEOUT:
        return Diagnosis(
            "it did not end in time", "tipc run --rerun-failed --timeout SECONDS with more of them"
        )
    if result.exit_code == 0:
        return Diagnosis(
            "the command said that it succeeded, but did not leave what the next step needs",
            f"compare where the script writes with what line {step.line} of the config says"
            if step.line
            else "compare where the script writes with what the plan expects: tipc plan",
        )
    for line in reversed(log):
        for pattern, known in _KNOWN:
            found = pattern.search(line)
            if found:
                return known(plan, step, found)
    if result.signal == signal.SIGKILL:
        return Diagnosis("killed from outside; often the system does that when memory runs out", "--jobs 1")
    return Diagnosis()


def _line(plan: Plan, step: Step, word: str) -> str:
    """Where the config names this word, if the command says so."""
    named = step.line and any(word.lstrip("./") in argument for argument in step.argv)
    return f" (the command of {shown_config(plan)}:{step.line})" if named else ""
