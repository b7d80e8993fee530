"""One HTML file about one run or several: offline, escaped, small."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib import resources
from pathlib import Path
from time import localtime, strftime
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from tipc import __version__
from tipc.certify.check_text import finding_words
from tipc.certify.verdict_store import plain
from tipc.kinds import BAD, PASS, SIGNS, STATE_OF_STATUS, WORST_FIRST
from tipc.language import language, plural, say
from tipc.report.evidence import shown
from tipc.report.headline import headline
from tipc.report.history.past import Past
from tipc.report.html.anchors import Anchors
from tipc.report.html.attention import attention
from tipc.report.html.cell_page import Around, Budget, cell_page
from tipc.report.html.matrix_table import matrix_table
from tipc.report.html.past_page import past_page
from tipc.report.html.timeline import timeline
from tipc.report.machine_facts import machine_name, versions
from tipc.report.plain_text import clean, command, duration, figure, one_line
from tipc.report.support_matrix import matrix_of
from tipc.report.view import PlanView, RunView

if TYPE_CHECKING:
    from jinja2 import Environment

ATTENTION = 60
ROWS = 40


def page(views: Sequence[RunView], target: Path, past: Past | None = None) -> str:
    """The report as HTML, with links to logs as seen from where it will lie."""
    return "".join(page_parts(views, target, past))


def page_parts(views: Sequence[RunView], target: Path, past: Past | None = None) -> Iterator[str]:
    """The same, piece by piece: of ten thousand steps the whole text takes more memory than the steps."""
    budget = Budget(
        steps=sum(len(view.steps) for view in views),
        plans=sum(len(view.plans) for view in views),
        findings=sum(len(view.verdict.findings) for view in views if view.verdict),
    )
    anchors = Anchors()
    plans = [
        _plan(view, plan, anchors, target, budget) for view in views for plan in _worst_first(view.plans)
    ]
    if len(plans) == 1:
        plans[0]["open"] = True
        for cell in [cell for cell in plans[0]["cells"] if cell["curves"]][:1]:
            cell.update(open=True, packed=False)
    wrong, not_certified = attention(views, anchors, target)
    states = Counter(cell["state"] for plan in plans for cell in plan["cells"])
    template = _templates().get_template("report.html")
    yield from template.generate(
        language=language(),
        title=f"tipc: {views[0].run.id}" if len(views) == 1 else f"tipc: {len(views)} runs",
        css=_asset("report.css"),
        js=_asset("report.js"),
        runs=[_run(view) for view in views],
        **_together(views),
        states=sorted(states.items(), key=lambda item: WORST_FIRST.index(item[0])),
        steps=_step_states(views),
        wrong=wrong[:ATTENTION],
        more_wrong=max(0, len(wrong) - ATTENTION),
        not_certified=not_certified[:ATTENTION],
        matrix=matrix_table(matrix_of(views), anchors, budget.brief),
        timelines=_timelines(views, plans),
        **_past(views, past, anchors),
        plans=plans,
        repo=plans[0]["repo"] if len({plan["repo"] for plan in plans}) == 1 else "",
        pack=budget.pack,
        packed=budget.blob,
        brief=budget.brief,
        version=__version__,
    )


def _worst_first(plans: Iterable[PlanView]) -> list[PlanView]:
    """What did not pass comes first; else the order of the run."""
    return sorted(plans, key=lambda plan: plan.state not in BAD)


def _step_states(views: Sequence[RunView]) -> list[tuple[str, int]]:
    """How many steps are in which state, for the bar below the headline."""
    counts: Counter[str] = Counter()
    for view in views:
        counts += view.counts
    return sorted(counts.items(), key=lambda item: WORST_FIRST.index(item[0]))


def _timelines(views: Sequence[RunView], plans: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One for each run; bars know their cells by their numbers on the page."""
    numbers: dict[tuple[str, str, str], int] = {}
    for plan in plans:
        for cell in plan["cells"]:
            numbers[plan["run"], plan["key"], cell["id"]] = len(numbers)
    found = []
    for view in views:
        mine = {(plan, cell): number for (run, plan, cell), number in numbers.items() if run == view.run.id}
        drawn = timeline(view, mine)
        if drawn:
            found.append({"run": view.run.id, **drawn})
    return found


def _past(views: Sequence[RunView], past: Past | None, anchors: Anchors) -> dict[str, Any]:
    models = {plan.plan.key: plan.plan.model for view in views for plan in view.plans}
    places = {plan: anchor for (_run, plan), anchor in anchors.plans.items()}
    return past_page(past, models, places)


