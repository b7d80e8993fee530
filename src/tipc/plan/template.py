"""Commands, paths and status lines as text with holes, the way a dialect's table writes them.

``{x}``      the variable ``x``
``{+x}``     the option of line ``x``: ``key=value``, or a blank where it is null
``{k+x}``    the same with the key of line ``k`` and the variable ``x``
``{=x}``     ``key=value`` in any case
``{?x}``     as ``{+x}``, only where the key is an option (it begins with ``-``)
``{…!TF001}``  the hole is a fix: the script has nothing there
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple, Protocol

from tipc.config.bash import option


class Fixer(Protocol):
    """``Variables.fixed``: the one place where a plan departs from the script."""

    def __call__(self, fix: str, *, upstream: str, ours: str) -> str: ...


class Piece(NamedTuple):
    """A part of a template: text, or a hole."""

    text: str = ""
    key: str = ""  # the line whose key it takes; "" for a plain variable
    how: str = ""  # "", "+", "=" or "?"
    name: str = ""
    fix: str = ""


@lru_cache(maxsize=512)
def compiled(template: str) -> tuple[Piece, ...]:
    """The pieces of a template."""
    first, *parts = template.split("{")
    pieces = [Piece(first)]
    for part in parts:
        hole, brace, text = part.partition("}")
        if brace:
            pieces.append(_hole(hole))
            pieces.append(Piece(text))
        else:
            pieces.append(Piece("{" + part))
    return tuple(piece for piece in pieces if piece != Piece())


def _hole(text: str) -> Piece:
    text, _, fix = text.partition("!")
    for sign in "+=?":
        if sign in text:
            key, _, name = text.partition(sign)
            return Piece("", key or name, sign, name or key, fix)
    return Piece("", "", "", text, fix)


@lru_cache(maxsize=512)
def divided(template: str) -> tuple[str, str]:
    """A command's template without and with only its redirection into the log."""
    head, log, tail = template.partition("{log}")
    if not log:
        return template, ""
    main = head.rstrip(" >")
    return main, head[len(main) :] + log + tail


def render(
    template: str,
    keys: Mapping[str, str],
    values: Mapping[str, str],
    fixed: Fixer | None = None,
    change: Callable[[str, str], str] | None = None,
) -> str:
    """The template with its holes filled; ``fixed`` is asked for those that are fixes.

    ``change`` is given the name and the text of every hole, and returns the text to use.
    """
    parts = []
    for text, key, how, name, fix in compiled(template):
        if not name:
            parts.append(text)
            continue
        value = values.get(name, "")
        if how:
            value = _option(how, keys.get(key, ""), value)
        if fix and fixed is not None and value.strip():
            value = fixed(fix, upstream="", ours=value)
        if change:
            value = change(name, value)
        parts.append(value)
    return "".join(parts)


def _option(how: str, key: str, value: str) -> str:
    """An option as its hole writes it; a blank where it is left out."""
    if how == "=":
        return f"{key}={value}"
    if how == "?" and not key.startswith("-"):
        return " "
    return option(key, value)
