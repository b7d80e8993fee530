"""TL106, TL108, TL110, TL111: what evaluations say, of their own and in training, about the same weights."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from numpy.typing import NDArray

from tipc.certify.compare.detections import are_detections
from tipc.certify.evidence.evaluations import last_evaluation, seen_evaluation
from tipc.certify.evidence.log_records import EvaluationLine
from tipc.certify.evidence.log_values import is_share
from tipc.certify.evidence.logs import read_log
from tipc.certify.evidence.training_log_file import place, with_complaint
from tipc.certify.registry import Outcome, check, failed, passed, unchecked
from tipc.certify.scene import StepScene
from tipc.kinds import EVAL, TRAIN
from tipc.message import Message, wording
from tipc.plan.model import Step

NEAR = 0.06  # of a metric between 0 and 1: one image of a lite split
PER_CENT = 100.0
COUNTED = ("top1", "top5")  # metrics that count samples: a whole number of them


def final_metrics(rows: Iterable[EvaluationLine]) -> dict[str, float]:
    """The metrics of an evaluation that may tell them in several lines; the last word counts."""
    found: dict[str, float] = {}
    for row in rows:
        found.update(row.metrics)
    return found


@check(
    "TL106",
    "The evaluation prints its metrics",
    scope="eval",
    reads="the evaluation's log",
    remedy="print the result as `acc: 0.84`, `mIoU: 0.71`, …, and fail if the data are not there",
)
def evaluation(scene: StepScene) -> Iterator[Outcome]:
    """An evaluation that printed no metric evaluated nothing, whatever its exit status. Where the witness saw
    it evaluate, its metric may be in a form that is not known here: then this is unchecked."""
    path = scene.step_log
    log = read_log(path)
    seen = seen_evaluation(scene, scene.cell.id)
    if not log.evaluations and seen is not None and has_no_box(seen.outputs, seen.samples):
        told = wording(
            "the network found nothing in {samples} samples, and the log has no metric ({log})",
            samples=seen.samples,
            log=path.name,
        )
        yield unchecked(
            told, remedy="train until it finds something, or start from pretrained weights", log=str(path)
        )
        return
    if not log.evaluations:
        told = wording("no metric (accuracy, mIoU, …) in the evaluation's log ({log})", log=path.name)
        message = with_complaint(scene, told)
        if seen is not None and seen.step.id == scene.step.id:
            yield unchecked(message, log=str(path))
        else:
            yield failed(message, log=str(path))
        return
    metrics, last = final_metrics(log.evaluations), log.evaluations[-1]
    evidence = {"log": str(path), "line": last.line, "metrics": metrics}
    for name, value in metrics.items():
        if not math.isfinite(value):
            where = place(scene, path, last.line)
            told = wording("{name} is {value} ({place})", name=name, value=value, place=where)
            yield failed(told, evidence=evidence)
            return
    figures = ", ".join(f"{name} {value:g}" for name, value in metrics.items())
    yield passed(wording("{figures}", figures=figures), evidence=evidence)


def has_no_box(outputs: Mapping[str, NDArray[Any]], samples: int) -> bool:
    """A detector's evaluation without a single box."""
    seen = False
    for value in outputs.values():
        if not are_detections(value, samples):
            continue
        seen = True
        if len(value):
            return False
    return seen


@check(
    "TL110",
    "Metrics lie where such metrics can lie",
    scope="step",
    reads="the evaluations in the logs of training and evaluation",
    remedy="divide by the number of samples; an accuracy is a share from 0 to 1, or per cent",
)
def possible_metrics(scene: StepScene) -> Iterator[Outcome]:
    """A sum in place of a mean, or a share of something else, gives an accuracy that no accuracy can have."""
    if scene.step.kind not in (TRAIN, EVAL) or not scene.outcome.ok:
        return
    rows = read_log(scene.step_log).evaluations
    count = 0
    for row in rows:
        for name, value in row.metrics.items():
            if not is_share(name) or not math.isfinite(value):
                continue
            count += 1
            if not 0 <= value <= PER_CENT:
                told = wording(
                    "{name} is {value:g}: no share and no per cent ({place})",
                    name=name,
                    value=value,
                    place=place(scene, scene.step_log, row.line),
                )
                yield failed(told, line=row.line)
                return
    if count:
        yield passed(wording("{count} metrics between 0 and 1, or per cent", count=count))


