"""Text from logs, configs and figures, made fit to be shown. Logs are untrusted: any bytes, any length."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterable, Mapping

from tipc.command import Command
from tipc.run.show.log_tail import tail

WIDTH = 240
COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
# What XML 1.0 has no place for, what a terminal would obey, and lone surrogates, which cannot be encoded.
PATH = re.compile(r"[\w./,=+~-]+")
LONGEST_PATH = 48  # characters
UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u202a-\u202e\u2066-\u2069]")


def clean(text: object) -> str:
    """The same text with nothing in it that controls a terminal or breaks an XML file."""
    told = str(text)
    if told.isprintable():  # none of all that
        return told
    return UNFIT.sub("\ufffd", COLOURS.sub("", told))


def one_line(text: object, width: int = WIDTH) -> str:
    """The text on one line of at most so many characters."""
    return cut(" ".join(clean(str(text)[: width * 8]).split()), width)


def cut(text: str, width: int = WIDTH) -> str:
    """At most so many characters; what is left out is told."""
    if len(text) <= width:
        return text
    return f"{text[: max(width - 24, 1)]}… (+{len(text) - width + 24:,} characters)"


def short_paths(text: str, longest: int = LONGEST_PATH) -> str:
    """The text with ``…/folder/name`` for each long path: it would be torn apart on a narrow terminal."""

    def shortened(found: re.Match[str]) -> str:
        path = found[0]
        if len(path) <= longest or "/" not in path:
            return path
        folder, name = path.split("/")[-2:]
        if len(folder) + len(name) > longest:
            return f"…/{name}"
        return f"…/{folder}/{name}"

    return PATH.sub(shortened, text)


def log_end(path: str, count: int, width: int = WIDTH) -> list[str]:
    """The last lines of a log, cleaned and cut; of a file that is not there, nothing."""
    if not path or count <= 0:
        return []
    return [cut(clean(line), width) for line in tail(path, count)]


def command(argv: Iterable[str], env: Mapping[str, str | None], cwd: str = "", shell: str = "") -> str:
    """What to paste into a shell, in the repository, to repeat a step."""
    words = tuple(argv)
    if shell:
        words = ("bash", "-c", shell)
    line = Command(words).shell_line(dict(sorted(env.items())))
    if cwd not in ("", "."):
        line = f"cd {shlex.quote(cwd)} && {line}"
    return clean(line)


def duration(seconds: float) -> str:
    """``0.9s``, ``21.4s``, ``3m 05s``, ``2h 10m``."""
    if seconds < 59.95:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}m {rest:02d}s"
    return f"{minutes // 60}h {minutes % 60:02d}m"


def size(count: float) -> str:
    """Bytes as people read them."""
    if count < 1000:
        return f"{count:.0f} B"
    for unit in ("KB", "MB"):
        count /= 1024
        if count < 10:
            return f"{count:.1f} {unit}"
        if count < 1000:
            return f"{count:.0f} {unit}"
    return f"{count / 1024:.1f} GB"


def figure(value: float, digits: int = 4) -> str:
    """A number with so many significant digits and no noise behind them."""
    if not math.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < 1e6:
        return str(int(value))
    return f"{value:.{digits}g}"


def relative(path: str, base: str) -> str:
    """The path as seen from a directory that it lies in; else as it is."""
    return path.removeprefix(f"{base.rstrip('/')}/")
