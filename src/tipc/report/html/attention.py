"""What needs attention, the worst first: failures by cause, what a check refutes, what is not certified."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from tipc.certify.check_text import finding_message, finding_words
from tipc.certify.verdict import Finding
from tipc.kinds import BAD, PASS, STATE_OF_STATUS, UNCERTIFIED, UNCHECKED, WORST_FIRST
from tipc.language import say, sentence
from tipc.report.failures import FailureGroup, failure_groups
from tipc.report.html.anchors import Anchors
from tipc.report.html.file_links import file_link
from tipc.report.plain_text import clean, cut, short_paths
from tipc.report.view import CellView, PlanView, RunView

NAMED = 3  # places that stand in the open; the others are folded away
PLACES = 300  # links of one item
LOGS = 20  # items that show the end of a log


@dataclass
class Item:
    """One thing to look at, and everywhere that it was seen."""

    state: str
    message: str
    check: str = ""
    title: str = ""
    remedy: str = ""
    why: str = ""  # how the step ended
    command: str = ""
    log: str = ""  # its end
    link: str = ""  # to the whole log
    places: list[tuple[str, str]] = field(default_factory=list)  # what, and its anchor

    @property
    def first(self) -> list[tuple[str, str]]:
        return self.places[:NAMED]

    @property
    def rest(self) -> list[tuple[str, str]]:
        return self.places[NAMED:PLACES]

    @property
    def more(self) -> int:
        """How many places there are behind those that are named at once."""
        return len(self.places) - NAMED


def attention(views: Sequence[RunView], anchors: Anchors, folder: str) -> tuple[list[Item], list[Item]]:
    """What is wrong, and what this machine could not show."""
    wrong: list[Item] = []
    not_certified = []
    for view in views:
        for group in failure_groups(view):
            wrong.append(_failure(group, view.run.id, anchors, folder, with_log=len(wrong) < LOGS))
    for item in _by_words(_told(views, anchors)):
        if item.state in BAD:
            wrong.append(item)
        elif item.state == UNCERTIFIED:
            not_certified.append(item)
    wrong.sort(key=lambda item: WORST_FIRST.index(item.state))
    return wrong, not_certified


def _failure(group: FailureGroup, run: str, anchors: Anchors, folder: str, *, with_log: bool) -> Item:
    first = group.first
    result = first.view.result
    item = Item(
        state=result.state,
        message=short_paths(first.cause),
        title=first.view.label,
        remedy=first.known.remedy,
        why=sentence(result.reason),
        command=clean(first.command),
        link=file_link(result.log, folder),
    )
    if with_log:
        item.log = "\n".join([cut(clean(line)) for line in first.log])
    for failure in group.failures:
        anchor = anchors.steps.get((run, failure.plan.key, failure.view.step.id), "")
        item.places.append((failure.name, anchor))
    return item


def _told(views: Sequence[RunView], anchors: Anchors) -> Iterator[tuple[Finding, str, str]]:
    """Every finding that did not pass, where it was found, and the anchor of that place."""
    for view in views:
        for finding in _open(view.findings):
            yield finding, say("the repository"), ""
        for plan in view.plans:
            for finding in _open(plan.findings):
                yield finding, plan.plan.model, anchors.plans[view.run.id, plan.plan.key]
            for cell in plan.cells:
                anchor = anchors.cells[view.run.id, plan.plan.key, cell.cell.id]
                for finding in _of_cell(cell):
                    yield finding, _called(plan, cell), anchor


def _of_cell(cell: CellView) -> Iterator[Finding]:
    """About the cell and about its steps; of a step that failed its failure says enough."""
    for one in cell.steps:
        if one.result.ok or one.result.left_out:
            yield from _open(one.findings)
    yield from _open(cell.findings)


def _open(findings: Iterable[Finding]) -> Iterator[Finding]:
    for finding in findings:
        if finding.status == PASS or (finding.status == UNCHECKED and not finding.required):
            continue
        yield finding


def _called(plan: PlanView, cell: CellView) -> str:
    return f"{plan.plan.model} · {cell.cell.trainer} · {cell.cell.runs_on}"


def _by_words(told: Iterable[tuple[Finding, str, str]]) -> Iterator[Item]:
    """The same words about several cells are one item."""
    items: dict[tuple[str, str, str], Item] = {}
    for finding, where, anchor in told:
        state = STATE_OF_STATUS[finding.status]
        message = finding_message(finding)
        about = message
        if state == UNCERTIFIED:
            # What this machine cannot show is one thing to do, however many cells it is said about.
            about = ""
        words = finding_words(finding)
        item = items.setdefault(
            (state, finding.check, about),
            Item(state, message, finding.check, words.title, words.remedy),
        )
        if (where, anchor) not in item.places[-1:]:
            item.places.append((where, anchor))
    yield from items.values()
