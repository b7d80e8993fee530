"""Single-cell chains of real repositories by ``tipc run``, checks and all, against their own bash.

One chain of each family: training, evaluation where the repository has one, export, inference. Both run in
fresh copies of the checkout, on the same drawn data and in the same environment (see ``field/``), and write
bytecode, as Python usually does. They take turns, and the better time of each counts. Bound: each chain
takes at most 0.8 of its bash's wall time; what all take together is printed, too. Broken by any: exit 1.
Needs checkouts below ``$TIPC_FIELD``: those that are not there are left out, and without any it is skipped.
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

CHAINS = (
    "PaddleSeg/pphumanseg_lite",
    "PaddleClas/MobileNetV3_small",
    "PaddleOCR/ch_ppocr_mobile_v2_0_rec",
    "PaddleDetection/picodet_s_320",
    "models/Step6",
)
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


def best_of(row: Row, checkouts: Path, work: Path) -> dict[str, float]:
    """The best seconds of each in some rounds; says what they were."""
    env = make_environment(REPOSITORIES[row.repository], work / "envs")
    rounds = [one_round(row, checkouts, env) for _ in range(ROUNDS)]
    best = {name: min(one[name] for one in rounds) for name in ("bash", "tipc")}
    every = ", ".join(f"{one['tipc'] / one['bash']:.2f}" for one in rounds)
    print(
        f"{row.id}: {best['tipc'] / best['bash']:.2f} of the bash, {best['tipc']:.1f} s against"
        f" {best['bash']:.1f} s; the rounds: {every}",
        flush=True,
    )
    return best


def main(names: list[str]) -> int:
    """Time both in turns; 1 if the bound is broken. Names of rows are a part of the chains."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    checkouts = Path(os.environ.get("TIPC_FIELD") or "nowhere")
    work = Path(os.environ.get("TIPC_FIELD_WORK", ".field")).resolve()
    rows = {row.id: row for row in ROWS}
    total = {"bash": 0.0, "tipc": 0.0}
    above = []
    for name in names or CHAINS:
        row = rows[name]
        if not (checkouts / REPOSITORIES[row.repository].root).is_dir():
            print(f"{name}: left out, no checkout of {row.repository} below TIPC_FIELD")
            continue
        best = best_of(row, checkouts, work)
        for side, seconds in best.items():
            total[side] += seconds
        if best["tipc"] > AT_MOST * best["bash"]:
            above.append(name)
    if not total["bash"]:
        print("skipped: no checkout below TIPC_FIELD")
        return 0
    print(
        f"all of them together: {total['tipc'] / total['bash']:.2f}; above {AT_MOST}:"
        f" {', '.join(above) or 'none'}"
    )
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
