"""Two plans of one config, command by command: the dialect's, and what the repository's script calls."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from difflib import SequenceMatcher

from tipc.message import english_text, wording
from tipc.plan.model import Plan, Step


def differences(native: Plan, traced: Plan) -> list[str]:
    """One line or block for each command that only one of them has, or that is not the same in both."""
    # What a script calls without it being a step of a trace (``pip list``) is none of the dialect's either.
    left_out = {skip.argv for skip in traced.skipped}
    steps = [step for step in native.steps if step.argv not in left_out]
    ours = [_key(step) for step in steps]
    theirs = [_key(step) for step in traced.steps]
    found: list[str] = []
    for tag, a, b, c, d in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if tag != "equal":
            found += _block(steps[a:b], traced.steps[c:d])
    return found


def _block(ours: Sequence[Step], theirs: Sequence[Step]) -> list[str]:
    """Commands that differ: those of the same kind are taken for one command that was changed."""
    our_kinds = [step.kind for step in ours]
    their_kinds = [step.kind for step in theirs]
    found = []
    for tag, a, b, c, d in SequenceMatcher(None, our_kinds, their_kinds, autojunk=False).get_opcodes():
        if tag == "equal":
            for old, new in zip(ours[a:b], theirs[c:d], strict=True):
                found.append(_changed(old, new))
            continue
        for step in ours[a:b]:
            found.append(english_text("only in the dialect: {command}", command=_text(step)))
        for step in theirs[c:d]:
            found.append(english_text("only in the script: {command}", command=_text(step)))
    return found


def _key(step: Step) -> tuple[object, ...]:
    return step.argv, step.env.get("CUDA_VISIBLE_DEVICES"), step.cwd


def _text(step: Step) -> str:
    text = shlex.join(step.argv)
    visible = step.env.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        text = f"CUDA_VISIBLE_DEVICES={visible} {text}"
    if step.cwd != ".":
        return english_text("(in {folder}) {command}", folder=step.cwd, command=text)
    return text


def _changed(ours: Step, theirs: Step) -> str:
    """Both commands, and the words in which they differ."""
    old, new = _words(ours), _words(theirs)
    gone, come = [], []
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            gone += old[a:b]
            come += new[c:d]
    nothing = wording("nothing")
    return english_text(
        "{step}: the dialect has {gone}, the script {come}\n    dialect: {ours}\n    script:  {theirs}",
        step=theirs.id,
        gone=" ".join(gone) or nothing,
        come=" ".join(come) or nothing,
        ours=_text(ours),
        theirs=_text(theirs),
    )


def _words(step: Step) -> list[str]:
    visible = step.env.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        visible = "(unset)"
    return [f"CUDA_VISIBLE_DEVICES={visible}", f"cwd={step.cwd}", *map(shlex.quote, step.argv)]
