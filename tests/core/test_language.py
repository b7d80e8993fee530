"""Words for people: every text that the program says has its Chinese, with the same parameters."""

from __future__ import annotations

import ast
import copy
import json
import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest

import tipc
from tipc import language
from tipc.certify.registry import tipc_checks
from tipc.certify.verdict import TOPICS
from tipc.cli.init import ASKED
from tipc.cli.main import COMMANDS, HELP_END, USAGE_TEXT
from tipc.config.lint.cases import CASES
from tipc.config.lint.codes import CODES
from tipc.kinds import CHAINS, LANGUAGES, STATES, STEP_KINDS, WORST_FIRST
from tipc.language import en_lint, plural, say, say_detail, sentence, zh_checks, zh_codes, zh_fixes, zh_lint
from tipc.language.entry import Described
from tipc.language.zh_details import DETAILS
from tipc.language.zh_texts import TEXTS
from tipc.message import english_text, message_from_json, spoken, wording
from tipc.plan.fixes import FIXES
from tipc.reasons import because
from tipc.report.history.comparison import CONCLUSIONS, VERDICTS
from tipc.report.html.past_page import TITLES
from tipc.report.machine_facts import spoken_machine
from tipc.settings import SETTINGS

SOURCE = Path(tipc.__file__).parent


def calls() -> Iterator[tuple[str, str]]:
    """Every constant that is given to ``say`` or ``plural``, with the name of the function."""
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            place = {"say": 0, "plural": 1}.get(node.func.id)
            if place is None or len(node.args) <= place:
                continue
            text = node.args[place]
            if isinstance(text, ast.Constant) and isinstance(text.value, str):
                yield node.func.id, text.value
    for path in SOURCE.rglob("templates/*.html"):
        for found in re.finditer(r"\bsay\(\s*([\"'])(.*?)\1", path.read_text(encoding="utf-8")):
            yield "say", found[2]
        for found in re.finditer(r"\bplural\([^\"]*\"([^\"]*)\"", path.read_text(encoding="utf-8")):
            yield "plural", found[1]


ERRORS = ("UsageError", "EnvironmentProblem", "TipcError")
# What else takes a text for people first; `error` and `append` only where a source or a note is meant.
SAYING = (
    "wording",
    "english_text",
    "Unreadable",
    "BashStops",
    "ArgumentTypeError",
    "source.error",
    "notes.append",
)
# A remedy that is a line to type is the same in every language.
TYPED = re.compile(r"(tipc|pip|--|-k|\[tool|\{executable\}|\{name\} =|\{\"model)[^;]*")


def joins_words(text: ast.expr | None) -> bool:
    """An f-string with words of its own, which no table can have."""
    if not isinstance(text, ast.JoinedStr):
        return False
    return any(isinstance(part, ast.Constant) and has_words(str(part.value)) for part in text.values)


def errors_and_help() -> Iterator[str]:
    """What errors say and advise, and what the pages of ``--help`` say of commands and options."""
    for path in SOURCE.rglob("*.py"):
        in_cli = path.parent.name == "cli"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "id", "") or getattr(node.func, "attr", "")
            if ast.unparse(node.func).endswith(("source.error", "notes.append")):
                name = ".".join(ast.unparse(node.func).split(".")[-2:])
            given = {keyword.arg: keyword.value for keyword in node.keywords}
            texts: list[ast.expr | None] = []
            if name in ERRORS:
                texts = [*node.args[:1], given.get("remedy")]
            elif name in SAYING:
                texts = [*node.args[:1]]
            elif name == "ShellNeeded":
                texts = [*node.args[1:2]]
            elif name == "Evidence":
                assert not any(map(joins_words, node.args)), f"{path}:{node.lineno}: say it by `english_text`"
            elif in_cli and name in ("add", "add_argument", "Parser"):
                texts = [given.get("help"), given.get("description"), given.get("epilog")]
            for text in texts:
                assert not joins_words(text), f"{path}:{node.lineno}: say it by `wording`"
                if isinstance(text, ast.Constant) and isinstance(text.value, str) and text.value:
                    yield text.value


def has_words(template: str) -> bool:
    """More than parameters stand in it."""
    return any(char.isalpha() for text, *_field in Formatter().parse(template) for char in text)


def test_every_error_and_every_page_of_help_has_its_chinese() -> None:
    told = set(errors_and_help())
    assert len(told) > 250, "they were found"
    missing = {text for text in told - set(TEXTS) if has_words(text) and not TYPED.fullmatch(text)}
    assert sorted(missing) == [], "their Chinese belongs into language/zh_errors.py or zh_options.py"
    listed = {setting.title for setting in SETTINGS.values()} | {text for _, text in ASKED.values()}
    assert sorted(listed - set(TEXTS)) == []


