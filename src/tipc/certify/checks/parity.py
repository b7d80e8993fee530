"""TP301, TP302, TP303: the exported model answers what the trained network answered, in every
engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tipc.certify.compare.agreement import (
    Bound,
    columns,
    compare,
)
from tipc.certify.evidence.answers import ModelAnswer
from tipc.certify.evidence.deployed_images import DeployedImages, answered_as_trained
from tipc.certify.evidence.evaluations import seen_evaluation
from tipc.certify.evidence.exported import exported_model
from tipc.certify.evidence.likeness import Likeness, is_flat, likeness_inside, likenesses
from tipc.certify.evidence.parity_bounds import bound_for, engine_precision, trial_of
from tipc.certify.evidence.trials import (
    EVALUATION,
    NATIVE,
    ONE_BY_ONE,
    SEEDED,
    Answered,
    deployments,
    engine_name,
    samples_of,
)
from tipc.certify.registry import Outcome, check, failed, passed, unchecked
from tipc.certify.scene import StepScene
from tipc.kinds import INT8 as INT8_WORD
from tipc.kinds import PACT
from tipc.message import Message, wording

FLAT_REMEDY = (
    "train until the network answers differently to different images (more epochs or a larger learning rate "
    "in the lite mode)"
)
NO_EVALUATION = (
    "let the chain evaluate the trained network (the eval line of the config, or an evaluation at the end of "
    "the training), by calling it in eval mode"
)


@dataclass(frozen=True)
class Compared:
    """One trial of the exported model against what it should answer."""

    trial: Answered
    found: list[Likeness]
    bound: Bound

    @property
    def wrong(self) -> Likeness | None:
        """The first output that is not in agreement; one without a counterpart counts only if nothing
        has one."""
        known = [one for one in self.found if one.agreement is not None]
        for one in known or self.found:
            if not one.agrees(self.bound):
                return one
        return None

    @property
    def best(self) -> Likeness:
        return max(self.found, key=lambda one: one.agreement.decisions if one.agreement else 0)

    def rows(self) -> list[dict[str, Any]]:
        """For the evidence."""
        engine, source = self.trial.trial.engine, self.trial.trial.source
        batch = self.trial.trial.batch
        return [{"engine": engine, "source": source, "batch": batch, **one.row()} for one in self.found]


def against_evaluation(scene: StepScene, engine: str = NATIVE) -> Compared | None:
    """The exported model on what the evaluation fed, against what the trained network answered; None also
    where the model wants to be fed otherwise, a part of the preprocessing being in it."""
    evaluation = seen_evaluation(scene, scene.cell.id)
    trial = trial_of(scene, EVALUATION, engine)
    if evaluation is None or trial is None or trial.error:
        return None
    found = likenesses(evaluation.outputs, trial.outputs, evaluation.samples)
    bound = bound_for(scene, EVALUATION, engine)
    if is_flat(found):
        inside = likeness_inside(evaluation.outputs, trial.inner)
        # Values inside may be any: they tell something only where they agree.
        if inside is not None and inside.agrees(bound):
            found.append(inside)
    if not found:
        return None
    compared = Compared(trial, found, bound)
    if compared.wrong is not None and as_deployed(scene) is not None:
        return None  # its inputs are not for this model
    return compared


def against_network(scene: StepScene, engine: str = NATIVE) -> Compared | None:
    """The exported model on seeded inputs, against the answers of the network that was handed to the
    export."""
    model = exported_model(scene, scene.step)
    trial = trial_of(scene, SEEDED, engine)
    if model is None or model.facts is None or trial is None or trial.error or not model.facts.outputs:
        return None
    arrays = scene.arrays(scene.step)
    own = {}
    for name, key in model.facts.outputs.items():
        if key in arrays:
            own[name] = arrays[key]
    found = likenesses(own, trial.outputs, samples_of(trial.trial.feeds))
    if not found:
        return None
    return Compared(trial, found, bound_for(scene, SEEDED, engine))


def evidence_of(*compared: Compared | None) -> dict[str, Any]:
    """The figures of comparisons."""
    table: list[dict[str, Any]] = []
    bound = 0.0
    for one in compared:
        if one is not None:
            table += one.rows()
            bound = max(bound, one.bound.noise)
    return {"table": table, "bound": bound}


@check(
    "TP301",
    "The exported model predicts what the trained one does",
    scope="export",
    reads="what the evaluation fed and got, as the witness saw it, and the exported model on the same inputs",
    remedy="export the weights that were trained, in eval mode, with the same network and the same outputs",
)
def parity(scene: StepScene) -> Iterator[Outcome]:
    """The complaint that users have most: the model behaves well in training and differently in deployment.
    The exported model gets what the evaluation fed, and must answer what the trained network answered,
    through whichever head the export added. Nothing is needed from the repository for it."""
    if exported_model(scene, scene.step) is None:
        yield unchecked("there is no exported model that could be tried")
        return
    network = against_network(scene)
    compared = against_evaluation(scene)
    if compared is None:
        deployed = as_deployed(scene)
        if deployed is not None:
            yield passed(deployed.text(), evidence={"table": deployed.rows})
        else:
            yield without_evaluation(scene, network)
        return
    evidence = evidence_of(compared, network)
    wrong = compared.wrong
    if wrong is not None and wrong.agreement is None:
        yield without_evaluation(scene, network)
    elif wrong is not None and wrong.is_undecided:
        yield undecided(wrong, evidence)
    elif wrong is not None:
        yield failed(other_answers(scene, compared, wrong), evidence=evidence)
    elif is_flat(compared.found) and (network is None or is_flat(network.found)):
        yield unchecked(
            "the trained network answers the same to every image: that another one does, too, shows nothing",
            remedy=FLAT_REMEDY,
            evidence=evidence,
        )
    else:
        told = compared.best.text()
        if compared.trial.unfed:
            names = ", ".join(compared.trial.unfed)
            told = wording("{figures}, with {names} as deployed", figures=told, names=names)
        yield passed(told, evidence=evidence)


def as_deployed(scene: StepScene) -> DeployedImages | None:
    """A model that has a part of the preprocessing in it: other answers to what the evaluation fed, and the
    right ones to what the deployment feeds of the same images. None: it has not."""
    evaluation = seen_evaluation(scene, scene.cell.id)
    if evaluation is None:
        return None
    return answered_as_trained(scene, scene.cell.id, evaluation, bound_for(scene, EVALUATION))


def undecided(wrong: Likeness, evidence: dict[str, Any]) -> Outcome:
    """A detector that has learnt too little to be compared."""
    told = wording(
        "the trained network gives nearly all boxes one score, and rounding decides which it lists: "
        "{figures}",
        figures=wrong.text(),
    )
    return unchecked(told, remedy=FLAT_REMEDY, evidence=evidence)


def other_answers(scene: StepScene, compared: Compared, wrong: Likeness) -> Message:
    """What is said of a model that answers otherwise."""
    told = wording(
        "other answers than the trained network's: output {output}: {figures}; allowed is noise of "
        "{noise:.2g}",
        output=wrong.output,
        figures=wrong.text(),
        noise=compared.bound.noise,
    )
    layers, rounded = rounded_more(scene)
    if rounded <= layers:
        return told
    return wording(
        "{message}; the export rounds {rounded} values to 8 bits for {layers} layers, what layers give out "
        "as well",
        message=told,
        rounded=rounded,
        layers=layers,
    )


def rounded_more(scene: StepScene) -> tuple[int, int]:
    """The quantised layers of a model, and how many values it rounds: more than they take in, or not."""
    answer = scene.answer("model", scene.step)
    if not isinstance(answer, ModelAnswer):
        return 0, 0
    layers = sum(layer.quantised for layer in answer.layers)
    if not layers:
        return 0, 0
    return layers, answer.operators.get("quantize_linear", 0)


def without_evaluation(scene: StepScene, network: Compared | None) -> Outcome:
    """What can be said where the evaluation's inputs do not fit the exported model, or nothing was
    evaluated."""
    why = why_not_compared(trial_of(scene, EVALUATION))
    if network is None or network.wrong is not None or is_flat(network.found):
        return unchecked(wording("nothing could be compared: {why}", why=why), remedy=NO_EVALUATION)
    trained = scene.trained_digests(scene.cell.id)
    if not trained or not trained <= exported_tensors(scene):
        told = wording("nothing could be compared with the trained network: {why}", why=why)
        return unchecked(told, remedy=NO_EVALUATION)
    told = wording(
        "the network that was exported has all {count} trained tensors, and the model answers as it does: "
        "{figures} ({why})",
        count=len(trained),
        figures=network.best.text(),
        why=why,
    )
    return passed(told, evidence=evidence_of(network))


def why_not_compared(trial: Answered | None) -> str | Message:
    """Why the evaluation's inputs tell nothing about the exported model."""
    if trial is None:
        return wording("no evaluation of the trained network was seen")
    return trial.error or wording("the evaluation's outputs have another form")


