"""What ``tipc run`` imports before its first server starts, which the first step waits for."""

from __future__ import annotations

import subprocess
import sys

NOT_YET = ("pydantic", "numpy", "rich", "jinja2", "tipc.run.execution", "tipc.run.record.step_facts")


def test_what_only_a_run_needs_is_imported_after_the_first_server_was_started() -> None:
    code = "import sys, tipc.cli.run, tipc.run.session, tipc.run.executors.local; print(*sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(told.stdout.split()).intersection(NOT_YET)
