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
        if words[0] == "!":
            return words[1] == ""
        return _unary(words[0], words[1]) if words[0] in _UNARY else False
    if count == 3:
        left, operator, right = words
        if operator in ("=", "=="):
            return left == right
        if operator == "!=":
            return left != right
        if operator == "-a":
            return bool(left) and bool(right)
        if operator == "-o":
            return bool(left) or bool(right)
        return left == "!" and words[1] in _UNARY and not _unary(operator, right)
    if count == 4 and words[0] == "!" and words[2] in ("=", "==", "!="):
        return not bracket(*words[1:])
    return False


def _unary(operator: str, word: str) -> bool:
    """Only the two that look at the word itself; for a plan, no value names a file."""
    return word == "" if operator == "-z" else operator == "-n" and word != ""


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