@lru_cache
def _templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=PackageLoader("tipc.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    templates.globals.update(say=say, plural=plural)
    templates.filters.update(
        slug=lambda state: str(state).replace(" ", "-"),
        mark=lambda state: SIGNS[state].mark,
        text=lambda value: one_line(value, 600),
        brief=_brief,
        rows=_rows,
        shown=shown,
        is_table=lambda value: bool(_rows(value)),
        not_tables=lambda data: [(name, value) for name, value in data.items() if not _rows(value)],
        columns=lambda value: list(dict.fromkeys(key for _, row in _rows(value) for key in row))[:12],
        finding_state=STATE_OF_STATUS.__getitem__,
        words=finding_words,
    )
    return templates


@lru_cache
def _asset(name: str) -> Markup:
    # Our own file, not data: it is the one text that goes into the page as it is.
    return Markup((resources.files("tipc.report") / "templates" / name).read_text(encoding="utf-8"))


def _rows(value: object) -> list[tuple[str, Mapping[str, Any]]]:
    """The named rows, if this is a table: a mapping of mappings, or a list of them."""
    if isinstance(value, Mapping):
        named = [(str(key), row) for key, row in value.items()]
    elif isinstance(value, (list, tuple)):
        named = [(str(number), row) for number, row in enumerate(value, 1)]
    else:
        return []
    return named[:ROWS] if all(isinstance(row, Mapping) for _, row in named) else []


def _brief(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return {True: say("yes"), False: say("no"), None: "–"}[value]
    if isinstance(value, (int, float)):
        return f"{value:,}" if isinstance(value, int) else figure(value)
    if isinstance(value, (list, tuple)) and not any(isinstance(item, (dict, list)) for item in value):
        return one_line(", ".join(_brief(item) for item in value[:40]), 600)
    return one_line(value if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False), 600)


def _together(views: Sequence[RunView]) -> dict[str, str]:
    """The headline over several runs: how many ended in which way, and the worst tone of them."""
    lines = [headline(view) for view in views]
    counts = Counter(line.word for line in lines)
    tones = {line.tone for line in lines}
    return {
        "words": ", ".join(f"{count} {say(word)}" for word, count in counts.items()),
        "tone": next(tone for tone in ("bad", "open", "good") if tone in tones),
    }


def _run(view: RunView) -> dict[str, Any]:
    run = view.run
    took = duration(view.elapsed)
    if not run.ended:
        took += say(" (not ended)")
    facts = [
        (say("started"), strftime("%Y-%m-%d %H:%M:%S", localtime(run.started))),
        (say("took"), took),
        (say("machine"), machine_name(run.environment)),
        (say("versions"), versions(run.environment)),
        (say("configs"), str(len(run.plans))),
    ]
    if view.verdict is not None:
        passed, every = view.verdict.count(PASS), len(view.verdict.findings)
        facts.append((say("checks"), say("{passed} of {every} passed", passed=passed, every=every)))
    environment = json.dumps(plain(run.environment), indent=1, ensure_ascii=False, sort_keys=True)
    return {
        "id": run.id,
        "headline": headline(view),
        "facts": facts,
        "again": command(("tipc", "run", *run.argv), {}) if run.argv else "",
        "machine": machine_name(run.environment),
        "environment": clean(environment)[:20000],
    }


def _plan(view: RunView, plan: PlanView, anchors: Anchors, target: Path, budget: Budget) -> dict[str, Any]:
    steps = plan.steps
    begun = [one.result.started for one in steps if one.result.started]
    first = min(begun, default=0.0)
    last = max((one.result.started + one.result.wall for one in steps if one.result.started), default=first)
    clock = (first, max(last - first, 1e-3))
    data = plan.plan
    anchor = anchors.plan(view.run.id, data.key, data.model, data.config)
    cells = [
        cell_page(cell, Around(plan, (view.run.id, data.key, cell.cell.id), clock, target, anchors, budget))
        for cell in plan.cells
    ]
    return {
        "anchor": anchor,
        "run": view.run.id,
        "key": data.key,
        "model": data.model,
        "config": data.config,
        "mode": data.mode,
        "dialect": data.dialect,
        "state": plan.state,
        "notes": data.notes,
        "repo": data.repo,
        "fixes": [fix.id if budget.brief else f"{fix.id}: {fix.reason}" for fix in data.fixes],
        "findings": plan.findings,
        "summary": f"{plural(len(steps), 'step')} · {duration(last - first)}",
        "cells": cells,
        "open": plan.state in BAD and len(view.plans) < 30,
    }
