"""The data of a config: ``test_tipc/prepare.py`` says what to unpack, or ``test_tipc/prepare.sh`` does it.

``prepare.py`` may name archives in ``ARCHIVES``, a literal that is read without running anything: a list of
``(archive, target)``, or a dict from mode to such a list with ``"*"`` for the others. If it has a
``if __name__ == "__main__":``, it is then run by the config's interpreter as ``prepare.py CONFIG MODE``.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from tipc.bounded import read_bounded
from tipc.errors import EnvironmentProblem, UsageError, wording
from tipc.plan.model import Plan
from tipc.plan.prepare import DECLARED, GUARD, SCRIPT, interpreter


def prepare(plan: Plan, stream: TextIO) -> int:
    """Prepare the data of a plan; the exit code of what did it."""
    repo = Path(plan.repo)
    if (repo / DECLARED).is_file():
        return _prepare_declared(plan, repo, stream)
    if not (repo / SCRIPT).is_file():
        raise UsageError(
            wording("neither {declared} nor {script} is there", declared=DECLARED, script=SCRIPT),
            path=plan.repo,
        )
    if os.environ.get(GUARD) == plan.repo:
        remedy = wording(
            "name the archives in {declared}, or let {script} do the work itself",
            declared=DECLARED,
            script=SCRIPT,
        )
        raise UsageError(
            wording("{script} only calls `tipc prepare`", script=SCRIPT), path=plan.repo, remedy=remedy
        )
    return _call(["bash", SCRIPT, plan.config, plan.mode], repo)


def _prepare_declared(plan: Plan, repo: Path, stream: TextIO) -> int:
    """Unpack what ``prepare.py`` names, and run it if it is a script, too."""
    from tipc.run.prepare.archive import unpack

    archives, is_script = read_declaration(repo / DECLARED, plan.mode)
    for archive, target in archives:
        told = wording("{archive}: is already unpacked", archive=archive)
        if unpack(repo / archive, _inside(repo, target)):
            told = wording("{archive}: unpacked into {target}", archive=archive, target=target)
        stream.write(f"{told}\n")
        stream.flush()
    if not is_script:
        return 0
    return _call([interpreter(plan), DECLARED, plan.config, plan.mode], repo)


def read_declaration(path: Path, mode: str) -> tuple[list[tuple[str, str]], bool]:
    """The archives that ``prepare.py`` names for a mode, and whether it is a script, too."""
    try:
        tree = ast.parse(read_bounded(path))
    except (OSError, SyntaxError, ValueError, MemoryError, RecursionError) as error:
        line = getattr(error, "lineno", 0) or 0
        raise UsageError(
            wording("cannot be read: {error}", error=error), path=str(path), line=line
        ) from error
    archives: list[tuple[str, str]] = []
    is_script = False
    for node in tree.body:
        if _assigns(node, "ARCHIVES"):
            archives = _archives(path, node, mode)
        elif isinstance(node, ast.If) and "__name__" in ast.dump(node.test):
            is_script = True
    return archives, is_script


def _assigns(node: ast.stmt, name: str) -> bool:
    """Whether a statement is an assignment to a name, with or without a type."""
    targets: Sequence[object] = [getattr(node, "target", None)]
    if isinstance(node, ast.Assign):
        targets = node.targets
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)


def _archives(path: Path, node: ast.stmt, mode: str) -> list[tuple[str, str]]:
    try:
        value = ast.literal_eval(getattr(node, "value", None) or "")
        if isinstance(value, dict):
            value = value.get(mode, value.get("*", []))
        pairs = [(archive, target) for archive, target in value]
    except (ValueError, TypeError, SyntaxError) as error:
        raise _no_list(path, node) from error
    for archive, target in pairs:
        if not isinstance(archive, str) or not isinstance(target, str):
            raise _no_list(path, node)
    return pairs


def _no_list(path: Path, node: ast.stmt) -> UsageError:
    return UsageError(
        "ARCHIVES must be a literal list of (archive, target), or a dict from mode to such a list",
        path=str(path),
        line=node.lineno,
    )


def _inside(repo: Path, target: str) -> Path:
    path = Path(os.path.realpath(repo / target))
    if not path.is_relative_to(os.path.realpath(repo)):
        raise UsageError(
            wording("the target `{target}` is outside the repository", target=target),
            path=str(repo / DECLARED),
        )
    return path


def _call(argv: list[str], repo: Path) -> int:
    import subprocess

    environ = {**os.environ, GUARD: str(repo)}
    try:
        code = subprocess.run(argv, cwd=repo, env=environ, check=False, stdin=subprocess.DEVNULL).returncode
    except OSError as error:
        raise EnvironmentProblem(
            wording("{program} cannot be started: {strerror}", program=argv[0], strerror=error.strerror)
        ) from error
    if code < 0:
        return 128 - code  # as a shell tells of a signal
    return code