def said() -> set[str]:
    """The keys that the tables need: texts, counted nouns, and the words of the domain that are shown."""
    texts = {text if name == "say" else f"{{count}} {text}s" for name, text in calls()}
    words = {*STATES, *WORST_FIRST, *(chain.title for chain in CHAINS.values())}
    words |= {code.severity for code in CODES.values()}
    words |= set(TOPICS.values())
    words |= {*COMMANDS.values(), USAGE_TEXT, HELP_END}
    words |= {*STEP_KINDS, *CONCLUSIONS, *VERDICTS, *TITLES.values(), "epoch", "iter"}
    texts |= {f"{{count}} {code.severity}s" for code in CODES.values()}
    words |= {"header", "name", "lines", "repository", "script", "chain", "option"}  # kinds of Evidence
    words |= {"command", "environment", "config", "scripts", "artefacts"}  # what a result depends on
    return texts | words


def parameters(template: str) -> set[str]:
    return {field for _text, field, _spec, _conversion in Formatter().parse(template) if field}


def test_every_text_has_its_chinese() -> None:
    assert sorted(said() - set(TEXTS)) == []


@pytest.mark.parametrize("english", TEXTS)
def test_a_translation_has_the_parameters_of_its_english(english: str) -> None:
    assert parameters(TEXTS[english]) == parameters(english)


def test_a_text_is_said_in_the_language_that_was_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "_chosen", "zh")
    assert say("and {count} more", count=3) == "还有 3 个"
    assert plural(1, "step") == "1 个步骤"
    monkeypatch.setattr(language, "_chosen", "en")
    assert say("and {count} more", count=3) == "and 3 more"
    assert plural(1, "step") == "1 step"
    assert plural(1200, "step") == "1,200 steps"


def test_a_text_that_a_record_keeps_is_english_and_is_spoken_in_the_language_of_the_reader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = english_text("{path}: this mode runs nothing", path="a.txt")
    monkeypatch.setattr(language, "_chosen", "zh")
    assert json.dumps(text) == '"a.txt: this mode runs nothing"'
    for same in (text, copy.copy(text), pickle.loads(pickle.dumps(text))):
        assert spoken(same) == "a.txt：这个模式没有要运行的步骤"
    assert str(wording("{reason} (in the {kind} command)", reason=text, kind="train")).startswith("a.txt：")
    assert sentence(because("outdated", inputs="config, scripts")) == "已过期：配置、脚本有变化"
    assert spoken_machine("ci-1: Xeon, 2 cores, no GPU") == "ci-1: Xeon、2 核、没有 GPU"


# Their texts are for who calls the library or changes the code, or are translated elsewhere.
NO_DETAILS = (*ERRORS, *SAYING, "AttributeError", "AssertionError", "ShellNeeded", "error")
# Files whose errors end a program of Python's own, in front of its author.
FOR_PROGRAMMERS = ("recorder.py", "message.py")
DETAIL_KEYWORDS = ("error", "problem")


def pattern_of(text: ast.expr) -> str:
    """A constant or an f-string with ``{}`` for what is put in."""
    if isinstance(text, ast.Constant) and isinstance(text.value, str):
        return text.value
    if not isinstance(text, ast.JoinedStr):
        return ""
    parts = [str(part.value) if isinstance(part, ast.Constant) else "{}" for part in text.values]
    return "".join(parts)


def plain_english() -> Iterator[tuple[str, str]]:
    """What errors other than ours say, and what is kept as the error or the problem of something."""
    for path in SOURCE.rglob("*.py"):
        if path.parent.name == "language" or path.name in FOR_PROGRAMMERS:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            texts: list[ast.expr] = []
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                name = getattr(node.exc.func, "id", "") or getattr(node.exc.func, "attr", "")
                if name not in NO_DETAILS:
                    texts = node.exc.args[:2]  # an OSError's text is its second
            elif isinstance(node, ast.Call):
                texts = [keyword.value for keyword in node.keywords if keyword.arg in DETAIL_KEYWORDS]
            for text in texts:
                yield f"{path.name}:{node.lineno}", pattern_of(text)


def in_the_form_of(template: str) -> str:
    return re.sub(r"\{[^{}]*\}", "{}", template)


def test_what_comes_as_plain_english_has_its_chinese() -> None:
    """Errors of errors and texts of other processes: what no table could have is recognised by its form."""
    forms = {in_the_form_of(template) for template in DETAILS}
    found = [(place, text) for place, text in plain_english() if len(re.findall("[a-z]{2}", text)) > 1]
    found = [(place, text) for place, text in found if " " in text]
    assert len(found) > 25, "they were found"
    assert [one for one in found if one[1] not in forms] == [], "language/zh_details.py"


