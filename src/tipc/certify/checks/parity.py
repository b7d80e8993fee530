"""TP301, TP302, TP303, TP305: the exported model answers what the trained network answered, in every
engine."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tipc.certify.compare.agreement import BF16, FP16, FP32, INT8, Bound, compare
from tipc.certify.evidence.answers import ModelAnswer, ParityAnswer
from tipc.certify.evidence.evaluations import seen_evaluation
from tipc.certify.evidence.exported import exported_model
from tipc.certify.evidence.likeness import Likeness, is_flat, likeness_inside, likenesses
from tipc.certify.evidence.params_file import read_params
from tipc.certify.evidence.trials import (
    EVALUATION,
    NATIVE,
    ONE_BY_ONE,
    ROUNDED,
    SEEDED,
    Answered,
    samples_of,
)
from tipc.certify.registry import Outcome, check, failed, not_certified, passed, unchecked
from tipc.certify.scene import StepScene
from tipc.kinds import INT8 as INT8_WORD
from tipc.kinds import PACT

DROP = 0.015  # of the metric, int8 against the reference; at least one image of those compared
FLAT_REMEDY = (
    "train until the network answers differently to different images (more epochs or a larger "
    "learning rate in the "
    "lite mode)"
)
NO_EVALUATION = (
    "let the chain evaluate the trained network (the eval line of the config, or an evaluation at "
    "the end of the "
    "training), by calling it in eval mode"
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


def trial_of(scene: StepScene, source: str, engine: str = NATIVE) -> Answered | None:
    """What the model answered in one of its trials; None: it was not tried."""
    for one in scene.trials(scene.step):
        if one.trial.source == source and one.trial.engine == engine:
            return one
    return None


def bound_for(scene: StepScene, source: str) -> Bound:
    """How much noise is agreement for this model: by its numbers, its precision, and what rounding
    does to it."""
    if scene.cell.precision == PACT:
        base = INT8
    else:
        base = bound_of_numbers(scene)
    plain, moved = trial_of(scene, source), trial_of(scene, f"{ROUNDED} {source}")
    if plain is None or moved is None or plain.error or moved.error:
        return base
    return base.with_sensitivity(sensitivity(plain, moved))


def sensitivity(plain: Answered, moved: Answered) -> float:
    """The noise that a rounding of every input and weight makes, in the worst output that has a row a
    sample."""
    few = samples_of(moved.trial.feeds)
    worst = 0.0
    known = {**plain.outputs, **plain.inner}
    for name, value in [*moved.outputs.items(), *moved.inner.items()]:
        whole = known.get(name)
        if whole is None or value.dtype.kind != "f" or not value.ndim or len(value) != few:
            continue
        agreement = compare(whole[:few], value)
        if agreement.finite and math.isfinite(agreement.noise):
            worst = max(worst, agreement.noise)
    return worst


def bound_of_numbers(scene: StepScene) -> Bound:
    """By the type that the exported weights are stored in."""
    model = exported_model(scene, scene.step)
    try:
        arrays = read_params(model.parameters) if model is not None else []
    except (OSError, ValueError):
        return FP32
    kinds = {array.dtype.name for array in arrays if array.size > 1}
    if "uint16" in kinds:
        return BF16  # its 16 bits
    return FP16 if "float16" in kinds else FP32


def against_evaluation(scene: StepScene, engine: str = NATIVE) -> Compared | None:
    """The exported model on what the evaluation fed, against what the trained network answered."""
    evaluation = seen_evaluation(scene, scene.cell.id)
    trial = trial_of(scene, EVALUATION, engine)
    if evaluation is None or trial is None or trial.error:
        return None
    found = likenesses(evaluation.outputs, trial.outputs, evaluation.samples)
    bound = bound_for(scene, EVALUATION)
    if is_flat(found):
        inside = likeness_inside(evaluation.outputs, trial.inner)
        # Values inside may be any: they tell something only where they agree.
        if inside is not None and inside.agrees(bound):
            found.append(inside)
    return Compared(trial, found, bound) if found else None


def against_network(scene: StepScene, engine: str = NATIVE) -> Compared | None:
    """The exported model on seeded inputs, against the answers of the network that was handed to the
    export."""
    model = exported_model(scene, scene.step)
    trial = trial_of(scene, SEEDED, engine)
    if model is None or model.facts is None or trial is None or trial.error or not model.facts.outputs:
        return None
    arrays = scene.arrays(scene.step)
    own = {name: arrays[key] for name, key in model.facts.outputs.items() if key in arrays}
    found = likenesses(own, trial.outputs, samples_of(trial.trial.feeds))
    return Compared(trial, found, bound_for(scene, SEEDED)) if found else None


def evidence_of(*compared: Compared | None) -> dict[str, Any]:
    """The figures of comparisons."""
    known = [one for one in compared if one is not None]
    return {
        "table": [row for one in known for row in one.rows()],
        "bound": max((one.bound.noise for one in known), default=0.0),
    }


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
    through
    whichever head the export added. Nothing is needed from the repository for it."""
    if exported_model(scene, scene.step) is None:
        yield unchecked("there is no exported model that could be tried")
        return
    network = against_network(scene)
    compared = against_evaluation(scene)
    if compared is None:
        yield without_evaluation(scene, network)
        return
    evidence = evidence_of(compared, network)
    wrong = compared.wrong
    if wrong is not None and wrong.agreement is None:
        yield without_evaluation(scene, network)
    elif wrong is not None and wrong.is_undecided:
        yield undecided(wrong, evidence)
    elif wrong is not None:
        yield failed(
            f"other answers than the trained network's: output {wrong.output}: {wrong.text()}; "
            "allowed is noise "
            f"of {compared.bound.noise:.2g}{rounded_more(scene)}",
            evidence=evidence,
        )
    elif is_flat(compared.found) and (network is None or is_flat(network.found)):
        yield unchecked(
            "the trained network answers the same to every image: that another one does, too, shows nothing",
            remedy=FLAT_REMEDY,
            evidence=evidence,
        )
    else:
        filled = f", with {', '.join(compared.trial.unfed)} as deployed" if compared.trial.unfed else ""
        yield passed(f"{compared.best.text()}{filled}", evidence=evidence)


