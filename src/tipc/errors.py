"""The errors that a user can meet, and the exit code that each of them has."""

from __future__ import annotations

from tipc.visible import visible, visible_name

PASSED = 0
FAILED = 1
USAGE = 2
ENVIRONMENT = 3
INTERRUPTED = 130


class TipcError(Exception):
    """An expected error: one message, where it is, and what to do. Never shown as a traceback."""

    exit_code = ENVIRONMENT

    def __init__(
        self, message: str, *, path: str | None = None, line: int = 0, column: int = 0, remedy: str = ""
    ) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.line = line
        self.column = column
        self.remedy = remedy

    def __str__(self) -> str:
        where = visible_name(self.path or "")
        if where and self.line:
            where += f":{self.line}" + (f":{self.column}" if self.column else "")
        message = visible(self.message)
        text = f"{where}: {message}" if where else message
        return f"{text}\n  try: {visible(self.remedy)}" if self.remedy else text


class UsageError(TipcError):
    """The config file or the call is wrong: exit code 2."""

    exit_code = USAGE


class EnvironmentProblem(TipcError):
    """This machine lacks what is needed (an interpreter, a disk with room, …): exit code 3."""

    exit_code = ENVIRONMENT