@check(
    "TL108",
    "The evaluation finds what training left",
    scope="eval",
    reads="the training log's own evaluations, and the evaluation's log",
    remedy="save the weights after the last step, load them in the evaluation, and use the same data and "
    "transforms",
)
def same_evaluation(scene: StepScene) -> Iterator[Outcome]:
    """Training evaluates its network as it goes; the evaluation step reads the weights that it left. If it
    finds nothing near any of training's own results, other weights were saved, or they are not loaded."""
    own = by_canonical_name(final_metrics(read_log(scene.step_log).evaluations))
    trainings = scene.steps(TRAIN, scene.cell.id)
    if not own or not trainings:
        return
    told: dict[str, list[float]] = {}
    for row in read_log(scene.log(trainings[0])).evaluations:
        for name, value in by_canonical_name(row.metrics).items():
            told.setdefault(name, []).append(value)
    common = []
    for name in own:
        if name in told and math.isfinite(own[name]):
            common.append(name)
    if not common:
        yield nothing_in_common(scene, trainings[0], own, told)
        return
    for name in common:
        nearest = min(told[name], key=lambda value: distance(value, own[name]))
        evidence = {"metric": name, "evaluation": own[name], "training": told[name][-20:]}
        if distance(nearest, own[name]) > NEAR * max(1.0, abs(nearest)):
            apart = of_a_part(scene, trainings[0], name, nearest, own[name])
            if apart is not None:
                yield unchecked(apart, required=False, evidence=evidence)
                return
            message = wording(
                "{name} is {value:g}, but training's own evaluations found {last:g} at the end, and never "
                "anything nearer than {nearest:g}",
                name=name,
                value=own[name],
                last=told[name][-1],
                nearest=nearest,
            )
            yield failed(message, evidence=evidence)
            return
    first = common[0]
    yield passed(wording("{name} {value:g}, as training found", name=first, value=own[first]), metrics=common)


def of_a_part(scene: StepScene, training: Step, name: str, of_part: float, of_all: float) -> Message | None:
    """Why a metric may be another than training found: training looked at a part of the samples. None: it did
    not, or no rest of them can make the one of the other."""
    samples = samples_evaluated(scene, scene.step)
    part = samples_evaluated(scene, training)
    if not 0 < part < samples:
        return None
    if name in COUNTED:
        right_of_part, right_of_all = as_share(of_part) * part, as_share(of_all) * samples
        if not right_of_part - 1 <= right_of_all <= right_of_part + (samples - part) + 1:
            return None
    return wording(
        "{name} is {value:g} of {samples} samples; training found {nearest:g} of {part}",
        name=name,
        value=of_all,
        samples=samples,
        nearest=of_part,
        part=part,
    )


def samples_evaluated(scene: StepScene, step: Step) -> int:
    """How many different samples a step fed to the network with the trained weights; 0: it is not known."""
    evaluation = last_evaluation(scene.main_process(step), scene.trained_digests(scene.cell.id))
    if evaluation is None:
        return 0
    return evaluation.different_samples


def as_share(metric: float) -> float:
    """A metric that may be told in per cent."""
    if metric > 1:
        return metric / PER_CENT
    return metric


def nothing_in_common(
    scene: StepScene, training: Step, own: Mapping[str, float], told: Mapping[str, list[float]]
) -> Outcome:
    """The log of training has none of the evaluation's metrics. Where it evaluated, it should have."""
    evidence = {"evaluation": dict(own), "training": list(told)}
    if told:
        message = wording(
            "no metric in common with training: {own} against {others}",
            own=", ".join(own),
            others=", ".join(told),
        )
        return unchecked(message, evidence=evidence)
    process = scene.main_process(training)
    samples = 0
    if process is not None:
        samples = max((one.samples for one in process.evaluations), default=0)
    if samples > 1:
        message = wording("training evaluated {samples} samples, and printed no metric", samples=samples)
        return unchecked(message, evidence=evidence)
    return unchecked("training evaluated nothing", required=False, evidence=evidence)


@check(
    "TL111",
    "A training that evaluates prints its metrics",
    scope="train",
    reads="the training log, and the evaluations that the witness saw in the training",
    remedy="print the result of the evaluation in the training log, as `acc: 0.84`, `mIoU: 0.71`, …",
)
def evaluated_in_training(scene: StepScene) -> Iterator[Outcome]:
    """The specification asks for the metrics of a training that evaluates. What counts is an evaluation of
    the weights that it left: a teacher, or a calibration before the first step, is none."""
    process = scene.main_process(scene.step)
    if process is None or not scene.outcome.ok:
        return
    trained = scene.trained_digests(scene.cell.id)
    samples = 0
    for one in process.evaluations:
        if (
            one.weights is not None
            and one.weights.tensors
            and trained.issuperset(one.weights.tensors.values())
        ):
            samples = max(samples, one.samples)
    if samples <= 1:
        return
    metrics = final_metrics(read_log(scene.step_log).evaluations)
    if metrics:
        figures = ", ".join(f"{name} {value:g}" for name, value in metrics.items())
        yield passed(wording("{figures}", figures=figures), metrics=metrics)
        return
    told = wording("training evaluated {samples} samples, and printed no metric", samples=samples)
    yield unchecked(told, log=str(scene.step_log))


def by_canonical_name(metrics: Mapping[str, float]) -> dict[str, float]:
    """Metrics under one name each: ``Acc@1``, ``acc1`` and ``top1`` are one thing."""
    found = {}
    for name, value in metrics.items():
        low = name.lower().replace("@", "").replace("-", "")
        for prefix in ("best_", "cur_", "eval_", "val_", "test_"):
            low = low.removeprefix(prefix)
        if low in ("acc1", "top1", "top1_acc", "acc_top1"):
            low = "top1"
        if low in ("acc5", "top5", "top5_acc", "acc_top5"):
            low = "top5"
        found[low] = value
    return found


def distance(one: float, other: float) -> float:
    """How far two values of a metric lie apart, where one of them may be per cent and the other a share."""
    low, high = sorted((abs(one), abs(other)))
    if low <= 1 < high:
        return min(abs(one - other), abs(low - high / PER_CENT))
    return abs(one - other)
