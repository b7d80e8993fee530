"""Which machine a run was made on: its name for people, and the fingerprint that keeps unlike ones apart."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any


def machine_name(environment: Mapping[str, Any]) -> str:
    """``ci-1: Xeon …, 2 cores, no GPU``."""
    cpu = _cpu(environment)
    gpus = Counter(_gpus(environment))
    names = [f"{count} × {name}" if count > 1 else name for name, count in gpus.items()]
    parts = [str(cpu.get("model") or "unknown CPU"), f"{cpu.get('cores', '?')} cores", *(names or ["no GPU"])]
    host = environment.get("host")
    return (f"{host}: " if host else "") + ", ".join(parts)


def fingerprint(environment: Mapping[str, Any]) -> str:
    """Equal for machines whose speeds can be compared: the same CPU, cores, memory and GPUs.

    The versions of paddle and of Python are not in it: what they change is what a comparison is for.
    """
    cpu = _cpu(environment)
    memory = environment.get("memory")
    # To the gigabyte: kernels reserve a little more or less of the same memory.
    memory = round(memory / 2**30) if isinstance(memory, (int, float)) else None
    parts = [cpu.get("model"), cpu.get("cores"), memory, _gpus(environment)]
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()[:12]


def versions(environment: Mapping[str, Any]) -> str:
    """``Python 3.11.7, paddlepaddle 3.1.1``, of the interpreters that ran the steps."""
    told = environment.get("interpreters")
    told = told.values() if isinstance(told, Mapping) else ()
    words = []
    for interpreter in told:
        if isinstance(interpreter, Mapping):
            words.append(f"Python {interpreter.get('python', '?')}")
            packages = interpreter.get("packages")
            named = packages.items() if isinstance(packages, Mapping) else ()
            words += [f"{name} {version}" for name, version in named if "paddle" in name]
    return ", ".join(dict.fromkeys(words)) or f"Python {environment.get('python', '?')}"


def build(environment: Mapping[str, Any], sources: Sequence[str] = ()) -> str:
    """Equal for runs of the same commits with the same versions: repeats, as far as can be told.

    A repository with changes that are not committed, or without commits, is known by its ``sources``.
    """
    parts = [environment.get("tipc"), versions(environment), environment.get("repos")]
    repos = environment.get("repos")
    told = list(repos.values()) if isinstance(repos, Mapping) else []
    if not told or any(not isinstance(repo, Mapping) or repo.get("changed") for repo in told):
        parts.append(list(sources))
    return hashlib.sha256(json.dumps(parts, default=str, sort_keys=True).encode()).hexdigest()[:12]


def _cpu(environment: Mapping[str, Any]) -> Mapping[str, Any]:
    cpu = environment.get("cpu")
    return cpu if isinstance(cpu, Mapping) else {}


def _gpus(environment: Mapping[str, Any]) -> list[str]:
    gpus = environment.get("gpus") or []
    return [str(gpu.get("name", "GPU") if isinstance(gpu, Mapping) else gpu) for gpu in gpus]
