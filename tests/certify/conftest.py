"""What the tests of the checks share."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from certify_answers import honest_answers

from tipc.certify.engine import plan_findings
from tipc.certify.verdict import Finding
from tipc.run.record import Run


@pytest.fixture
def judge() -> Callable[[Run], list[Finding]]:
    """All findings about a run whose model is honest."""
    return lambda run: list(plan_findings(run, run.plans[0], 0, honest_answers(run)))
