"""The status lines that a script printed, each put to its command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
SUCCESS = "Run successfully with command"


def status_lines(stdout: str, commands: Sequence[Sequence[str]]) -> list[str]:
    """For each command the printed line that reports it, "" where there is none.

    A line reports a command if all the command's words stand in it, in order and next to each other, apart
    from quotes and blanks. Each line is used once.
    """
    lines = [line for line in _COLOUR.sub("", stdout).splitlines() if SUCCESS in line or "Run failed" in line]
    words = [_words(line) for line in lines]
    used: set[int] = set()
    found = []
    for command in commands:
        wanted = [word for text in command for word in _words(text)]
        number = next((n for n, have in enumerate(words) if n not in used and _within(wanted, have)), None)
        if number is not None:
            used.add(number)
        found.append("" if number is None else lines[number].replace("Run failed", "Run successfully", 1))
    return found


def _words(text: str) -> list[str]:
    return text.replace('"', "").replace("'", "").replace("\\", "").split()


def _within(wanted: list[str], have: list[str]) -> bool:
    size = len(wanted)
    # The last word may be followed by the line's own "!".
    return any(
        have[start : start + size] == wanted
        or (
            have[start : start + size - 1] == wanted[:-1]
            and _ends(have[start + size - 1 : start + size], wanted)
        )
        for start in range(len(have) - size + 1)
    )


def _ends(last: list[str], wanted: list[str]) -> bool:
    return bool(last) and last[0].startswith(wanted[-1]) and not last[0][len(wanted[-1]) :].strip("!;-")


def text_of(argv: Sequence[str]) -> str:
    """A line for a command whose script printed none."""
    return f" {SUCCESS} - {shlex.join(argv)}!  "
