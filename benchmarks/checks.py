"""What the checks cost: at most 10 % of the chain's own time, on the base chain of mobilenet_v3_small.

Runs the chain once (``tipc run --no-checks``) in a scratch copy of the zoo, then makes all checks on it
(``tipc certify``) three times, each as a command of its own. The cost is the fastest of the three, since the
machine may be busy with other things at any one moment; the chain's time is that of its steps one after the
other.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tipc.run.store import load_run

BOUND = 0.10
ZOO = Path(__file__).parents[1] / "zoo" / "classification"
CONFIG = "test_tipc/configs/mobilenet_v3_small/train_infer_python.txt"
ROUNDS = 3


def tipc(repo: Path, *arguments: str) -> float:
    """Seconds of one command; its output goes to stderr if it fails."""
    begin = time.perf_counter()
    env = {**os.environ, "TIPC_HOME": str(repo / ".tipc")}
    done = subprocess.run(
        [sys.executable, "-m", "tipc", *arguments],
        cwd=repo,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.stderr.write(done.stdout + done.stderr)
        raise SystemExit(f"tipc {' '.join(arguments)} ended with status {done.returncode}")
    return time.perf_counter() - begin


def main() -> int:
    """Print the ratio; 1 if it is above the bound."""
    with tempfile.TemporaryDirectory(prefix="tipc-bench-") as scratch:
        repo = Path(scratch) / "classification"
        shutil.copytree(ZOO, repo, ignore=shutil.ignore_patterns("output", ".tipc", "log", "__pycache__"))
        tipc(repo, "run", CONFIG, "lite_train_lite_infer", "--no-checks")
        chain = sum(result.wall for result in load_run(None, repo / ".tipc").results.values())
        cost = min(tipc(repo, "certify") for _ in range(ROUNDS))
    ratio = cost / chain
    print(f"checks   {cost:.1f} s, chain {chain:.1f} s: ratio {ratio:.3f} (bound {BOUND})")
    return 0 if ratio <= BOUND else 1


if __name__ == "__main__":
    sys.exit(main())
