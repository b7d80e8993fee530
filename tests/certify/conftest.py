"""What the tests of the checks share."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from certify_answers import honest_answers
from certify_facts import Honest

from tipc.certify.certifier import plan_findings
from tipc.certify.scene import PlanScene
from tipc.certify.verdict import Finding
from tipc.run.record.results import Run

Edit = Callable[[Honest], None]


@pytest.fixture
def judge() -> Callable[..., list[Finding]]:
    """All findings about a run whose model is honest; ``edit`` changes what the witness saw of it."""

    def findings(run: Run, edit: Edit | None = None) -> list[Finding]:
        honest = Honest(run)
        if edit is not None:
            edit(honest)
        scene = PlanScene(run, run.plans[0], 0, honest_answers(run), honest.witnessed(), honest.tried())
        return list(plan_findings(scene))

    return findings
