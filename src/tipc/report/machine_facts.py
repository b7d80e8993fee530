"""Which machine a run was made on: its name for people, and the fingerprint that keeps unlike ones apart."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tipc.language import enumeration, plural, say

NO_GPU = "no GPU"


def machine_name(environment: Mapping[str, Any]) -> str:
    """``ci-1: Xeon …, 2 cores, no GPU``, in English: files and the history keep it."""
    cpu = _mapping(environment, "cpu")
    cores = cpu.get("cores", "?")
    parts = [str(cpu.get("model") or "unknown CPU"), f"{cores} core" if cores == 1 else f"{cores} cores"]
    gpus = Counter(_gpus(environment))
    for name, count in gpus.items():
        if count > 1:
            parts.append(f"{count} × {name}")
        else:
            parts.append(name)
    if not gpus:
        parts.append(NO_GPU)
    named = ", ".join(parts)
    host = environment.get("host")
    if host:
        return f"{host}: {named}"
    return named


def spoken_machine(name: str) -> str:
    """A ``machine_name`` in the language to speak."""
    parts = []
    for part in name.split(", "):
        count, _, noun = part.partition(" ")
        if noun in ("core", "cores") and count.isdigit():
            parts.append(plural(int(count), "core"))
        elif part == NO_GPU:
            parts.append(say("no GPU"))
        else:
            parts.append(part)
    return enumeration(parts)


def fingerprint(environment: Mapping[str, Any]) -> str:
    """Equal for machines whose speeds can be compared: the same CPU, cores, memory and GPUs.

    The versions of paddle and of Python are not in it: what they change is what a comparison is for.
    """
    cpu = _mapping(environment, "cpu")
    memory = environment.get("memory")
    gigabytes = None
    if isinstance(memory, (int, float)):
        # To the gigabyte: kernels reserve a little more or less of the same memory.
        gigabytes = round(memory / 2**30)
    parts = [cpu.get("model"), cpu.get("cores"), gigabytes, _gpus(environment)]
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()[:12]


def versions(environment: Mapping[str, Any]) -> str:
    """``Python 3.11.7, paddlepaddle 3.1.1``, of the interpreters that ran the steps."""
    words = []
    for interpreter in _mapping(environment, "interpreters").values():
        if not isinstance(interpreter, Mapping):
            continue
        words.append(f"Python {interpreter.get('python', '?')}")
        for name, version in _mapping(interpreter, "packages").items():
            if "paddle" in name:
                words.append(f"{name} {version}")
    return ", ".join(dict.fromkeys(words)) or f"Python {environment.get('python', '?')}"


def build(environment: Mapping[str, Any], sources: Sequence[str] = ()) -> str:
    """Equal for runs of the same commits with the same versions: repeats, as far as can be told.

    A repository with changes that are not committed, or without commits, is known by its ``sources``.
    """
    parts = [environment.get("tipc"), versions(environment), environment.get("repos")]
    repos = _mapping(environment, "repos")
    if not repos or any(map(_changed, repos.values())):
        parts.append(list(sources))
    return hashlib.sha256(json.dumps(parts, default=str, sort_keys=True).encode()).hexdigest()[:12]


def _changed(repo: object) -> bool:
    """Whether a repository may have changes that no commit has."""
    return not isinstance(repo, Mapping) or bool(repo.get("changed"))


def _mapping(environment: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A part of what is known; empty where it is missing or of another form."""
    found = environment.get(name)
    if not isinstance(found, Mapping):
        return {}
    return found


def _gpus(environment: Mapping[str, Any]) -> list[str]:
    names = []
    for gpu in environment.get("gpus") or []:
        name = gpu
        if isinstance(gpu, Mapping):
            name = gpu.get("name", "GPU")
        names.append(str(name))
    return names
