"""The parsing rules that all upstream scripts share, each exactly as bash carries it out.

The scripts split with ``IFS`` and unquoted expansions, and print with ``echo``: so a trailing empty item is
lost, an inner one is kept, nothing is trimmed, and a text that ``echo`` takes for an option vanishes.
"""

from __future__ import annotations

from tipc.config.source import Value

NULL = "null"
NOTHING = frozenset((NULL, " ", ""))  # values that leave an option out


def split(text: str, separator: str) -> list[str]:
    """Bash's word splitting at a separator that is no blank: ``"a||b|"`` gives ``["a", "", "b"]``."""
    if not text:
        return []
    parts = text.split(separator)
    if parts[-1] == "":
        parts.pop()
    return parts


def items(value: Value, separator: str = "|") -> list[Value]:
    """The items of a list, each with its place; an empty value has none."""
    found, start = [], 0
    for part in split(value.text, separator):
        found.append(value.part(start, part))
        start += len(part) + 1
    return found


def _echoed(value: Value) -> Value:
    """What remains of a text after ``$(echo $text)``."""
    text = value.text
    if text[:1] == "-" and len(text) > 1 and not text[1:].strip("neE"):
        return Value("", value.line, value.column)
    return value


def key(line: Value) -> Value:
    """The text before the first colon; the whole line where there is none."""
    return _echoed(line.part(0, line.text.split(":", 1)[0]))


def second_field(line: Value) -> Value:
    """The text between the first and the second colon: what most scripts call the value."""
    head, colon, rest = line.text.partition(":")
    if not colon:
        return line.part(len(head), "")
    return _echoed(line.part(len(head) + 1, rest.split(":", 1)[0]))


def rest_of_line(line: Value) -> Value:
    """Everything after the first colon, or the whole line where there is none: PaddleDetection's value."""
    head, colon, rest = line.text.partition(":")
    if colon:
        line = line.part(len(head) + 1, rest)
    return _echoed(line)


VALUE_RULES = {"second field": second_field, "rest of line": rest_of_line}


def for_mode(line: Value, mode: str) -> Value:
    """The item of ``mode=value|mode=value`` for a mode; empty where it is not listed."""
    for item in items(second_field(line)):
        name, *values = items(item, "=") or [item]
        if name.text != mode:
            continue
        if values:
            return _echoed(values[0])
        return item.part(len(item.text), "")
    return Value("", line.line, line.column)


def option(name: str, value: str) -> str:
    """``name=value``, or the one blank that a ``null`` or an empty value leaves in the command."""
    return " " if name == NULL or value in NOTHING else f"{name}={value}"
