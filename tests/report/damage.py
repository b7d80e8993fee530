"""Ways to damage a file: bytes that are lost, turned or added, and JSON with a value that does not belong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

ODD: tuple[Any, ...] = (
    *(
        None,
        True,
        -1,
        0,
        10**30,
        1e308,
        -0.5,
        float("nan"),
        float("inf"),
        "",
        "x",
        "\ud83d",
        "\udce9",
        "a\0b",
    ),
    *("\x9b31m\x1b[2J", "../../..", "/dev/zero", [], [None], [[1]], {}, {"a": None}, {"code": 1}, "9" * 5000),
)


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in some JSON, as the keys that lead there."""
    yield at
    children: Any = ()
    if isinstance(value, dict):
        children = value.items()
    elif isinstance(value, list):
        children = enumerate(value)
    for key, child in children:
        yield from places(child, (*at, key))


def replaced(value: Any, at: tuple[Any, ...], new: Any) -> Any:
    """The JSON with another value at a place."""
    if not at:
        return new
    made = dict(value) if isinstance(value, dict) else list(value)
    made[at[0]] = replaced(value[at[0]], at[1:], new)
    return made


def without(value: Any, at: tuple[Any, ...]) -> Any:
    """The JSON without a place."""
    if not at:
        return None
    made = dict(value) if isinstance(value, dict) else list(value)
    if len(at) == 1:
        del made[at[0]]
    else:
        made[at[0]] = without(value[at[0]], at[1:])
    return made


@st.composite
def bad_bytes(draw: st.DrawFn, raw: bytes) -> bytes:
    """The bytes with some of them lost, turned into others, or added."""
    at = draw(st.integers(0, len(raw)))
    kind = draw(st.sampled_from(("cut", "lose", "turn", "add")))
    if kind == "cut":
        return raw[:at]
    end = min(len(raw), at + draw(st.integers(1, 200)))
    if kind == "lose":
        return raw[:at] + raw[end:]
    new = draw(st.sampled_from((b"\0", b"\xff\xfe", b"\n", b"}\n{", b'"', b"[" * 3000, b"\x1b[2J", b"1e999")))
    return raw[:at] + new + raw[at if kind == "add" else end :]


@st.composite
def bad_json(draw: st.DrawFn, raw: bytes) -> bytes:
    """The lines of JSON with a value in one of them that does not belong there, or is missing."""
    lines = raw.split(b"\n")
    number = draw(st.integers(0, max(0, len(lines) - 2)))
    data = json.loads(lines[number])
    at = draw(st.sampled_from(list(places(data))))
    if draw(st.integers(0, 4)) == 0:
        data = without(data, at)
    else:
        data = replaced(data, at, draw(st.sampled_from(ODD)))
    lines[number] = json.dumps(data).encode("utf-8", "surrogatepass")
    return b"\n".join(lines)
