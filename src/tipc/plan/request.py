"""What a plan is asked for: its options, and ``CONFIG… [MODE]`` as config files and a mode."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

from tipc.config.chains import chain_of, has_benchmark
from tipc.config.dialects import TABLES, load
from tipc.config.discover import configs_below
from tipc.config.identify import Identity, identify, repository_of
from tipc.config.source import read_source
from tipc.errors import UsageError, wording
from tipc.kinds import BENCHMARK_CHAIN, CHAINS, CPU, GPU, TRAIN_CHAIN
from tipc.plan.modes import DEFAULT_MODE
from tipc.plan.target.machine import Machine, this_machine
from tipc.reasons import Reason, because
from tipc.suggestions import path_meant


@dataclass(frozen=True)
class PlanOptions:
    """What is asked of a plan, besides its config and its mode. An empty text: not asked for."""

    repo: str = ""  # the repository's root; else it is looked for around the config
    dialect: str = ""  # else it is told from the file and its repository
    as_upstream: bool = False  # the commands of the script to the letter
    python: str = ""  # the interpreter that runs, whatever the config names
    device: str = ""  # plan for it, whether this machine has it or not
    machine: Machine | None = None  # plan for it; None: the one that tipc runs on
    allow_shell: bool = False  # accept commands that only a shell can run
    trace: bool = False  # take the plan from the repository's own script
    output: str = ""  # a folder of its own below test_tipc/output
    prepare: bool = True  # the first step prepares the data, where the repository says how

    @property
    def here(self) -> Machine:
        """The machine that the plan is for."""
        return self.machine or this_machine()

    @property
    def target(self) -> str:
        """The device to plan for: the one that was asked for, else a GPU where there is one, else the CPU."""
        if self.device:
            return self.device
        return GPU if self.here.gpus else CPU


class LeftOut(NamedTuple):
    """A config below a directory that is not planned, and why."""

    path: str
    chain: str
    reason: Reason


class Expansion(NamedTuple):
    """What ``CONFIG… [MODE]`` names."""

    configs: tuple[str, ...]  # in order, each once
    mode: str  # empty: none is named
    left_out: tuple[LeftOut, ...] = ()


def expand(args: list[str], mode: str | None, *, trace: bool = False) -> Expansion:
    """The config files that the arguments name, and the mode.

    The last word is the mode if it names no file and looks like one; ``mode`` (``--mode``) outdoes it. A file
    that is named is always among the configs; below a directory only what can be planned is. With ``trace``
    that includes the chains that need their script to be traced.
    """
    words = list(args)
    if len(words) > 1 and words[-1].isidentifier() and not os.path.exists(words[-1]):
        named = words.pop()
        mode = mode or named
    if not words:
        raise UsageError(
            "no config file is named", remedy="tipc plan test_tipc/configs/…/train_infer_python.txt"
        )
    found: dict[str, None] = {}
    left_out: dict[str, LeftOut] = {}
    for word in words:
        for path in _expanded(word):
            omitted = None
            if path != word:  # it was not named itself
                omitted = why_left_out(path, mode or DEFAULT_MODE, trace=trace)
            if omitted is None:
                found.setdefault(path)
            else:
                left_out.setdefault(path, omitted)
    if not found:
        raise _nothing_left(words[0], left_out.values())
    return Expansion(tuple(found), mode or "", tuple(left_out.values()))


def _nothing_left(place: str, left_out: Collection[LeftOut]) -> UsageError:
    """The error of a directory of which every config is left out."""
    counted = Counter(one.chain for one in left_out)
    counts = ", ".join([f"{count} for {chain}" for chain, count in counted.items()])
    if any(one.reason.code == "needs-trace" for one in left_out):
        message = wording("no config here can be planned without tracing: {counts}", counts=counts)
        return UsageError(message, path=place, remedy="--trace")
    return UsageError(
        wording("no config here has this mode, or a script: {counts}", counts=counts), path=place
    )


def _expanded(word: str) -> list[str]:
    """The configs that a word names: a file, those below a directory, those that a pattern matches."""
    if os.path.isdir(word):
        configs = configs_below(word)
        if not configs:
            raise UsageError("there is no TIPC config in this directory", path=word)
        return configs
    if os.path.exists(word):
        return [word]
    if any(char in word for char in "*?["):
        return _matching(word)

    from tipc.config.model_names import by_any_name

    named = by_any_name(word)
    if os.path.exists(named):
        return _expanded(named)
    raise UsageError("there is no such config file", path=word, remedy=path_meant(word))


def _matching(pattern: str) -> list[str]:
    """The files that a pattern matches, then the configs below the directories that it matches."""
    import glob

    files: list[str] = []
    below: list[str] = []
    for path in sorted(glob.glob(pattern, recursive=True)):
        if os.path.isdir(path):
            below += configs_below(path)
        elif os.path.isfile(path):
            files.append(path)
    if not files and not below:
        raise UsageError("no config file matches", path=pattern)
    return [*files, *below]


def why_left_out(path: str, mode: str, *, trace: bool = False) -> LeftOut | None:
    """Why a config below a directory is not planned; None if it is.

    One that has nothing to do with the mode is not broken: it is left out.
    A script of a chain that has tables is traced where it is not known. The chains that have none are traced
    only when they are asked for: there are hundreds of such files, and each costs a run of its script.
    """
    try:
        source = read_source(path)
    except UsageError:
        return None  # it is broken, and that has to be seen
    identity = identify(source, repository_of(path), mode=mode)
    if mode == BENCHMARK_CHAIN and not has_benchmark(source) and chain_of(source)[0] == TRAIN_CHAIN:
        return LeftOut(path, TRAIN_CHAIN, because("no-benchmark-block", chain=TRAIN_CHAIN))
    reason = _not_in_mode(identity, mode)
    if reason is not None:
        return LeftOut(path, identity.chain, reason)
    if identity.native or identity.chain in TABLES or (trace and identity.traceable):
        return None  # planned, or broken: no dialect fits a file of a chain that has some
    if identity.traceable:
        return LeftOut(path, identity.chain, because("needs-trace", chain=identity.chain))
    return LeftOut(path, identity.chain, because("no-script-for-chain", chain=identity.chain))


def _not_in_mode(identity: Identity, mode: str) -> Reason | None:
    """Why a mode is none of a config's; None where it is, or where only its plan can tell."""
    chain = identity.chain
    if chain not in CHAINS or CHAINS[chain].mode in ("", mode) or mode == DEFAULT_MODE:
        return None
    if identity.native and identity.dialect and mode in load(identity.dialect, chain).rules.whole.modes:
        return None
    return because("not-in-mode-of-chain", chain=chain, mode=mode)
