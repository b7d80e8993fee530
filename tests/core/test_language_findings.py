"""What a check measured: every template that a finding is made from has its Chinese, with the same values."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

import tipc
from tipc import language
from tipc.align import tensor_comparison
from tipc.certify.check_text import finding_message, finding_words
from tipc.certify.checks.readme import CHAPTERS, MENTIONS
from tipc.certify.checks.repo import ENTRIES
from tipc.certify.compare.drawn import TURNED
from tipc.certify.compare.files_fed import FLIPS, UPRIGHT
from tipc.certify.verdict import FAIL, Finding, Verdict
from tipc.certify.verdict_store import verdict_from_json, verdict_to_json
from tipc.language.zh_texts import TEXTS
from tipc.message import Message, wording
from tipc.reasons import because

CERTIFY = Path(tipc.__file__).parent / "certify"
# What is given to one of these becomes a sentence about a step.
OUTCOMES = ("passed", "failed", "unchecked", "not_certified", "with_complaint")


def words_of_tables() -> set[str]:
    """Words that a template gets out of a table, and that are not names of anything."""
    states = (tensor_comparison.MISSING, tensor_comparison.EXTRA, tensor_comparison.SHAPE)
    states += (tensor_comparison.NOT_FINITE, tensor_comparison.DIFFERENT, tensor_comparison.EQUAL)
    turned = {*TURNED, *filter(None, FLIPS), UPRIGHT}
    return {*states, *turned, *ENTRIES, "inference", *CHAPTERS, *MENTIONS, "epoch", "iteration", "grey"}


def constants(tree: ast.Module) -> dict[str, ast.expr]:
    """The module's own names for texts."""
    found: dict[str, ast.expr] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = node.value
    return found


def given(call: ast.Call, name: str) -> Iterator[ast.expr]:
    """The arguments of a call that are texts for people."""
    if name in ("wording", "english_text"):
        yield call.args[0]
    if name in OUTCOMES:
        yield from call.args[-1:] if name == "with_complaint" else call.args[:1]
        yield from (keyword.value for keyword in call.keywords if keyword.arg == "remedy")


def templates() -> Iterator[str]:
    """Every text that a finding can be made from."""
    for path in CERTIFY.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        named = constants(tree)
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            for text in given(node, node.func.id):
                value = named.get(text.id, text) if isinstance(text, ast.Name) else text
                # A sentence that was put together has no translation: `wording` has parameters.
                where = f"{path}:{node.lineno}"
                assert not isinstance(value, (ast.JoinedStr, ast.BinOp, ast.IfExp)), where
                if isinstance(value, ast.Constant) and value.value:
                    yield value.value


def fields(template: str) -> set[tuple[str, str]]:
    """The values of a template with their formats."""
    found = set()
    for _text, name, spec, _conversion in Formatter().parse(template):
        if name:
            found.add((name, spec or ""))
    return found


TEMPLATES = sorted({*templates(), *words_of_tables()})


def is_typed(text: str) -> bool:
    """A line to type, or only figures: the same in every language."""
    bare = "".join(part for part, *_rest in Formatter().parse(text))
    return text.startswith("tipc ") or not any(char.isalpha() for char in bare.replace("Δ", ""))


def test_every_template_of_a_finding_has_its_chinese() -> None:
    assert len(TEMPLATES) > 250, "they were found"
    missing = [text for text in TEMPLATES if text not in TEXTS and not is_typed(text)]
    assert missing == [], "their Chinese belongs into language/zh_findings.py"


@pytest.mark.parametrize("english", [text for text in TEMPLATES if text in TEXTS])
def test_a_template_has_the_same_values_in_the_same_formats(english: str) -> None:
    assert fields(TEXTS[english]) == fields(english)


FIGURES = wording("loss {first:.4g} → {last:.4g}", first=2.31, last=float("nan"))
TOLD = wording("{message}; its log says: {text}", message=FIGURES, text="no {room}")
FINDING = Finding(
    check="TL103",
    title="Loss and speeds are finite numbers",
    status=FAIL,
    message=TOLD.in_english(),
    remedy="ask for it",
    wordings={"message": TOLD, "remedy": wording("ask for it")},
)


def speak(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(language, "_chosen", name)


def test_a_finding_is_told_in_the_language_of_who_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    speak(monkeypatch, "zh")
    assert finding_message(FINDING) == "损失 2.31 → nan；其日志写道：no {room}"
    assert finding_words(FINDING).title == "损失和速度都是有限的数"
    assert FINDING.message == "loss 2.31 → nan; its log says: no {room}", "a file is in English"
    speak(monkeypatch, "en")
    assert finding_message(FINDING) == FINDING.message


def test_a_verdict_that_was_stored_can_be_read_in_another_language(monkeypatch: pytest.MonkeyPatch) -> None:
    data = json.loads(json.dumps(verdict_to_json(Verdict("r", (FINDING,)))))
    assert data["findings"][0]["message"] == FINDING.message
    loaded = verdict_from_json(data).findings[0]
    assert loaded.message == FINDING.message
    speak(monkeypatch, "zh")
    assert finding_message(loaded) == finding_message(FINDING)


def test_a_verdict_of_an_older_tipc_is_told_as_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    data = verdict_to_json(Verdict("r", (FINDING,)))
    del data["findings"][0]["wordings"]
    speak(monkeypatch, "zh")
    assert finding_message(verdict_from_json(data).findings[0]) == FINDING.message


def test_values_may_be_reasons_and_enumerations() -> None:
    reason = because("exit", status=1)
    told = Message("{a}: {b}", {"a": ("x", wording("equal")), "b": reason})
    assert told.in_english() == "x, equal: exit 1"
    assert told.spoken("zh") == "x、相同: 退出码 1"
