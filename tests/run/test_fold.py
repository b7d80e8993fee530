"""Lines that are broken so that they fit a terminal."""

from __future__ import annotations

import io

import pytest
from rich.cells import cell_len

from tipc.run.show.fold import folded, write_folded


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_line_is_broken_between_words_and_goes_on_further_in() -> None:
    rows = folded("  note: " + "word " * 20, 40)
    assert len(rows) > 2
    assert all(cell_len(row) <= 40 for row in rows)
    assert rows[0].startswith("  note: word")
    assert all(row.startswith("    word") for row in rows[1:])
    assert " ".join(" ".join(rows).split()) == ("note: " + "word " * 20).strip()


def test_chinese_is_broken_at_any_character_but_not_before_a_mark_that_closes() -> None:
    rows = folded("  原因  " + "导出的模型，" * 20, 37, 4)
    assert len(rows) > 3
    assert all(30 <= cell_len(row) <= 37 for row in rows[:-1])
    assert not any(row.strip().startswith("，") for row in rows)


def test_a_bracket_is_not_left_behind() -> None:
    for width in range(30, 60):
        for row in folded("  当前激活的环境（VIRTUAL_ENV）和其他的解释器（python3）在这里", width):
            assert not row.endswith("（")


def test_a_path_stays_whole_for_copying() -> None:
    path = "/a/very/long/" + "folder/" * 20 + "file.txt"
    assert any(path in row for row in folded(f"  log  {path} and a word", 60))


def test_what_is_piped_is_not_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    text = "word " * 30 + "\n"
    piped, shown = io.StringIO(), Terminal()
    write_folded(piped, text)
    write_folded(shown, text)
    assert piped.getvalue() == text
    assert len(shown.getvalue().splitlines()) > 3
