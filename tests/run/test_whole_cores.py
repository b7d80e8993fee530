"""Cores that share nothing with another: neither two threads nor a limited time of the processor."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tipc.run.schedule.whole_cores import whole_cores


class Machine:
    """What the kernel says about its processors and about the group of this process."""

    def __init__(self, root: Path) -> None:
        self.cpus, self.cgroups, self.own = root / "cpu", root / "cgroup", root / "own"

    def write(self, path: str, text: str) -> None:
        target = self.cgroups.parent / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def siblings(self, *lists: str) -> None:
        for number, text in enumerate(lists):
            self.write(f"cpu/cpu{number}/topology/thread_siblings_list", text + "\n")

    def count(self) -> int:
        return whole_cores(self.cpus, self.cgroups, self.own)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 1, 2, 3})
    made = Machine(tmp_path)
    made.siblings("0", "1", "2", "3")
    return made


def test_each_processor_is_a_core(machine: Machine) -> None:
    assert machine.count() == 4


def test_two_threads_of_a_core_are_one(machine: Machine) -> None:
    machine.siblings("0,2", "1,3", "0,2", "1,3")
    assert machine.count() == 2


def test_a_machine_that_does_not_tell_has_none(machine: Machine) -> None:
    (machine.cpus / "cpu3/topology/thread_siblings_list").unlink()
    assert machine.count() == 0


@pytest.mark.parametrize(
    ("limit", "cores"),
    [("250000 100000", 2), ("max 100000", 4), ("50000 100000", 0), ("800000 100000", 4), ("what?", 4)],
)
def test_a_container_has_the_time_of_so_many(machine: Machine, limit: str, cores: int) -> None:
    machine.write("cgroup/cpu.max", limit + "\n")
    assert machine.count() == cores


def test_the_strictest_of_the_groups_that_it_is_in_counts(machine: Machine) -> None:
    machine.write("own", "0::/outer/inner\n")
    machine.write("cgroup/outer/cpu.max", "200000 100000")
    machine.write("cgroup/outer/inner/cpu.max", "300000 100000")
    assert machine.count() == 2


@pytest.mark.parametrize(("quota", "cores"), [("150000", 1), ("-1", 4), ("", 4)])
def test_the_older_form_of_the_limit(machine: Machine, quota: str, cores: int) -> None:
    machine.write("own", "4:cpu,cpuacct:/box\n")
    machine.write("cgroup/cpu/box/cpu.cfs_quota_us", quota)
    machine.write("cgroup/cpu/box/cpu.cfs_period_us", "100000")
    assert machine.count() == cores


def test_on_this_machine_there_are_no_more_than_processors() -> None:
    assert 0 <= whole_cores() <= len(os.sched_getaffinity(0))
