"""What an environment lacks for some plans, told before anything starts: paddle, AutoLog, requirements."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from tipc.bounded import read_beginning
from tipc.command import Command
from tipc.kinds import AMP, GPU, INFER, TRAIN
from tipc.plan.model import Plan, Step
from tipc.plan.target.interpreter import has_paddle_beside, resolve
from tipc.reasons import Reason, because
from tipc.run.environment import describe

SCRIPT = Path(__file__).parent / "guest" / "ask_packages.py"
PATIENCE = 30.0
PADDLE, AUTO_LOG = "paddle", "auto_log"  # modules
PADDLES = ("paddlepaddle", "paddlepaddle-gpu")
OTHER_PADDLE = "paddle"  # PyPI has a distribution of this name, which is another thing
OLDEST_PADDLE = (2, 2)  # the specification's
OLDEST_CAPABILITY = (7, 0)  # of a GPU with Tensor Cores, which mixed precision needs
REQUIREMENTS = "requirements.txt"
REQUIREMENT = re.compile(r"^([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*(?:[<>=!~;].*)?$")
OPENCV = "opencv-"  # there are four distributions of it, and each brings the same module
TEXT_LIMIT = 2**20


def missing_for(plans: Sequence[Plan], *, looking: bool = False) -> list[Reason]:
    """What is missing for the plans, each thing once; empty where all is there or nothing can be asked.

    ``looking``: nothing will run, so a program that only the config names is not run for this, either.
    """
    found: dict[Reason, None] = {}
    for plan in plans:
        for reason in (*missing_packages(plan, looking=looking), *weak_gpus(plan)):
            found[reason] = None
    return list(found)


def weak_gpus(plan: Plan) -> Iterable[Reason]:
    """A GPU without Tensor Cores under a cell with mixed precision."""
    if not any(cell.precision == AMP and GPU in cell.runs_on for cell in plan.cells):
        return
    for gpu in describe().get("gpus") or ():
        text = str(gpu.get("compute_cap", ""))
        numbers = numbers_of(text)
        if numbers and numbers < OLDEST_CAPABILITY:
            yield because("weak-gpu", name=str(gpu.get("name", "GPU")), capability=text)


def missing_packages(plan: Plan, *, looking: bool = False) -> list[Reason]:
    """What the plan's interpreter lacks."""
    steps = [step for step in plan.steps if step.argv and step.kind in (TRAIN, INFER)]
    if not steps:
        return []
    named = Command(steps[0].argv).interpreter
    if not named:
        return []
    interpreter = resolve(named).program
    if looking and only_the_config_names(named, plan):
        return [because("not-asked", interpreter=interpreter)]
    modules = {name: module_of(name) for name in requirements(Path(plan.repo, REQUIREMENTS))}
    asked = dict.fromkeys((PADDLE, AUTO_LOG, *modules.values()))
    answer = ask(interpreter, (*PADDLES, OTHER_PADDLE, *modules), tuple(asked))
    if answer is None:
        return []
    return _lacking(plan, steps, interpreter, modules, answer)


def _lacking(
    plan: Plan, steps: list[Step], interpreter: str, modules: dict[str, str], answer: dict[str, Any]
) -> list[Reason]:
    """By what an interpreter answered: what these steps import and it has not."""
    found: list[Reason] = []
    if any(mentions(plan, step, PADDLE) for step in steps):
        found += _paddle(answer, interpreter)
    infers = [step for step in steps if step.kind == INFER]
    if not answer["modules"][AUTO_LOG] and any(mentions(plan, step, AUTO_LOG) for step in infers):
        found.append(because("no-auto-log", interpreter=interpreter, source=shlex.quote(source_of_tipc())))
    lacking = []
    for name, module in modules.items():
        if not answer["packages"][name] and not answer["modules"][module]:
            lacking.append(name)
    if lacking:
        names = ", ".join(lacking)
        found.append(because("missing-packages", names=names, file=REQUIREMENTS, interpreter=interpreter))
    return found


def only_the_config_names(interpreter: str, plan: Plan) -> bool:
    """Whether a program is one that neither the user nor the machine has chosen, but a config or a script."""
    chosen = plan.interpreter
    if chosen is not None and chosen.program == interpreter:
        return chosen.reason == because("python-named")
    return resolve(interpreter).reason == because("python-named")


def _paddle(answer: dict[str, dict[str, Any]], interpreter: str) -> Iterable[Reason]:
    """That there is no paddle, or one that is too old."""
    for name in PADDLES:
        version = answer["packages"][name]
        if version:
            if numbers_of(version) < OLDEST_PADDLE:
                yield because("old-paddle", version=version)
            return
    if not answer["modules"][PADDLE]:
        yield no_paddle(interpreter)
    elif answer["packages"][OTHER_PADDLE]:
        yield because("other-paddle", interpreter=interpreter)


def no_paddle(interpreter: str) -> Reason:
    """That an interpreter has no paddle; where the one of tipc has, that it can be taken."""
    if interpreter != sys.executable and has_paddle_beside():
        return because("paddle-beside-tipc", interpreter=interpreter, own=sys.executable)
    return because("no-paddle", interpreter=interpreter)


def requirements(path: Path) -> list[str]:
    """The distributions that a requirements.txt names plainly; paths, links and options are left out."""
    try:
        lines = read_beginning(path, TEXT_LIMIT).splitlines()
    except OSError:
        return []
    names = []
    for line in lines:
        match = REQUIREMENT.match(line.partition(" #")[0].strip())
        if match:
            names.append(match[1])
    return names


def module_of(name: str) -> str:
    """The module that a distribution probably brings: another one may bring it as well."""
    low = name.lower()
    if low in PADDLES:
        return PADDLE
    if low.startswith(OPENCV):
        return "cv2"
    return name.replace("-", "_").partition(".")[0]


def source_of_tipc() -> str:
    """What pip installs tipc from, which brings the benchmark log: an index need not have it."""
    recorded = metadata.distribution("tipc").read_text("direct_url.json")
    if recorded is None:
        return "tipc"  # it came from an index
    source = json.loads(recorded)
    url = str(source["url"])
    if "vcs_info" in source:
        return f"{source['vcs_info']['vcs']}+{url}"
    return unquote(url.removeprefix("file://"))


def mentions(plan: Plan, step: Step, word: str) -> bool:
    """Whether the step's script has a word in it."""
    script = Command(step.argv).script
    if not script:
        return False
    try:
        return word in read_beginning(Path(plan.repo, step.cwd, script), TEXT_LIMIT)
    except OSError:
        return False


def numbers_of(version: str) -> tuple[int, ...]:
    """The first two numbers of a version."""
    return tuple(map(int, re.findall(r"\d+", version)[:2]))


@lru_cache(maxsize=64)  # a thousand configs have a few interpreters and requirements among them
def ask(
    interpreter: str, packages: tuple[str, ...], modules: tuple[str, ...]
) -> dict[str, dict[str, Any]] | None:
    """What the interpreter has; None where it cannot be asked, which its first step will tell."""
    question = json.dumps({"packages": packages, "modules": modules})
    try:
        done = subprocess.run(
            [interpreter, str(SCRIPT), question], capture_output=True, timeout=PATIENCE, check=True
        )
        answer: dict[str, dict[str, Any]] = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return answer
