"""What the checks cost: at most 2 % of the chain's own time, on the base chain of mobilenet_v3_small.

``tipc run`` with and without its checks, in turns, each in a fresh copy of the zoo. The cost is what the
checks add to the wall time, the best of each counting, since the machine may be busy with other things at any
one moment; the chain's time is that of its steps one after the other. A training takes half a second more or
less each time, which can hide what the checks add: so the time in which no step ran (before the first one,
between two of them, after the last) is held to the same bound, and the larger of both counts. Beside it
stands the processor time that the checks take. Broken: exit 1.

The bound was 10 % while all checks were made after the last step.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tipc.run.record.run_store import load_run

BOUND = 0.02
ZOO = Path(__file__).parents[1] / "zoo" / "classification"
CONFIG = "test_tipc/configs/mobilenet_v3_small/train_infer_python.txt"
ROUNDS = 5  # a training takes half a second more or less, whatever is done beside it


@dataclass(frozen=True)
class Took:
    """One ``tipc run``, in seconds."""

    wall: float
    processor: float
    steps: float  # one after the other
    tail: float  # from the end of the last step to the end of the command
    idle: float  # in which no step ran


def run(*options: str) -> Took:
    """The chain once, in a fresh copy; its output goes to stderr if it fails."""
    # With bytecode, as an installation has it: else every import of paddle is dearer than it is.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory(prefix="tipc-bench-") as scratch:
        repo = Path(scratch) / "classification"
        shutil.copytree(ZOO, repo, ignore=shutil.ignore_patterns("output", ".tipc", "log", "__pycache__"))
        command = [sys.executable, "-m", "tipc", "run", CONFIG, "lite_train_lite_infer", *options]
        env["TIPC_HOME"] = str(repo / ".tipc")
        before, begun = processor(), time.time()
        done = subprocess.run(command, cwd=repo, env=env, capture_output=True, text=True, check=False)
        ended, used = time.time(), processor() - before
        if done.returncode:
            sys.stderr.write(done.stdout + done.stderr)
            raise SystemExit(f"{' '.join(command[1:])} ended with status {done.returncode}")
        results = load_run(None, repo / ".tipc").results.values()
    last, idle = begun, 0.0
    for result in sorted(results, key=lambda result: result.started):
        idle += max(0.0, result.started - last)
        last = max(last, result.started + result.wall)
    steps = sum(result.wall for result in results)
    return Took(ended - begun, used, steps, ended - last, idle + ended - last)


def processor() -> float:
    """Seconds of processor time of the commands so far, with all that they started."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> int:
    """Print the ratio; 1 if it is above the bound."""
    run("--no-checks")  # once for the file cache and the bytecode
    plain, checked = [], []
    for _ in range(ROUNDS):
        plain.append(run("--no-checks"))
        checked.append(run())
    chain = min(took.steps for took in plain)
    cost = min(took.wall for took in checked) - min(took.wall for took in plain)
    used = min(took.processor for took in checked) - min(took.processor for took in plain)
    tails = min(took.tail for took in plain), min(took.tail for took in checked)
    idle = min(took.idle for took in checked) - min(took.idle for took in plain)
    ratio = max(cost, idle) / chain
    print(f"checks   {cost:+.2f} s, no step ran {idle:+.2f} s, chain {chain:.1f} s")
    print(f"         ratio of the larger one {ratio:.3f} (bound {BOUND})")
    after = f"{tails[0]:.2f} s without, {tails[1]:.2f} s with"
    print(f"         processor {used:+.2f} s; after the last step {after}")
    return 0 if ratio <= BOUND else 1


if __name__ == "__main__":
    sys.exit(main())
