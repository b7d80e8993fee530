"""A row by ``tipc``: its exit code, its headline, and the findings that keep it from passing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from field.rows import MODE, Row
from field.work import environment, run_to_end

PROJECT = Path(__file__).parents[1]
HEADLINES = ("PASSED", "FAILED", "NOT CERTIFIED", "NOT CHECKED", "INTERRUPTED", "INCOMPLETE", "NOTHING RUN")


@dataclass(frozen=True)
class TipcSays:
    """What ``tipc run`` concluded."""

    exit: int | None
    headline: str
    seconds: float
    against: list[str]  # findings that fail, and required ones that are unchecked
    uncertified: list[str]  # what a CPU cannot show
    failed_steps: list[str]
    code: str = ""  # the commit of this project that judged
    date: str = ""
    load: float = 0.0  # of the machine, when it ended: what the seconds are worth

    @property
    def certified(self) -> bool:
        """On what this machine can show."""
        return self.exit == 0


def run_tipc(row: Row, root: Path, env: Path, folder: Path, limit: float) -> TipcSays:
    """Run the row's config as a user would, in the repository's environment."""
    output = folder / "tipc.log"
    config = f"test_tipc/configs/{row.config}"
    argv = [str(Path(sys.executable).with_name("tipc")), "run", config, MODE, "--no-prepare"]
    ended = run_to_end(argv, root, environment(row, env, root), output, limit)
    return _says(root, output, ended.code, ended.seconds)


def judge_again(row: Row, root: Path, env: Path, folder: Path, limit: float, seconds: float) -> TipcSays:
    """The checks of today on the run that is kept; the seconds stay those of the run."""
    tipc = str(Path(sys.executable).with_name("tipc"))
    variables = environment(row, env, root)
    ended = run_to_end([tipc, "certify"], root, variables, folder / "tipc-certify.log", limit)
    output = folder / "tipc-report.log"
    run_to_end([tipc, "report"], root, variables, output, limit)
    return _says(root, output, ended.code, seconds)


def _says(root: Path, output: Path, code: int | None, seconds: float) -> TipcSays:
    text = output.read_text(encoding="utf-8", errors="replace")
    verdict = _newest(root, "verdict.json")
    findings = verdict.get("findings", [])
    return TipcSays(
        exit=code,
        headline=_headline(text),
        seconds=round(seconds, 1),
        against=[_line(one) for one in findings if _forbids(one)],
        uncertified=[_line(one) for one in findings if one["status"] == "not_certified"],
        failed_steps=[
            line.strip() for line in text.splitlines() if line.startswith(("FAILED  ", "TIMEOUT  "))
        ],
        code=commit_of(PROJECT),
        date=datetime.now().strftime("%Y-%m-%d"),
        load=round(os.getloadavg()[0], 1),
    )


def commit_of(checkout: Path) -> str:
    """The commit that a folder is at, marked where its code was changed since."""
    argv = ["git", "-C", str(checkout), "describe", "--always", "--exclude=*", "--abbrev=7", "--dirty"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def _forbids(finding: dict[str, Any]) -> bool:
    return finding["status"] == "fail" or (finding["status"] == "unchecked" and finding["required"])


def _line(finding: dict[str, Any]) -> str:
    return f"{finding['check']} {finding['status']} {finding['step']}: {finding['message']}"


def _headline(text: str) -> str:
    for line in reversed(text.splitlines()):
        if line.strip().startswith(HEADLINES):
            return line.strip()
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "(nothing)"


def _newest(root: Path, name: str) -> dict[str, Any]:
    found = sorted((root / ".tipc").rglob(name), key=lambda path: path.stat().st_mtime)
    if not found:
        return {}
    data: dict[str, Any] = json.loads(found[-1].read_text(encoding="utf-8"))
    return data
