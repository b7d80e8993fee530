"""Values of a command's options, whatever way they are written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tipc.command import Command


def argument(argv: Sequence[str], names: Iterable[str]) -> str | None:
    """The last value of an option: ``--name=v``, ``--name v``, ``name=v``, ``-o Part.name=v``; None if
    absent."""
    return Command(tuple(argv)).value_of(set(names))


def argument_number(argv: Sequence[str], names: Iterable[str]) -> float | None:
    """The same as a number; None if it is absent or none."""
    try:
        return float(argument(argv, names) or "")
    except ValueError:
        return None


def flag_true(value: str | None) -> bool:
    """A boolean of a command line."""
    return (value or "").strip().lower() in ("true", "1", "yes", "on")
