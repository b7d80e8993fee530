"""What one entry of ``gpu_list`` means: by its length, as the scripts guess it, or by what it says."""

from __future__ import annotations

from typing import NamedTuple

from tipc.config.bash import split
from tipc.config.rules import Rules
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
        return tuple(address.strip() for address in self.ips.split(",") if address.strip())


def _first(text: str) -> str:
    """What ``export X=<first id>`` assigns: the text up to a blank or a shell operator."""
    first = (split(text, ",") or [""])[0]
    return next((first[:end] for end, char in enumerate(first) if char in " \t;&<>()"), first)


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
        visible = _first(entry) if rules.machine_env else None
    several = len(ips) > rules.threshold
    if rules.nodes_when_launched and len(entry) <= 2:
        several = False
    launch = MULTI
    if len(entry) <= 2:
        launch = SINGLE
    elif several:
        launch = MACHINES
    nodes = len(split(ips, ",")) if several else 1
    return Placement(entry, ips, visible, launch, nodes, entry == "-1", several)


def by_ids(entry: str) -> Placement:
    """As the documentation means it: ids with commas, machines before a semicolon, -1 or cpu for no GPU."""
    ips, semicolon, text = entry.rpartition(";")
    machines = [ip for ip in ips.split(",") if ip.strip()] if semicolon else []
    ids = [part.strip() for part in text.split(",") if part.strip()]
    if ids in (["-1"], ["cpu"]):
        return Placement(text.strip(), "", None, SINGLE, 1, True)
    launch = SINGLE
    if len(machines) > 1:
        launch = MACHINES
    elif len(ids) > 1:
        launch = MULTI
    nodes = max(1, len(machines))
    visible = ids[0] if ids else None
    return Placement(",".join(ids), ",".join(machines), visible, launch, nodes, several=nodes > 1)
