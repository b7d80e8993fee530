"""docs/trust.md says of every check what a pass of it proves."""

from __future__ import annotations

import re
from pathlib import Path

from tipc.certify.registry import all_checks

PAGE = Path(__file__).parents[2] / "docs" / "trust.md"
NAMED = re.compile(r"([A-Z]{2})(\d{3})(?:–(?:[A-Z]{2})?(\d{3}))?")


def named_on(text: str) -> set[str]:
    """The checks that a page names, also as `TS001–TS005` or `TL1xx`."""
    found = set()
    for family, first, last in NAMED.findall(text):
        for number in range(int(first), int(last or first) + 1):
            found.add(f"{family}{number:03}")
    for family in re.findall(r"([A-Z]{2}\d)xx", text):
        found.update(name for name in all_checks() if name.startswith(family))
    return found


def test_ranges_and_families_are_names() -> None:
    assert {"TS001", "TS002", "TS003", "TL103"} <= named_on("TS001–TS003, TL1xx")
    assert named_on("TX701 and TX703") == {"TX701", "TX703"}


def test_every_check_is_named() -> None:
    absent = set(all_checks()) - named_on(PAGE.read_text(encoding="utf-8"))
    assert not absent
