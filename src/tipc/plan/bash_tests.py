"""Bash's ``[ … ]`` on unquoted words: an empty or a divided value makes it complain, and false."""

from __future__ import annotations

from tipc.config.bash import split

_UNARY = frozenset(f"-{letter}" for letter in "abcdefghknoprstuvwxzGLNOS")


def bracket(*words: str) -> bool:
    """The verdict of ``[ words ]``; wrong usage is false, as the scripts' ``if`` takes it."""
    count = len(words)
    if count == 1:
        return words[0] != ""
    if count == 2:
        return _unary(words[0], words[1])
    if count == 3:
        return _binary(*words)
    if count == 4 and words[0] == "!" and words[2] in ("=", "==", "!="):
        return not _binary(*words[1:])
    return False


def _unary(operator: str, word: str) -> bool:
    """Only those that look at the word itself; for a plan, no value names a file."""
    if operator in ("!", "-z"):
        return word == ""
    return operator == "-n" and word != ""


def _binary(left: str, operator: str, right: str) -> bool:
    if operator in ("=", "=="):
        return left == right
    if operator == "!=":
        return left != right
    if operator == "-a":
        return bool(left) and bool(right)
    if operator == "-o":
        return bool(left) or bool(right)
    return left == "!" and operator in _UNARY and not _unary(operator, right)


def bare(value: str, operator: str, text: str) -> bool:
    """``[ ${value} = "text" ]`` with the scripts' ``IFS='|'``."""
    return bracket(*split(value, "|"), operator, text)


def bare_both(value: str, other: str) -> bool:
    """``[ ${value} = ${other} ]``."""
    return bracket(*split(value, "|"), "=", *split(other, "|"))


def pattern(value: str, text: str) -> bool:
    """``[[ ${value} = ${text} ]]``: the right side is a pattern."""
    if value == text or not any(char in text for char in "*?["):
        return value == text
    from fnmatch import fnmatchcase

    return fnmatchcase(value, text)
