"""A row by the repository's own bash: what it says, and what its commands really did."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from field.recorder import SCRIPTS
from field.rows import MODE, Row
from field.work import environment, run_to_end

_STATUS = re.compile("\x1b\\[33m Run (successfully|failed) with command")
# Stands before the interpreter: passes everything on and notes how it ended.
_SHIM = """#!/bin/bash
"{real}" "$@"
code=$?
printf '%s\\t%s\\n' "$code" "$1 $2" >> "{ends}"
exit $code
"""


@dataclass(frozen=True)
class BashSays:
    """The script's own words, and the exit codes that it saw or did not look at."""

    successes: int
    failures: int
    exit: int | None
    seconds: float
    broken: list[str]  # commands that ended with an exit code other than 0
    commands: int

    @property
    def claims_success(self) -> bool:
        """Whether a person or a CI that reads its status lines would call it a success."""
        return self.exit == 0 and self.failures == 0 and self.successes > 0


def run_bash(row: Row, root: Path, env: Path, folder: Path, limit: float) -> BashSays:
    """Run the script; ``folder`` gets its output."""
    ends = folder / "ends.txt"
    ends.write_text("", encoding="utf-8")
    shims = folder / "shims"
    shims.mkdir(exist_ok=True)
    for name in ("python", "python3", "python3.7", "python3.8"):
        shim = shims / name
        shim.write_text(_SHIM.format(real=env / "bin/python", ends=ends), encoding="utf-8")
        shim.chmod(0o755)
    output = folder / "bash.log"
    config = f"test_tipc/configs/{row.config}"
    variables = environment(row, env, root, first=shims)
    ended = run_to_end(["bash", SCRIPTS["train"], config, MODE], root, variables, output, limit)
    words = _STATUS.findall(output.read_text(encoding="utf-8", errors="replace"))
    calls = [line.split("\t", 1) for line in ends.read_text(encoding="utf-8").splitlines()]
    return BashSays(
        successes=words.count("successfully"),
        failures=words.count("failed"),
        exit=ended.code,
        seconds=round(ended.seconds, 1),
        broken=[f"{what} (exit {code})" for code, what in calls if code != "0"],
        commands=len(calls),
    )