def undecided(wrong: Likeness, evidence: dict[str, Any]) -> Outcome:
    """A detector that has learnt too little to be compared."""
    return unchecked(
        f"the trained network gives nearly all boxes one score, and rounding decides which it lists: "
        f"{wrong.text()}",
        remedy=FLAT_REMEDY,
        evidence=evidence,
    )


def rounded_more(scene: StepScene) -> str:
    """Where a quantised model rounds more values than its layers take in; empty: it does not."""
    answer = scene.answer("model", scene.step)
    if not isinstance(answer, ModelAnswer):
        return ""
    layers = sum(layer.quantised for layer in answer.layers)
    rounded = answer.operators.get("quantize_linear", 0)
    if not layers or rounded <= layers:
        return ""
    return f"; the export rounds {rounded} values to 8 bits for {layers} layers, what layers give out as well"


def without_evaluation(scene: StepScene, network: Compared | None) -> Outcome:
    """What can be said where the evaluation's inputs do not fit the exported model, or nothing was
    evaluated."""
    trial = trial_of(scene, EVALUATION)
    why = "no evaluation of the trained network was seen"
    if trial is not None:
        why = trial.error or "the evaluation's outputs have another form"
    if network is None or network.wrong is not None or is_flat(network.found):
        return unchecked(f"nothing could be compared: {why}", remedy=NO_EVALUATION)
    model = exported_model(scene, scene.step)
    trained = scene.trained_digests(scene.cell.id)
    exported = (
        set(model.facts.weights.tensors.values()) if model and model.facts and model.facts.weights else set()
    )
    if not trained or not trained <= exported:
        return unchecked(f"nothing could be compared with the trained network: {why}", remedy=NO_EVALUATION)
    return passed(
        f"the network that was exported has all {len(trained)} trained tensors, and the model answers "
        "as it does: "
        f"{network.best.text()} ({why})",
        evidence=evidence_of(network),
    )


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
    asked = [one for one in scene.trials(scene.step) if one.trial.source in (EVALUATION, SEEDED)]
    names = dict.fromkeys(one.trial.engine for one in asked)
    told, rows = [], []
    for engine in names:
        if engine_precision(engine) == INT8_WORD:
            continue  # TP305
        for compared in (against_network(scene, engine), against_evaluation(scene, engine)):
            if compared is None:
                continue
            rows.append(compared)
            wrong = compared.wrong
            if wrong is not None and wrong.agreement is not None and not wrong.is_undecided:
                told_wrong = (
                    f"{engine}: output {wrong.output}: {wrong.text()}, allowed is {compared.bound.noise:.2g}"
                )
                if not wrong.agreement.finite:
                    told_wrong = f"{engine}: output {wrong.output} is not finite"
                yield failed(told_wrong, evidence=evidence_of(*rows))
                return
        told.append(engine)
    broken = [one for one in asked if one.error and engine_precision(one.trial.engine) != INT8_WORD]
    if broken and broken[0].trial.engine != NATIVE and broken[0].trial.source == EVALUATION:
        yield failed(
            f"{broken[0].trial.engine} cannot run it: {broken[0].error}", evidence=evidence_of(*rows)
        )
    elif rows:
        yield passed(f"{', '.join(told)}: {rows[0].best.text()}", evidence=evidence_of(*rows))
    elif asked:
        yield unchecked("no answer of the exported network is known", required=False)