def exported_tensors(scene: StepScene) -> set[str]:
    """The tensors of the network that was handed to the export, by what is in them."""
    model = exported_model(scene, scene.step)
    if model is None or model.facts is None or model.facts.weights is None:
        return set()
    return set(model.facts.weights.tensors.values())


@check(
    "TP302",
    "Every engine answers what the exported network answered",
    scope="export",
    reads="the network that was handed to the export on seeded inputs, and the exported model in each engine",
    remedy="report the operator to paddle, or leave it out with config.delete_pass(); do not deploy "
    "it as it is",
)
def engines(scene: StepScene) -> Iterator[Outcome]:
    """Engines replace and fuse operators, and their results must be the same: on the inputs of the evaluation
    and on seeded ones, which have values that the lite images may not have."""
    asked = tried_in_float(scene)
    names = list(dict.fromkeys(one.trial.engine for one in asked))
    rows: list[Compared] = []
    for engine in names:
        for compared in (against_network(scene, engine), against_evaluation(scene, engine)):
            if compared is None:
                continue
            rows.append(compared)
            wrong = wrong_in_engine(engine, compared)
            if wrong is not None and not agrees_as_on_images(scene, compared):
                yield failed(wrong, evidence=evidence_of(*rows))
                return
    broken = [one for one in asked if one.error]
    tied = tied_engine(scene, names, rows)
    if broken and broken[0].trial.engine != NATIVE and broken[0].trial.source == EVALUATION:
        yield broken_engine(broken[0], evidence_of(*rows))
    elif tied is not None:
        yield tied
    elif rows:
        told = wording("{engines}: {figures}", engines=", ".join(names), figures=rows[0].best.text())
        yield passed(told, evidence=evidence_of(*rows))
    elif asked:
        yield unchecked("no answer of the exported network is known", required=False)


