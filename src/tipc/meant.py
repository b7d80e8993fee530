"""What somebody meant by a name that is not there: remedies for errors."""

from __future__ import annotations

import os
from collections.abc import Iterable


def closest(word: str, known: Iterable[str]) -> str:
    """The most similar of some names, or empty."""
    from difflib import get_close_matches

    return "".join(get_close_matches(word, list(known), n=1))


def one_of(word: str, known: Iterable[str]) -> str:
    """``did you mean `gpu`? one of cpu, gpu``; without the question where nothing is close."""
    names = list(known)
    listed = f"one of {', '.join(names)}"
    close = closest(word, names)
    return f"did you mean `{close}`? {listed}" if close else listed


def path_meant(path: str) -> str:
    """``did you mean `…`?`` with the path that is there, mended part by part; empty where there is none."""
    there = os.sep if path.startswith(os.sep) else ""
    for part in path.split(os.sep):
        step = os.path.join(there, part) if there else part
        if part and not os.path.exists(step):
            step = os.path.join(there, closest(part, _names(there or ".")))
            if step == there or not os.path.exists(step):
                return ""
        there = step
    return f"did you mean `{there}`?" if there else ""


def _names(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except OSError:
        return []
