"""The status lines that a script printed, each put to its command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
SUCCESS = "Run successfully with command"
FAILURE = "Run failed"


def status_lines(stdout: str, commands: Sequence[Sequence[str]]) -> list[str]:
    """For each command the printed line that reports it, "" where there is none.

    A line reports a command if all the command's words stand in it, in order and next to each other, apart
    from quotes and blanks. Each line is used once.
    """
    lines = []
    for line in _COLOUR.sub("", stdout).splitlines():
        if SUCCESS in line or FAILURE in line:
            lines.append(line)
    unused = dict(enumerate(map(_words, lines)))
    found = []
    for command in commands:
        number = _reporting(_words(" ".join(command)), unused)
        if number is None:
            found.append("")
        else:
            del unused[number]
            found.append(lines[number].replace(FAILURE, "Run successfully", 1))
    return found


def _words(text: str) -> list[str]:
    return text.replace('"', "").replace("'", "").replace("\\", "").split()


def _reporting(wanted: list[str], lines: Mapping[int, list[str]]) -> int | None:
    """The number of the first line that has the words next to each other; None where none has."""
    size = len(wanted)
    for number, have in lines.items():
        for start in range(len(have) - size + 1):
            if _same(have[start : start + size], wanted):
                return number
    return None


def _same(have: list[str], wanted: list[str]) -> bool:
    """Whether the words are the same; the last one may be followed by the line's own "!"."""
    if have == wanted:
        return True
    if have[:-1] != wanted[:-1]:
        return False
    last, end = have[-1], wanted[-1]
    return last.startswith(end) and not last[len(end) :].strip("!;-")


def text_of(argv: Sequence[str]) -> str:
    """A line for a command whose script printed none."""
    return f" {SUCCESS} - {shlex.join(argv)}!  "
