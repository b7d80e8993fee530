"""Ways to damage a file: bytes that are lost, turned or added, and JSON with a value that does not belong.

It lies beside the tests of every stage: each has files of others to read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
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


Damage = list[tuple[str, float, int]]  # what is done, where (a share of the length), and a number
PLACE = st.floats(0, 1, exclude_max=True)


def several_damages(telling: bytes, longest: int) -> st.SearchStrategy[Damage]:
    """Up to five: a byte set, often to a telling one; the end cut off; a part lost or twice there."""
    byte = st.one_of(st.sampled_from(telling), st.integers(0, 255))
    one = st.one_of(
        st.tuples(st.just("set"), PLACE, byte),
        st.tuples(st.just("cut"), PLACE, st.just(0)),
        st.tuples(st.just("remove"), PLACE, st.integers(1, 40)),
        st.tuples(st.just("repeat"), PLACE, st.integers(1, longest)),
    )
    return st.lists(one, min_size=1, max_size=5)


def damage_by_chance(chance: Random, telling: bytes, longest: int) -> Damage:
    """The same for tests that read many files in one go, which hypothesis cannot hand over."""
    found: Damage = []
    for _ in range(chance.randint(1, 5)):
        how = chance.choice(("set", "set", "cut", "remove", "repeat"))
        number = chance.randint(1, longest)
        if how == "set":
            number = chance.choice((chance.choice(telling), chance.randrange(256)))
        found.append((how, chance.random(), number))
    return found


def damaged(raw: bytes, damage: Damage) -> bytes:
    """The bytes after all that."""
    data = bytearray(raw)
    for how, where, number in damage:
        place = int(where * len(data))
        if how == "set" and data:
            data[place] = number
        elif how == "cut":
            del data[place:]
        elif how == "remove":
            del data[place : place + number]
        elif how == "repeat":
            data[place:place] = data[place : place + number]
    return bytes(data)
