"""The families of scripts that need no tracing: by what each is known, and its tables, loaded on demand."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from tipc.errors import UsageError, wording
from tipc.kinds import (
    BENCHMARK_CHAIN,
    CHAINS,
    DY2STATIC_CHAIN,
    TRAIN_CHAIN,
)
from tipc.suggestions import one_of

if TYPE_CHECKING:
    from tipc.config.rules import Dialect, OwnChain

# (line index, beginning of that line): what a family's files have at their places.
Keys = tuple[tuple[int, str], ...]


class Family(NamedTuple):
    """By what the repositories of a family are known."""

    repositories: tuple[str, ...]  # the name of the repository's directory
    packages: tuple[str, ...] = ()  # a directory of the repository


FAMILIES = {
    "models": Family(("models",)),
    "seg": Family(("PaddleSeg",), ("paddleseg",)),
    "ocr": Family(("PaddleOCR",), ("ppocr",)),
    "clas": Family(("PaddleClas",), ("ppcls",)),
    "det": Family(("PaddleDetection",), ("ppdet",)),
}
NAMES = tuple(FAMILIES)

TRAIN_KEYS: dict[str, Keys] = {
    "models": ((12, "trainer:"), (16, "eval:"), (21, "norm_export:"), (26, "inference:")),
    "seg": ((6, "--iters:"), (14, "trainer:"), (28, "--model_path:"), (46, "--config:")),
    "ocr": (
        (4, "Global.use_gpu:"),
        (6, "Global.epoch_num:"),
        (7, "Global.save_model_dir:"),
        (14, "trainer:"),
    ),
    "clas": (
        (4, "-o Global.device:"),
        (6, "-o Global.epochs:"),
        (14, "trainer:"),
        (46, "-o Global.inference_model_dir:"),
    ),
    "det": ((6, "epoch:"), (9, "pretrain_weights:"), (14, "trainer:"), (37, "infer_mode:")),
}
# Of the chains whose files are read by the tables of the training; others have theirs with their tables.
_KEYS: dict[str, dict[str, Keys]] = {
    TRAIN_CHAIN: TRAIN_KEYS,
    # The first section of such a file has the first 22 lines of the training layout.
    DY2STATIC_CHAIN: {"seg": TRAIN_KEYS["seg"][:2], "clas": TRAIN_KEYS["clas"][:3]},
    BENCHMARK_CHAIN: {name: TRAIN_KEYS[name] for name in ("seg", "ocr", "clas", "det")},
}

# chain → family → "module:attribute" of its table. A chain and a family that are not here are never native.
TABLES: dict[str, dict[str, str]] = {
    TRAIN_CHAIN: {name: f"tipc.config.dialects.{name}:DIALECT" for name in NAMES},
    # A section becomes a training config: its table is that of the training.
    DY2STATIC_CHAIN: {name: f"tipc.config.dialects.{name}:DIALECT" for name in ("seg", "clas")},
    # So does each run of a benchmark.
    BENCHMARK_CHAIN: {name: f"tipc.config.dialects.{name}:DIALECT" for name in ("seg", "ocr", "clas", "det")},
}
for _chain in CHAINS.values():
    if _chain.tables:
        _families = _chain.families or NAMES
        TABLES[_chain.name] = {
            name: f"tipc.config.dialects.{_chain.tables}:{name.upper()}" for name in _families
        }


@cache
def keys_of(chain: str) -> Mapping[str, Keys]:
    """By what lines the files of each family are known, for a chain.

    A chain with a file of tables may have ``KEYS`` there. Where it has none, the words that its layouts
    expect before a colon are as good.
    """
    if chain in _KEYS:
        return _KEYS[chain]
    found: dict[str, Keys] = {}
    if chain not in TABLES:
        return found
    module = import_module(f"tipc.config.dialects.{CHAINS[chain].tables}")
    given: Mapping[str, Keys] = getattr(module, "KEYS", {})
    for name in TABLES[chain]:
        found[name] = given.get(name) or _expected_keys(load(name, chain))
    return found


def _expected_keys(dialect: Dialect) -> Keys:
    found = []
    for row in dialect.layout.rows:
        if row.keys and row.reads:
            found.append((row.index, f"{row.keys[0]}:"))
    return tuple(found)


# Plug-ins are asked for no chain that is built in.
CHAINS_WITHOUT_PLUGINS = frozenset(CHAINS)


@cache
def own_chains() -> dict[str, OwnChain]:
    """The chains of plug-ins by name; from then on they are among ``tipc.kinds.CHAINS``."""
    from tipc import hooks
    from tipc.config.rules import OwnChain

    found = hooks.collect("tipc_chains", OwnChain, lambda own: own.chain.name, taken=CHAINS_WITHOUT_PLUGINS)
    for name, own in found.items():
        CHAINS[name] = own.chain
    return found


def chain_of_header(word: str) -> str:
    """The chain of a plug-in whose files have this header; empty where there is none."""
    for name, own in own_chains().items():
        if word in own.chain.headers:
            return name
    return ""


def dialect_of_chain(chain: str) -> str | None:
    """The dialect that reads the files of a plug-in's chain; None for other chains."""
    if chain in CHAINS_WITHOUT_PLUGINS or chain not in own_chains():
        return None
    return own_chains()[chain].dialects[0].name


@cache
def load(name: str, chain: str = TRAIN_CHAIN) -> Dialect:
    """The table of a family for a chain, or an error that lists the families."""
    if chain not in CHAINS_WITHOUT_PLUGINS and chain in own_chains():
        return _of_own_chain(name, own_chains()[chain])
    if name not in NAMES:
        return _of_plugin(name, chain)
    known = TABLES.get(chain, {})
    if name not in known:
        raise UsageError(
            wording("the dialect `{name}` has no table for {chain} files", name=name, chain=chain)
        )
    module, _, attribute = known[name].partition(":")
    dialect: Dialect = getattr(import_module(module), attribute)
    return dialect


def has_table(name: str, chain: str) -> bool:
    """Whether files of a chain can be planned by a dialect; those of plug-ins are for training."""
    if chain not in CHAINS_WITHOUT_PLUGINS and chain in own_chains():
        return any(dialect.name == name for dialect in own_chains()[chain].dialects)
    if name not in NAMES:
        return chain == TRAIN_CHAIN
    return name in TABLES.get(chain, {})


def _of_own_chain(name: str, own: OwnChain) -> Dialect:
    for dialect in own.dialects:
        if dialect.name == name:
            return dialect
    names = [dialect.name for dialect in own.dialects]
    raise UsageError(
        wording("the chain {chain} has no dialect `{name}`", chain=own.chain.name, name=name),
        remedy=one_of(name, names),
    )


def _of_plugin(name: str, chain: str) -> Dialect:
    """A dialect that a plug-in gives, or an error that lists those that there are."""
    from tipc import hooks
    from tipc.config.rules import Dialect

    known = hooks.collect(
        "tipc_dialects", Dialect, lambda dialect: dialect.name, built_in=sys.modules[__name__]
    )
    if name in known and chain == TRAIN_CHAIN:
        return known[name]
    raise UsageError(wording("there is no dialect `{name}`", name=name), remedy=one_of(name, known))


def tipc_dialects() -> list[Dialect]:
    """The families that come with tipc."""
    return [load(name) for name in NAMES]
