"""Which files a script looks for after its commands: a training that succeeds leaves them.

Bash writes down each command with its directory (see ``stubs.BASH_ENV``). A test such as
``[ -f out/latest ]``, a ``cat``, ``cp`` or ``cd`` on something that is not there shows what is expected.
The next run of the script leaves it, after the call that it belongs to.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise, takewhile
from pathlib import Path
from typing import NamedTuple

from tipc.plan.trace.read.calls import Call, inside
from tipc.plan.trace.read.paths import options
from tipc.plan.trace.read.purposes import dissect

_TRACE = re.compile(r"\++ (\d+\.\d+) ([^\t]*)\t(.*)")
EVALUATES = "--do_eval"
_TESTS = {"[", "[[", "test"}
_FILE_TESTS = {"-e", "-f", "-s", "-r", "-d", "-h", "-L", "-a"}
# Words that are read: from the first operand, from the second (after a pattern), all but the last.
_READ_ALL = {"cat", "tail", "head", "ls", "wc", "source", ".", "tac", "md5sum", "tar", "unzip"}
_READ_AFTER_PATTERN = {"grep", "egrep", "fgrep", "sed", "awk"}
_READ_BUT_LAST = {"cp", "mv", "ln"}
# A sign of failure, or of another process: a successful training does not leave it. Only the file's own name
# tells, word by word: ``pidnet``, ``score`` and ``finance`` are models and metrics.
_UNWANTED = re.compile(
    r"(?:^|[^a-z])(?:err(?:or)?s?|fail(?:ed|ure|ures)?|crash(?:ed)?|core|lock(?:ed)?|pid|kill(?:ed)?|"
    r"abort(?:ed)?|stop(?:ped)?|nan|(?<![^/])null)(?:[^/a-z][^/]*)?$|\*\*",
    re.IGNORECASE,
)


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
        if name not in _TESTS | _READ_ALL | _READ_AFTER_PATTERN | _READ_BUT_LAST | {"cd", "pushd", "find"}:
            continue
        try:
            words = shlex.split(text)
        except ValueError:
            continue
        for path, directory in _wanted(words):
            full = os.path.normpath(os.path.join(cwd, path))
            if path and full.startswith(f"{repo}/") and not _UNWANTED.search(inside(full, repo)):
                yield Lookup(float(time), full, directory)


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
    name, operands = words[0], [word for word in words[1:] if not word.startswith("-")]
    if name in _TESTS:
        for test, path in pairwise(words[1:]):
            if test in _FILE_TESTS:
                yield path, test == "-d"
        return
    if name == "find":
        yield from _sought(words)
        return
    if name in ("cd", "pushd"):
        chosen = operands[:1]
    elif name in _READ_AFTER_PATTERN:
        chosen = operands[1:]
    elif name in _READ_BUT_LAST:
        chosen = operands[:-1]
    else:
        chosen = operands
    for path in chosen:
        # ``ls -t out/*.pdparams`` looks for files, ``ls out`` for what is in a directory.
        yield path, name in ("cd", "pushd") or (name == "ls" and "." not in os.path.basename(path))


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
    leave = set()
    parents = {os.path.dirname(path) for path in first}
    for path, lookup in first.items():
        earlier = [call for call in calls if call.time < lookup.time]
        if there(path) or not earlier:
            continue
        slash = "/" if lookup.directory or path in parents else ""
        named = [(call, above) for call in earlier if (above := _option_above(call, path, repo))]
        if named:
            owner, (option, directory) = named[-1]
            if _picks_no_best(owner, path, repo):
                continue
            leave.add(Leaving(dissect(owner.argv).program, option, path[len(directory) :] + slash))
        else:
            leave.add(Leaving(dissect(earlier[-1].argv).program, "", path + slash))
    return frozenset(leave)


def _picks_no_best(call: Call, path: str, repo: Path) -> bool:
    """Whether a path is of a best model that this training does not keep.

    A script with an option ``--do_eval`` (PaddleSeg's, and those of its relatives) picks one only with it.
    """
    if "/best_model" not in path or EVALUATES in call.argv:
        return False
    script = repo / call.cwd / dissect(call.argv).program
    try:
        return EVALUATES in script.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False


def _directories(call: Call, repo: Path) -> list[tuple[str, str]]:
    """The options of a call whose values are paths below the repository, with these paths."""
    found = []
    for option, value in options(dissect(call.argv).arguments):
        full = os.path.normpath(os.path.join(repo, call.cwd, value))
        if value and full.startswith(f"{repo}/"):
            found.append((option, full))
    return found


def _option_above(call: Call, path: str, repo: Path) -> tuple[str, str] | None:
    """The option of a call that names a directory above a path, and that directory."""
    above = [(name, full) for name, full in _directories(call, repo) if path.startswith(f"{full}/")]
    return max(above, key=lambda pair: len(pair[1]), default=None)


def spoiled(
    found: Iterable[Lookup], before: list[Call], after: list[Call], leave: Iterable[Leaving]
) -> set[str]:
    """Paths that the script wants to make itself when they are missing: with them, its next call vanished."""
    if len(after) >= len(before):
        return set()
    again = {call.key for call in after}
    endings = tuple(item.path.rstrip("/") for item in leave)
    ordered = sorted(found, key=lambda lookup: lookup.time)
    guilty = set()
    for call in before:
        if call.key not in again:
            earlier = [look.path for look in ordered if look.time < call.time and look.path.endswith(endings)]
            guilty.update(earlier[-1:])
    return guilty
