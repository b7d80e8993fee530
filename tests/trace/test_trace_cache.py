"""A trace is taken again only where something has changed, and never from what a repository brings."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tipc.errors import UsageError
from tipc.plan.trace.record import cache, sandbox
from tipc.plan.trace.tracing import trace_upstream

Make = Callable[..., Path]
SCRIPT = "source test_tipc/common_func.sh\nlaunch tools/fit.py $(cat data/list.txt)\n"


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The modes of the scripts that really ran."""
    started: list[str] = []
    start = sandbox._start

    def counted(job: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        started.append(job["argv"][-1])
        return start(job, seconds)

    monkeypatch.setattr(sandbox, "_start", counted)
    return started


@pytest.fixture
def config(repository: Make) -> Path:
    made = repository(SCRIPT)
    root = made.parents[2]
    (root / "data").mkdir()
    (root / "data" / "list.txt").write_text("one\n", encoding="utf-8")
    (root / "test_tipc" / "common_func.sh").write_text('launch() { python3 "$@"; }\n', encoding="utf-8")
    return made


def commands(config: Path, mode: str = "lite") -> list[str]:
    plan = trace_upstream(config, mode, config.parents[2])
    return [" ".join(step.argv) for step in plan.steps]


def test_the_same_trace_is_taken_once(config: Path, runs: list[str]) -> None:
    first = trace_upstream(config, "lite", config.parents[2])
    before = list(runs)
    assert trace_upstream(config, "lite", config.parents[2]) == first
    assert before
    assert runs == before
    commands(config, "whole")
    assert "whole" in runs


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("test_tipc/common_func.sh", 'launch() { python2 "$@"; }\n', "python2 tools/fit.py one"),
        ("test_tipc/go.sh", SCRIPT.replace("fit", "two"), "python3 tools/two.py one"),
        ("test_tipc/go.sh", SCRIPT.replace("fit", "fot"), "python3 tools/fot.py one"),
        ("data/list.txt", "two\n", "python3 tools/fit.py two"),
        ("data/new.txt", "", "python3 tools/fit.py one"),
        ("test_tipc/configs/toy.txt", "name:other\n", "python3 tools/fit.py one"),
    ],
)
def test_a_change_of_any_file_is_seen(
    config: Path, runs: list[str], name: str, text: str, expected: str
) -> None:
    commands(config)
    runs.clear()
    (config.parents[2] / name).write_text(text, encoding="utf-8")
    assert commands(config) == [expected]
    assert runs


def test_a_change_of_a_script_is_seen_even_if_its_time_and_size_are_as_before(
    config: Path, runs: list[str]
) -> None:
    commands(config)
    script = config.parents[1] / "go.sh"
    status = script.stat()
    script.write_text(SCRIPT.replace("fit", "fat"), encoding="utf-8")
    os.utime(script, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert commands(config) == ["python3 tools/fat.py one"]


def test_a_damaged_trace_is_taken_again(config: Path, runs: list[str]) -> None:
    expected = commands(config)
    (kept,) = cache.folder().glob("*.json")
    good = kept.read_bytes()
    data = json.loads(good)
    damages = [b"", good[: len(good) // 2], b"[]", b"null", b"\xff\xfe", b"[" * 100_000, good + b"x"]
    damages += [json.dumps({**data, name: 1}).encode() for name in data]
    damages += [json.dumps({**data, "calls": [call]}).encode() for call in ([], [1, 2], None, ["x"] * 6)]
    damages.append(json.dumps({**data, "key": "another"}).encode())
    for damage in damages:
        kept.write_bytes(damage)
        assert cache.load(kept.stem) is None, damage[:60]
    runs.clear()
    assert commands(config) == expected
    assert runs
    assert kept.read_bytes() == good or cache.load(kept.stem) is not None


def test_a_repository_cannot_bring_a_trace_along(config: Path, runs: list[str]) -> None:
    expected = commands(config)
    (kept,) = cache.folder().glob("*.json")
    planted = config.parents[2] / ".tipc" / "traces"
    planted.mkdir(parents=True)
    (planted / kept.name).write_text(kept.read_text().replace("fit.py", "evil.py"), encoding="utf-8")
    kept.unlink()
    assert commands(config) == expected


def test_looking_at_a_repository_writes_nothing_into_it(config: Path) -> None:
    root = config.parents[2]
    before = sorted(root.rglob("*"))
    commands(config)
    assert sorted(root.rglob("*")) == before


def test_without_room_for_a_cache_a_trace_is_still_taken(
    config: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own_cache / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(own_cache / "file"))
    assert commands(config) == ["python3 tools/fit.py one"]


def test_the_oldest_traces_are_forgotten(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MOST_TRACES", 2)
    for mode in ("a", "b", "c"):
        commands(config, mode)
    assert len(list(cache.folder().glob("*.json"))) == 2
    assert not list(cache.folder().glob(".*"))


def test_a_script_that_was_stopped_is_not_kept(repository: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "MOST_CALLS", 5)
    with pytest.raises(UsageError, match="without end"):
        trace_upstream(repository("while true; do python train.py; done\n"), "lite", None)
    assert not cache.folder().exists()