def test_a_note_that_a_file_keeps_can_be_said_in_chinese_later() -> None:
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "english_text":
                text = node.args[0]
                assert isinstance(text, ast.Constant), f"{path}:{node.lineno}"
                kept = text.value
                assert kept in DETAILS or TYPED.fullmatch(kept), f"{path}:{node.lineno}: {kept}"


@pytest.mark.parametrize("english", DETAILS)
def test_a_detail_is_found_by_its_own_form_and_by_no_other(english: str) -> None:
    values = dict.fromkeys(parameters(english), "a/b.c")
    filled = english
    translated = DETAILS[english]
    for field in values:
        filled = re.sub(rf"\{{{field}(:[^}}]*)?\}}", "a/b.c", filled)
        translated = re.sub(rf"\{{{field}(:[^}}]*)?\}}", "a/b.c", translated)
    assert say_detail(filled, "zh") == translated


def test_an_error_within_an_error_is_said_whole_in_the_language_of_the_reader() -> None:
    told = wording("its answer cannot be read: {error}", error=ValueError("the file is cut off"))
    assert told.spoken("zh") == "无法读取它的回答：文件不完整"
    assert told.in_english() == "its answer cannot be read: the file is cut off"
    lost = because("not-started", error="the log a.log cannot be written: Permission denied")
    assert "无法写入日志 a.log：权限不足" in sentence(lost, "zh")
    assert "cannot be written: Permission denied" in sentence(lost, "en")
    assert say_detail("a sentence of the repository's own", "zh") == "a sentence of the repository's own"


def test_a_text_without_a_translation_is_said_in_english() -> None:
    unknown = "a text that no table has"
    assert say(unknown, "zh") == unknown


@pytest.mark.parametrize("name", LANGUAGES)
def test_every_case_of_lint_has_its_sentences_with_its_own_parameters(name: str) -> None:
    table = {"en": en_lint.CASES, "zh": zh_lint.CASES}[name]
    assert set(table) == set(CASES)
    for case, sentences in table.items():
        assert set.union(*map(parameters, sentences)) == set(CASES[case]), case


def test_every_lint_code_has_a_case_and_every_case_a_code() -> None:
    assert {case.partition("-")[0] for case in CASES} == set(CODES)


def english() -> dict[str, Described]:
    """Everything that ``tipc explain`` knows of tipc's own."""
    found = {code.code: Described(code.title, code.reason, code.remedy) for code in CODES.values()}
    found |= {fix.id: Described(fix.title, fix.reason) for fix in FIXES.values()}
    for check in tipc_checks():
        found[check.id] = Described(check.title, check.reason, check.remedy, check.reads)
    return found


def test_every_check_fix_and_lint_code_is_explained_in_chinese_part_by_part() -> None:
    chinese = {**zh_codes.CODES, **zh_fixes.FIXES, **zh_checks.CHECKS}
    told = english()
    assert set(chinese) == set(told)
    for identity, words in told.items():
        for part in ("title", "reason", "remedy", "reads"):
            given = getattr(chinese[identity], part)
            assert bool(given) == bool(getattr(words, part)), f"{identity}: {part}"
            # Names that people copy are the same in both: options, files, functions.
            code = set(re.findall(r"--[a-z][a-z_-]+", getattr(words, part)))
            assert code == set(re.findall(r"--[a-z][a-z_-]+", given)), f"{identity}: {part}"


DOCS = SOURCE.parents[1] / "docs"


def test_the_chinese_pages_have_every_code_and_check_as_the_program_says_them() -> None:
    lint = (DOCS / "lint.zh-CN.md").read_text(encoding="utf-8")
    for code in CODES.values():
        row = f"| {code.code} | {TEXTS[code.severity]} | {zh_codes.CODES[code.code].title} |"
        assert row in lint, row
    checks = (DOCS / "checks.zh-CN.md").read_text(encoding="utf-8")
    for check in tipc_checks():
        assert f"| {check.id} | {check.scope} | {zh_checks.CHECKS[check.id].title} |" in checks, check.id


@pytest.mark.parametrize("page", ["running", "checks", "lint"])
def test_a_chinese_page_names_the_same_options(page: str) -> None:
    """What was added to one and forgotten in the other."""
    english = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    chinese = (DOCS / f"{page}.zh-CN.md").read_text(encoding="utf-8")
    options = re.compile(r"`(-[a-zA-Z]|--[a-z][a-z-]+)")
    assert set(options.findall(english)) <= set(options.findall(chinese))


@pytest.mark.parametrize("values", [{"a": None}, {"max_abs": None}, {"max_abs": "text"}])
def test_a_message_of_a_damaged_file_is_told_without_its_values(values: dict[str, object]) -> None:
    read = message_from_json({"english": "max |Δ| {max_abs:.2g} of {0.x}", "values": values})
    assert read.in_english() == "max |Δ| {max_abs:.2g} of {0.x}"
