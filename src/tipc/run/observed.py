"""The command that counts operators while it does what another command does."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tipc.run.warm.opcount import SCHEMA, write_report

OBSERVE = Path(__file__).parent / "warm" / "observe.py"
PYTHON = re.compile(r"python(\d+(\.\d+)?)?")
LAUNCHERS = ("paddle.distributed.launch", "paddle.distributed.fleet.launch")
WITH_VALUE = ("-X", "-W")


def observed(argv: tuple[str, ...], out: Path) -> tuple[str, ...]:
    """The command with the counting before its script; as it is, and a reason in the file, if it has none."""
    out.unlink(missing_ok=True)
    place = script_place(argv)
    if place is None:
        reason = "the command is not a python script nor a paddle launch of one"
        write_report(str(out), {"schema": SCHEMA, "operators": {}, "error": reason})
        return argv
    return (*argv[:place], str(OBSERVE), "--out", str(out), *argv[place:])


def script_place(argv: tuple[str, ...]) -> int | None:
    """Where in a command the python script stands, also behind options or a paddle launch."""
    if not argv or not PYTHON.fullmatch(os.path.basename(argv[0])):
        return None
    place = 1
    while place < len(argv) and argv[place].startswith("-"):
        if argv[place] == "-m":
            if argv[place + 1 : place + 2] and argv[place + 1] in LAUNCHERS:
                return _script_of_launch(argv, place + 2)
            return None
        if argv[place] == "-c" or argv[place] == "-":
            return None
        place += 2 if argv[place] in WITH_VALUE else 1
    return place if place < len(argv) else None


def _script_of_launch(argv: tuple[str, ...], place: int) -> int | None:
    """The launcher's own options all have values; the first word that is neither is the script."""
    while place < len(argv):
        if not argv[place].startswith("-"):
            return place if argv[place].endswith(".py") else None
        place += 1 if "=" in argv[place] else 2
    return None
