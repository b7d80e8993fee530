"""Texts that come as plain English: what an exception says, what a process without our tables says (the
guest, a probe), what a file kept. They are recognised by their template, and then said in another language.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib import import_module
from string import Formatter

DEEPEST = 4  # an error within an error within …
LONGEST = 2000  # characters; a longer text is no sentence of ours
KEPT = 4096  # texts that are remembered: a page says the same ones again and again


def detail(text: str, into: str) -> str:
    """A text in another language, with what stands inside it; as it is if no template fits."""
    if len(text) > LONGEST:
        return text
    return _said(text, into, DEEPEST)


@lru_cache(KEPT)
def _said(text: str, into: str, depth: int) -> str:
    exact, patterns = _templates(into)
    if text in exact:
        return exact[text]
    if depth == 0:
        return text
    for pattern, translated in patterns:
        found = pattern.fullmatch(text)
        if found:
            values = {}
            for name, value in found.groupdict().items():
                values[name] = _said(value, into, depth - 1)
            return translated.format(**values)
    return text


@cache
def _templates(into: str) -> tuple[dict[str, str], list[tuple[re.Pattern[str], str]]]:
    """The texts without values, and a pattern for each that has some."""
    table: dict[str, str] = import_module(f"tipc.language.{into}_details").DETAILS
    exact = {}
    patterns = []
    for english, translated in table.items():
        if "{" in english:
            # The values are texts here: a number was formatted before.
            patterns.append((_pattern(english), re.sub(r":[^{}]*\}", "}", translated)))
        else:
            exact[english] = translated
    return exact, patterns


def _pattern(template: str) -> re.Pattern[str]:
    parts = []
    for text, name, _form, _conversion in Formatter().parse(template):
        parts.append(re.escape(text))
        if name:
            parts.append(f"(?P<{name}>.+?)")
    return re.compile("".join(parts), re.DOTALL)
