"""Evidence of the checks in the form that a report shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tipc.report.view import CellView

# The operators that mixed precision is for.
HEAVY = ("conv", "depthwise_conv", "matmul", "mul", "linear", "fused", "flash", "bmm")
SHOWN = 8


def operator_counts(cell: CellView) -> Mapping[str, Any]:
    """Calls by operator and type, from the findings about mixed precision; empty if there are none.

    The heavy operators come first; more than a few go under ``rest``.
    """
    for finding in cell.every_finding:
        counts: Any = finding.evidence.get("operators")
        if by_type(counts):
            rows = sorted(counts.items(), key=lambda row: (not row[0].startswith(HEAVY), -_calls(row[1])))
            return {"operator": dict(rows[:SHOWN]), "rest": dict(rows[SHOWN:])}
    return {}


def by_type(counts: object) -> bool:
    """These are calls by operator and type, not only by operator."""
    if not isinstance(counts, Mapping) or not counts:
        return False
    return all(isinstance(row, Mapping) for row in counts.values())


def shown(evidence: Mapping[str, Any]) -> Mapping[str, Any]:
    """The evidence without what the page shows as a chart or a table of its own."""
    found = {}
    for name, value in evidence.items():
        in_a_table = name == "operators" and by_type(value)
        if name not in ("series", "block", "stages") and not in_a_table:
            found[name] = value
    return found


def _calls(row: Mapping[str, Any]) -> int:
    return sum(count for count in row.values() if isinstance(count, int))
