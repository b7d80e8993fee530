"""What bash makes of a command's text, without bash: words, quotes, variables, braces, globs.

The scripts ``eval`` their commands, so a config's text is shell text. Everything that only makes words is
done here; what needs a running shell (a pipe, ``;``, ``&``, a redirection, ``$(…)``) is named, never run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from itertools import pairwise

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
WORD = frozenset(LETTERS + "0123456789")
PLAIN = WORD | frozenset("@%+=:,./- ")  # nothing here means anything to a shell
SPECIAL = "0123456789@*#?$!-["  # parameters of the running shell, and old arithmetic
OPERATORS = ";&|<>()"
BLANKS = " \t\n"
_REDIRECTION = r"(?<![^ \t\n])[0-9]?>(?:&[0-9]|[ \t]*([^ \t\n]*))"


Lookup = Callable[[str], str]  # the value of a variable; "" where it is not set


class ShellNeeded(ValueError):
    """The text cannot become words here; ``token`` is why. ``runs``: a shell could run it."""

    def __init__(self, token: str, reason: str, *, runs: bool = True) -> None:
        super().__init__(reason)
        self.token = token
        self.reason = reason
        self.runs = runs


def is_plain(text: str) -> bool:
    """Whether every blank ends a word in it, and nothing else means anything."""
    return PLAIN.issuperset(text)


def is_assignment(word: str) -> bool:
    """Whether a word looks like ``name=…``."""
    end = _name_at(word, 0)
    return end > 0 and word[end : end + 1] == "="


def _name_at(text: str, start: int) -> int:
    """Where a variable's name that starts there ends; ``start`` itself where none does."""
    if text[start : start + 1] not in LETTERS:
        return start
    end = start
    while end < len(text) and text[end] in WORD:
        end += 1
    return end


class _Word:
    """A word under construction: characters and, for each, whether it was quoted."""

    def __init__(
        self, text: list[str] | None = None, quoted: list[bool] | None = None, started: bool = False
    ):
        self.text = text or []
        self.quoted = quoted or []
        self.started = started

    def add(self, text: str, quoted: bool) -> None:
        self.text.extend(text)
        self.quoted.extend([quoted] * len(text))
        self.started = True


def split_words(text: str, lookup: Lookup, cwd: str = ".", redirected: list[str] | None = None) -> list[str]:
    """The words of a simple command, as bash would hand them to the program.

    With ``redirected``, a redirection of the output is accepted, and where it goes is added there.
    """
    if is_plain(text):
        return text.split()
    words: list[str] = []
    if redirected is not None and ">" in text:
        text, targets = _without_redirections(text, lookup)
        redirected += targets
    for word in _scan(text, lookup):
        for braced in _braces(word):
            words.extend(_globbed(_tilde(braced, lookup), cwd))
    return words


def _without_redirections(text: str, lookup: Lookup) -> tuple[str, list[str]]:
    """The text without ``> file`` and ``2>&1``, and the files: the script adds them, so none is quoted."""
    targets: list[str] = []
    kept, position = [], 0
    for match in re.finditer(_REDIRECTION, text):
        kept.append(text[position : match.start()])
        position = match.end()
        if match.group(1):
            targets.append("".join("".join(word.text) for word in _scan(match.group(1), lookup)))
    return " ".join([*kept, text[position:]]), targets


def _scan(text: str, lookup: Lookup) -> list[_Word]:
    words: list[_Word] = []
    word = _Word()
    position, end = 0, len(text)
    while position < end:
        char = text[position]
        if char in BLANKS:
            if word.started:
                words.append(word)
                word = _Word()
            position += 1
        elif char == "#" and not word.started:
            break
        elif char in OPERATORS:
            raise ShellNeeded(char, f"`{char}` means something to the shell")
        elif char == "`":
            raise ShellNeeded("`", "a command substitution needs a shell")
        elif char == "\\":
            if position + 1 < end:
                word.add(text[position + 1], True)
            else:
                word.add("\\", True)
            position += 2
        elif char == "'":
            close = text.find("'", position + 1)
            if close < 0:
                raise ShellNeeded("'", "a quote is opened and never closed", runs=False)
            word.add(text[position + 1 : close], True)
            position = close + 1
        elif char == '"':
            position = _double_quoted(text, position + 1, word, lookup)
        elif char == "$" and text[position + 1 : position + 2] == "'":
            raise ShellNeeded("$'", "a text in $'…' needs a shell")
        elif char == "$" and text[position + 1 : position + 2] == '"':
            position += 1
        elif char == "$":
            value, position = _variable(text, position, lookup)
            pieces = value.split("|")  # the scripts' IFS
            for index, piece in enumerate(pieces):
                if index and word.started:
                    words.append(word)
                    word = _Word()
                if piece:
                    word.add(piece, False)
        else:
            word.add(char, False)
            position += 1
    if word.started:
        words.append(word)
    return words