def tried_in_float(scene: StepScene) -> list[Answered]:
    """The trials of the model in every engine but those of int8: TP305 bounds them."""
    found = []
    for one in scene.trials(scene.step):
        if one.trial.source in (EVALUATION, SEEDED) and engine_precision(one.trial.engine) != INT8_WORD:
            found.append(one)
    return found


def tied_engine(scene: StepScene, names: list[str], rows: list[Compared]) -> Outcome | None:
    """What is said of the first engine that gave nothing but ties."""
    for engine in names:
        tied = only_ties(engine, rows)
        if tied is not None:
            required = not tied.is_mostly_the_same and engine in deployed_engines(scene)
            return undecided_engine(engine, tied, evidence_of(*rows), required=required)
    return None


def only_ties(engine: str, rows: list[Compared]) -> Likeness | None:
    """Boxes of an engine that tell nothing, where it has given no others that do.

    Of several one whose boxes are mostly others, if there is one.
    """
    tied = None
    for compared in rows:
        if compared.trial.trial.engine != engine:
            continue
        wrong = compared.wrong
        if wrong is None:
            return None
        if wrong.is_undecided and (tied is None or tied.is_mostly_the_same):
            tied = wrong
    return tied


def undecided_engine(engine: str, tied: Likeness, evidence: dict[str, Any], *, required: bool) -> Outcome:
    """An engine lists other boxes, and all of them are level with the last: neither right nor wrong."""
    told = wording(
        "{engine}: the network gives nearly all boxes one score, and rounding decides which it lists: "
        "{figures}",
        engine=engine,
        figures=tied.text(),
    )
    return unchecked(told, required=required, remedy=FLAT_REMEDY, evidence=evidence)


