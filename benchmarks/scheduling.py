"""What tipc itself costs: 2,000 steps of ``true``, and a step that only takes time.

Bounds: a step costs at most 3 ms more than fork and exec alone; 2,000 steps take no more memory than 200 do
(within 16 MB); while a step runs, tipc uses less than 1 % of a core.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
import time
from pathlib import Path

import psutil

from tipc.plan.model import Cell, Plan, Step
from tipc.run import store
from tipc.run.graph import build_graph
from tipc.run.local import LocalExecutor
from tipc.run.progress import Progress
from tipc.run.scheduler import Scheduler, Settings

STEPS = 2000
ROUNDS = 4
MAX_OVERHEAD = 3.0  # milliseconds a step
MAX_GROWTH = 16.0  # megabytes
MAX_IDLE = 1.0  # per cent of a core
QUIET = 5.0  # seconds


def plan_of(repo: Path, count: int, argv: tuple[str, ...]) -> Plan:
    """That many independent steps of the same command."""
    steps = tuple(
        Step(f"c/{number}", "infer", "c", argv, {}, ".", f"output/{number}.log", (), (), f" Run {number}")
        for number in range(count)
    )
    cells = (Cell("c", "norm_train", "-1", "cpu"),)
    return Plan(
        "none", "lite", "models", "true", str(repo), False, cells, steps, results_log="output/results.log"
    )


def run(folder: Path, plan: Plan) -> float:
    """Run a plan one step after the other; seconds."""
    journal = store.create_run([plan], {}, where=folder)
    executor = LocalExecutor()
    wanted = frozenset((plan.key, step.id) for step in plan.steps)
    progress = Progress(io.StringIO(), len(wanted))
    nodes = build_graph([plan], {})
    scheduler = Scheduler(nodes, journal, executor, Settings(cores=1), progress, wanted)
    began = time.perf_counter()
    with journal:
        results = scheduler.run()
    seconds = time.perf_counter() - began
    executor.close()
    if not all(result.ok for result in results.values()):
        raise SystemExit(f"a step failed: {next(r for r in results.values() if not r.ok)}")
    return seconds


def fork_and_exec(argv: tuple[str, ...], count: int) -> float:
    """The same commands with nothing around them; seconds."""
    began = time.perf_counter()
    for _ in range(count):
        os.waitpid(os.posix_spawnp(argv[0], argv, os.environ), 0)
    return time.perf_counter() - began


def overhead(folder: Path) -> tuple[float, float, float]:
    """Milliseconds a step: bare, with tipc; and how many megabytes all steps added after the first round."""
    bare = ours = 0.0
    part = STEPS // ROUNDS
    process = psutil.Process()
    for number in range(ROUNDS):
        bare += fork_and_exec(("true",), part)
        ours += run(folder, plan_of(folder / f"repo{number}", part, ("true",)))
        if number == 0:
            small = process.memory_info().rss
    return bare / STEPS * 1000, ours / STEPS * 1000, (process.memory_info().rss - small) / 1e6


def idle_use(folder: Path) -> float:
    """Per cent of a core that this process takes while a step sleeps."""
    before = time.process_time()
    seconds = run(folder, plan_of(folder / "quiet", 1, ("sleep", str(QUIET))))
    return (time.process_time() - before) / seconds * 100


def main() -> int:
    """Measure, print, and say whether the bounds hold."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(ROUNDS):
            (folder / f"repo{number}").mkdir()
        (folder / "quiet").mkdir()
        bare, ours, growth = overhead(folder)
        idle = idle_use(folder)
    rows = [
        (
            f"{STEPS} steps of `true`, over fork and exec ({bare:.2f} ms)",
            ours - bare,
            MAX_OVERHEAD,
            "ms a step",
        ),
        ("memory added by the steps after the first round", growth, MAX_GROWTH, "MB"),
        ("tipc itself while a step runs", idle, MAX_IDLE, "% of a core"),
    ]
    for what, value, bound, unit in rows:
        print(f"{what}: {value:.2f} {unit} (at most {bound:g})")
    return int(any(value > bound for _, value, bound, _ in rows))


if __name__ == "__main__":
    sys.exit(main())
