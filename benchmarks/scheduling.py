"""What a run costs beside its steps, scheduler, journal, logs and executor together.

Bounds: 2,000 steps of ``true`` cost at most 3 ms a step over fork and exec (the median of rounds taken in
turn, files on a memory disk if there is one, so that the disk is not what is measured); the last round takes
no more memory than the first (within 16 MB); while a step runs, tipc uses less than 1 % of a core;
``tipc run`` of a config with 10,000 steps, with its checks and its report, takes at most 120 MB, those of
its steps and probes not counted.
"""

from __future__ import annotations

import io
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "run"))

import toy_repo

from tipc.plan.model import Cell, Plan, Step
from tipc.run.executors.local import LocalExecutor
from tipc.run.record import run_store
from tipc.run.schedule.graph import build_graph
from tipc.run.schedule.scheduler import Scheduler, Settings
from tipc.run.show.progress import Progress

STEPS = 2000
ROUND = 50
MAX_OVERHEAD = 3.0  # milliseconds a step
MAX_GROWTH = 16.0  # megabytes
MAX_IDLE = 1.0  # per cent of a core
QUIET = 5.0  # seconds
MANY = 10_000  # steps of one command
MAX_MEMORY = 120.0  # megabytes
OFTEN = 0.1  # seconds between two looks at the memory of a command
MEMORY_DISK = Path("/dev/shm")
TRUE = (shutil.which("true") or "true",)  # by its path, as plans name interpreters


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


def run(folder: Path, plan: Plan, executor: LocalExecutor) -> float:
    """Run a plan one step after the other; seconds."""
    (folder / plan.repo).mkdir(exist_ok=True)
    journal = run_store.create_run([plan], {}, where=folder)
    wanted = frozenset((plan.key, step.id) for step in plan.steps)
    progress = Progress(io.StringIO(), len(wanted))
    scheduler = Scheduler(build_graph([plan], {}), journal, executor, Settings(cores=1), progress, wanted)
    began = time.perf_counter()
    with journal:
        results = scheduler.run()
    seconds = time.perf_counter() - began
    failed = [result for result in results.values() if not result.ok]
    if failed:
        raise SystemExit(f"a step failed: {failed[0]}")
    return seconds


def fork_and_exec(argv: tuple[str, ...], count: int) -> float:
    """The same commands with nothing around them; seconds."""
    began = time.perf_counter()
    for _ in range(count):
        os.waitpid(os.posix_spawnp(argv[0], argv, os.environ), 0)
    return time.perf_counter() - began


def overhead(folder: Path, executor: LocalExecutor) -> tuple[float, float, float]:
    """Milliseconds a step, bare and by how much more with tipc; megabytes that all rounds but one added."""
    process = psutil.Process()
    bare, more = [], []
    first = 0
    for number in range(STEPS // ROUND):
        bare.append(fork_and_exec(TRUE, ROUND) / ROUND * 1000)
        seconds = run(folder, plan_of(folder / f"repo{number}", ROUND, TRUE), executor)
        more.append(seconds / ROUND * 1000 - bare[-1])
        first = first or process.memory_info().rss
    growth = (process.memory_info().rss - first) / 1e6
    return statistics.median(bare), statistics.median(more), growth


def idle_use(folder: Path, executor: LocalExecutor) -> float:
    """Per cent of a core that this process takes while a step sleeps."""
    before = time.process_time()
    seconds = run(folder, plan_of(folder / "quiet", 1, ("sleep", str(QUIET))), executor)
    return (time.process_time() - before) / seconds * 100


def whole_command(repo: Path) -> float:
    """Megabytes that ``tipc run`` of many steps takes at most, to the end of its report."""
    config = toy_repo.make(repo)
    sizes = "|".join(map(str, range(1, MANY - 2)))  # beside a training, an evaluation and an export
    config.write_text(config.read_text().replace("--batch-size:1|2|4", f"--batch-size:{sizes}"))
    argv = [sys.executable, "-m", "tipc", "run", str(config), "--no-prepare"]
    env = {**os.environ, "TIPC_HOME": str(repo / ".tipc")}
    process = subprocess.Popen(argv, cwd=repo, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    most = 0
    while process.poll() is None:
        most = max(most, peak_of(process.pid))
        time.sleep(OFTEN)
    made = [path.parent for path in repo.glob(".tipc/runs/*/report.html")]
    if len(made) != 1 or len(run_store.load_run(made[0]).results) != MANY:
        raise SystemExit(f"{' '.join(argv)} ended with status {process.returncode}")
    return most / 1024


def peak_of(process: int) -> int:
    """Kilobytes that a process itself has had at most; 0: it has ended."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    return 0


def main() -> int:
    """Measure, print, and say whether the bounds hold."""
    executor = LocalExecutor()
    with tempfile.TemporaryDirectory(dir=MEMORY_DISK if MEMORY_DISK.is_dir() else None) as name:
        bare, more, growth = overhead(Path(name), executor)
        idle = idle_use(Path(name), executor)
        executor.close()
        megabytes = whole_command(Path(name) / "many")
    rows = [
        (f"{STEPS} steps of `true`, over fork and exec ({bare:.2f} ms)", more, MAX_OVERHEAD, "ms a step"),
        ("memory added after the first round", growth, MAX_GROWTH, "MB"),
        ("tipc itself while a step runs", idle, MAX_IDLE, "% of a core"),
        (f"tipc run of {MANY} steps, with its checks and its report", megabytes, MAX_MEMORY, "MB"),
    ]
    for what, value, bound, unit in rows:
        print(f"{what}: {value:.2f} {unit} (at most {bound:g})")
    return int(any(value > bound for _, value, bound, _ in rows))


if __name__ == "__main__":
    sys.exit(main())
