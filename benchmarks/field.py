"""A single-cell chain of a real repository by ``tipc run``, checks and all, against its own bash.

Both run in fresh copies of the checkout, on the same drawn data and in the same environment (see
``field/``). They take turns, and the better time of each counts. Bound: at most 0.8 of the bash's wall time.
Broken: exit 1. Needs a checkout of PaddleSeg below ``$TIPC_FIELD``; skipped, saying so, where there is none.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
# The benchmark has the name of the package that it uses: its own folder must not come first.
sys.path[:] = [
    str(ROOT),
    *(place for place in sys.path if Path(place or ".").resolve() != ROOT / "benchmarks"),
]

from field.bash_run import run_bash  # noqa: E402
from field.environment import make_environment  # noqa: E402
from field.rows import REPOSITORIES, ROWS, Row  # noqa: E402
from field.tipc_run import run_tipc  # noqa: E402
from field.work import copy_checkout  # noqa: E402

ROW = "PaddleSeg/pphumanseg_lite"
AT_MOST = 0.8
ROUNDS = 3
LIMIT = 900.0


def one_round(row: Row, checkouts: Path, env: Path) -> dict[str, float]:
    """Seconds of each, one after the other."""
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        bash = run_bash(row, copy_checkout(row, checkouts, folder / "bash"), env, folder, LIMIT)
        tipc = run_tipc(row, copy_checkout(row, checkouts, folder / "tipc"), env, folder, LIMIT)
    if bash.exit is None or tipc.exit is None:
        raise SystemExit(f"{row.id}: not done after {LIMIT:.0f} s")
    return {"bash": bash.seconds, "tipc": tipc.seconds}


def main() -> int:
    """Time both in turns; 1 if the bound is broken."""
    checkouts = Path(os.environ.get("TIPC_FIELD") or "nowhere")
    row = next(one for one in ROWS if one.id == ROW)
    repository = REPOSITORIES[row.repository]
    if not (checkouts / repository.root).is_dir():
        print(f"skipped: no checkout of {row.repository} below TIPC_FIELD")
        return 0
    work = Path(os.environ.get("TIPC_FIELD_WORK", ".field")).resolve()
    env = make_environment(repository, work / "envs")
    rounds = [one_round(row, checkouts, env) for _ in range(ROUNDS)]
    best = {name: min(one[name] for one in rounds) for name in ("bash", "tipc")}
    ratio = best["tipc"] / best["bash"]
    every = ", ".join(f"{one['tipc'] / one['bash']:.2f}" for one in rounds)
    print(
        f"{ROW} by tipc run with its checks: {ratio:.2f} of the bash (at most {AT_MOST}):"
        f" {best['tipc']:.1f} s against {best['bash']:.1f} s; the rounds: {every}"
    )
    return 0 if ratio <= AT_MOST else 1


if __name__ == "__main__":
    sys.exit(main())
