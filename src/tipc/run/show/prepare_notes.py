"""What people are told around preparing data: before it runs what it would remove, after it what is amiss."""

from __future__ import annotations

from tipc.language import say
from tipc.plan.model import Plan
from tipc.run.prepare.data_at_risk import data_at_risk, some_of
from tipc.run.prepare.interpreters import absent_interpreters, pips_of_others
from tipc.run.record.results import StepResult
from tipc.run.show.log_tail import tail
from tipc.run.show.network import unreached_host

HOSTS = 3
LINES, REACH = 10_000, 1 << 20  # of a log


def notes_before(plan: Plan, option: str = "") -> list[str]:
    """What preparing a plan would remove, and what it calls in vain; ``option`` is how not to prepare."""
    notes = []
    removed = some_of(data_at_risk(plan))
    if removed and option:
        notes.append(
            say(
                "preparing {config} will remove {paths} ({option}: it will not)",
                config=plan.config,
                paths=removed,
                option=option,
            )
        )
    elif removed:
        notes.append(say("preparing {config} will remove {paths}", config=plan.config, paths=removed))
    absent = ", ".join(absent_interpreters(plan))
    if absent:
        notes.append(
            say(
                "preparing {config} calls {names}, which is not on PATH: what it would install with it, "
                "install by hand, or put a link of that name to your interpreter on PATH",
                config=plan.config,
                names=absent,
            )
        )
    pips = ", ".join(pips_of_others(plan))
    if pips and plan.interpreter is not None:
        notes.append(
            say(
                "preparing {config} installs packages with {names}, while steps run {python}: "
                "that one's folder, put first on PATH, changes it",
                config=plan.config,
                names=pips,
                python=plan.interpreter.program,
            )
        )
    return notes


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
