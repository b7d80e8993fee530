"""The modes, and which of them a config knows."""

from __future__ import annotations

from tipc.config.bash import items, second_field
from tipc.config.layout import Config
from tipc.config.rules import Rules
from tipc.kinds import CHAINS

DEFAULT_MODE = "lite_train_lite_infer"
MODES = (DEFAULT_MODE, "lite_train_whole_infer", "whole_train_whole_infer", "whole_infer")


def trains(rules: Rules) -> bool:
    """Whether a chain has modes that train."""
    return any(rules.train)


def mode_of(mode: str, rules: Rules, *, as_upstream: bool) -> str:
    """The mode that is meant; empty: none was named.

    Where nothing is trained, the default one means the chain's own. To the letter it does not: there the
    script does nothing, unless it never looks at its mode.
    """
    if trains(rules):
        return mode or DEFAULT_MODE
    own = rules.whole.modes[0]
    if not mode:
        return own
    ignored = mode == DEFAULT_MODE
    if as_upstream:
        ignored = not rules.whole.reads_mode
    if ignored:
        return own
    return mode


def mode_of_chain(mode: str, chain: str) -> str:
    """The mode that a traced script is given: the default one means the chain's own."""
    mode = mode or DEFAULT_MODE
    if mode == DEFAULT_MODE and chain in CHAINS:
        return CHAINS[chain].mode or mode
    return mode


def known_modes(config: Config, rules: Rules, *, as_upstream: bool) -> list[str]:
    """The usual modes, those that the script tells apart, and those that a line of the config lists."""
    own = rules.whole.modes
    if not trains(rules):
        if as_upstream:
            return list(dict.fromkeys((*own, *MODES)))
        return list(own)
    found = dict.fromkeys((*MODES, *own))
    for name, row in config.rows.items():
        if "p" not in row.reads:
            continue
        for item in items(second_field(config.line(name))):
            mode, equals, _ = item.text.strip().partition("=")
            if equals and mode.isidentifier():
                found.setdefault(mode)
    return list(found)
