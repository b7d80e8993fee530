"""What somebody meant by a name that is not there: remedies for errors."""

from __future__ import annotations

import os
from collections.abc import Iterable

from tipc.errors import Message, wording


def closest(word: str, known: Iterable[str]) -> str:
    """The most similar of some names, or empty."""
    from difflib import get_close_matches

    return "".join(get_close_matches(word, list(known), n=1))


def one_of(word: str, known: Iterable[str]) -> Message:
    """``did you mean `gpu`? one of cpu, gpu``; without the question where nothing is close."""
    names = list(known)
    listed = ", ".join(names)
    close = closest(word, names)
    if close:
        return wording("did you mean `{close}`? one of {names}", close=close, names=listed)
    return wording("one of {names}", names=listed)


def path_meant(path: str) -> str | Message:
    """``did you mean `…`?`` with the path that is there, mended part by part; empty where there is none."""
    there = ""
    if path.startswith(os.sep):
        there = os.sep
    for part in path.split(os.sep):
        step = os.path.join(there, part)
        if part and not os.path.exists(step):
            step = os.path.join(there, closest(part, _names(there or ".")))
            if step == there or not os.path.exists(step):
                return ""
        there = step
    if not there:
        return ""
    return wording("did you mean `{close}`?", close=there)


def _names(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except OSError:
        return []
