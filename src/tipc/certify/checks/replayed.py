"""TP309: what a deployment got of its predictor comes out once more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray

from tipc.certify.checks.deployment import own_predictors
from tipc.certify.compare.agreement import FP32, INT8, compare
from tipc.certify.engines import all_engines
from tipc.certify.evidence.exported import predictors_seen
from tipc.certify.evidence.trials import Answered, engine_name, replay_name
from tipc.certify.registry import Outcome, check, failed, passed, unchecked
from tipc.certify.scene import PlanScene, StepScene, once_a_cell
from tipc.kinds import EXPORT
from tipc.kinds import INT8 as INT8_WORD
from tipc.message import wording
from tipc.run.record.step_facts import PredictorFacts, PredictorRun


@check(
    "TP309",
    "The deployment's own inputs give its own outputs",
    scope="infer",
    reads="what its predictor was fed and gave, and the exported model on the same inputs",
    remedy="do not change what the predictor gives before it is fetched; one model, one engine, one answer",
)
def replayed(scene: StepScene) -> Iterator[Outcome]:
    """The inputs of the deployment go through the exported model again, in the engine that it used. What
    comes out must be what came out there: no cache, no other model behind the same name."""
    found = replays(scene, scene.cell.id)
    again: list[Answered] = []
    while replay_name(scene.step, len(again)) in found:
        again.append(found[replay_name(scene.step, len(again))])
    if again:
        yield same_again(scene, again)
        return
    for predictor in own_predictors(scene):
        engine = engine_name(predictor.engine, predictor.precision)
        if predictor.kept and engine not in all_engines():
            told = wording("its inputs were not replayed: {engine} is no engine of the probes", engine=engine)
            yield unchecked(told, required=False)
            return


@once_a_cell
def replays(scene: PlanScene, cell: str) -> dict[str, Answered]:
    """What the exported model of a cell answered, by what it was fed."""
    found: dict[str, Answered] = {}
    for step in scene.steps(EXPORT, cell):
        for one in scene.trials(step):
            found.setdefault(one.trial.source, one)
    return found


def same_again(scene: StepScene, again: list[Answered]) -> Outcome:
    """Whether replays gave what the deployment got in its first runs."""
    model = str(again[0].trial.model)
    ran = predictors_seen(scene.facts(scene.step))
    predictor = next(one for one in ran if one.kept and one.model == model)
    compared = 0
    for one, run in zip(again, predictor.kept, strict=False):
        if one.error:
            told = wording("its inputs could not be replayed: {error}", error=one.error)
            return unchecked(told, required=False)
        outputs, wrong = same_outputs(scene, predictor, run, one.outputs)
        if wrong is not None:
            return wrong
        compared += outputs
    if not compared:
        return unchecked("the deployment fetched no output", required=False)
    told = wording("outputs as they were: {count}", count=compared)
    return passed(told, batch=predictor.kept[0].batch, runs=len(again))


def same_outputs(
    scene: StepScene, predictor: PredictorFacts, run: PredictorRun, outputs: dict[str, NDArray[Any]]
) -> tuple[int, Outcome | None]:
    """How many outputs of a run could be compared with its replay, and what is said where one is another."""
    arrays = scene.arrays(scene.step)
    bound = FP32
    if predictor.precision == INT8_WORD:
        bound = INT8
    compared = 0
    by_place = dict(zip(map(str, range(len(outputs))), outputs.values(), strict=True))  # of a loaded model
    for name, key in run.outputs.items():
        again = outputs.get(name, by_place.get(name))
        if key not in arrays or again is None:
            continue
        compared += 1
        agreement = compare(arrays[key], again)
        if not agreement.agrees(bound):
            told = wording(
                "replayed, output {name} is another: {figures}", name=name, figures=agreement.text()
            )
            return compared, failed(told, noise=agreement.noise)
    return compared, None
