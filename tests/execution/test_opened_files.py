"""Digests of what predictors open: of the file as it was at that moment, whatever becomes of it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tipc.run.guest import opened_files
from tipc.run.guest.hearing import Hearing
from tipc.run.guest.opened_files import OpenedFiles
from tipc.run.guest.witness.telling import Telling, connect
from tipc.run.record.step_facts import facts_from_told


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.pdiparams"
    path.write_bytes(os.urandom(3 * opened_files.BLOCK + 17))
    return path


def digest_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_file_is_read_a_block_at_a_time(model: Path) -> None:
    files = OpenedFiles()
    files.open(str(model), "key")
    blocks = 0
    while files.is_reading:
        files.read_on()
        blocks += 1
    assert blocks == 5  # four with something in them
    assert files.digests == {"key": digest_of(model)}


def test_a_file_may_be_moved_or_removed_once_it_is_open(model: Path) -> None:
    files, digest = OpenedFiles(), digest_of(model)
    files.open(str(model), "first")
    model.rename(model.with_name("moved"))
    files.open(str(model.with_name("moved")), "second")
    model.with_name("moved").unlink()
    files.finish()
    assert files.digests == {"first": digest, "second": digest}


def test_a_file_that_is_opened_again_is_not_read_again(model: Path) -> None:
    files = OpenedFiles()
    files.open(str(model), "first")
    files.open(str(model), "while it is read")
    files.finish()
    files.open(str(model), "afterwards")
    assert not files.is_reading
    assert files.digests == dict.fromkeys(("first", "while it is read", "afterwards"), digest_of(model))


def test_a_file_that_is_written_to_while_it_is_read_has_no_digest(model: Path) -> None:
    files = OpenedFiles()
    files.open(str(model), "key")
    files.read_on()
    with model.open("ab") as file:
        file.write(b"more")
    files.finish()
    assert files.digests == {}
    files.open(str(model), "as it is now")
    files.finish()
    assert files.digests == {"as it is now": digest_of(model)}


def test_a_file_that_never_ends_is_read_no_farther_than_it_was_long(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = OpenedFiles()
    files.open(str(model), "key")
    monkeypatch.setattr(os, "read", lambda _descriptor, size: b"x" * size)
    files.finish()
    monkeypatch.undo()
    assert files.left == opened_files.LIMIT - model.stat().st_size


def test_a_model_of_which_one_file_could_not_be_read_has_no_digest() -> None:
    predictor = {
        "model": "/m.pdmodel", "params": "/m.pdiparams", "engine": "paddle", "device": "cpu",
        "precision": "fp32",
        "threads": 1, "runs": 1, "seconds": 0.1, "run_seconds": [0.1], "batch_sizes": [1], "samples": 1,
        "kept": [], "digests": {"/m.pdmodel": "a.0", "/m.pdiparams": "a.1"},
    }  # fmt: skip
    told = {"rank": 0, "pid": 1, "paddle": "3.1.1", "doors": {}, "predictors": [predictor]}
    process = {"pid": 1, "facts": told, "final": True, "dropped": 0}
    found = []
    for digests in ({"a.0": "one", "a.1": "other"}, {"a.0": "one"}):
        heard = {"processes": [process], "arrays": [], "digests": digests}
        found.append(facts_from_told(heard, frozenset()).processes[0].predictors[0].digests)
    assert found == [{"/m.pdmodel": "one", "/m.pdiparams": "other"}, {}]


def test_another_file_of_the_same_name_has_its_own_digest(model: Path) -> None:
    files, before = OpenedFiles(), digest_of(model)
    files.open(str(model), "first")
    other = model.with_name("other")
    other.write_bytes(b"other weights")
    other.replace(model)
    files.open(str(model), "second")
    files.finish()
    assert files.digests == {"first": before, "second": digest_of(model)}


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    files = OpenedFiles()
    for name in ("pipe", ".", "nothing", "a\0b"):
        files.open(str(tmp_path / name), name)
    files.open("/dev/zero", "without end")
    assert not files.is_reading
    assert files.digests == {}


def test_a_step_makes_nobody_read_more_than_the_limit(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opened_files, "LIMIT", model.stat().st_size + 10)
    files = OpenedFiles()
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    for name in ("sparse", model.name, "eleven"):
        if name == "eleven":
            (tmp_path / name).write_bytes(b"x" * 11)
        files.open(str(tmp_path / name), name)
    files.finish()
    assert list(files.digests) == [model.name]


def test_a_step_makes_nobody_remember_keys_without_end(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opened_files, "MOST_KEYS", 3)
    files = OpenedFiles()
    for key in ("one", "k" * 10_000, "two", "three"):
        files.open(str(model), key)
    files.finish()
    assert list(files.digests) == ["one", "two"]


def test_nothing_is_left_open(model: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    files = OpenedFiles()
    for key in ("first", "second"):
        files.open(str(model), key)
    files.open("/dev/zero", "no file")
    files.finish()
    assert len(os.listdir("/proc/self/fd")) == before


Ear = tuple[Hearing, Callable[[], None]]


def speaker_to(hearing: Hearing) -> Telling:
    speaker = connect(hearing.address)
    assert speaker is not None
    return speaker


def test_a_witness_goes_on_when_the_keeper_has_the_file_open(ear: Ear, model: Path) -> None:
    hearing, end = ear
    speaker, digest = speaker_to(hearing), digest_of(model)
    keys = speaker.opens([str(model), str(model.with_name("nothing"))])
    model.unlink()
    speaker.facts({"rank": 0}, final=True)
    end()
    assert list(keys) == [str(model)]
    assert hearing.told()["digests"] == {keys[str(model)]: digest}


def test_a_witness_whose_keeper_has_gone_names_no_digest(ear: Ear, model: Path) -> None:
    speaker = speaker_to(ear[0])
    speaker.close()
    assert speaker.opens([str(model)]) == {}
