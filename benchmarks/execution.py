"""What running a step costs beside the step itself.

Bounds: a step of ``true`` at most 3 ms over bare fork and exec (medians of 2,000 each, taken in turn); memory
of tipc and its helpers flat from the 200th step to the last (1 MB); while a step measures, tipc and its
helpers use under 1 % of a core; the inference matrix of mobilenet_v3_small, its commands taken in turn, takes
warm at most 0.6 of its time cold. Any broken: exit 1.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

import psutil
from chain import CONFIG, MADE, MODE, REPO

from tipc.run.executors.executor import Task, TaskOutcome
from tipc.run.executors.local import LocalExecutor

STEPS, ROUND = 2000, 50
OVERHEAD_MS = 3.0
GROWTH_MB = 1.0
OWN_CPU = 0.01
WARM_OF_COLD = 0.6
PULSE = 0.25  # seconds: as the scheduler waits

MEASURING = """
import os, time
for _ in range(2):
    if os.fork() == 0:
        block = bytearray(os.urandom(1 << 20) * 100)
        time.sleep(60)
block = bytearray(os.urandom(1 << 20) * 200)
end = time.monotonic() + 8
while time.monotonic() < end:
    sum(range(10000))
os.killpg(0, 9)
"""
# The inference matrix of mobilenet_v3_small on a CPU: engine and batch size.
MATRIX = [(engine, batch) for engine in ("native", "onednn") for batch in ("1", "2")]


class Bench:
    """An executor and a directory to run in."""

    def __init__(self, directory: Path, warm: bool = False) -> None:
        self.directory = directory
        self.executor = LocalExecutor(warm=warm)
        self.env = dict(os.environ)

    def task(self, *argv: str) -> Task:
        log = self.directory / "logs" / "step.log"
        return Task(argv[0], argv, self.directory, self.env, log, timeout=None)

    def run(self, *argv: str) -> TaskOutcome:
        self.executor.start(self.task(*argv))
        ended: list[tuple[int, TaskOutcome]] = []
        while not ended:
            ended = self.executor.wait(PULSE)
        return ended[0][1]

    def succeed(self, *argv: str) -> TaskOutcome:
        """Run what must not fail: there is nothing to measure if it does."""
        outcome = self.run(*argv)
        if outcome.exit_code:
            sys.exit(f"{argv} failed:\n" + (self.directory / "logs" / "step.log").read_text()[-2000:])
        return outcome

    def helpers(self) -> list[psutil.Process]:
        """This process, the server and its keepers; not the steps below them."""
        this = psutil.Process()
        servers = this.children()
        return [this, *servers, *(keeper for server in servers for keeper in server.children())]


def bare(env: dict[str, str]) -> None:
    """What any runner must do, the fastest way: a fork of this process would cost by its memory."""
    os.waitpid(os.posix_spawn("/bin/true", ["true"], env), 0)


def overhead(directory: Path) -> bool:
    bench = Bench(directory)
    bench.run("/bin/true")
    ours: list[float] = []
    theirs: list[float] = []
    memory: list[int] = []
    while len(ours) < STEPS:
        for _ in range(ROUND):
            begun = time.perf_counter()
            bare(bench.env)
            theirs.append(time.perf_counter() - begun)
        for _ in range(ROUND):
            begun = time.perf_counter()
            bench.run("/bin/true")
            ours.append(time.perf_counter() - begun)
        memory.append(sum(process.memory_info().rss for process in bench.helpers()))
    bench.executor.close()
    extra = (statistics.median(ours) - statistics.median(theirs)) * 1000
    mean = (statistics.mean(ours) - statistics.mean(theirs)) * 1000
    growth = (memory[-1] - memory[200 // ROUND]) / (1 << 20)
    print(
        f"a step of true over fork and exec: median {extra:+.2f} ms (at most {OVERHEAD_MS}), mean {mean:+.2f}"
    )
    print(f"memory of tipc and its helpers, step 200 to {STEPS}: {growth:+.2f} MB (at most {GROWTH_MB})")
    return extra <= OVERHEAD_MS and growth <= GROWTH_MB


def own_cpu(directory: Path) -> bool:
    bench = Bench(directory)
    bench.run("/bin/true")
    (directory / "measuring.py").write_text(MEASURING)
    before = {process: process.cpu_times() for process in bench.helpers()}
    begun = time.monotonic()
    outcome = bench.run(sys.executable, "measuring.py")
    wall = time.monotonic() - begun
    used = 0.0
    for process, then in before.items():
        now = process.cpu_times()
        used += now.user + now.system - then.user - then.system
    bench.executor.close()
    share = used / wall
    peak = outcome.peak_rss / (1 << 20)
    print(
        f"own use while a step measures: {share:.2%} of a core (under {OWN_CPU:.0%}); its peak {peak:.0f} MB"
    )
    return share < OWN_CPU


def warm_against_cold(directory: Path) -> bool:
    repo = directory / "repo"
    shutil.copytree(REPO, repo, ignore=MADE)
    cold, warm = Bench(repo), Bench(repo, warm=True)
    train = ("train.py", "--epochs=1", "--batch-size=8", "--data-path=./lite_data", "--output-dir=trained")
    weights = "--pretrained=trained/latest.pdparams"
    export = ("tools/export_model.py", "--model=mobilenet_v3_small", weights, "--save-inference-dir=exported")
    infer = (
        "deploy/inference_python/infer.py",
        "--model-dir=exported",
        "--use-gpu=False",
        "--benchmark=True",
    )
    cold.succeed("bash", "test_tipc/prepare.sh", CONFIG, MODE)
    cold.succeed(sys.executable, *train, "--use-gpu=False")
    cold.succeed(sys.executable, *export)
    warm.executor.warm_up(warm.task(sys.executable, *infer))
    while not warm.succeed(sys.executable, *infer).warm:
        pass
    walls = {False: 0.0, True: 0.0}
    for engine, batch in MATRIX:
        for bench in (cold, warm):
            outcome = bench.succeed(sys.executable, *infer, f"--engine={engine}", f"--batch-size={batch}")
            walls[outcome.warm] += outcome.wall
    cold.executor.close()
    warm.executor.close()
    ratio = walls[True] / walls[False]
    print(
        f"the inference matrix of mobilenet_v3_small, warm: {ratio:.2f} of cold (at most {WARM_OF_COLD}):"
        f" {walls[True]:.1f} s against {walls[False]:.1f} s for {len(MATRIX)} commands"
    )
    return ratio <= WARM_OF_COLD


def main() -> int:
    """Measure all; 1 if a bound is broken."""
    with tempfile.TemporaryDirectory() as directory:
        kept = [measure(Path(directory)) for measure in (overhead, own_cpu, warm_against_cold)]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
