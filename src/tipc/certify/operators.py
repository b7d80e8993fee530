"""How often each operator ran in which type, from the observer's file or from paddle's own log."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from tipc.certify.answers import Operators
from tipc.certify.logs import lines

LOW = ("fp16", "bf16")
TYPES = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}
# Operators that mixed precision is for, under the names that paddle has had for them.
FAMILIES = {
    "conv2d": ("conv2d", "depthwise_conv2d", "conv2d_transpose", "fused_conv2d", "conv3d"),
    "matmul": ("matmul", "matmul_v2", "mul", "linear", "addmm", "bmm", "fc", "fused_gemm_epilogue"),
}
KERNEL = re.compile(r"\b(?P<op>\w+) API kernel key: \[(?:\w+), \w+, (?P<type>\w+)\]")
FILE_LIMIT = 4 * 2**20


@dataclass(frozen=True)
class Counts:
    """Calls by operator and type (fp32, fp16, bf16, other), where they are from, or why there are none."""

    by_type: dict[str, dict[str, int]] = field(default_factory=dict)
    source: str = ""
    why: str = ""

    @property
    def heavy(self) -> dict[str, tuple[int, int]]:
        """(calls in low precision, calls) of convolutions and of matrix products, of those that were
        called."""
        found = {}
        for family, names in FAMILIES.items():
            rows = [self.by_type[name] for name in names if name in self.by_type]
            total = sum(sum(row.values()) for row in rows)
            if total:
                found[family] = (sum(row.get(kind, 0) for row in rows for kind in LOW), total)
        return found

    @property
    def low_total(self) -> int:
        """Calls of convolutions and matrix products in low precision."""
        return sum(low for low, _ in self.heavy.values())

    @property
    def low_casts(self) -> int:
        """Casts to or from low precision: what AMP, real or emulated, cannot do without."""
        return sum(count for kind, count in self.by_type.get("cast", {}).items() if kind in LOW)

    def text(self) -> str:
        """`conv2d 0 of 52, matmul 0 of 2 calls in fp16/bf16`."""
        told = ", ".join(f"{name} {low} of {total}" for name, (low, total) in self.heavy.items())
        return f"{told} calls in fp16/bf16" if told else "no call of conv2d or matmul was counted"


def operator_counts(ops_file: Path, log: Path) -> Counts:
    """The counts of a training step: the observer's file if it is there, else GLOG_v lines of its log."""
    try:
        if ops_file.stat().st_size > FILE_LIMIT:
            return Counts(why=f"{ops_file.name} is larger than {FILE_LIMIT} bytes")
        data = Operators.model_validate_json(ops_file.read_bytes())
        return Counts(data.operators, source=str(ops_file))
    except OSError:
        why = "the step left none, and its log has no GLOG_v lines"
    except ValidationError as error:
        why = f"{ops_file.name} cannot be read: {error.errors()[0]['msg']}"
    counts: dict[str, dict[str, int]] = {}
    for _, text in lines(log):
        if match := KERNEL.search(text):
            row = counts.setdefault(match["op"], {})
            kind = TYPES.get(match["type"], "other")
            row[kind] = row.get(kind, 0) + 1
    return Counts(counts, source=str(log)) if counts else Counts(why=why)