def deployed_engines(scene: StepScene) -> set[str]:
    """The engines in which the inference steps of the cell ran the model."""
    model = exported_model(scene, scene.step)
    if model is None:
        return set()
    found = set()
    for _, predictor in deployments(scene, scene.step, model):
        found.add(engine_name(predictor.engine, predictor.precision))
    return found


def agrees_as_on_images(scene: StepScene, compared: Compared) -> bool:
    """Whether an engine agrees on seeded inputs by as much as a quantised network's answers to images vary.

    Noise may be all one to such a network: its answers hardly differ, and the last bit of a float, which
    decides between two steps of 8 bits in each layer, is a large share of that. The signal is what images
    make of it.
    """
    trial = compared.trial
    images, seeded = trial_of(scene, EVALUATION), trial_of(scene, SEEDED)
    if scene.cell.precision != PACT or trial.trial.source != SEEDED or images is None or seeded is None:
        return False
    for name, value in seeded.outputs.items():
        answer, other = trial.outputs.get(name), images.outputs.get(name)
        if answer is None or other is None or value.dtype.kind != "f" or value.ndim < 2:
            return False
        reference = columns(value).astype(np.float64)
        spread = np.maximum(reference.std(0), columns(other).std(0))
        noise = np.sqrt(((reference - columns(answer)) ** 2).mean(0))
        if not (noise <= compared.bound.noise * spread).all():
            return False
    return True


def wrong_in_engine(engine: str, compared: Compared) -> Message | None:
    """What an engine answers wrongly; None: nothing, or nothing that could be compared."""
    wrong = compared.wrong
    if wrong is None or wrong.agreement is None or wrong.is_undecided:
        return None
    if not wrong.agreement.finite:
        return wording("{engine}: output {output} is not finite", engine=engine, output=wrong.output)
    return wording(
        "{engine}: output {output}: {figures}, allowed is {noise:.2g}",
        engine=engine,
        output=wrong.output,
        figures=wrong.text(),
        noise=compared.bound.noise,
    )


def broken_engine(one: Answered, evidence: Mapping[str, Any] | None = None) -> Outcome:
    """What follows where an engine gave no answer: a failure, unless it was we who ended it."""
    told = wording("{engine} cannot run it: {error}", engine=one.trial.engine, error=one.error)
    if one.limited:
        return unchecked(told, evidence=evidence)
    return failed(told, evidence=evidence)


@check(
    "TP303",
    "Batch 1 and larger batches predict the same",
    scope="export",
    reads="the exported model on the same samples, together and one by one",
    remedy="export with InputSpec([None, …]) and the network in eval mode",
)
def batches(scene: StepScene) -> Iterator[Outcome]:
    """A model that was exported in training mode normalises by the batch, and one with a fixed batch refuses
    others: its predictions depend on which images happen to come together."""
    single = trial_of(scene, ONE_BY_ONE)
    together = trial_of(scene, EVALUATION) or trial_of(scene, SEEDED)
    if single is None or together is None or together.error:
        return
    count = samples_of(single.trial.feeds)
    if count < 2:
        yield unchecked("there is a single sample: one batch size is all that can be tried", required=False)
        return
    if single.limited:
        yield unchecked(wording("batch 1 could not be tried: {error}", error=single.error))
        return
    if single.error:
        yield failed(wording("it refuses batch 1: {error}", error=single.error))
        return
    bound = bound_for(scene, together.trial.source)
    for name, value in single.outputs.items():
        other = together.outputs.get(name)
        if other is None or not other.ndim or len(other) < len(value) or len(value) != count:
            continue  # a list of boxes has no row a sample
        agreement = compare(other[: len(value)], value)
        if not agreement.agrees(bound):
            told = wording(
                "the predictions depend on the batch: one by one, output {name} has {figures}",
                name=name,
                figures=agreement.text(),
            )
            yield failed(told, max_abs=agreement.max_abs, noise=agreement.noise)
            return
    yield passed(wording("{count} samples alike one by one and together", count=count))
