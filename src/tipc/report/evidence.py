"""Evidence of the checks in the form that a report shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tipc.report.view import CellView


def operator_counts(cell: CellView) -> Mapping[str, Any]:
    """Calls by operator and type, from the findings about mixed precision; empty if there are none."""
    for finding in cell.every_finding:
        counts = finding.evidence.get("operators")
        if (
            isinstance(counts, Mapping)
            and counts
            and all(isinstance(row, Mapping) for row in counts.values())
        ):
            return {"operator": counts}
    return {}


def shown(evidence: Mapping[str, Any]) -> Mapping[str, Any]:
    """The evidence without what the page shows as a chart or a table of its own."""
    return {name: value for name, value in evidence.items() if name not in ("series", "block", "stages")}
