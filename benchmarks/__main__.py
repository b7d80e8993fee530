"""Run every benchmark, or those named: ``python benchmarks [NAME…]``. Exit 1 if a stated bound is broken."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main(names: list[str]) -> int:
    """Each in a process of its own, so that none inherits the other's imports and memory."""
    known = sorted(path.stem for path in HERE.glob("*.py") if not path.stem.startswith("_"))
    unknown = sorted(set(names) - set(known))
    if unknown:
        print(f"no such benchmark: {', '.join(unknown)}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    broken = []
    for name in names or known:
        print(f"== {name}", flush=True)
        if subprocess.run([sys.executable, str(HERE / f"{name}.py")], check=False).returncode:
            broken.append(name)
    print(f"bounds broken: {', '.join(broken)}" if broken else "every bound was kept")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
