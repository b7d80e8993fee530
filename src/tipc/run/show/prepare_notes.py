"""What people are told around preparing data: before it runs what it would remove, after it what is amiss."""

from __future__ import annotations

from collections.abc import Sequence

from tipc.language import say
from tipc.run.prepare.data_at_risk import some_of
from tipc.run.record.results import StepResult
from tipc.run.show.log_tail import tail
from tipc.run.show.network import unreached_host

HOSTS = 3
LINES, REACH = 10_000, 1 << 20  # of a log


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


def data_notes(result: StepResult) -> list[str]:
    """What is amiss though preparing has ended with 0: scripts go on when a command of theirs fails."""
    notes = []
    if result.removed:
        notes.append(say("prepare removed {paths} and did not put it back", paths=some_of(result.removed)))
    hosts = unreached_hosts(result.log)
    if hosts:
        notes.append(say("prepare ended with 0, but the network does not reach {hosts}", hosts=hosts))
    return notes


def unreached_hosts(log: str) -> str:
    """The hosts that commands of a script did not reach, by its log; empty where there are none."""
    found: dict[str, None] = {}
    for line in tail(log, LINES, REACH):
        host = unreached_host(line)
        if host:
            found[host] = None
    return ", ".join(list(found)[:HOSTS])
