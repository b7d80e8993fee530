"""Sentences for people, made from codes where people read: in ``cli/``, ``report/`` and ``run/show/``.

``--lang`` chooses the language, else ``TIPC_LANG``, else the locale; English where a language is not there.

There are three ways to speak. ``sentence`` makes one from a code and its parameters: the templates of both
languages stand in tables here. ``say`` is for the words around them (titles, labels, counts): its argument
is the English text itself, and the tables of another language have it as their key. ``say_detail`` is for
what comes as an English text with its values in it: errors of a process, notes of a file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module

from tipc.kinds import LANGUAGES, find_device
from tipc.language.details import detail
from tipc.language.entry import Described
from tipc.reasons import Reason

DEFAULT = "en"
BETWEEN = {"zh": "、"}  # the members of an enumeration; a comma and a space in other languages
VARIABLES = ("TIPC_LANG", "LC_ALL", "LC_MESSAGES", "LANG")  # the first that is set
DETAILED = {"error"}  # parameters of reasons that are sentences themselves
_chosen = ""  # by --lang


def choose(language: str) -> None:
    """Speak this language from now on; empty: the one of the environment."""
    global _chosen
    _chosen = language
    _of_environment.cache_clear()


@contextmanager
def speaking(name: str) -> Iterator[None]:
    """Speak this language for a while, whoever reads: programs get English."""
    global _chosen
    before = _chosen
    _chosen = name
    try:
        yield
    finally:
        _chosen = before


def language() -> str:
    """The language to speak."""
    return _chosen if _chosen in LANGUAGES else _of_environment()


@cache
def _of_environment() -> str:
    """The language of the environment: looked up once, for a page asks a hundred thousand times."""
    wishes = (os.environ.get(name, "") for name in VARIABLES)
    wish = next((wish for wish in wishes if wish), DEFAULT)
    return wish[:2] if wish[:2] in LANGUAGES else DEFAULT


@cache
def _reasons(name: str) -> dict[str, str]:
    table: dict[str, str] = import_module(f"tipc.language.{name}").REASONS
    return table


@cache
def _texts(name: str) -> dict[str, str]:
    """The words around sentences by their English; English itself needs no table."""
    if name == DEFAULT:
        return {}
    table: dict[str, str] = import_module(f"tipc.language.{name}_texts").TEXTS
    return table


def say(english: str, into: str = "", /, **values: object) -> str:
    """A text with its ``{values}`` put in, in the language to speak."""
    template = _texts(into or language()).get(english, english)
    return template.format(**values) if values else template


def say_detail(english: str, into: str = "") -> str:
    """A text that somebody else has put together, in the language to speak if its template is known."""
    speak = into or language()
    if speak == DEFAULT:
        return english
    return detail(english, speak)


def plural(count: int, noun: str) -> str:
    """``1 step``, ``2 steps``, ``2 个步骤``."""
    words = noun if count == 1 else f"{noun}s"
    template = _texts(language()).get(f"{{count}} {noun}s", f"{{count}} {words}")
    return template.format(count=f"{count:,}")


def sentence(reason: Reason | None, into: str = "") -> str:
    """A reason in words; the bare code where it is of a newer tipc; nothing where there is none."""
    if reason is None:
        return ""
    template = _reasons(into or language()).get(reason.code)
    values = dict(reason.params)
    bare = " ".join([reason.code, *(f"{name}={value}" for name, value in values.items())])
    if template is None:
        return bare
    for name in ("device", "asked"):
        word = str(values.get(name, ""))
        device = find_device(word) if word.isidentifier() else None
        if device is not None:
            values[name] = device.title
    if "inputs" in values:
        inputs = str(values["inputs"]).split(", ")
        values["inputs"] = enumeration([say(name, into) for name in inputs], into)
    for name in DETAILED & set(values):
        values[name] = say_detail(str(values[name]), into)
    try:
        return template.format(**values)
    except (KeyError, ValueError):  # it was read from a file that another tipc wrote
        return bare


@cache
def _lint(name: str) -> dict[str, tuple[str, str, str]]:
    table: dict[str, tuple[str, str, str]] = import_module(f"tipc.language.{name}_lint").CASES
    return table


def lint_words(case: str, params: Mapping[str, object], into: str = "") -> tuple[str, str, str]:
    """A finding of lint in words: what is wrong, what the bash does with it, what to write instead."""
    speak = into or language()
    values = {name: _told(value, speak) for name, value in params.items()}
    message, detail, fix = _lint(speak)[case]
    return message.format(**values), detail.format(**values), fix.format(**values)


def _told(value: object, speak: str) -> object:
    """A parameter in words: a reason is a sentence, several texts are a list."""
    if isinstance(value, Reason):
        return sentence(value, speak)
    if isinstance(value, tuple):
        return enumeration([f"`{text}`" for text in value], speak)
    return value


def enumeration(texts: Sequence[str], into: str = "") -> str:
    """Several texts in one line."""
    between = BETWEEN.get(into or language(), ", ")
    return between.join(texts)


@cache
def _described(name: str) -> dict[str, Described]:
    """Checks, fixes and lint codes by their ids."""
    checks = import_module(f"tipc.language.{name}_checks").CHECKS
    fixes = import_module(f"tipc.language.{name}_fixes").FIXES
    codes = import_module(f"tipc.language.{name}_codes").CODES
    return {**checks, **fixes, **codes}


def described(identity: str, english: Described, into: str = "") -> Described:
    """How a check, a fix or a lint code is explained; in English where the language has no words for it."""
    speak = into or language()
    if speak == DEFAULT:
        return english
    return _described(speak).get(identity, english)


def sentences(reasons: tuple[Reason, ...], into: str = "") -> str:
    """Several reasons in one line."""
    return "; ".join(sentence(reason, into) for reason in reasons)
