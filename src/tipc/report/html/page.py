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
from tipc.certify.check_text import finding_message, finding_words
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
from tipc.report.html.pictures import make_pictures_ready
from tipc.report.html.timeline import timeline
from tipc.report.machine_facts import machine_name, spoken_machine, versions
from tipc.report.plain_text import clean, command, duration, figure, one_line
from tipc.report.support_matrix import matrix_of
from tipc.report.view import PlanView, RunView

if TYPE_CHECKING:
    from jinja2 import Environment

ATTENTION = 60
ROWS, COLUMNS = 40, 12  # of a table of evidence


def page(views: Sequence[RunView], target: Path, past: Past | None = None) -> str:
    """The report as HTML, with links to logs as seen from where it will lie."""
    return "".join(page_parts(views, target, past))


def page_parts(views: Sequence[RunView], target: Path, past: Past | None = None) -> Iterator[str]:
    """The same, piece by piece: of ten thousand steps the whole text takes more memory than the steps."""
    budget = _budget(views)
    folder = str(target.parent.absolute())
    anchors = Anchors()
    plans = []
    for view in views:
        for plan in _worst_first(view.plans):
            plans.append((view, plan))
    _name_places(plans, anchors)
    beside = _past(views, past, anchors)
    del past  # its figures take as much memory as the page
    wrong, not_certified = attention(views, anchors, folder)
    states: Counter[str] = Counter()
    for _view, plan in plans:
        states.update([cell.state for cell in plan.cells])
    yield from (
        _templates()
        .get_template("report.html")
        .generate(
            language=language(),
            title=_title(views),
            css=_asset("report.css"),
            js=_asset("report.js"),
            runs=[_run(view) for view in views],
            **_together(views),
            states=_in_order(states),
            steps=_step_states(views),
            wrong=wrong[:ATTENTION],
            more_wrong=max(0, len(wrong) - ATTENTION),
            not_certified=not_certified[:ATTENTION],
            matrix=matrix_table(matrix_of(views), anchors, budget.brief),
            timelines=_timelines(views, plans),
            **beside,
            configs=len(plans),
            plans=_plan_pages(plans, anchors, folder, budget),
            repo=_only_repository(plans),
            pack=lambda cell: _pack(cell, budget),
            packed=budget.packed.blob,
            brief=budget.brief,
            version=__version__,
        )
    )


def make_ready() -> None:
    """Compile the templates, and import what makes pictures small: half of the time at the end of a run, and
    nothing of it is needed for that."""
    make_pictures_ready()
    for name in ("report.html", "cell.html", "macros.html"):
        _templates().get_template(name)


def _pack(cell: Mapping[str, Any], budget: Budget) -> str:
    """Keep the inside of a cell for the packed part; nothing in its place."""
    budget.packed.add(_templates().get_template("cell.html").generate(cell=cell, brief=budget.brief))
    return ""


def _name_places(plans: Sequence[tuple[RunView, PlanView]], anchors: Anchors) -> None:
    """Give every plan, cell and step its name on the page: what stands above links to what stands below."""
    for view, plan in plans:
        run, data = view.run.id, plan.plan
        anchors.plan(run, data.key, data.model, data.config)
        for cell in plan.cells:
            place = (run, data.key, cell.cell.id)
            anchors.cell(place)
            for one in cell.steps:
                anchors.step(place, one.step.id)


def _plan_pages(
    plans: Sequence[tuple[RunView, PlanView]], anchors: Anchors, folder: str, budget: Budget
) -> Iterator[dict[str, Any]]:
    """The template's data about each plan, made when its turn comes: that of all takes too much memory."""
    for view, plan in plans:
        yield _plan(view, plan, anchors, folder, budget)


def _title(views: Sequence[RunView]) -> str:
    if len(views) == 1:
        return f"tipc: {views[0].run.id}"
    return f"tipc: {len(views)} runs"


def _budget(views: Sequence[RunView]) -> Budget:
    budget = Budget(steps=0, plans=0)
    for view in views:
        budget.steps += len(view.steps)
        budget.plans += len(view.plans)
        if view.verdict is not None:
            budget.findings += len(view.verdict.findings)
    return budget


def _cell_pages(
    view: RunView, plan: PlanView, clock: tuple[float, float], anchors: Anchors, folder: str, budget: Budget
) -> Iterator[dict[str, Any]]:
    """The template's data about each cell of a plan. A page about one config shows the first curves that it
    has without a click."""
    show_curves = budget.plans == 1
    for cell in plan.cells:
        place = (view.run.id, plan.plan.key, cell.cell.id)
        data = cell_page(cell, Around(plan, place, clock, folder, anchors, budget))
        if show_curves and data["curves"]:
            data.update(open=True, packed=False)
            show_curves = False
        yield data


def _only_repository(plans: Sequence[tuple[RunView, PlanView]]) -> str:
    """The repository that all plans are of; empty where they are of several."""
    repos = {plan.plan.repo for _view, plan in plans}
    if len(repos) != 1:
        return ""
    return repos.pop()


def _in_order(counts: Counter[str]) -> list[tuple[str, int]]:
    """States with their counts, the worst first."""
    return sorted(counts.items(), key=lambda item: WORST_FIRST.index(item[0]))


def _worst_first(plans: Iterable[PlanView]) -> list[PlanView]:
    """What did not pass comes first; else the order of the run."""
    return sorted(plans, key=lambda plan: plan.state not in BAD)


def _step_states(views: Sequence[RunView]) -> list[tuple[str, int]]:
    """How many steps are in which state, for the bar below the headline."""
    counts: Counter[str] = Counter()
    for view in views:
        counts += view.counts
    return _in_order(counts)


