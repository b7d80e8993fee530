"""What the tests of the checks share."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from certify_answers import honest_answers
from certify_chain import plan_of, run_chain
from certify_facts import Honest
from certify_plain_repo import make_plain_repo

from tipc.certify.certifier import plan_findings
from tipc.certify.scene import PlanScene
from tipc.certify.verdict import Finding
from tipc.run.record.results import Run

Edit = Callable[[Honest], None]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A chain of a small repository that was run, in a folder that the tests of a file share."""
    repo = make_plain_repo(tmp_path_factory.mktemp("plain"))
    return run_chain(repo, plan_of(repo))


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
