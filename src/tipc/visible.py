"""Text of strangers (file names, configs, logs) for a terminal: what that would obey becomes visible."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any, TextIO

# Control characters but tab and line end, in seven and eight bits, and what turns the direction of a text.
_OBEYED = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069"
_ALL = re.compile(f"[\r{_OBEYED}]")
_NAME = re.compile(f"[\r\n\t{_OBEYED}]")
# Colours and movements of the cursor are our own; titles, clipboards and whatever else has no place here.
_FOREIGN = re.compile(f"(?!\x1b\\[[0-9;?]*[A-Za-z])[{_OBEYED}]")

_UNCOLOURED = re.compile(f"(?!\x1b\\[[0-9;]*m)[\r{_OBEYED}]")

# A line that begins so is a command to GitHub's runner, whoever printed it.
_COMMAND = re.compile(r"^([ \t]*)(::|##\[)", re.MULTILINE)


def visible(text: str) -> str:
    """The text with its line ends, and with everything else that a terminal obeys written as ``\\u001b``."""
    return _ALL.sub(_escaped, text)


def visible_name(name: str) -> str:
    """The name of a file on one line: it may hold anything."""
    return _NAME.sub(_escaped, name)


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


@dataclass
class _Written:
    """What a stream has got so far."""

    whole_lines: bool = True  # a line begins with what comes next


class Visible:
    """A text stream that lets no command through to a terminal or to GitHub, whatever wrote it.

    A movement of the cursor in the name of a model would hide what stands above it. So tipc's own colours and
    movements have a stream of their own, ``styled``, for text that was made visible before.
    """

    def __init__(self, stream: TextIO, environment: Mapping[str, str]) -> None:
        self._stream = stream
        self._unfit = _ALL
        self._unfit_styled = _ALL
        if stream.isatty():
            self._unfit_styled = _FOREIGN
        self._on_github = environment.get("GITHUB_ACTIONS") == "true"
        self._written = _Written()

    def allow_colours(self) -> None:
        """Colours are wished where there is no terminal, too: `--color always | less -R`."""
        if self._unfit_styled is _ALL:
            self._unfit_styled = _UNCOLOURED

    def styled(self) -> Visible:
        """The same stream for tipc's own colours and movements."""
        twin = copy(self)  # which knows of what the other one has written
        twin._unfit = self._unfit_styled
        return twin

    def __getattr__(self, name: str) -> Any:
        if name == "_stream":  # of one that is being copied
            raise AttributeError(name)
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write what is harmless as it is."""
        safe = self._unfit.sub(_escaped, text)
        if self._on_github:
            head, newline, rest = safe.partition("\n")
            if self._written.whole_lines:
                head = _COMMAND.sub(r"\1\\\2", head)
            safe = head + newline + _COMMAND.sub(r"\1\\\2", rest)
            if safe:
                self._written.whole_lines = safe.endswith("\n")
        self._stream.write(safe)
        return len(text)

    def writelines(self, parts: Iterable[str]) -> None:
        """The stream's own would write them as they are."""
        for part in parts:
            self.write(part)

    def write_command(self, line: str) -> None:
        """A line for GitHub that is our own."""
        self._stream.write(self._unfit.sub(_escaped, line) + "\n")


def styled(stream: TextIO) -> TextIO:
    """The stream for text with colours or movements of tipc's own, in which all else is visible already."""
    twin = getattr(stream, "styled", None)
    if twin is None:
        return stream
    made: TextIO = twin()
    return made


def write_command(stream: TextIO, line: str) -> None:
    """Write a command for GitHub: no other line may look like one."""
    write = getattr(stream, "write_command", None)
    if write is None:
        stream.write(f"{line}\n")
    else:
        write(line)
