"""What people are told around preparing data: before it runs what it would remove, after it what is amiss."""

from __future__ import annotations

from collections.abc import Sequence

from tipc.language import say
from tipc.run.prepare.data_at_risk import some_of


def removal_note(config: str, paths: Sequence[str], option: str = "") -> str:
    """What preparing a config would remove; ``option`` keeps a call from preparing."""
    if not option:
        return say("preparing {config} will remove {paths}", config=config, paths=some_of(paths))
    return say(
        "preparing {config} will remove {paths} ({option}: it will not)",
        config=config,
        paths=some_of(paths),
        option=option,
    )
