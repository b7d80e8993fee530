"""A plan as text for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tipc.config.chains import Evidence
from tipc.errors import TipcError, told_once
from tipc.kinds import CHAINS, GPU, INFER
from tipc.language import described, plural, say, sentence, sentences
from tipc.language.entry import Described
from tipc.plan.model import Plan, Step
from tipc.plan.request import LeftOut
from tipc.plan.target.machine import Machine
from tipc.reasons import Reason


def plan_text(plan: Plan, machine: Machine, *, verbose: bool = False) -> str:
    """The cells, what is left out, and what differs from the script; ``verbose``: the evidence."""
    how = say("as upstream")
    if not plan.as_upstream:
        how = say("this machine: {machine}", machine=machine.describe())
    dialect = say("dialect {name}", name=plan.dialect)
    lines = [f"{plan.model or plan.config} · {plan.mode} · {dialect} · {how}"]
    if verbose:
        lines.append(f"  {say('chain: ')}{say(CHAINS[plan.chain].title)} ({plan.chain})")
        lines += [f"  {_told(evidence)}" for evidence in plan.evidence]
    lines += [f"  {say('note: ')}{note}" for note in plan_notes(plan)]
    width = max([len(cell.id) for cell in plan.cells], default=0)
    for cell in plan.cells:
        steps = [step for step in plan.steps if step.cell == cell.id]
        if steps:
            precision = f"{cell.precision} {cell.amp_level}".strip()
            lines.append(f"  {cell.id:<{width}}  {cell.runs_on:<14} {precision:<7}  {_chain(steps)}")
    lines += _skips(plan)
    if plan.fixes:
        lines.append("  " + say("differs from the script (tipc fixes):"))
        for fix in plan.fixes:
            lines.append(f"    {fix.id}  {described(fix.id, Described(fix.reason, '')).title}")
    kinds = [step.kind for step in plan.steps]
    counts = {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}
    total = ", ".join(f"{count} {kind}" for kind, count in counts.items()) or say("nothing")
    counted = plural(len(plan.steps), "step")
    told = say("{steps}: {total}; {count} left out", steps=counted, total=total, count=len(plan.skipped))
    lines.append(f"  {told}")
    return "\n".join(lines) + "\n"


def _told(evidence: Evidence) -> str:
    place = say(" (line {line})", line=evidence.line) if evidence.line else ""
    return say("known by {kind}: {text}", kind=evidence.kind, text=evidence.text) + place


def plan_notes(plan: Plan) -> list[str]:
    """What the user should know: which interpreter runs, where cells run elsewhere, and why."""
    notes = list(plan.notes)
    python = plan.interpreter
    if python is not None and python.program != python.asked:
        notes.append(f"{python.asked} → {python.program}: {sentence(python.reason)}")
    elsewhere = [cell for cell in plan.cells if cell.not_certified]
    for cell in elsewhere:
        notes.append(f"{cell.asked or GPU} → {cell.runs_on}: {sentences(cell.not_certified)}")
    return list(dict.fromkeys(notes))


def _chain(steps: list[Step]) -> str:
    kinds: dict[str, list[Step]] = {}
    for step in steps:
        name = f"infer {step.settings.get('device', step.device)}" if step.kind == INFER else step.kind
        kinds.setdefault(name, []).append(step)
    return " → ".join(f"{name} ×{len(found)}" if len(found) > 1 else name for name, found in kinds.items())


def _skips(plan: Plan) -> list[str]:
    """What is left out, one line a reason."""
    grouped: dict[tuple[str, Reason], list[str]] = {}
    for skip in plan.skipped:
        grouped.setdefault((skip.kind, skip.reason), []).append(skip.label)
    lines = []
    for (kind, reason), found in grouped.items():
        what = found[0] if len(found) == 1 else f"{kind} ×{len(found)}"
        lines.append("  " + say("left out: {what}: {why}", what=what, why=sentence(reason)))
    return lines


def not_planned_text(left_out: Sequence[LeftOut], problems: Sequence[TipcError]) -> str:
    """The configs of a call that have no plan: those left out, counted by reason, and the broken ones."""
    counted = Counter(one.reason for one in left_out)
    lines = []
    for reason, count in counted.items():
        files = plural(count, "config")
        lines.append(say("left out: {files} for {why}", files=files, why=sentence(reason)))
    lines += told_once(problems)
    return "".join(f"{line}\n" for line in lines)
