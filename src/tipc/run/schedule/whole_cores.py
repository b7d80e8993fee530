"""How many cores of this machine we have that share nothing with another.

What runs on one of them hardly changes what a step on another measures. Two threads of one core do, and so do
processes that share a limited time of the processor: neither counts as two.
"""

from __future__ import annotations

import os
from pathlib import Path

CPUS = Path("/sys/devices/system/cpu")
CGROUPS = Path("/sys/fs/cgroup")
OWN_CGROUP = Path("/proc/self/cgroup")


def whole_cores(cpus: Path = CPUS, cgroups: Path = CGROUPS, own: Path = OWN_CGROUP) -> int:
    """Those that this process may use; 0: they cannot be told apart."""
    cores = set()
    for number in os.sched_getaffinity(0):
        try:
            cores.add((cpus / f"cpu{number}" / "topology" / "thread_siblings_list").read_text().strip())
        except OSError:
            return 0
    limit = _limit(cgroups, own)
    if limit is None:
        return len(cores)
    return min(len(cores), int(limit))


def _limit(cgroups: Path, own: Path) -> float | None:
    """The cores whose time a container may use, by the strictest of the groups that we are in; None: all."""
    limits = []
    for place in [*_places(own), "."]:
        folder = cgroups / place
        for known in (_newer_limit(folder), _older_limit(cgroups / "cpu" / place)):
            if known is not None:
                limits.append(known)
    return min(limits, default=None)


def _places(own: Path) -> list[str]:
    """The groups of this process, each with those above it."""
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        place = Path(line.rpartition(":")[2].strip().lstrip("/"))
        found += [str(one) for one in (place, *place.parents)]
    return found


def _newer_limit(folder: Path) -> float | None:
    """``cpu.max`` is ``QUOTA PERIOD``; the first word may be ``max``."""
    try:
        quota, period = (folder / "cpu.max").read_text().split()
        return int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return None


def _older_limit(folder: Path) -> float | None:
    """Version 1 has two files; a quota of -1 is none."""
    try:
        quota = int((folder / "cpu.cfs_quota_us").read_text())
        period = int((folder / "cpu.cfs_period_us").read_text())
    except (OSError, ValueError):
        return None
    if quota <= 0 or period <= 0:
        return None
    return quota / period
