"""How often each operator ran in which type, as the witness counted."""

from __future__ import annotations

from dataclasses import dataclass, field

from tipc.kinds import LOW_PRECISIONS as LOW
from tipc.run.record.facts import StepFacts

# Operators that mixed precision is for, under the names that paddle has had for them.
FAMILIES = {
    "conv2d": ("conv2d", "depthwise_conv2d", "conv2d_transpose", "fused_conv2d", "conv3d"),
    "matmul": ("matmul", "matmul_v2", "mul", "linear", "addmm", "bmm", "fc", "fused_gemm_epilogue"),
}


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


def operator_counts(facts: StepFacts | None) -> Counts:
    """The counts of a step by the word of the witness: what a log says of itself does not count."""
    if facts is None or facts.main is None:
        return Counts(why="there was no witness")
    if not facts.main.operators:
        return Counts(why=facts.main.doors.get("operators") or "none was called")
    counted = {name: dict(row) for name, row in facts.main.operators.items()}
    return Counts(counted, source="the witness")
