"""A plan as text for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tipc.command import Command
from tipc.config.chains import Evidence
from tipc.errors import TipcError, deduplicated
from tipc.kinds import CHAINS, CPU, GPU, INFER, PREPARE
from tipc.language import described, enumeration, plural, say, sentence, sentences
from tipc.language.entry import Described
from tipc.message import spoken
from tipc.plan.model import Cell, Plan
from tipc.plan.request import LeftOut
from tipc.plan.target.machine import Machine
from tipc.reasons import Reason, because


def plan_text(plan: Plan, machine: Machine, *, verbose: bool = False, among_others: bool = False) -> str:
    """The cells, what is left out, and what differs from the script; ``verbose``: the evidence.

    ``among_others``: a model has several configs, so the heading names the file, too.
    """
    heading = _heading(plan, machine)
    if among_others and plan.model:
        heading = f"{plan.config} · {heading}"
    lines = [heading]
    if verbose:
        if (
            plan.chain in CHAINS
        ):  # of a script that was traced because someone asked for it, nothing may be known
            lines.append(f"  {say('chain: ')}{say(CHAINS[plan.chain].title)} ({plan.chain})")
        for evidence in plan.evidence:
            lines.append(f"  {_told(evidence)}")
    for note in plan_notes(plan):
        lines.append(f"  {say('note: ')}{note}")
    lines += _prepare_lines(plan)
    lines += _cell_lines(plan)
    lines += _skips(plan)
    if plan.fixes:
        lines.append("  " + say("differs from the script (tipc fixes):"))
    for fix in plan.fixes:
        lines.append(f"    {fix.id}  {described(fix.id, Described(fix.reason, '')).title}")
    lines.append(f"  {_total(plan)}")
    return "\n".join(lines) + "\n"


def _heading(plan: Plan, machine: Machine) -> str:
    dialect = say("dialect {name}", name=plan.dialect)
    if plan.as_upstream:
        how = say("as upstream")
    else:
        how = say("this machine: {machine}", machine=machine_text(machine))
    return f"{plan.model or plan.config} · {plan.mode} · {dialect} · {how}"


def machine_text(machine: Machine) -> str:
    """What a machine has, for a heading: ``cpu ×2, no GPU``."""
    present = [f"{CPU} ×{machine.cores}"]
    for kind, count in ((GPU, machine.gpus), *machine.others):
        if count:
            present.append(f"{kind} ×{count}")
    if len(present) == 1:
        present.append(say("no GPU"))
    return enumeration(present)


def _prepare_lines(plan: Plan) -> list[str]:
    """What runs before every cell."""
    lines = []
    for step in plan.steps:
        if step.id == PREPARE:
            lines.append(f"  {PREPARE}: {Command(step.argv).shell_line()}")
    return lines


def _cell_lines(plan: Plan) -> list[str]:
    """A line for each cell that has steps."""
    width = max([len(cell.id) for cell in plan.cells], default=0)
    lines = []
    for cell in plan.cells:
        chain = _chain(plan, cell)
        if chain:
            precision = f"{cell.precision} {cell.amp_level}".strip()
            lines.append(f"  {cell.id:<{width}}  {cell.runs_on:<14} {precision:<7}  {chain}")
    return lines


def _total(plan: Plan) -> str:
    counts = Counter(step.kind for step in plan.steps)
    total = ", ".join([f"{count} {kind}" for kind, count in counts.items()]) or say("nothing")
    steps = plural(len(plan.steps), "step")
    return say("{steps}: {total}; {count} left out", steps=steps, total=total, count=len(plan.skipped))


def _told(evidence: Evidence) -> str:
    told = say("known by {kind}: {text}", kind=say(evidence.kind), text=spoken(evidence.text))
    if evidence.line:
        told += say(" (line {line})", line=evidence.line)
    return told


def plan_notes(plan: Plan) -> list[str]:
    """What the user should know: which interpreter runs, where cells run elsewhere, and why."""
    notes = [spoken(note) for note in plan.notes]
    python = plan.interpreter
    if python is not None and python.program != python.asked:
        title = f"{python.asked} → {python.program}"
        notes.append(say("{title}: {text}", title=title, text=sentence(python.reason)))
    for cell in plan.cells:
        if cell.not_certified:
            reason = sentences(cell.not_certified)
            notes.append(say("{title}: {text}", title=asked_place(cell), text=reason))
    return list(dict.fromkeys(notes))


def asked_place(cell: Cell) -> str:
    """Where a cell runs; where that is another place than was asked for, both: ``gpu:0 → cpu``."""
    if not cell.not_certified:
        return cell.runs_on
    return f"{asked_text(cell)} → {cell.runs_on}"


def asked_text(cell: Cell) -> str:
    """What a cell asked for: ``gpu:0`` where the config has only the number of a card."""
    asked = cell.asked or GPU
    if asked[0].isdigit():
        return f"{GPU}:{asked}"
    return asked


def _chain(plan: Plan, cell: Cell) -> str:
    """The kinds of a cell's steps, with how often each is there: ``train → eval → infer cpu ×12``."""
    counts: Counter[str] = Counter()
    for step in plan.steps:
        if step.cell != cell.id:
            continue
        name = step.kind
        if step.kind == INFER:
            name = f"infer {step.settings.get('device', step.device)}"
        counts[name] += 1
    return " → ".join([_times(name, count) for name, count in counts.items()])


def _times(name: str, count: int) -> str:
    if count == 1:
        return name
    return f"{name} ×{count}"


def _skips(plan: Plan) -> list[str]:
    """What is left out, one line a reason."""
    repeated = Counter(skip.kind for skip in plan.skipped if skip.reason.code == "same-command")
    grouped: dict[tuple[str, Reason], list[str]] = {}
    for skip in plan.skipped:
        reason = skip.reason
        if reason.code == "same-command" and repeated[skip.kind] > 1:
            reason = because("same-commands")  # each names another step: a line for each tells no more
        grouped.setdefault((skip.kind, reason), []).append(skip.label)
    lines = []
    for (kind, reason), found in grouped.items():
        what = found[0]
        if len(found) > 1:
            what = _times(kind, len(found))
        lines.append("  " + say("left out: {what}: {why}", what=what, why=sentence(reason)))
    return lines


def not_planned_text(left_out: Sequence[LeftOut], problems: Sequence[TipcError]) -> str:
    """The configs of a call that have no plan: those left out, counted by reason, and the broken ones."""
    lines = []
    for reason, count in Counter(one.reason for one in left_out).items():
        files = plural(count, "config")
        lines.append(say("left out: {files} for {why}", files=files, why=sentence(reason)))
    lines += deduplicated(problems)
    if not lines:
        return ""
    return "\n".join(lines) + "\n"
