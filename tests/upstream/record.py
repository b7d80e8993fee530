"""Record again what the families' real scripts run.

``TIPC_FIELD=… python tests/upstream/record.py [BASE…]``
``TIPC_FIELD`` is a folder with checkouts of PaddleSeg, PaddleOCR, PaddleClas, PaddleDetection and models.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

from upstream_bases import BASES  # noqa: E402
from upstream_table import cases  # noqa: E402

from field.recorder import recorder  # noqa: E402

CHECKOUTS = {
    "models": "models/tutorials/mobilenetv3_prod/Step6",
    "seg": "PaddleSeg",
    "ocr": "PaddleOCR",
    "clas": "PaddleClas",
    "det": "PaddleDetection",
}


def commit(checkout: Path) -> str:
    """The commit that a checkout is at."""
    done = subprocess.run(
        ["git", "-C", str(checkout), "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def record_base(base: str, checkout: Path) -> int:
    """Write the recordings of a base; returns how many there are."""
    family = base.partition("-")[0]
    lines = [{"commit": commit(checkout), "checkout": CHECKOUTS[family]}]
    with recorder(checkout, family) as one:
        for case in cases(base):
            for mode in case.modes:
                run = one.record(case.chain, case.config, mode, case.text)
                if run.trouble:
                    raise SystemExit(f"{base} {case.name} {mode}: {run.trouble}")
                lines.append({"case": case.name, "digest": case.digest, **run.as_json()})
    text = "".join(json.dumps(line) + "\n" for line in lines)
    # No time stamp in the file: the same recordings are the same bytes.
    (HERE / f"{base}.jsonl.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    return len(lines) - 1


def main(bases: list[str]) -> int:
    """Record the bases that are named, or all."""
    root = os.environ.get("TIPC_FIELD")
    if not root:
        print("nothing recorded: TIPC_FIELD names no folder with checkouts")
        return 0
    for base in bases or list(BASES):
        checkout = Path(root) / CHECKOUTS[base.partition("-")[0]]
        if not (checkout / "test_tipc").is_dir():
            print(f"{base}: skipped, there is no {checkout}")
            continue
        print(f"{base}: {record_base(base, checkout)} runs recorded", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
