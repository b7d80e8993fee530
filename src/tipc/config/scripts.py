"""Which script of a repository reads a config file, and whether it is one that we know.

A script is known by a digest of itself and of every script that it sources or calls, without comments, blank
lines and line ends. ``tipc.config.known_scripts`` holds the digests: facts about public repositories.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import NamedTuple

from tipc.bounded import read_bounded_text
from tipc.kinds import (
    ACCELERATORS,
    BENCHMARK_CHAIN,
    DY2STATIC_CHAIN,
    GPU,
    INFER_CHAIN,
    ONNX_CHAIN,
    PTQ_CHAIN,
    TRAIN_CHAIN,
)

# The usual names of the script of a chain; the first that a folder has.
SCRIPTS: dict[str, tuple[str, ...]] = {
    TRAIN_CHAIN: ("test_train_inference_python.sh",),
    PTQ_CHAIN: ("test_ptq_inference_python.sh",),
    ONNX_CHAIN: ("test_paddle2onnx.sh",),
    DY2STATIC_CHAIN: ("test_train_dy2static_python.sh",),
    INFER_CHAIN: ("test_inference_python.sh",),
    BENCHMARK_CHAIN: ("benchmark_train.sh",),
    "serving_python": ("test_serving_infer_python.sh", "test_serving_infer.sh", "test_serving.sh"),
    "serving_cpp": ("test_serving_infer_cpp.sh", "test_serving_cpp.sh"),
    "infer_cpp": ("test_inference_cpp.sh",),
    "lite": ("test_lite_arm_cpp.sh", "test_lite_arm_cpu_cpp.sh", "test_lite.sh"),
    "js": ("test_inference_js.sh", "test_infer_js.sh"),
    "pipeline": ("test_pipeline_infer_python.sh",),
}
FOLDERS = ("test_tipc", "tests", "PTDN", "tipc")  # of a repository; scripts are looked for here, too
# Parts of the names of scripts that read no config of a chain.
_HELPERS = ("prepare", "common", "benchmark", "func", "compile", "build", "download", "env", "install")
# Of scripts for other hardware: they rewrite the config and call the usual script.
_OTHER_HARDWARE = (
    *(f"_{name}." for name in ACCELERATORS if name != GPU),
    *("_jeston.", "_jetson.", "_mac", "_windows"),
)
_NOT_OF_A_CHAIN = (*_HELPERS, *_OTHER_HARDWARE)
_USUAL: set[str] = set()
for _chain, _names in SCRIPTS.items():
    if _chain != BENCHMARK_CHAIN:
        _USUAL.update(_names)

_CALLS = re.compile(r"""(?:^|[\s;"'`(])(?:source|\.|bash|sh)\s+["']?([\w./${}-]*?)([\w-]+\.sh)\b""")
_COMMENT = re.compile(r"\s*#")


class Script(NamedTuple):
    """The script that reads a config. ``path`` is relative to the repository; empty: there is none."""

    path: str = ""
    candidates: tuple[str, ...] = ()  # several that could read it, where no name tells which
    thin: str = ""  # one that only hands its config to ``tipc run``, as the ones of ``tipc init`` do


def reading_script(config: str, repo: str, chain: str) -> Script:
    """The script of a chain for a config: in the folders above it, the nearest first, then the usual ones.

    One that only calls ``tipc run`` is ``thin`` and counts as none.
    """
    for folder in _folders(config, repo):
        names = _scripts_in(folder)
        for name in SCRIPTS.get(chain, ()):
            if name in names:
                return _script(os.path.join(folder, name), repo)
        others = _other_scripts(names, chain)
        if others:
            if len(others) == 1:
                return _script(os.path.join(folder, others[0]), repo)
            return Script(candidates=tuple(os.path.relpath(f"{folder}/{name}", repo) for name in others))
    return Script()


def _script(path: str, repo: str) -> Script:
    name = os.path.relpath(path, repo)
    if _is_thin(text_of(path)):
        return Script(thin=name)
    return Script(name)


@lru_cache(maxsize=64)
def _is_thin(text: str) -> bool:
    """Whether a script hands its config over: it calls ``tipc run`` and reads no line of it."""
    code = without_comments(text)
    return "tipc run" in code and "lines[" not in code and "eval " not in code


def _folders(config: str, repo: str) -> tuple[str, ...]:
    """Where the script may be: the config's own folders below the repository, then its usual folders."""
    if os.path.islink(config):
        config = os.path.realpath(config)
    return _folders_of(os.path.dirname(os.path.abspath(config)), os.path.abspath(repo))


@lru_cache(maxsize=1024)
def _folders_of(folder: str, repo: str) -> tuple[str, ...]:
    # Hundreds of configs share their folders, and to look for symbolic links on the way costs.
    found = []
    folder = os.path.realpath(folder)
    root = os.path.realpath(repo)
    while folder.startswith(root + os.sep):
        found.append(folder)
        folder = os.path.dirname(folder)
    for name in FOLDERS:
        usual = os.path.join(root, name)
        if usual not in found:
            found.append(usual)
    return tuple(found)


def _scripts_in(folder: str) -> tuple[str, ...]:
    """The names of the shell scripts of a folder; none where there is no such folder."""
    try:
        changed = os.stat(folder).st_mtime_ns
        return _listed(folder, changed)
    except OSError:
        return ()


@lru_cache(maxsize=1024)
def _listed(folder: str, _changed: int) -> tuple[str, ...]:
    # Hundreds of configs share these folders; the time of the last change tells when to look again.
    return tuple(sorted(name for name in os.listdir(folder) if name.endswith(".sh")))


def _other_scripts(names: tuple[str, ...], chain: str) -> list[str]:
    """Of the scripts of a folder those with names of their own; helpers do not count.

    Beside scripts whose names tell their chains, only one that has the word of this chain in its name counts.
    """
    if not names:
        return []
    has_usual = not _USUAL.isdisjoint(names)
    own = []
    for name in names:
        if name in _USUAL or any(part in name for part in _NOT_OF_A_CHAIN):
            continue
        if not has_usual or chain in name:
            own.append(name)
    return own


def text_of(path: str) -> str:
    """A script's text; empty where it cannot be read."""
    try:
        status = os.stat(path)
    except OSError:
        return ""
    return _read(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=64)
def _read(path: str, _changed: int, _size: int) -> str:
    try:
        return read_bounded_text(path, "surrogateescape")
    except OSError:
        return ""


def helpers_of(path: str, repo: str) -> list[str]:
    """The scripts that a script sources or calls, and those that they do; paths, in order."""
    found: dict[str, None] = {}
    waiting = [path]
    while waiting:
        here = waiting.pop(0)
        for before, name in _calls(text_of(here)):
            helper = _located(before, name, here, repo)
            if helper and helper != path and helper not in found:
                found[helper] = None
                waiting.append(helper)
    return list(found)


@lru_cache(maxsize=64)
def _calls(text: str) -> tuple[tuple[str, str], ...]:
    """What a script sources or calls: (what stands before the name, the name), each once."""
    return tuple(dict.fromkeys(_CALLS.findall(without_comments(text))))


def _located(before: str, name: str, script: str, repo: str) -> str:
    """The file that ``${DIR}/test_tipc/name.sh`` means: relative to the repository, or beside the script."""
    folder = re.sub(r"\$\{?\w+\}?", "", before).strip("/")
    for candidate in (os.path.join(repo, folder, name), os.path.join(os.path.dirname(script), name)):
        if os.path.isfile(candidate):
            return os.path.normpath(candidate)
    return ""


def without_comments(text: str) -> str:
    """The lines of a script that do something."""
    code = []
    for line in text.splitlines():
        line = line.rstrip()
        if line and not _COMMENT.match(line):
            code.append(line)
    return "\n".join(code)


def digest(path: str, repo: str) -> str:
    """What a script does, as one word: comments, blank lines and line ends make no difference."""
    script = os.path.normpath(path)
    return digest_of((script, *helpers_of(script, repo)))


def digest_of(paths: tuple[str, ...]) -> str:
    """``digest`` of a script and its helpers, where these are known."""
    return _digest(tuple(map(text_of, paths)))


@lru_cache(maxsize=64)
def _digest(texts: tuple[str, ...]) -> str:
    import hashlib

    clean = "\0".join(map(without_comments, texts))
    return hashlib.sha256(clean.encode("utf-8", "surrogateescape")).hexdigest()[:16]