def _double_quoted(text: str, position: int, word: _Word, lookup: Lookup) -> int:
    word.started = True
    while position < len(text):
        char = text[position]
        if char == '"':
            return position + 1
        if char == "`":
            raise ShellNeeded("`", "a command substitution needs a shell")
        if char == "\\" and text[position + 1 : position + 2] in tuple('$`"\\'):
            word.add(text[position + 1], True)
            position += 2
        elif char == "$":
            value, position = _variable(text, position, lookup)
            word.add(value, True)
        else:
            word.add(char, True)
            position += 1
    raise ShellNeeded('"', "a quote is opened and never closed", runs=False)


def _variable(text: str, position: int, lookup: Lookup) -> tuple[str, int]:
    """The value of the variable at a ``$``, and where the text goes on; an unknown one is empty."""
    after = text[position + 1 : position + 2]
    if after == "(":
        raise ShellNeeded("$(", "a command substitution needs a shell")
    if after in ("'", '"') or not after:
        return "$", position + 1
    if after == "{":
        close = text.find("}", position)
        name = text[position + 2 : close]
        if close < 0 or not _name_at(name, 0) == len(name) or not name:
            raise ShellNeeded("${", "an expansion that is more than a variable's name needs a shell")
        return lookup(name), close + 1
    if after in SPECIAL:
        raise ShellNeeded(f"${after}", f"`${after}` is something of the running shell")
    end = _name_at(text, position + 1)
    return (lookup(text[position + 1 : end]), end) if end > position + 1 else ("$", position + 1)


def _tilde(word: _Word, lookup: Lookup) -> _Word:
    """``~`` at the start of a word, and after the ``=`` of one that looks like an assignment."""
    joined = "".join(word.text)
    equals = joined.find("=") + 1
    start = equals if is_assignment(joined) and not any(word.quoted[:equals]) else 0
    for at in {0, start}:
        plain = joined[at : at + 1] == "~" and not word.quoted[at] and joined[at + 1 : at + 2] in ("", "/")
        if plain:
            home = lookup("HOME")
            text = [*word.text[:at], *home, *word.text[at + 1 :]]
            return _Word(text, [*word.quoted[:at], *[True] * len(home), *word.quoted[at + 1 :]], True)
    return word


def _braces(word: _Word) -> list[_Word]:
    """Brace expansion: ``a{b,c}`` is two words. Ranges (``{1..3}``) are left to a shell."""
    depth, opened = 0, -1
    commas: list[int] = []
    for at, (char, quoted) in enumerate(zip(word.text, word.quoted, strict=True)):
        if quoted:
            continue
        if char == "{" and not (at and word.text[at - 1] == "$"):
            if depth == 0:
                opened, commas = at, []
            depth += 1
        elif char == "," and depth == 1:
            commas.append(at)
        elif char == "}" and depth:
            depth -= 1
            if depth == 0 and commas:
                return _expanded(word, opened, commas, at)
    return [word]


def _expanded(word: _Word, opened: int, commas: list[int], closed: int) -> list[_Word]:
    found = []
    edges = [opened, *commas, closed]
    for start, stop in pairwise(edges):
        text = [*word.text[:opened], *word.text[start + 1 : stop], *word.text[closed + 1 :]]
        quoted = [*word.quoted[:opened], *word.quoted[start + 1 : stop], *word.quoted[closed + 1 :]]
        found.extend(_braces(_Word(text, quoted, bool(text))))
    return [one for one in found if one.started]


def _globbed(word: _Word, cwd: str) -> list[str]:
    """The files that a pattern names, or the word itself where it names none."""
    text = "".join(word.text)
    special = [char in "*?[" and not quoted for char, quoted in zip(word.text, word.quoted, strict=True)]
    if not any(special):
        return [text]
    import glob

    pattern = "".join(
        char if meaning or char not in "*?[" else f"[{char}]"
        for char, meaning in zip(word.text, special, strict=True)
    )
    found = sorted(glob.glob(pattern if os.path.isabs(pattern) else os.path.join(glob.escape(cwd), pattern)))
    prefix = os.path.join(cwd, "")
    return [name.removeprefix(prefix) if not os.path.isabs(pattern) else name for name in found] or [text]
