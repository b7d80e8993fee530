"""docs/spec.md: every sentence of the specification is met by something that exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tipc.align import THRESHOLDS
from tipc.certify.registry import all_checks
from tipc.cli.main import COMMANDS
from tipc.config.lint.codes import CODES

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "spec.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (\d+) \| (.+?) \| (.+?) \|$", re.MULTILINE)
DOCUMENTS = ("000", "001", "002", "003", "004")


def rows() -> list[tuple[str, str, str]]:
    """(document:line, sentence, what meets it)."""
    found = []
    for part in re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]:
        document = part[:3]
        found += [(f"{document}:{line}", sentence, by) for line, sentence, by in ROW.findall(part)]
    return found


@pytest.mark.parametrize(("place", "sentence", "by"), rows(), ids=[place for place, _, _ in rows()])
def test_what_meets_a_sentence_exists(place: str, sentence: str, by: str) -> None:
    for item in by.split("; "):
        name = item.strip("`")
        if re.fullmatch(r"[A-Z]{2}\d{3}", name):
            assert name in all_checks() or name in CODES, f"{place}: there is no check {name}"
        elif name.startswith("tipc "):
            assert name.split()[1] in COMMANDS, f"{place}: there is no command {name}"
        else:
            assert (ROOT / name).exists(), f"{place}: there is no {name}"


def test_every_document_is_in_the_table_in_the_order_of_its_lines() -> None:
    for document in DOCUMENTS:
        lines = [int(place[4:]) for place, _, _ in rows() if place.startswith(document)]
        assert len(lines) >= 7
        assert lines == sorted(set(lines))


def test_the_thresholds_in_the_text_are_those_of_the_code() -> None:
    for stage, value in THRESHOLDS.items():
        exponent = f"{value:.0e}".replace("e-0", "e-")
        assert f"{stage} {exponent}" in TEXT


def test_the_levels_in_the_text_are_those_of_the_command() -> None:
    from tipc.certify.levels import LEVELS

    assert f"--level {'|'.join(LEVELS)}" in TEXT
