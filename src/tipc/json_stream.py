"""JSON with a long list in it as a text in parts: of ten thousand items, their plain data and the text as a
whole take several times the memory of the items themselves."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any


def with_list(
    content: Mapping[str, Any],
    name: str,
    items: Iterable[Iterable[str]],
    *,
    newline: str = "\n",
    default: Callable[[Any], Any] | None = None,
) -> Iterator[str]:
    """The text of an object with the items in its list of this name, which becomes the last of its fields.

    Each item begins a line, unless all is to be one. ``default`` is that of ``json.dumps``.
    """
    rest = {key: value for key, value in content.items() if key != name}
    indent = len(newline) or None
    text = json.dumps(rest, ensure_ascii=False, indent=indent, default=default)
    yield text.removesuffix("}").removesuffix(newline)
    yield f',{newline} "{name}": ['
    mark = newline
    for item in items:
        yield mark
        yield from item
        mark = f",{newline}"
    yield f"{newline}]}}"
