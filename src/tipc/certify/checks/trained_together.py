"""TT903: the processes of a training trained one network together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tipc.certify.registry import Outcome, check, failed, passed, unchecked
from tipc.certify.scene import StepScene
from tipc.message import wording
from tipc.run.record.step_facts import ProcessFacts

SHARE_THE_DATA = "give each rank its own part of the images, by paddle.io.DistributedBatchSampler"


@check(
    "TT903",
    "The processes trained one network together",
    scope="train",
    reads="collective calls and the weights of every rank, as the witness saw them",
    remedy="wrap the network in paddle.DataParallel after init_parallel_env(), or all-reduce the gradients",
)
def trained_together(scene: StepScene) -> Iterator[Outcome]:
    """Processes that never exchange gradients train each a network of its own, at the price of several
    machines: every rank runs to its end, and nothing but the weights shows it."""
    if scene.step.processes < 2:
        return
    ranks = ranks_that_trained(scene)
    ends = []
    for one in ranks:
        if one.training and one.training.after:
            ends.append(one.training.after.digest)
    evidence = {
        "ranks": [one.rank for one in ranks],
        "collectives": [dict(one.collectives) for one in ranks],
        "weights": ends,
    }
    if len(ranks) < scene.step.processes:
        told = wording(
            "{seen} of {processes} processes were seen to train",
            seen=len(ranks),
            processes=scene.step.processes,
        )
        yield failed(told, evidence=evidence)
    elif len(set(ends)) == 1:
        yield equal_at_the_end(ranks, evidence)
    else:
        yield different_at_the_end(ranks, len(set(ends)), evidence)


def ranks_that_trained(scene: StepScene) -> list[ProcessFacts]:
    """The processes of a step that were seen to take steps of an optimiser."""
    facts = scene.facts(scene.step)
    if facts is None:
        return []
    trained = []
    for one in facts.processes:
        if one.training and one.training.steps:
            trained.append(one)
    return trained


def all_called(ranks: Sequence[ProcessFacts], collective: str) -> bool:
    """Every rank made this collective call."""
    return all(one.collectives.get(collective) for one in ranks)


def equal_at_the_end(ranks: Sequence[ProcessFacts], evidence: dict[str, Any]) -> Outcome:
    """All ranks ended with one network: whether they trained it together."""
    count = len(ranks)
    apart = differed_early(ranks)
    parallel = all_called(ranks, "DataParallel.forward")
    if apart and not parallel:
        told = wording(
            "{ranks} ranks trained apart: after the first steps there were {networks} different networks, "
            "which were made equal later",
            ranks=count,
            networks=apart,
        )
        return failed(told, evidence=evidence)
    fed = {one.training.input_digests for one in ranks if one.training}
    if parallel or all_called(ranks, "all_reduce"):
        if len(fed) == 1 and len(set(*fed)) > 1:
            told = wording(
                "{ranks} ranks exchanged gradients, and were all fed the same batches: one would have done",
                ranks=count,
            )
            # They did train together. It is a waste, and no lie: a remark.
            return unchecked(told, required=False, remedy=SHARE_THE_DATA, evidence=evidence)
        told = wording("{ranks} ranks exchanged gradients, and ended with equal weights", ranks=count)
        return passed(told, evidence=evidence)
    if len(fed) == 1:
        told = wording(
            "{ranks} ranks exchanged nothing: each trained the same network on the same data", ranks=count
        )
        return failed(told, evidence=evidence)
    return passed(wording("{ranks} ranks ended with equal weights", ranks=count), evidence=evidence)


def different_at_the_end(ranks: Sequence[ProcessFacts], networks: int, evidence: dict[str, Any]) -> Outcome:
    """The ranks ended with several networks."""
    if all_called(ranks, "DataParallel.forward"):
        told = wording(
            "{ranks} ranks exchanged gradients, and ended with {networks} different networks",
            ranks=len(ranks),
            networks=networks,
        )
        return unchecked(told, evidence=evidence)
    told = wording(
        "{ranks} ranks trained apart: no DataParallel was called, and there are {networks} different "
        "networks at the end",
        ranks=len(ranks),
        networks=networks,
    )
    return failed(told, evidence=evidence)


def differed_early(ranks: Sequence[ProcessFacts]) -> int:
    """How many different networks the ranks had after the first steps; 0: one, or it was not seen."""
    early = []
    for one in ranks:
        if one.training is not None and one.training.early:
            early.append(one.training.early)
    networks = len(set(early))
    if len(early) < len(ranks) or networks == 1:
        return 0
    return networks
