"""Lint every real config in one process, and start ``tipc lint`` on one file.

Bound: all files of the upstream collection (266) take at most 2 s of the process. Where the collection is not
there, as many copies of one file do. One ``tipc lint FILE`` is compared with ``python -c pass``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tipc.config.lint.linter import lint_file

ROOT = Path(__file__).parents[1]
UPSTREAM = Path(os.environ.get("TIPC_UPSTREAM", ROOT.parent / "shared" / "upstream"))
FILES = 266
MOST_SECONDS = 2.0
STARTS = 7


def collection(scratch: Path) -> list[Path]:
    """The upstream configs, or as many copies of one of our own."""
    found = sorted(UPSTREAM.glob("*/test_tipc/**/*.txt")) if UPSTREAM.is_dir() else []
    if found:
        return found
    print(f"no upstream configs at {UPSTREAM}: linting {FILES} copies of one file")
    own = next(iter(sorted(ROOT.glob("zoo/*/test_tipc/configs/*/train_infer_python.txt")))).read_bytes()
    paths = [scratch / "test_tipc" / "configs" / f"{number}.txt" for number in range(FILES)]
    paths[0].parent.mkdir(parents=True)
    for path in paths:
        path.write_bytes(own)
    return paths


def shortest(*commands: list[str]) -> list[float]:
    """The shortest time of each command, started in turn."""
    best = [float("inf")] * len(commands)
    for _ in range(STARTS):
        for number, command in enumerate(commands):
            started = time.perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
            best[number] = min(best[number], time.perf_counter() - started)
    return best


def main() -> int:
    """Print the figures; 1 if the bound is broken."""
    with tempfile.TemporaryDirectory() as scratch:
        paths = collection(Path(scratch))
        started = time.process_time()
        findings = sum(len(lint_file(path)) for path in paths)
        spent = time.process_time() - started
        bare, lint = shortest(
            [sys.executable, "-c", "pass"], [sys.executable, "-m", "tipc", "lint", str(paths[0])]
        )
    each = spent / len(paths) * 1000
    print(f"lint of {len(paths)} files: {findings} findings, {spent:.2f} s, {each:.1f} ms a file")
    print(f"that is {spent / MOST_SECONDS:.2f} of the bound of {MOST_SECONDS:g} s")
    print(f"tipc lint FILE: {lint / bare:.1f} × the start of a bare python")
    return 1 if spent > MOST_SECONDS else 0


if __name__ == "__main__":
    sys.exit(main())
