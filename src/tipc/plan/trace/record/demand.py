"""Which files a script looks for after its commands: a training that succeeds leaves them.

Bash writes down each command with its directory (see ``stubs.BASH_ENV``). A test such as
``[ -f out/latest ]``, a ``cat``, ``cp`` or ``cd`` on something that is not there shows what is expected.
The next run of the script leaves it, after the call that it belongs to.
"""

from __future__ import annotations

import os
import re
import shlex
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise, takewhile
from pathlib import Path
from typing import NamedTuple

from tipc.bounded import read_bounded_text
from tipc.plan.trace.read.calls import Call

_TRACE = re.compile(r"\++ (\d+\.\d+) ([^\t]*)\t(.*)")
EVALUATES = "--do_eval"
_TESTS = {"[", "[[", "test"}
_FILE_TESTS = {"-e", "-f", "-s", "-r", "-d", "-h", "-L", "-a"}
# Words that are read: from the first operand, from the second (after a pattern), all but the last.
_READ_ALL = {"cat", "tail", "head", "ls", "wc", "source", ".", "tac", "md5sum", "tar", "unzip"}
_READ_AFTER_PATTERN = {"grep", "egrep", "fgrep", "sed", "awk"}
_READ_BUT_LAST = {"cp", "mv", "ln"}
_ENTER = {"cd", "pushd"}
_LOOKING = _TESTS | _READ_ALL | _READ_AFTER_PATTERN | _READ_BUT_LAST | _ENTER | {"find"}
MOST_LOOKUPS = 20_000  # that are considered; a script that looks for more looks for nothing in particular
MOST_LEFT = 500
# A sign of failure, or of another process: a successful training does not leave it. Only the file's own name
# tells, word by word: ``pidnet``, ``score`` and ``finance`` are models and metrics.
_UNWANTED = re.compile(
    r"(?:^|[^a-z])(?:err(?:or)?s?|fail(?:ed|ure|ures)?|crash(?:ed)?|core|lock(?:ed)?|pid|kill(?:ed)?|"
    r"abort(?:ed)?|stop(?:ped)?|nan|^null)(?:[^a-z]|$)",
    re.IGNORECASE,
)

# What trainings call their weights, to which paddle adds ``.pdparams``: the name alone is no file.
_PREFIXES = {"latest", "best_accuracy", "best_model", "model_final"}


@dataclass(frozen=True)
class Lookup:
    """A path that the script wanted to find."""

    time: float
    path: str  # absolute
    directory: bool


class Leaving(NamedTuple):
    """What each call of a program leaves: a path below the directory of an option, or an absolute one.

    A final slash makes it a directory. What one training leaves, all of them do.
    """

    program: str
    option: str
    path: str


def lookups(xtrace: str, repo: Path) -> Iterator[Lookup]:
    """Every path below the repository that the script tested or read, in order."""
    for line in xtrace.splitlines():
        match = _TRACE.match(line)
        if not match:
            continue
        time, cwd, text = match.groups()
        name = text.split(" ", 1)[0].strip("'")
        if name not in _LOOKING:
            continue
        try:
            words = shlex.split(text)
        except ValueError:
            continue
        for path, directory in _wanted(words):
            full = os.path.normpath(os.path.join(cwd, path))
            if path and full.startswith(f"{repo}/") and not _is_unwanted(full):
                yield Lookup(float(time), full, directory)


def _is_unwanted(path: str) -> bool:
    return "**" in path or _UNWANTED.search(os.path.basename(path)) is not None


def sourced(xtrace: str) -> Iterator[str]:
    """The absolute paths of the files that the script sourced."""
    for line in xtrace.splitlines():
        match = _TRACE.match(line)
        if match and match[3].startswith(("source ", ". ")) and "/" in match[3]:
            with suppress(ValueError):
                yield os.path.normpath(os.path.join(match[2], shlex.split(match[3])[1]))


def programs(xtrace: str, repo: Path, there: Callable[[str], bool]) -> set[str]:
    """Paths below the repository that the script calls as programs, and that are not ``there``."""
    found = set()
    for line in xtrace.splitlines():
        match = _TRACE.match(line)
        if match and re.match(r"[\w./+-]+/[\w.+-]+(?: |$)", match[3]):
            full = os.path.normpath(os.path.join(match[2], match[3].split(" ", 1)[0]))
            if full.startswith(f"{repo}/") and not there(full):
                found.add(full)
    return found


def _wanted(words: list[str]) -> Iterator[tuple[str, bool]]:
    """The paths that a command looks for, each with whether it must be a directory."""
    name = words[0]
    if name in _TESTS:
        for test, path in pairwise(words[1:]):
            if test in _FILE_TESTS:
                yield path, test == "-d"
        return
    if name == "find":
        yield from _sought(words)
        return
    for path in _read(words):
        # ``ls -t out/*.pdparams`` looks for files, ``ls out`` for what is in a directory.
        lists = name == "ls" and "." not in os.path.basename(path)
        yield path, lists or name in _ENTER


