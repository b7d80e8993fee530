"""Run a script until it finds all that it looks for, as after successful trainings."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tipc.errors import UsageError
from tipc.plan.trace import demand
from tipc.plan.trace.calls import Call, calls_of
from tipc.plan.trace.sandbox import Recording, record, time_limit
from tipc.plan.trace.script import roots

MOST_PASSES = 10


@dataclass(frozen=True)
class Traced:
    """What a script called in the end."""

    calls: tuple[Call, ...]
    recording: Recording
    notes: tuple[str, ...]


def trace(repo: Path, script: Path, config: Path, mode: str) -> Traced:
    """Run ``bash script config mode`` with stubs, again while it looks for files that a call should leave."""
    start = starting_directory(script)
    argv = [os.path.relpath(script, start), os.path.relpath(config, start), mode]
    texts = (repo / script).read_text(encoding="utf-8", errors="replace")
    variables = roots(texts, repo / start)
    texts += (repo / config).read_text(encoding="utf-8", errors="replace")
    leave: frozenset[demand.Leaving] = frozenset()
    programs: frozenset[str] = frozenset()
    unwanted: set[str] = set()
    recording, calls, found = _once(repo, start, argv, texts, leave, programs, variables)
    for _ in range(MOST_PASSES):
        more = demand.to_leave(found, calls, repo, recording.made | unwanted)
        wanted = programs | demand.programs(recording.xtrace, repo)
        if recording.stopped == "calls" or (more <= leave and wanted <= programs):
            break
        later = _once(repo, start, argv, texts, leave | more, wanted, variables)
        spoiled = demand.spoiled(found, calls, later[1], more)
        if spoiled:
            unwanted |= spoiled
            continue
        leave, programs = leave | more, wanted
        recording, calls, found = later
    notes = [
        f"{name}, which {script} expects to be set, is taken for {variables[name]}" for name in variables
    ]
    notes += _notes(recording, script, calls)
    notes += [f"{script} sources {path}, which is not there" for path in _lost(recording)]
    return Traced(tuple(calls), recording, tuple(notes))


def starting_directory(script: Path) -> Path:
    """Where people start a script: beside ``test_tipc/``, wherever that is in the repository."""
    folders = [parent.parent for parent in script.parents if parent.name == "test_tipc"]
    return folders[0] if folders else Path(".")


def _once(
    repo: Path,
    start: Path,
    argv: list[str],
    texts: str,
    leave: frozenset[demand.Leaving],
    programs: frozenset[str],
    variables: Mapping[str, str],
) -> tuple[Recording, list[Call], list[demand.Lookup]]:
    recording = record(repo, start, argv, texts, sorted(leave), sorted(programs), variables)
    return recording, calls_of(recording, repo), list(demand.lookups(recording.xtrace, repo))


def _notes(recording: Recording, script: Path, calls: list[Call]) -> list[str]:
    notes = []
    if recording.stopped == "calls":
        raise UsageError(
            f"{script} calls commands without end (stopped after {len(calls)}): no plan can be taken from it"
        )
    if recording.stopped:
        limit = f"its limit of {time_limit():g} s" if recording.stopped == "time" else "a long silence"
        notes.append(
            f"{script} did not end and was stopped after {limit}; the plan is what it had called by then"
        )
    elif recording.exit:
        notes.append(f"{script} ended with exit code {recording.exit}: {_last_line(recording.stderr)}")
    if recording.left_out:
        notes.append(f"{recording.left_out} files of the repository were left out of the scratch copy")
    return notes


def _lost(recording: Recording) -> Iterator[str]:
    """Files that the script sources and does not find: without their functions its plan makes no sense."""
    seen = set()
    for path in demand.sourced(recording.xtrace):
        if path not in seen and path not in recording.made and not os.path.exists(path):
            seen.add(path)
            yield path


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "no message"