def engine_precision(name: str) -> str:
    """What an engine computes in."""
    from tipc.certify.engines import all_engines

    return all_engines()[name].precision


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
    if single.error:
        yield failed(f"it refuses batch 1: {single.error}")
        return
    bound = bound_for(scene, together.trial.source)
    for name, value in single.outputs.items():
        other = together.outputs.get(name)
        if other is None or not other.ndim or len(other) < len(value) or len(value) != count:
            continue  # a list of boxes has no row a sample
        agreement = compare(other[: len(value)], value)
        if not agreement.agrees(bound):
            yield failed(
                f"the predictions depend on the batch: one by one, output {name} has {agreement.text()}",
                max_abs=agreement.max_abs,
                noise=agreement.noise,
            )
            return
    yield passed(f"{count} samples alike one by one and together")


@check(
    "TP305",
    "int8 loses no more than allowed",
    scope="export",
    reads="the exported model in int8 on what the evaluation fed; metric() of test_tipc/parity.py, "
    "if it is there",
    remedy="train the quantised model longer or with a smaller learning rate, store its weights as "
    "real int8, keep "
    "sensitive layers in fp32",
)
def int8_drop(scene: StepScene) -> Iterator[Outcome]:
    """An int8 model is used only if it is as good. oneDNN's int8 pass silently misreads weights that are
    stored as integers in float32: it runs, and the accuracy is that of guessing."""
    if scene.cell.precision != PACT:
        return
    tried = [one for one in scene.trials(scene.step) if engine_precision(one.trial.engine) == INT8_WORD]
    if not tried:
        yield unchecked("the model was not tried in int8: only the older form (.pdmodel) can be quantised")
        return
    broken = [one for one in tried if one.error]
    if broken:
        yield failed(f"{broken[0].trial.engine} cannot run it: {broken[0].error}")
        return
    metric = metric_drop(scene)
    compared = against_evaluation(scene, tried[0].trial.engine) or against_network(
        scene, tried[0].trial.engine
    )
    if metric is not None:
        yield metric
    if compared is None:
        if metric is None:
            yield unchecked("nothing could be compared in int8", remedy=NO_EVALUATION)
        return
    wrong = compared.wrong
    if wrong is None:
        yield passed(f"in int8: {compared.best.text()}", evidence=evidence_of(compared))
    elif wrong.is_undecided:
        yield undecided(wrong, evidence_of(compared))
    elif lacks_vnni(scene):
        yield not_certified(
            f"in int8: {wrong.text()}; this CPU has no VNNI, without which oneDNN's sums can saturate",
            remedy="run it on a CPU with AVX512 VNNI or AVX VNNI",
            evidence=evidence_of(compared),
        )
    else:
        yield failed(
            f"in int8: {wrong.text()}, allowed is {compared.bound.noise:.2g}", evidence=evidence_of(compared)
        )


def metric_drop(scene: StepScene) -> Outcome | None:
    """The repository's own metric of the exported model, in int8 against its simulation; None: it has
    none."""
    answer = scene.answer("parity", scene.step)
    if not isinstance(answer, ParityAnswer) or not answer.metrics:
        return None
    reference = answer.metrics.get(NATIVE)
    measured = [metric for name, metric in answer.metrics.items() if name != NATIVE]
    if reference is None or not measured:
        return None
    bound = max(DROP, 1.01 / max(answer.samples, 1))
    drop = reference.value - measured[0].value
    text = f"{reference.name} {reference.value:.4g} → {measured[0].value:.4g} in int8"
    evidence = {
        "metric": reference.name,
        "reference": reference.value,
        "int8": measured[0].value,
        "drop": drop,
        "bound": bound,
    }
    if drop <= bound:
        return passed(text, evidence=evidence)
    if lacks_vnni(scene):
        return not_certified(f"{text}: a loss of {drop:.3g}; this CPU has no VNNI", evidence=evidence)
    return failed(f"{text}: a loss of {drop:.3g}, allowed are {bound:.3g}", evidence=evidence)


def lacks_vnni(scene: StepScene) -> bool:
    """The processor that the run happened on is known, and has no instructions for int8."""
    flags = scene.run.environment.get("cpu", {}).get("flags")
    return bool(flags) and not any("vnni" in flag for flag in flags)
