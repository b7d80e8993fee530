"""The READMEs of both zoos: complete in both languages, with the same commands and the same pictures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tipc.certify.checks.readme import judge
from tipc.certify.evidence.readable import MarkdownFile, local_pictures, readmes

ZOO = Path(__file__).parents[2] / "zoo"


def in_both_languages(zoo: str) -> list[MarkdownFile]:
    found = readmes(ZOO / zoo)
    assert {document.name for document in found} == {"README.md", "README.zh-CN.md"}
    return found


@pytest.mark.parametrize("zoo", ["classification", "segmentation"])
def test_a_readme_has_every_chapter_in_either_language(zoo: str) -> None:
    for document in in_both_languages(zoo):
        judged = judge(document)
        assert len(judged) >= 15
        assert {name: str(wrong) for name, wrong in judged.items() if wrong} == {}, document.name


@pytest.mark.parametrize("zoo", ["classification", "segmentation"])
def test_both_languages_give_the_same_commands_and_show_the_same_pictures(zoo: str) -> None:
    one, other = in_both_languages(zoo)
    commands = [list(block.commands()) for block in one.blocks]
    assert len(commands) >= 6
    assert commands == [list(block.commands()) for block in other.blocks]
    pictures = sorted(local_pictures(ZOO / zoo, one))
    assert len(pictures) >= 2
    assert pictures == sorted(local_pictures(ZOO / zoo, other))


@pytest.mark.parametrize("zoo", ["classification", "segmentation"])
def test_each_document_of_a_chain_has_a_chapter_faq(zoo: str) -> None:
    documents = sorted((ZOO / zoo / "test_tipc" / "docs").rglob("*.md"))
    assert len(documents) >= 3
    for path in documents:
        assert re.search(r"^## .*FAQ", path.read_text(encoding="utf-8"), re.MULTILINE), path
