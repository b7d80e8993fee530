"""Run a script until it finds all that it looks for, as after successful trainings."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tipc.bounded import read_bounded_text
from tipc.errors import UsageError, wording
from tipc.message import english_text
from tipc.plan.trace.read.calls import Call, calls_of
from tipc.plan.trace.record import cache, demand
from tipc.plan.trace.record.find_script import roots
from tipc.plan.trace.record.sandbox import Recording, Sandbox, time_limit
from tipc.plan.trace.record.snapshot import WHOLE
from tipc.plan.trace.record.watch import MOST_MEMORY, MOST_WORDS

MOST_PASSES = 10
MOST_STOPPED = 4  # passes in which the script did not end: each takes seconds and finds one file more at best
HOPELESS = ("calls", "words", "memory")  # reasons to stop a script after which it is not run again


@dataclass(frozen=True)
class Traced:
    """What a script called in the end."""

    calls: tuple[Call, ...]
    tees: tuple[tuple[str, ...], ...]
    stdout: str
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Pass:
    """One run of the script."""

    recording: Recording
    calls: list[Call]
    lookups: list[demand.Lookup]


@dataclass(frozen=True)
class _There:
    """Whether a path is there without any call: in the repository, or among ``others``."""

    sandbox: Sandbox
    others: AbstractSet[str]

    def __call__(self, path: str) -> bool:
        return path in self.others or self.sandbox.has(path)


def trace(repo: Path, script: Path, config: Path, mode: str, *, isolate: bool = True) -> Traced:
    """What ``bash script config mode`` calls; taken from the cache where nothing has changed since."""
    sandbox = Sandbox(repo, isolate=isolate)
    key = cache.key_of(sandbox.listing, repo, script, config, mode)
    if isolate:
        kept = cache.load(key)
        if kept is not None:
            return kept
    try:
        traced, ended = _trace(sandbox, script, config, mode)
    finally:
        sandbox.close()
    if ended and isolate:
        cache.store(key, traced)
    return traced


def _trace(sandbox: Sandbox, script: Path, config: Path, mode: str) -> tuple[Traced, bool]:
    """Run the script with stubs, again while it looks for files that a call should leave.

    Also returned is whether it ended by itself.
    """
    repo = sandbox.repo
    start = starting_directory(script)
    argv = [os.path.relpath(script, start), os.path.relpath(config, start), mode]
    texts = _text_of(repo / script)
    variables = roots(texts, repo / start)
    texts += _text_of(repo / config)

    def run(leave: frozenset[demand.Leaving], programs: frozenset[str]) -> Pass:
        recording = sandbox.record(start, argv, texts, sorted(leave), sorted(programs), variables)
        found = list(islice(demand.lookups(recording.xtrace, repo), demand.MOST_LOOKUPS))
        return Pass(recording, calls_of(recording, repo), found)

    last = _until_all_is_found(run, sandbox)
    notes: list[str] = []
    for name, value in variables.items():
        notes.append(
            english_text(
                "{name}, which {script} expects to be set, is taken for {value}",
                name=name,
                script=str(script),
                value=value,
            )
        )
    if not sandbox.isolate:
        notes.append(
            english_text(
                "{script} ran without isolation, with your rights, as TIPC_TRACE_UNISOLATED=1 asks for",
                script=str(script),
            )
        )
    notes += _notes(last, script, sandbox.listing.left_out)
    for path in _lost(last.recording, sandbox):
        notes.append(
            english_text("{script} sources {path}, which is not there", script=str(script), path=path)
        )
    traced = Traced(tuple(last.calls), last.recording.tees, last.recording.stdout, tuple(notes))
    return traced, not last.recording.stopped


def _text_of(path: Path) -> str:
    try:
        return read_bounded_text(path, "replace", WHOLE)  # of a larger one the sandbox has no bytes
    except OSError as error:
        raise UsageError(
            wording("it is not traced: {strerror}", strerror=error.strerror), path=str(path)
        ) from None


def _until_all_is_found(
    run: Callable[[frozenset[demand.Leaving], frozenset[str]], Pass], sandbox: Sandbox
) -> Pass:
    leave: frozenset[demand.Leaving] = frozenset()
    programs: frozenset[str] = frozenset()
    unwanted: set[str] = set()
    last = run(leave, programs)
    stopped = 0
    for _ in range(MOST_PASSES):
        stopped += bool(last.recording.stopped)
        there = _There(sandbox, last.recording.made | unwanted)
        more = demand.to_leave(last.lookups, last.calls, sandbox.repo, there)
        wanted = programs | demand.programs(last.recording.xtrace, sandbox.repo, sandbox.has_script)
        if last.recording.stopped in HOPELESS or (more <= leave and wanted <= programs):
            break
        if stopped >= MOST_STOPPED:
            break
        later = run(leave | more, wanted)
        if _got_no_further(last, later):
            break
        spoiled = demand.spoiled(last.lookups, last.calls, later.calls, more)
        if spoiled:
            unwanted |= spoiled
            continue
        leave, programs, last = leave | more, wanted, later
    return last


def _got_no_further(before: Pass, after: Pass) -> bool:
    """The script loops for ever, with what it looked for as without it."""
    if not before.recording.stopped or not after.recording.stopped:
        return False
    return len(after.calls) <= len(before.calls)


def starting_directory(script: Path) -> Path:
    """Where people start a script: beside ``test_tipc/``, wherever that is in the repository."""
    for parent in script.parents:
        if parent.name == "test_tipc":
            return parent.parent
    return Path(".")


def _notes(last: Pass, script: Path, left_out: int) -> list[str]:
    notes: list[str] = []
    recording = last.recording
    if recording.stopped == "calls":
        raise UsageError(
            wording(
                "{script} calls commands without end (stopped after {calls}): no plan can be taken from it",
                script=script,
                calls=len(last.calls),
            )
        )
    if recording.stopped == "words":
        raise UsageError(
            wording(
                "{script} calls commands with more than {words} words in all: no plan can be taken from it",
                script=script,
                words=MOST_WORDS,
            )
        )
    if recording.stopped == "memory":
        raise UsageError(
            wording(
                "{script} takes more memory than a traced script may ({size} MiB): no plan can be taken from"
                " it",
                script=script,
                size=MOST_MEMORY >> 20,
            )
        )
    if recording.stopped:
        limit = wording("a long silence")
        if recording.stopped == "time":
            limit = wording("its limit of {seconds:g} s", seconds=time_limit())
        notes.append(
            english_text(
                "{script} did not end and was stopped after {limit}; the plan is what it had called by then",
                script=str(script),
                limit=limit,
            )
        )
    elif recording.exit:
        notes.append(
            english_text(
                "{script} ended with exit code {status}: {line}",
                script=str(script),
                status=recording.exit,
                line=_last_line(recording.stderr),
            )
        )
    if left_out:
        notes.append(
            english_text(
                "files of the repository that were left out of the scratch copy: {count}", count=left_out
            )
        )
    return notes


def _lost(recording: Recording, sandbox: Sandbox) -> Iterator[str]:
    """Files that the script sources and does not find: without their functions its plan makes no sense."""
    seen = set()
    for path in demand.sourced(recording.xtrace):
        if path not in seen and path not in recording.made and not sandbox.has(path):
            seen.add(path)
            yield path


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    if not lines:
        return "no message"
    return lines[-1].strip()[:200]
