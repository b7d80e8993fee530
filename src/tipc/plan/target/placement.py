"""What one entry of ``gpu_list`` means: by its length, as the scripts guess it, or by what it says."""

from __future__ import annotations

import re
from typing import NamedTuple

from tipc.config.bash import split
from tipc.config.rules import Rules
from tipc.kinds import CPU
from tipc.plan.bash_tests import bare

SINGLE, MULTI, MACHINES = 0, 1, 2  # the index into ``Rules.train``


class Placement(NamedTuple):
    """Where a cell trains."""

    gpu: str  # as it is pasted into commands and names
    ips: str
    visible: str | None  # what ``eval $env`` makes CUDA_VISIBLE_DEVICES; None: it leaves it alone
    launch: int  # SINGLE, MULTI or MACHINES
    nodes: int
    cpu: bool = False  # the entry asks for no GPU at all
    several: bool = False  # the script takes it for several machines

    @property
    def machines(self) -> tuple[str, ...]:
        """The addresses of the machines that it names."""
        return tuple(_ids(self.ips))


def _ids(text: str) -> list[str]:
    """The parts between commas, without blanks around them; no empty ones."""
    stripped = map(str.strip, text.split(","))
    return [part for part in stripped if part]


def _first(text: str) -> str:
    """What ``export X=<first id>`` assigns: the text up to a blank or a shell operator."""
    parts = split(text, ",")
    if not parts:
        return ""
    return re.split(r"[ \t;&<>()]", parts[0], maxsplit=1)[0]


def by_length(entry: str, rules: Rules) -> Placement:
    """As the scripts do it: an entry longer than 15 characters must be ``ips;ids``, two are a single GPU."""
    ips = ""
    visible: str | None
    if bare(entry, "=", "-1"):
        visible = None
    elif len(entry) <= 15:
        visible = _first(entry)
    else:
        parts = [*split(entry, ";"), "", ""]
        ips, entry = parts[0], parts[1]
        visible = None
        if rules.machine_env:
            visible = _first(entry)
    single = len(entry) <= 2
    several = len(ips) > rules.threshold and not (rules.nodes_when_launched and single)
    nodes = 1
    launch = MULTI
    if several:
        nodes = len(split(ips, ","))
        launch = MACHINES
    if single:
        launch = SINGLE
    return Placement(entry, ips, visible, launch, nodes, entry == "-1", several)


def by_ids(entry: str) -> Placement:
    """As the documentation means it: ids with commas, machines before a semicolon, -1 or cpu for no GPU."""
    ips, _, text = entry.rpartition(";")
    ids = _ids(text)
    if ids in (["-1"], [CPU]):
        return Placement(text.strip(), "", None, SINGLE, 1, True)
    machines = [ip for ip in ips.split(",") if ip.strip()]
    nodes = max(1, len(machines))
    launch = SINGLE
    if nodes > 1:
        launch = MACHINES
    elif len(ids) > 1:
        launch = MULTI
    visible = None
    if ids:
        visible = ids[0]
    return Placement(",".join(ids), ",".join(machines), visible, launch, nodes, several=nodes > 1)
