"""One HTML file about one run or several: offline, escaped, small."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources
from pathlib import Path
from time import localtime, strftime
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from tipc import __version__
from tipc.certify.store import plain
from tipc.certify.verdict import PASS, UNCHECKED, Finding
from tipc.report.cellpage import Budget, cell_page
from tipc.report.evidence import shown
from tipc.report.headline import headline
from tipc.report.machine import machine_name, versions
from tipc.report.marks import FINDING_STATES, MARKS
from tipc.report.matrix import Entry, matrix_of
from tipc.report.text import clean, command, duration, figure, log_end, one_line, plural
from tipc.report.view import BAD, ORDER, UNCERTIFIED, PlanView, RunView
from tipc.run.diagnose import diagnose
from tipc.run.record import FAILED, TIMEOUT

if TYPE_CHECKING:
    from jinja2 import Environment

ATTENTION = 60
ROWS = 40


def page(views: Sequence[RunView], target: Path) -> str:
    """The report as HTML, with links to logs as seen from where it will lie."""
    matrix = matrix_of(views)
    budget = Budget(
        steps=sum(len(view.steps) for view in views),
        plans=sum(len(view.plans) for view in views),
        findings=sum(len(view.verdict.findings) for view in views if view.verdict),
    )
    plans: list[dict[str, Any]] = []
    for view in views:
        for plan in view.plans:
            plans.append(_plan(view, plan, f"p{len(plans)}", target, budget))
    if len(plans) == 1:
        plans[0]["open"] = True
        for cell in [cell for cell in plans[0]["cells"] if cell["curves"]][:1]:
            cell.update(open=True, packed=False)
    anchors: dict[str, str] = {}
    for entry in plans:
        anchors.setdefault(entry["model"], entry["anchor"])
    attention = _attention(views, plans)
    states = Counter(cell["state"] for plan in plans for cell in plan["cells"])
    template = _templates().get_template("report.html")
    return template.render(
        title=f"tipc: {views[0].run.id}" if len(views) == 1 else f"tipc: {len(views)} runs",
        css=_asset("report.css"),
        js=_asset("report.js"),
        runs=[_run(view) for view in views],
        **_together(views),
        states=sorted(states.items(), key=lambda item: ORDER.index(item[0])),
        attention=attention[:ATTENTION],
        more_attention=max(0, len(attention) - ATTENTION),
        matrix=matrix,
        anchors=anchors,
        entry=_entry,
        plans=plans,
        repo=plans[0]["repo"] if len({plan["repo"] for plan in plans}) == 1 else "",
        pack=budget.pack,
        packed=budget.blob,
        brief=budget.brief,
        version=__version__,
    )


@lru_cache
def _templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=PackageLoader("tipc.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    templates.filters.update(
        slug=lambda state: str(state).replace(" ", "-"),
        mark=lambda state: MARKS[state],
        text=lambda value: one_line(value, 600),
        brief=_brief,
        rows=_rows,
        shown=shown,
        is_table=lambda value: bool(_rows(value)),
        columns=lambda value: list(dict.fromkeys(key for _, row in _rows(value) for key in row))[:12],
        finding_state=FINDING_STATES.__getitem__,
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
        return {True: "yes", False: "no", None: "–"}[value]
    if isinstance(value, (int, float)):
        return f"{value:,}" if isinstance(value, int) else figure(value)
    if isinstance(value, (list, tuple)) and not any(isinstance(item, (dict, list)) for item in value):
        return one_line(", ".join(_brief(item) for item in value[:40]), 600)
    return one_line(value if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False), 600)


def _entry(entry: Entry | None, brief: bool) -> Markup:
    if entry is None:
        return Markup('<span aria-label="not in the plan">·</span>')
    state = entry.state
    told = "" if brief and state not in BAD else "; ".join(dict.fromkeys(entry.reasons))[:400]
    title = Markup(' title="{}"').format(clean(told)) if told else ""
    return Markup("<i class={slug}{title}>{mark} {word}</i>").format(
        slug=state.replace(" ", "-"), title=title, mark=MARKS[state], word=entry.word
    )


def _together(views: Sequence[RunView]) -> dict[str, str]:
    """The headline over several runs: how many ended in which way, and the worst tone of them."""
    lines = [headline(view) for view in views]
    counts = Counter(line.word for line in lines)
    tones = {line.tone for line in lines}
    return {
        "words": ", ".join(f"{count} {word}" for word, count in counts.items()),
        "tone": next(tone for tone in ("bad", "open", "good") if tone in tones),
    }


def _run(view: RunView) -> dict[str, Any]:
    run = view.run
    facts = [
        ("started", strftime("%Y-%m-%d %H:%M:%S", localtime(run.started))),
        ("took", duration(view.elapsed) + ("" if run.ended else " (not ended)")),
        ("machine", machine_name(run.environment)),
        ("versions", versions(run.environment)),
        ("configs", str(len(run.plans))),
    ]
    if view.verdict is not None:
        facts.append(("checks", f"{view.verdict.count(PASS)} of {len(view.verdict.findings)} passed"))
    if run.argv:
        facts.append(("again", command(("tipc", "run", *run.argv), {})))
    environment = json.dumps(plain(run.environment), indent=1, ensure_ascii=False, sort_keys=True)
    return {
        "id": run.id,
        "headline": headline(view),
        "facts": facts,
        "machine": machine_name(run.environment),
        "environment": clean(environment)[:20000],
    }


def _plan(view: RunView, plan: PlanView, anchor: str, target: Path, budget: Budget) -> dict[str, Any]:
    steps = plan.steps
    begun = [one.result.started for one in steps if one.result.started]
    first = min(begun, default=0.0)
    last = max((one.result.started + one.result.wall for one in steps if one.result.started), default=first)
    span = max(last - first, 1e-3)
    cells = [
        cell_page(plan, cell, f"{anchor}c{number}", (first, span), target, budget)
        for number, cell in enumerate(plan.cells)
    ]
    data = plan.plan
    return {
        "anchor": anchor,
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


def _attention(views: Sequence[RunView], plans: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What failed, was not checkable or is not certified; the same words about several cells once."""
    found: dict[tuple[str, str, str], dict[str, Any]] = {}

    def tell(state: str, check: str, message: str, **more: str) -> None:
        item = {"state": state, "check": check, "message": message, "times": 0, **more}
        # What this machine cannot show is one thing to do, however many cells it is said about.
        about = "" if state == UNCERTIFIED else message
        found.setdefault((state, check, about), item)["times"] += 1

    def add(finding: Finding, where: str, anchor: str) -> None:
        if finding.status == PASS or (finding.status == UNCHECKED and not finding.required):
            return
        state = FINDING_STATES[finding.status]
        more = {"title": finding.title, "remedy": finding.remedy, "where": where, "anchor": anchor}
        tell(state, finding.check, finding.message, **more)

    number = 0
    for view in views:
        for finding in view.findings:
            add(finding, "the repository", "")
        for plan in view.plans:
            entry = plans[number]
            number += 1
            for finding in plan.findings:
                add(finding, plan.plan.model, entry["anchor"])
            for cell, entered in zip(plan.cells, entry["cells"], strict=True):
                where = f"{plan.plan.model} · {cell.cell.trainer} · {cell.cell.runs_on}"
                for one in cell.steps:
                    if one.result.state in (FAILED, TIMEOUT):
                        known = diagnose(plan.plan, one.step, one.result, log_end(one.result.log, 12))
                        more = {"title": one.label, "remedy": known.remedy, "where": where}
                        tell(
                            one.state, "", known.cause or one.result.reason, anchor=entered["anchor"], **more
                        )
                    for finding in one.findings if one.result.ok or one.result.left_out else ():
                        add(finding, where, entered["anchor"])
                for finding in cell.findings:
                    add(finding, where, entered["anchor"])
    return sorted(found.values(), key=lambda item: ORDER.index(item["state"]))