def _timelines(views: Sequence[RunView], plans: Sequence[tuple[RunView, PlanView]]) -> list[dict[str, Any]]:
    """One for each run; bars know their cells by their numbers on the page."""
    numbers: dict[str, dict[tuple[str, str], int]] = {}  # of each run
    count = 0
    for of, plan in plans:
        for cell in plan.cells:
            numbers.setdefault(of.run.id, {})[plan.plan.key, cell.cell.id] = count
            count += 1
    found = []
    for view in views:
        drawn = timeline(view, numbers.get(view.run.id, {}))
        if drawn:
            found.append({"run": view.run.id, **drawn})
    return found


def _past(views: Sequence[RunView], past: Past | None, anchors: Anchors) -> dict[str, Any]:
    models = {}
    for view in views:
        for plan in view.plans:
            models[plan.plan.key] = plan.plan.model
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
        not_tables=_not_tables,
        columns=_columns,
        finding_state=STATE_OF_STATUS.__getitem__,
        words=finding_words,
        message=finding_message,
    )
    return templates


def _not_tables(data: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """What of some evidence is shown as a line."""
    return [(name, value) for name, value in data.items() if not _rows(value)]


def _columns(value: object) -> list[str]:
    """The names of a table's columns, in the order in which its rows have them."""
    names: dict[str, None] = {}
    for _, row in _rows(value):
        names.update(dict.fromkeys(row))
    return list(names)[:COLUMNS]


@lru_cache
def _asset(name: str) -> Markup:
    # Our own file, not data: it is the one text that goes into the page as it is.
    return Markup((resources.files("tipc.report") / "templates" / name).read_text(encoding="utf-8"))


def _rows(value: object) -> list[tuple[str, Mapping[str, Any]]]:
    """The named rows, if this is a table: a mapping of mappings, or a list of them."""
    if isinstance(value, Mapping):
        named = list(value.items())
    elif isinstance(value, (list, tuple)):
        named = list(enumerate(value, 1))
    else:
        return []
    rows = []
    for name, row in named:
        if not isinstance(row, Mapping):
            return []
        rows.append((str(name), row))
    return rows[:ROWS]


def _brief(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return {True: say("yes"), False: say("no"), None: "–"}[value]
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return figure(value)
    if isinstance(value, (list, tuple)) and not any(isinstance(item, (dict, list)) for item in value):
        return one_line(", ".join(map(_brief, value[:40])), 600)
    if isinstance(value, str):
        return one_line(value, 600)
    return one_line(json.dumps(plain(value), ensure_ascii=False), 600)


def _together(views: Sequence[RunView]) -> dict[str, str]:
    """The headline over several runs: how many ended in which way, and the worst tone of them."""
    words: Counter[str] = Counter()
    worst = "good"
    for view in views:
        line = headline(view)
        words[say(line.word)] += 1
        worst = min(worst, line.tone, key=("bad", "open", "good").index)
    return {"words": ", ".join([f"{count} {word}" for word, count in words.items()]), "tone": worst}


def _run(view: RunView) -> dict[str, Any]:
    run = view.run
    took = duration(view.elapsed)
    if not run.ended:
        took += say(" (not ended)")
    facts = [
        (say("started"), strftime("%Y-%m-%d %H:%M:%S", localtime(run.started))),
        (say("took"), took),
        (say("machine"), spoken_machine(machine_name(run.environment))),
        (say("versions"), versions(run.environment)),
        (say("configs"), str(len(run.plans))),
    ]
    if view.verdict is not None:
        passed, every = view.verdict.count(PASS), len(view.verdict.findings)
        facts.append((say("checks"), say("{passed} of {every} passed", passed=passed, every=every)))
    again = ""
    if run.argv:
        again = command(("tipc", "run", *run.argv), {})
    environment = json.dumps(plain(run.environment), indent=1, ensure_ascii=False, sort_keys=True)
    return {
        "id": run.id,
        "headline": headline(view),
        "facts": facts,
        "again": again,
        "machine": spoken_machine(machine_name(run.environment)),
        "environment": clean(environment)[:20000],
    }


def _plan(view: RunView, plan: PlanView, anchors: Anchors, folder: str, budget: Budget) -> dict[str, Any]:
    data = plan.plan
    first, span = _clock(plan)
    cells = _cell_pages(view, plan, (first, max(span, 1e-3)), anchors, folder, budget)
    fixes = []
    for fix in data.fixes:
        if budget.brief:
            fixes.append(fix.id)
        else:
            fixes.append(f"{fix.id}: {fix.reason}")
    return {
        "anchor": anchors.plans[view.run.id, data.key],
        "model": data.model,
        "config": data.config,
        "mode": data.mode,
        "dialect": data.dialect,
        "state": plan.state,
        "notes": data.notes,
        "repo": data.repo,
        "fixes": fixes,
        "findings": plan.findings,
        "summary": f"{plural(len(plan.steps), 'step')} · {duration(span)}",
        "cells": cells,
        "open": budget.plans == 1 or (plan.state in BAD and len(view.plans) < 30),
    }


def _clock(plan: PlanView) -> tuple[float, float]:
    """When the first step of a plan began, and how long it took until the last one ended."""
    begun, ended = [], []
    for one in plan.steps:
        if one.result.started:
            begun.append(one.result.started)
            ended.append(one.result.started + one.result.wall)
    if not begun:
        return 0.0, 0.0
    return min(begun), max(ended) - min(begun)
