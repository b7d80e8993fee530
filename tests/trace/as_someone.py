"""Trace a script as root or as an ordinary user, in a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import tipc

USER = 45_678  # an id that nobody has
DRIVER = """\
import json, sys
sys.path.insert(0, sys.argv[1])
from tipc.errors import TipcError
from tipc.plan.trace.tracing import trace_upstream
try:
    plan = trace_upstream(sys.argv[2], "lite", sys.argv[3])
    answer = {"commands": [step.argv for step in plan.steps], "notes": plan.notes}
except TipcError as error:
    answer = {"error": str(error)}
print(json.dumps(answer))
"""


@dataclass(frozen=True)
class Someone:
    """Who traces."""

    name: str
    python: str
    before: tuple[str, ...] = ()  # words that start a command with that one's rights

    def trace(
        self,
        config: Path,
        *,
        environment: Mapping[str, str] | None = None,
        before: Sequence[str] = (),
    ) -> dict[str, Any]:
        """The commands and notes of a plan, or the error. ``before`` are words to start the command with."""
        repo = config.parents[2]
        source = str(Path(tipc.__file__).parents[1])
        words = [*before, *self.before, self.python, "-I", "-S", "-c", DRIVER, source, str(config), str(repo)]
        home = repo.parent / f"home-of-{self.name}"
        home.mkdir(exist_ok=True)
        home.chmod(0o777)
        done = subprocess.run(
            words,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
            cwd="/",
            env={"PATH": "/usr/bin:/bin", "HOME": str(home), **(environment or {})},
        )
        assert done.returncode == 0, done.stderr
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer


@cache
def someone(name: str) -> Someone:
    """Root or a user; skips where the one who tests cannot be that."""
    if name == "root":
        if os.geteuid() != 0:
            pytest.skip("only root can try what root can do")
        return Someone(name, sys.executable)
    if os.geteuid() != 0:
        return Someone(name, sys.executable)
    if shutil.which("setpriv") is None:
        pytest.skip("there is no setpriv here to become another user with")
    drop = ("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups")
    source = str(Path(tipc.__file__).parents[1])
    for python in (sys.executable, "/usr/local/bin/python3", "/usr/bin/python3"):
        # setpriv itself still may start what the user may not.
        asks = (
            "import os, sys; sys.path.insert(0, sys.argv[1]); import tipc.plan.trace.tracing; "
            "sys.exit(not os.access(sys.executable, os.X_OK))"
        )
        with_python = [*drop, python, "-I", "-S", "-c", asks, source]
        if subprocess.run(with_python, capture_output=True, check=False, cwd="/").returncode == 0:
            return Someone(name, python, drop)
    return pytest.skip("an ordinary user can reach no interpreter, or not the source of tipc")
