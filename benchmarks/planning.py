"""How long planning takes, against the scripts that it replaces.

Bounds: one config in process at most 2 ms (mean over the configs in their lite mode); every config in four
modes at most 1/50 of the 131 ms that the bash takes on average with instant commands; ``tipc --help`` and
``tipc plan`` as commands at most 6 times the start of a bare Python; ``tipc plan --json test_tipc/configs``
in each checkout below ``TIPC_FIELD`` at most 2 s. Times are CPU times, the best of several interleaved
rounds, since other work on the machine must not decide. Configs: ``TIPC_UPSTREAM``, or the zoos.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from tipc.errors import UsageError
from tipc.plan.build import build_plan
from tipc.plan.modes import MODES

ROOT = Path(__file__).parents[1]
UPSTREAM = Path(os.environ.get("TIPC_UPSTREAM", ROOT.parent / "shared" / "upstream"))
FAMILIES = ("models", "PaddleSeg", "PaddleOCR", "PaddleClas", "PaddleDetection")
BASH = 0.131
ROUNDS = 3
STARTS = 20


def configs() -> list[Path]:
    """The configs to plan: the recorded ones, else those of the zoos."""
    roots = [UPSTREAM / name for name in FAMILIES] if UPSTREAM.is_dir() else [ROOT / "zoo"]
    found = sorted(path for root in roots for path in root.glob("**/test_tipc/configs/**/*.txt"))
    return [path for path in found if not path.name.startswith("model_linux")]


def planning(paths: list[Path], mode: str) -> float:
    """Mean CPU seconds of one plan: for each config the best of a few rounds."""
    best = dict.fromkeys(paths, float("inf"))
    for _ in range(ROUNDS):
        for path in paths:
            start = time.process_time()
            try:
                build_plan(path, mode)
            except UsageError:  # a file with no training part has no plan in a training mode
                continue
            best[path] = min(best[path], time.process_time() - start)
    planned = [seconds for seconds in best.values() if seconds < float("inf")]
    return sum(planned) / len(planned)


def starting(commands: dict[str, list[str]]) -> dict[str, float]:
    """CPU seconds of each command, the best of interleaved starts, with compiled modules in place."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    best = dict.fromkeys(commands, float("inf"))
    for _ in range(STARTS):
        for name, argv in commands.items():
            process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, env=env)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                raise SystemExit(f"{name}: exit {process.returncode}")
            best[name] = min(best[name], usage.ru_utime + usage.ru_stime)
    return best


def repositories() -> dict[str, Path]:
    """The checkouts whose whole folder of configs is planned, by name."""
    field = os.environ.get("TIPC_FIELD", "")
    if not field:
        print("whole repositories: skipped, TIPC_FIELD names no folder with checkouts")
        return {}
    found = {}
    for name in FAMILIES[1:]:
        root = Path(field).resolve() / name
        if (root / "test_tipc/configs").is_dir():
            found[name] = root
        else:
            print(f"{name}: skipped, there is no {root}/test_tipc/configs")
    return found


def whole(root: Path) -> float:
    """CPU seconds of planning every config of a repository, the best of a few starts."""
    best = float("inf")
    argv = [sys.executable, "-m", "tipc", "plan", "--json", "test_tipc/configs"]
    for _ in range(ROUNDS):
        process = subprocess.Popen(argv, cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in (0, 2):  # 2: some of their configs are broken
            raise SystemExit(f"{root}: exit {process.returncode}")
        best = min(best, usage.ru_utime + usage.ru_stime)
    return best


def main() -> int:
    """Measure, print ratios, and say whether a bound is broken."""
    paths = configs()
    planning(paths[:5], MODES[0])  # the tables are loaded once
    kept = True

    def tell(what: str, value: str, good: bool) -> None:
        nonlocal kept
        kept = kept and good
        print(f"{what:<52} {value:<26} {'ok' if good else 'BROKEN'}")

    modes = {mode: planning(paths, mode) for mode in MODES}
    lite, mean = modes[MODES[0]], sum(modes.values()) / len(modes)
    tell(f"one config of {len(paths)} in process (bound 2 ms)", f"{lite * 1000:.2f} ms", lite <= 0.002)
    tell("all configs, four modes, of the bash's 131 ms (1/50)", f"1/{BASH / mean:.0f}", mean <= BASH / 50)
    config = str(next(path for path in paths if path.name == "train_infer_python.txt"))
    times = starting(
        {
            "python -c pass": [sys.executable, "-c", "pass"],
            "tipc --help": [sys.executable, "-m", "tipc", "--help"],
            "tipc plan": [sys.executable, "-m", "tipc", "plan", config],
            "tipc plan --json": [sys.executable, "-m", "tipc", "plan", config, "--json"],
        }
    )
    bare = times.pop("python -c pass")
    for name, seconds in times.items():
        tell(
            f"{name} of a bare start (bound 6)",
            f"{seconds / bare:.2f} × {bare * 1000:.1f} ms",
            seconds <= 6 * bare,
        )
    for name, root in repositories().items():
        seconds = whole(root)
        tell(f"every config of {name} (bound 2 s)", f"{seconds:.2f} s", seconds <= 2)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
