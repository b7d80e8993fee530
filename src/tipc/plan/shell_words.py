"""What bash makes of a command's text, without bash: words, quotes, variables, braces, globs.

The scripts ``eval`` their commands, so a config's text is shell text. Everything that only makes words is
done here; what needs a running shell (a pipe, ``;``, ``&``, a redirection, ``$(…)``) is named, never run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import cache
from itertools import pairwise

from tipc.message import Message, wording

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
WORD = frozenset(LETTERS + "0123456789")
PLAIN = r"[\w@%+=:,./\- ]*\Z"  # nothing here means anything to a shell
SPECIAL = "0123456789@*#?$!-["  # parameters of the running shell, and old arithmetic
OPERATORS = ";&|<>()"
BLANKS = " \t\n"
_ENDS_PLAIN = frozenset(BLANKS + OPERATORS + "`\\'\"$")  # what ends a run of plain characters
_REDIRECTION = r"""(?<![^ \t\n])[0-9]?>(?:&[0-9]|[ \t]*((?:"[^"]*"|'[^']*'|[^ \t\n])*))"""


BRACE_LIMIT = 1000  # words that one word with braces may become: `{a,b}` twenty times over are a million
Lookup = Callable[[str], str]  # the value of a variable; "" where it is not set


class ShellNeeded(ValueError):
    """The text cannot become words here; ``token`` is why. ``runs``: a shell could run it."""

    def __init__(self, token: str, reason: Message, *, runs: bool = True) -> None:
        super().__init__(reason)
        self.token = token
        self.reason = reason
        self.runs = runs


def is_plain(text: str) -> bool:
    """Whether every blank ends a word in it, and nothing else means anything."""
    return _plain().match(text) is not None


@cache
def _plain() -> re.Pattern[str]:
    return re.compile(PLAIN, re.ASCII)


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


LITERAL, QUOTED, EXPANDED = range(3)


class _Word:
    """A word under construction: characters, and for each where it comes from.

    An empty text stands for quotes or a variable with nothing in them: it makes a word, or divides one.
    """

    def __init__(self, text: list[str] | None = None, kinds: list[int] | None = None) -> None:
        self.text = text or []
        self.kinds = kinds or []

    def add(self, text: str, kind: int) -> None:
        self.text.extend(text or [""])
        self.kinds.extend([kind] * (len(text) or 1))

    def slice(self, *ranges: tuple[int, int]) -> _Word:
        """The word made of some of its parts."""
        text: list[str] = []
        kinds: list[int] = []
        for start, stop in ranges:
            text += self.text[start:stop]
            kinds += self.kinds[start:stop]
        return _Word(text, kinds)

    @property
    def started(self) -> bool:
        """There is a word: something in it, or quotes around nothing."""
        return any(self.text) or QUOTED in self.kinds

    def literal(self, at: int) -> str:
        """The character there, if the config has it just so."""
        if at >= len(self.text) or self.kinds[at] != LITERAL:
            return ""
        return self.text[at]


class Pattern(str):
    """A word that names files by a pattern, which has to be filled in when the command starts."""

    __slots__ = ()


def split_words(text: str, lookup: Lookup, cwd: str = ".", redirected: list[str] | None = None) -> list[str]:
    """The words of a simple command, as bash would hand them to the program.

    With ``redirected``, a redirection of the output is accepted, and where it goes is added there.
    """
    if is_plain(text):
        return text.split()
    words: list[str] = []
    if redirected is not None and ">" in text:
        text, targets = _without_redirections(text)
        redirected += targets
    for word in _scan(text, lookup):
        for braced in _braces(word):
            words.extend(_globbed(_tilde(braced, lookup), cwd))
    return words


def _without_redirections(text: str) -> tuple[str, list[str]]:
    """The text without ``> file`` and ``2>&1``, and the files as they are written there."""
    targets: list[str] = []
    kept, position = [], 0
    for match in re.finditer(_REDIRECTION, text):
        kept.append(text[position : match.start()])
        position = match.end()
        if match.group(1):
            targets.append(match.group(1))
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
        elif char == "#" and not word.text:
            break
        elif char in OPERATORS:
            raise ShellNeeded(char, wording("`{char}` means something to the shell", char=char))
        elif char == "`":
            raise ShellNeeded("`", wording("a command substitution needs a shell"))
        elif char == "\\":
            if position + 1 < end:
                word.add(text[position + 1], QUOTED)
            else:
                word.add("\\", QUOTED)
            position += 2
        elif char == "'":
            close = text.find("'", position + 1)
            if close < 0:
                raise ShellNeeded("'", wording("a quote is opened and never closed"), runs=False)
            word.add(text[position + 1 : close], QUOTED)
            position = close + 1
        elif char == '"':
            position = _double_quoted(text, position + 1, word, lookup)
        elif char == "$" and text[position + 1 : position + 2] == "'":
            raise ShellNeeded("$'", wording("a text in $'…' needs a shell"))
        elif char == "$" and text[position + 1 : position + 2] == '"':
            position += 1
        elif char == "$":
            value, position = _variable(text, position, lookup)
            pieces = value.split("|")  # the scripts' IFS
            for index, piece in enumerate(pieces):
                if index and word.started:
                    words.append(word)
                    word = _Word()
                word.add(piece, EXPANDED)
        else:
            stop = position + 1
            while stop < end and text[stop] not in _ENDS_PLAIN:
                stop += 1
            word.add(text[position:stop], LITERAL)
            position = stop
    if word.started:
        words.append(word)
    return words


def _double_quoted(text: str, position: int, word: _Word, lookup: Lookup) -> int:
    word.add("", QUOTED)
    while position < len(text):
        char = text[position]
        if char == '"':
            return position + 1
        if char == "`":
            raise ShellNeeded("`", wording("a command substitution needs a shell"))
        if char == "\\" and text[position + 1 : position + 2] in tuple('$`"\\'):
            word.add(text[position + 1], QUOTED)
            position += 2
        elif char == "$":
            value, position = _variable(text, position, lookup)
            word.add(value, QUOTED)
        else:
            word.add(char, QUOTED)
            position += 1
    raise ShellNeeded('"', wording("a quote is opened and never closed"), runs=False)


def _variable(text: str, position: int, lookup: Lookup) -> tuple[str, int]:
    """The value of the variable at a ``$``, and where the text goes on; an unknown one is empty."""
    after = text[position + 1 : position + 2]
    if after == "(":
        raise ShellNeeded("$(", wording("a command substitution needs a shell"))
    if after in ("'", '"') or not after:
        return "$", position + 1
    if after == "{":
        close = text.find("}", position)
        name = text[position + 2 : close]
        if close < 0 or not _name_at(name, 0) == len(name) or not name:
            raise ShellNeeded("${", wording("an expansion that is more than a variable's name needs a shell"))
        return lookup(name), close + 1
    if after in SPECIAL:
        raise ShellNeeded(f"${after}", wording("`${name}` is something of the running shell", name=after))
    end = _name_at(text, position + 1)
    if end == position + 1:
        return "$", end
    return lookup(text[position + 1 : end]), end


def _tilde(word: _Word, lookup: Lookup) -> _Word:
    """``~`` at the start of a word, and after the ``=`` of one that looks like an assignment."""
    start = 0
    if "~" in word.text and "=" in word.text:
        end = word.text.index("=") + 1
        if is_assignment("".join(word.text)) and set(word.kinds[:end]) == {LITERAL}:
            start = end
    for at in {0, start}:
        end = at + 1
        while end < len(word.text) and word.literal(end) not in ("", "/"):
            end += 1
        named = "".join(word.text[at:end])
        divided = end < len(word.text) and word.literal(end) != "/"  # a quote ends no user's name
        path = os.path.expanduser(named)
        if named == "~":
            path = lookup("HOME")
        if word.literal(at) == "~" and not divided and path != named:
            home = _Word()
            home.add(path, QUOTED)
            before, after = word.slice((0, at)), word.slice((end, len(word.text)))
            text = [*before.text, *home.text, *after.text]
            return _Word(text, [*before.kinds, *home.kinds, *after.kinds])
    return word


def _braces(word: _Word) -> list[_Word]:
    """Brace expansion: ``a{b,c}`` is two words. Ranges (``{1..3}``) are left to a shell."""
    if "{" not in word.text:
        return [word]
    found = []
    for one in _alternatives(word):
        if one.started:
            found.append(one)
    return found


def _alternatives(word: _Word) -> list[_Word]:
    """As bash does it: the first brace that can be expanded, then each part of it, then what follows it."""
    plain = [word.literal(at) for at in range(len(word.text))]
    for opened, char in enumerate(plain):
        if char != "{" or plain[opened - 1 : opened] == ["$"]:
            continue
        if opened == 0 and plain[1:2] == ["}"]:  # `{}` in front is two characters, as find and xargs want it
            continue
        commas, closed = _brace_ends(plain, opened)
        if closed:
            return _expanded(word, opened, commas, closed)
    return [word]


def _brace_ends(plain: list[str], opened: int) -> tuple[list[int], int]:
    """Where an open brace is divided and closed; closed at 0 where it is not."""
    depth = 0
    commas: list[int] = []
    for at in range(opened + 1, len(plain)):
        here = plain[at]
        if here == "}" and not depth and commas:  # as in bash, a brace closes only what has a comma
            return commas, at
        if here == "," and not depth:
            commas.append(at)
        if here == "{":
            depth += 1
        if here == "}" and depth:
            depth -= 1
    return commas, 0


def _expanded(word: _Word, opened: int, commas: list[int], closed: int) -> list[_Word]:
    before = word.slice((0, opened))
    endings = _alternatives(word.slice((closed + 1, len(word.text))))
    found = []
    for start, stop in pairwise([opened, *commas, closed]):
        for middle in _alternatives(word.slice((start + 1, stop))):
            for after in endings:
                text = [*before.text, *middle.text, *after.text]
                found.append(_Word(text, [*before.kinds, *middle.kinds, *after.kinds]))
        if len(found) > BRACE_LIMIT:
            reason = wording("the braces of one word make more than {limit} words", limit=BRACE_LIMIT)
            raise ShellNeeded("{", reason, runs=False)
    return found


def _globbed(word: _Word, cwd: str) -> list[str]:
    """The word as a pattern where it is one; the files that it names where quotes are in it, too."""
    text = "".join(word.text)
    if "*" not in text and "?" not in text and "[" not in text:
        return [text]
    pattern = ""
    special = False
    for char, kind in zip(word.text, word.kinds, strict=True):
        if char not in ("*", "?", "["):
            pattern += char
        elif kind == QUOTED:
            pattern += f"[{char}]"  # it stands for itself
        else:
            pattern += char
            special = True
    if not special:
        return [text]
    if pattern == text:
        return [Pattern(text)]
    return matching(pattern, cwd) or [text]


def matching(pattern: str, cwd: str) -> list[str]:
    """The files that a pattern names, in order, as they are written from a directory."""
    import glob

    return sorted(glob.glob(pattern, root_dir=cwd))


_ESCAPES = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}
_ESCAPES["\\"] = "\\"


def echoed(text: str) -> str:
    """What ``echo -e`` prints of a text: its backslash escapes carried out, everything after ``\\c`` lost."""

    def escape(match: re.Match[str]) -> str:
        octal, code, letter = match.groups()
        if octal is not None:
            return chr(int(octal or "0", 8) & 0xFF)
        if code:
            return chr(int(code, 16))
        return _ESCAPES.get(letter, match.group())

    stop = re.search(r"(?<!\\)((?:\\\\)*)\\c", text)
    if stop:
        text = text[: stop.end(1)]
    return re.sub(r"\\(?:0([0-7]{0,3})|x([0-9a-fA-F]{1,2})|(.))", escape, text, flags=re.DOTALL)
