"""The checks as tests: of each config one test a check, after the steps of all configs have ended.

They are made on the whole run, as by ``tipc run``. Where only some of the steps were selected there is no
verdict, and the checks are skipped with that reason; ``--tipc-no-checks`` leaves them out.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tipc.kinds import PASS

if TYPE_CHECKING:
    from tipc.certify.verdict import Finding, Verdict
    from tipc.plan.model import Plan

_VERDICT = pytest.StashKey["Verdict"]()
SHOWN = 8  # findings of one check


def pytest_addoption(parser: pytest.Parser) -> None:
    """Beside the options of the steps."""
    group = parser.getgroup("tipc")
    group.addoption("--tipc-no-checks", action="store_true", help="run the steps only, certify nothing")
    group.addoption("--tipc-strict", action="store_true", help="what cannot be certified here fails, too")


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say it where nothing is certified."""
    if config.getoption("--tipc-no-checks"):
        from tipc.language import say

        return say("tipc: steps only, nothing is certified (--tipc-no-checks)")
    return None


@pytest.hookimpl(optionalhook=True)
def pytest_tipc_items(file: pytest.File, plan: Plan) -> list[pytest.Item]:
    """A test for each check that has something to look at in the plan."""
    if file.config.getoption("--tipc-no-checks"):
        return []
    from tipc.certify.registry import all_checks

    scopes = {"plan", "cell", "step", *(step.kind for step in plan.steps)}
    found: list[pytest.Item] = []
    for check in all_checks().values():
        if check.scope in scopes:
            item: pytest.Item = CheckItem.from_parent(file, name=check.id, plan=plan, title=check.title)
            found.append(item)
    return found


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Checks come last: they are made on a run that is over."""
    items.sort(key=lambda item: isinstance(item, CheckItem))


class CheckItem(pytest.Item):
    """One check on one config."""

    def __init__(self, *, plan: Plan, title: str, **rest: Any) -> None:
        super().__init__(**rest)
        self.plan = plan
        self.title = title

    def runtest(self) -> None:
        """Fail with what forbids a pass; skip where there is nothing to see here."""
        from tipc.language import say

        verdict = _verdict(self.config)
        found = [one for one in verdict.findings if (one.check, one.plan) == (self.name, self.plan.key)]
        wrong = [one for one in found if verdict.forbids(one)]
        if wrong:
            pytest.fail(_told(wrong), pytrace=False)
        if not found:
            pytest.skip(say("nothing to check"))
        if not any(one.status == PASS for one in found):
            pytest.skip(_told(found))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The config, and what the check is about."""
        return self.path, None, f"{self.name} {self.title}"


def _told(findings: list[Finding]) -> str:
    from tipc.certify.evidence.log_text import finding_lines
    from tipc.language import say

    lines: list[str] = []
    for one in findings[:SHOWN]:
        lines += finding_lines(one)
    if len(findings) > SHOWN:
        lines.append(say("and {count} more", count=len(findings) - SHOWN))
    return "\n".join(lines)


def _verdict(config: pytest.Config) -> Verdict:
    """The verdict on the run; made once, where the run is whole."""
    from tipc.certify.certifier import certify
    from tipc.language import say, sentence
    from tipc.run.pytest_plugin import finished_run

    if _VERDICT not in config.stash:
        run = finished_run(config)
        if run is None:
            pytest.skip(say("no step was run"))
        if run.left_out:
            pytest.skip(say("{title}: {text}", title=say("not certified"), text=sentence(run.left_out)))
        config.stash[_VERDICT] = certify(run, strict=config.getoption("--tipc-strict"))
    return config.stash[_VERDICT]
