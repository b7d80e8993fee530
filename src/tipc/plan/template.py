"""Commands, paths and status lines as text with holes, the way a dialect's table writes them.

``{x}``      the variable ``x``
``{+x}``     the option of line ``x``: ``key=value``, or a blank where it is null
``{k+x}``    the same with the key of line ``k`` and the variable ``x``
``{=x}``     ``key=value`` in any case
``{?x}``     as ``{+x}``, only where the key is an option (it begins with ``-``)
``{…!TF001}``  the hole is a fix: it is reported where it fills in anything
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple

from tipc.config.bash import option


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
    pieces = []
    for index, part in enumerate(template.split("{")):
        hole, brace, text = part.partition("}")
        if not index or not brace:
            text = part if not index else "{" + part
        else:
            hole, _, fix = hole.partition("!")
            how = next((sign for sign in "+=?" if sign in hole), "")
            first, _, second = hole.partition(how) if how else ("", "", hole)
            pieces.append(Piece("", (first or second) if how else "", how, second or first, fix))
        if text:
            pieces.append(Piece(text))
    return tuple(pieces)


@lru_cache(maxsize=512)
def divided(template: str) -> tuple[str, str]:
    """A command's template without and with only its redirection into the log."""
    head, log, tail = template.partition("{log}")
    main = head.rstrip(" >")
    return (main, head[len(main) :] + log + tail) if log else (template, "")


def render(
    template: str,
    keys: Mapping[str, str],
    values: Mapping[str, str],
    applied: set[str] | None = None,
    change: Callable[[str, str], str] | None = None,
) -> str:
    """The template with its holes filled; the fixes that filled one are added to ``applied``.

    ``change`` is given the name and the text of every hole, and returns the text to use.
    """
    parts = []
    for text, key, how, name, fix in compiled(template):
        if not name:
            parts.append(text)
            continue
        value = values.get(name, "")
        if how:
            head = keys.get(key, "")
            if how == "=":
                value = f"{head}={value}"
            else:
                value = option(head, value) if how == "+" or head.startswith("-") else " "
        if fix and applied is not None and value.strip():
            applied.add(fix)
        parts.append(change(name, value) if change else value)
    return "".join(parts)
