"""Only what this attempt wrote counts, and nothing that was there is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from tipc.reasons import because
from tipc.run import artefacts
from tipc.run.artefacts import digests, missing, move_stale_outputs, settle


@pytest.fixture
def aside(tmp_path: Path) -> Path:
    return tmp_path / "aside"


def test_an_artefact_that_is_written_counts(tmp_path: Path, aside: Path) -> None:
    before = move_stale_outputs(tmp_path, ["model"], aside)
    (tmp_path / "model").write_text("new")
    assert missing(tmp_path, ["model"], before) is None
    assert list(digests(tmp_path, ["./model"], before)) == ["model"]


def test_yesterdays_artefact_does_not_count_and_is_put_back(tmp_path: Path, aside: Path) -> None:
    (tmp_path / "model").write_text("old")
    before = move_stale_outputs(tmp_path, ["model"], aside)
    assert not (tmp_path / "model").exists()
    assert missing(tmp_path, ["model"], before) == because("old-artefact", path="model")
    settle(before, passed=False)
    assert (tmp_path / "model").read_text() == "old"
    assert not aside.exists()


def test_what_was_replaced_by_a_pass_is_deleted(tmp_path: Path, aside: Path) -> None:
    (tmp_path / "model").write_text("old")
    before = move_stale_outputs(tmp_path, ["model"], aside)
    (tmp_path / "model").write_text("new")
    settle(before, passed=True)
    assert (tmp_path / "model").read_text() == "new"
    assert not aside.exists()


def test_a_failure_that_wrote_something_keeps_both(tmp_path: Path, aside: Path) -> None:
    (tmp_path / "model").write_text("old")
    before = move_stale_outputs(tmp_path, ["model"], aside)
    (tmp_path / "model").write_text("half")
    settle(before, passed=False)
    assert (tmp_path / "model").read_text() == "half"
    assert [path.read_text() for path in aside.iterdir()] == ["old"]


def test_a_second_attempt_does_not_overwrite_what_the_first_set_aside(tmp_path: Path, aside: Path) -> None:
    for text in ("first", "second"):
        (tmp_path / "model").write_text(text)
        move_stale_outputs(tmp_path, ["model"], aside)
    assert sorted(path.read_text() for path in aside.iterdir()) == ["first", "second"]


def test_one_of_several_names_is_enough(tmp_path: Path, aside: Path) -> None:
    before = move_stale_outputs(tmp_path, ["a.json|a.pdmodel"], aside)
    assert missing(tmp_path, ["a.json|a.pdmodel"], before) == because(
        "no-artefact", path="a.json | a.pdmodel"
    )
    (tmp_path / "a.pdmodel").write_text("")
    assert missing(tmp_path, ["a.json|a.pdmodel"], before) is None


def test_a_directory_counts_when_something_below_it_is_new(tmp_path: Path, aside: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old").write_text("old")
    before = move_stale_outputs(tmp_path, ["out"], aside)
    assert (tmp_path / "out" / "old").exists()
    assert missing(tmp_path, ["out"], before) == because("old-artefact", path="out")
    (tmp_path / "out" / "new").write_text("new")
    assert missing(tmp_path, ["out"], before) is None


def test_what_cannot_be_moved_must_at_least_change(
    tmp_path: Path, aside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "model").write_text("old")

    def another_disk(source: Path, target: Path) -> None:
        raise OSError("another disk")

    monkeypatch.setattr(artefacts.os, "rename", another_disk)
    before = move_stale_outputs(tmp_path, ["model"], aside)
    assert missing(tmp_path, ["model"], before) == because("old-artefact", path="model")
    (tmp_path / "model").write_text("new and longer")
    assert missing(tmp_path, ["model"], before) is None


def test_what_a_pattern_matches_is_never_moved_and_counts_when_it_is_new(tmp_path: Path, aside: Path) -> None:
    names = ["out/*.pdmodel|out/*.json", "out/*.pdiparams"]
    (tmp_path / "out").mkdir()
    (tmp_path / "out/config.json").write_text("of the training that was before")
    before = move_stale_outputs(tmp_path, names, aside)
    assert (tmp_path / "out/config.json").exists()
    assert missing(tmp_path, names, before) == because("old-artefact", path="out/*.json")
    (tmp_path / "out/model.pdmodel").write_text("")
    assert missing(tmp_path, names, before) == because("no-artefact", path="out/*.pdiparams")
    (tmp_path / "out/model.pdiparams").write_text("")
    assert missing(tmp_path, names, before) is None
    assert sorted(digests(tmp_path, names, before)) == ["out/model.pdiparams", "out/model.pdmodel"]


def test_a_link_to_nothing_is_no_artefact(tmp_path: Path, aside: Path) -> None:
    before = move_stale_outputs(tmp_path, ["model"], aside)
    (tmp_path / "model").symlink_to("nowhere")
    assert missing(tmp_path, ["model"], before) == because("no-artefact", path="model")


def test_the_digest_of_a_directory_sees_names_and_contents(tmp_path: Path) -> None:
    seen = set()
    (tmp_path / "d").mkdir()
    for name, text in (("a", "1"), ("a", "2"), ("b", "2")):
        (tmp_path / "d" / name).write_text(text)
        seen.add(artefacts.digest(tmp_path / "d"))
    assert len(seen) == 3
