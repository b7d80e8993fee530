"""Reasons are codes; every code has a sentence in every language, with the same parameters."""

from __future__ import annotations

from string import Formatter

import pytest

from tipc import language
from tipc.kinds import LANGUAGES
from tipc.language import en, sentence, zh
from tipc.reasons import CODES, Reason, because, reason_from_json, reason_to_json

TABLES = {"en": en.REASONS, "zh": zh.REASONS}


@pytest.mark.parametrize("name", LANGUAGES)
def test_every_code_has_a_sentence_with_its_own_parameters(name: str) -> None:
    assert set(TABLES[name]) == set(CODES)
    for code, template in TABLES[name].items():
        used = {field for _text, field, _spec, _conversion in Formatter().parse(template) if field}
        assert used == set(CODES[code]), code


def test_a_reason_needs_exactly_its_parameters() -> None:
    with pytest.raises(AssertionError):
        because("exit")
    with pytest.raises(AssertionError):
        because("stopped", status=1)


def test_a_reason_survives_json() -> None:
    reason = because("few-devices", device="gpu", asked=4, here=1)
    assert reason_from_json(reason_to_json(reason)) == reason
    assert reason["asked"] == 4


def test_a_sentence_names_devices_as_people_do() -> None:
    assert sentence(because("no-device", device="gpu"), "en") == "no GPU on this machine"
    assert sentence(because("no-device", device="gpu"), "zh") == "本机没有 GPU"


def test_a_reason_of_a_newer_tipc_is_shown_by_its_code() -> None:
    assert sentence(Reason("new-thing", (("x", 1),)), "en") == "new-thing x=1"


def test_the_language_is_the_chosen_one_or_that_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in language.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    language.choose("")
    assert language.language() == "en"
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    language.choose("")  # looks at the environment again
    assert language.language() == "zh"
    monkeypatch.setenv("TIPC_LANG", "fr")
    language.choose("")
    assert language.language() == "en"
    language.choose("zh")
    assert language.language() == "zh"
    monkeypatch.undo()
    language.choose("")
