"""TD815: a reproduction computes what its reference computes, where both were recorded."""

from __future__ import annotations

from collections.abc import Iterator

from tipc.certify.checks.repo import conclude, item
from tipc.certify.registry import Outcome, check, unchecked
from tipc.certify.scene import RepoScene
from tipc.message import Message, wording


@check(
    "TD815",
    "The reproduction is aligned with its reference",
    scope="repo",
    reads="two recordings of tipc.align.Recorder",
    remedy="tipc align REF.npz OURS.npz names the first tensor that differs; earlier stages first",
)
def aligned(scene: RepoScene) -> Iterator[Outcome]:
    """Network, pre- and post-processing, optimiser and pretrained weights must be those of the reference.
    Only recorded tensors of both sides can show that, of every stage from the data to the weights."""
    if scene.alignment is None:
        yield unchecked("no recordings were given", required=False, remedy="tipc check --align REF OURS")
        return
    items = []
    for tensor in scene.alignment.tensors:
        note = wording(
            "{state}, mean |Δ| {mean:.1e}, allowed {allowed:.0e}",
            state=Message(tensor.state),
            mean=tensor.mean,
            allowed=tensor.threshold,
        )
        items.append(item(f"{tensor.stage}/{tensor.name}", tensor.ok, note))
    good = wording("{count} tensors", count=len(items))
    absent = scene.alignment.not_recorded
    if scene.alignment.ok and absent:
        told = wording("{message} agree; not recorded: {stages}", message=good, stages=absent)
        yield unchecked(told, required=False, remedy="record every stage on both sides", items=items)
        return
    yield from conclude(items, good)