def _read(words: list[str]) -> list[str]:
    """The operands of a command that it reads or enters."""
    name = words[0]
    operands = [word for word in words[1:] if not word.startswith("-")]
    if name in _ENTER:
        return operands[:1]
    if name in _READ_AFTER_PATTERN:
        return operands[1:]
    if name in _READ_BUT_LAST:
        return operands[:-1]
    return operands


def _sought(words: list[str]) -> Iterator[tuple[str, bool]]:
    """``find out -type d -name 'best*'``: the directories that it searches, with the name that it wants."""
    places = list(takewhile(lambda word: not word.startswith("-"), words[1:]))
    names = [name for option, name in pairwise(words) if option in ("-name", "-iname")]
    directory = ("-type", "d") in pairwise(words)
    for place in places:
        for name in names:
            yield f"{place}/{name}", directory


def to_leave(
    found: Iterable[Lookup], calls: list[Call], repo: Path, there: Callable[[str], bool]
) -> frozenset[Leaving]:
    """What calls are to leave: the missing paths that were first looked for after them.

    A path belongs to the last earlier call that names a directory above it, else to the last earlier call. A
    path that was looked for before any call was no training's to leave; nor is one that is ``there`` anyway.
    """
    first: dict[str, Lookup] = {}
    for lookup in found:
        first.setdefault(lookup.path, lookup)
    leave: set[Leaving] = set()
    parents = set(map(os.path.dirname, first))
    owners = _Owners(calls, repo)
    for path, lookup in first.items():
        earlier = bisect_left(owners.times, lookup.time)
        if there(path) or not earlier or len(leave) >= MOST_LEFT:
            continue
        owner, option, directory = owners.of(path, earlier)
        if directory and _picks_no_best(owner, path, repo):
            continue
        if os.path.basename(path) in _PREFIXES and not lookup.directory and path not in parents:
            continue
        left = path[len(directory) :]
        if lookup.directory or path in parents:
            left += "/"
        leave.add(Leaving(owner.command.entry, option, left))
    return frozenset(leave)


class _Owners:
    """Which call a path belongs to. Made once: a hostile script has thousands of calls and of paths."""

    def __init__(self, calls: Iterable[Call], repo: Path) -> None:
        self.calls = sorted(calls, key=lambda call: call.time)
        self.times = [call.time for call in self.calls]
        self._named: dict[str, dict[int, str]] = {}  # from a directory to the calls and options that name it
        for position, call in enumerate(self.calls):
            for option, directory in _directories(call, repo):
                self._named.setdefault(directory, {}).setdefault(position, option)

    def of(self, path: str, earlier: int) -> tuple[Call, str, str]:
        """Of the first ``earlier`` calls the last that names a directory above the path, else the very last;
        with the option and the directory, the deepest, by which it does."""
        last, option, named = -1, "", ""
        directory = os.path.dirname(path)
        while len(directory) > 1:
            position = self._last_naming(directory, earlier)
            if position > last:
                last, option, named = position, self._named[directory][position], directory
            directory = os.path.dirname(directory)
        if not named:
            last = earlier - 1
        return self.calls[last], option, named

    def _last_naming(self, directory: str, earlier: int) -> int:
        """The last of the first ``earlier`` calls that names a directory; -1 where none does."""
        for position in reversed(self._named.get(directory, {})):
            if position < earlier:
                return position
        return -1


def _picks_no_best(call: Call, path: str, repo: Path) -> bool:
    """Whether a path is of a best model that this training does not keep.

    A script with an option ``--do_eval`` (PaddleSeg's, and those of its relatives) picks one only with it.
    """
    if "/best_model" not in path or EVALUATES in call.argv:
        return False
    # The call, and so the name, is the traced script's: it may lead anywhere.
    script = Path(os.path.realpath(repo / call.cwd / call.command.entry))
    if not script.is_relative_to(repo):
        return False
    try:
        return EVALUATES in read_bounded_text(script, "replace")
    except (OSError, ValueError):
        return False


def _directories(call: Call, repo: Path) -> list[tuple[str, str]]:
    """The options of a call whose values are paths below the repository, with these paths."""
    found = []
    for option, value in call.command.values():
        full = os.path.normpath(os.path.join(repo, call.cwd, value))
        if value and full.startswith(f"{repo}/"):
            found.append((option, full))
    return found


def spoiled(
    found: Iterable[Lookup], before: list[Call], after: list[Call], leave: Iterable[Leaving]
) -> set[str]:
    """Paths that the script wants to make itself when they are missing: with them, its next call vanished."""
    if len(after) >= len(before):
        return set()
    again = {call.key for call in after}
    endings = tuple(item.path.rstrip("/") for item in leave)
    of_these = [lookup for lookup in found if lookup.path.endswith(endings)]
    ordered = sorted(of_these, key=lambda lookup: lookup.time)
    times = [lookup.time for lookup in ordered]
    guilty = set()
    for call in before:
        earlier = bisect_left(times, call.time)
        if call.key not in again and earlier:
            guilty.add(ordered[earlier - 1].path)
    return guilty
