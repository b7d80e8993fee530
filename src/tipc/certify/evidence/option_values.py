"""Values of a command's options, whatever way they are written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def argument(argv: Sequence[str], names: Iterable[str]) -> str | None:
    """The last value of an option: ``--name=v``, ``--name v``, ``name=v``, ``-o Part.name=v``; None if
    absent."""
    wanted = {name.lower().replace("-", "_") for name in names}
    found = None
    for index, word in enumerate(argv):
        key, equals, value = word.partition("=")
        bare = key.lstrip("-").rpartition(".")[2].lower().replace("-", "_")
        if bare not in wanted:
            continue
        if equals:
            found = value
        elif key.startswith("-") and index + 1 < len(argv):
            found = argv[index + 1]
    return found


def argument_number(argv: Sequence[str], names: Iterable[str]) -> float | None:
    """The same as a number; None if it is absent or none."""
    try:
        return float(argument(argv, names) or "")
    except ValueError:
        return None


def flag_true(value: str | None) -> bool:
    """A boolean of a command line."""
    return (value or "").strip().lower() in ("true", "1", "yes", "on")
