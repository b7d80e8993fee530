"""How often each operator ran in which type, as the witness counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tipc.kinds import LOW_PRECISIONS as LOW
from tipc.message import Message, wording
from tipc.run.record.step_facts import StepFacts

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
    why: str | Message = ""

    @property
    def heavy(self) -> dict[str, tuple[int, int]]:
        """(calls in low precision, calls) of convolutions and of matrix products, of those that were
        called."""
        found = {}
        for family, names in FAMILIES.items():
            low = total = 0
            for name in names:
                row = self.by_type.get(name, {})
                low += _in_low_precision(row)
                total += sum(row.values())
            if total:
                found[family] = (low, total)
        return found

    @property
    def heavy_names(self) -> list[str]:
        """The convolutions and matrix products that were called."""
        found = []
        for names in FAMILIES.values():
            for name in names:
                if sum(self.by_type.get(name, {}).values()):
                    found.append(name)
        return found

    @property
    def low_total(self) -> int:
        """Calls of convolutions and matrix products in low precision."""
        return sum(low for low, _ in self.heavy.values())

    @property
    def low_casts(self) -> int:
        """Casts to or from low precision: what AMP, real or emulated, cannot do without."""
        return _in_low_precision(self.by_type.get("cast", {}))

    def text(self) -> Message:
        """`conv2d 0 of 52, matmul 0 of 2 calls in fp16/bf16`."""
        shares = []
        for name, (low, total) in self.heavy.items():
            shares.append(wording("{name} {count} of {total}", name=name, count=low, total=total))
        if not shares:
            return wording("no call of conv2d or matmul was counted")
        return wording("{shares} calls in fp16/bf16", shares=tuple(shares))


def _in_low_precision(row: Mapping[str, int]) -> int:
    """The calls of an operator in fp16 or bf16."""
    return sum(row.get(kind, 0) for kind in LOW)


def operator_counts(facts: StepFacts | None) -> Counts:
    """The counts of a step by the word of the witness: what a log says of itself does not count."""
    if facts is None or facts.main is None:
        return Counts(why=wording("there was no witness"))
    if not facts.main.operators:
        return Counts(why=facts.main.doors.get("operators") or wording("none was called"))
    counted = {name: dict(row) for name, row in facts.main.operators.items()}
    return Counts(counted, source="the witness")
