"""Devices and signs: a row of a table is enough."""

from __future__ import annotations

import os

import pytest

from tipc.kinds import DEVICES, SIGNS, STATE_OF_STATUS, STATUSES, WORST_FIRST
from tipc.plan.plan_text import machine_text
from tipc.plan.target import machine


def test_every_device_that_has_files_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    files = [f"{device.files}{number}" for device in DEVICES.values() if device.files for number in (0, 1)]
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(os, "listdir", lambda _path: [*files, "null", "nvidiactl"])
    machine._device_files.cache_clear()
    here = machine.this_machine()
    machine._device_files.cache_clear()
    for device in DEVICES.values():
        if device.files:
            assert here.count(device.name) == 2, device.name
    assert here.count("dcu") == machine.UNCOUNTED
    assert "mlu ×2" in machine_text(here)


def test_hidden_gpus_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setattr(machine, "_device_files", lambda prefix: int(prefix == "nvidia"))
    assert machine.this_machine().gpus == 0
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    assert machine.this_machine().gpus == 1


def test_every_state_has_a_sign_and_no_two_unlike_states_share_one() -> None:
    assert set(SIGNS) == set(WORST_FIRST)
    failures = {SIGNS[state].mark for state in ("failed", "timeout", "check failed")}
    others = [sign.mark for sign in SIGNS.values() if sign.mark not in failures]
    assert len(failures) == 1
    assert len(others) == len(set(others))
    assert {STATE_OF_STATUS[status] for status in STATUSES} <= set(SIGNS)
