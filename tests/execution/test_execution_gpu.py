"""GPU use, measured against a fake of NVML: this machine need not have a card."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace

import pytest
from execution_bench import Bench

from tipc.run.executors import gpu_use as gpu
from tipc.run.executors.local import LocalExecutor

GB = 1 << 30


class FakeNvml(ModuleType):
    """A fake with two cards: answers in the form of the binding whatever the test puts into it."""

    NVMLError = type("NVMLError", (Exception,), {})

    def __init__(self) -> None:
        super().__init__("pynvml")
        self.used = {0: 1 * GB, 1: 0}
        self.processes: dict[int, list[SimpleNamespace]] = {0: [], 1: []}
        self.rates = {0: 0, 1: 0}
        self.broken = False

    def nvmlInit(self) -> None:
        if self.broken:
            raise self.NVMLError("Driver Not Loaded")

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
        if index not in self.used:
            raise self.NVMLError("Invalid Argument")
        return index

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> int:
        return {"GPU-first": 0, "GPU-second": 1}[uuid]

    def nvmlDeviceGetMemoryInfo(self, handle: int) -> SimpleNamespace:
        return SimpleNamespace(used=self.used[handle])

    def nvmlDeviceGetComputeRunningProcesses(self, handle: int) -> list[SimpleNamespace]:
        return self.processes[handle]

    def nvmlDeviceGetUtilizationRates(self, handle: int) -> SimpleNamespace:
        return SimpleNamespace(gpu=self.rates[handle], memory=0)


@pytest.fixture
def fake_nvml(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeNvml]:
    fake = FakeNvml()
    monkeypatch.setitem(sys.modules, "pynvml", fake)
    monkeypatch.setattr(gpu, "EVERY", 0.0)
    gpu.nvml.cache_clear()
    yield fake
    gpu.nvml.cache_clear()


def process(pid: int, used: int | None) -> SimpleNamespace:
    return SimpleNamespace(pid=pid, usedGpuMemory=used)


def test_the_memory_of_the_steps_own_processes_counts(fake_nvml: FakeNvml) -> None:
    use = gpu.watch(("0", "1"))
    assert use is not None
    fake_nvml.processes = {0: [process(7, 2 * GB), process(99, 5 * GB)], 1: [process(8, 3 * GB)]}
    fake_nvml.used = {0: 8 * GB, 1: 3 * GB}
    fake_nvml.rates = {0: 90, 1: 50}
    use.sample_if_due(lambda: [7, 8])
    fake_nvml.processes = {0: [process(7, 1 * GB)], 1: []}
    fake_nvml.used = {0: 2 * GB, 1: 0}
    fake_nvml.rates = {0: 10, 1: 50}
    use.sample_if_due(lambda: [7, 8])
    assert (use.peak, use.mean) == (5 * GB, 50.0)


def test_where_pids_are_not_told_what_came_on_top_counts(fake_nvml: FakeNvml) -> None:
    use = gpu.watch(("GPU-first",))
    assert use is not None
    fake_nvml.used[0] = 4 * GB
    fake_nvml.processes[0] = [process(31337, None)]
    use.sample_if_due(lambda: [7])
    assert use.peak == 3 * GB


def test_a_card_that_was_lost_ends_no_run(fake_nvml: FakeNvml) -> None:
    use = gpu.watch(("0",))
    assert use is not None
    fake_nvml.nvmlDeviceGetUtilizationRates = lambda handle: (_ for _ in ()).throw(
        fake_nvml.NVMLError("lost")
    )  # type: ignore[method-assign]
    use.sample_if_due(list)
    assert (use.peak, use.mean) == (0, 0.0)


def test_without_gpus_package_driver_or_card_nothing_is_measured(
    fake_nvml: FakeNvml, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert gpu.watch(()) is None
    assert gpu.watch(("5",)) is None
    gpu.nvml.cache_clear()
    fake_nvml.broken = True
    assert gpu.watch(("0",)) is None
    gpu.nvml.cache_clear()
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert gpu.watch(("0",)) is None


def test_the_outcome_of_a_step_has_its_gpu_use(
    bench: Bench, local: LocalExecutor, fake_nvml: FakeNvml
) -> None:
    ticket = local.start(bench.task("sleep", "1000", gpus=("1",)))
    fake_nvml.used[1] = 2 * GB
    fake_nvml.rates[1] = 80
    use = local._running[ticket].gpu
    assert bench.eventually(lambda: local.wait(0.05) or (use and use.peak))
    local.kill(ticket)
    outcome = local.wait(None)[0][1]
    assert (outcome.peak_gpu, outcome.gpu_util) == (2 * GB, 80.0)
