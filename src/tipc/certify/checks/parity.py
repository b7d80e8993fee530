"""TP3xx: the inference engine predicts what the training engine predicts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from tipc.certify.answers import Comparison, ParityAnswer
from tipc.certify.predictions import compare_predictions, predictions, printed_classes
from tipc.certify.registry import Outcome, check, failed, not_certified, passed, unchecked
from tipc.certify.scene import CellScene, StepScene
from tipc.plan.model import Step

# (share of the largest |output| that may differ, share of the decisions that must be the same)
TOLERANCES = {
    "float32": (1e-4, 0.999),
    "float16": (2e-2, 0.98),
    "bfloat16": (5e-2, 0.95),
    "pact": (5e-2, 0.9),
}
PREPROCESS = 1e-3  # of a normalised batch
DROP = 0.015  # of the metric, int8 against the reference; at least one image of those compared
NOISE = 10.0  # times what the reference varies by itself is still agreement
# How many times what a rounding of the input does is agreement, and at most which share of the largest
# |output|: no network may make more than this of a rounding. That of a quantised one is a step of 8 bits.
ROUNDING = {"pact": (1.0, 0.2)}
FLOAT_ROUNDING = (10.0, 1e-3)
WRITE_PARITY = "write test_tipc/parity.py (`tipc init` makes a skeleton; docs/parity.md tells the protocol)"


def asked(scene: StepScene) -> tuple[ParityAnswer | None, Outcome | None]:
    """The probe's answer, or the outcome that says why there is none."""
    answer = scene.answer("parity", scene.step)
    if not isinstance(answer, ParityAnswer):
        return None, unchecked("this export is not made by a python that could be asked")
    if answer.error:
        return None, failed(
            f"the comparison broke: {answer.error}", remedy="mend test_tipc/parity.py or the model"
        )
    if answer.missing:
        return None, unchecked(f"there is no {answer.missing}", remedy=WRITE_PARITY)
    return answer, None


def tolerance(scene: StepScene, answer: ParityAnswer) -> tuple[float, float]:
    """(largest allowed difference, share of equal decisions) for a cell's precision and the model's type.

    A deep network with large outputs makes much of a rounding, and two engines round differently: what one
    rounding of the input does to the trained network itself is measured, and allowed.
    """
    kind = "pact" if scene.cell.precision == "pact" else answer.dtype
    relative, share = TOLERANCES.get(kind, TOLERANCES["float32"])
    scale = max(answer.scale, 1e-3)
    times, most = ROUNDING.get(kind, FLOAT_ROUNDING)
    rounding = min(times * answer.rounding, most * scale)
    return max(relative * scale, NOISE * answer.noise, rounding), share


def evidence_of(answer: ParityAnswer, limit: float) -> dict[str, Any]:
    return {
        "table": [row.model_dump() for row in answer.table],
        "noise": answer.noise,
        "rounding": answer.rounding,
        "scale": answer.scale,
        "samples": answer.samples,
        "dtype": answer.dtype,
        "tolerance": limit,
    }


def told(row: Comparison) -> str:
    return f"max |Δ| {row.max_abs:.2g}, top-1 {row.argmax_equal}/{row.argmax_total}"


def disagrees(row: Comparison, limit: float, share: float) -> str:
    """Why a row of the table is not agreement; "" if it is."""
    if row.error:
        return f"{row.engine}, batch {row.batch}: {row.error}"
    if not row.finite:
        return f"{row.engine}, batch {row.batch}: the output is not finite"
    agrees = row.max_abs <= limit  # never where one of them is not a number
    if not agrees or row.argmax_equal < share * row.argmax_total:
        return f"{row.engine}, batch {row.batch}: {told(row)}, allowed are {limit:.2g}"
    return ""


@check(
    "TP301",
    "The exported model predicts what the trained one does",
    scope="export",
    reads="the trained weights and the exported model, on the lite images, through test_tipc/parity.py",
    remedy="export the weights that were trained, in eval mode, with the same network and the same outputs",
)
def parity(scene: StepScene) -> Iterator[Outcome]:
    """The complaint that users have most: the model behaves well in training and differently in deployment.
    The same batch goes through both engines; the reference runs twice first, to know the noise."""
    answer, reason = asked(scene)
    if answer is None:
        yield from_result_lines(scene) or reason or unchecked("nothing was compared")
        return
    limit, share = tolerance(scene, answer)
    evidence = evidence_of(answer, limit)
    if answer.noise > 1e-3 * max(answer.scale, 1e-3):
        yield failed(
            f"the trained network gives two answers to one input (they differ by {answer.noise:.2g}): not "
            "in eval mode",
            remedy="call model.eval() in reference(); dropout and batch-norm must not be in training mode",
            evidence=evidence,
        )
        return
    if answer.constant:
        yield failed(
            "the trained network gives the same output for every image: it has learnt nothing",
            evidence=evidence,
        )
        return
    rows = [row for row in answer.table if row.engine == "native"]
    wrong = [text for row in rows if (text := disagrees(row, limit, share))]
    if wrong:
        yield failed(f"other predictions than the trained model's: {wrong[0]}", evidence=evidence)
    elif rows:
        # Without oneDNN only a few images are tried; where it agrees, too, it has seen them all.
        agreed = [row for row in answer.table if row.engine != "int8" and not disagrees(row, limit, share)]
        yield passed(told(max(agreed, key=lambda row: row.argmax_total)), evidence=evidence)
    else:
        yield unchecked("no predictor could be built", evidence=evidence)


def from_result_lines(scene: StepScene) -> Outcome | None:
    """Without parity.py: what evaluation and inference printed or wrote about the same images, where they
    did."""
    trained = [predictions(scene, step) for step in scene.steps("eval", scene.cell.id)]
    deployed = [predictions(scene, step) for step in scene.steps("infer", scene.cell.id)]
    for one in trained:
        for other in deployed:
            result = compare_predictions(one, other)
            if result.common and result.differences:
                return failed(
                    f"evaluation and inference differ: {result.differences[0]}", evidence=result.evidence()
                )
            if result.common:
                return passed(
                    f"{result.common} images predicted alike by both scripts", evidence=result.evidence()
                )
    return None


@check(
    "TP302",
    "oneDNN predicts the same",
    scope="export",
    reads="the exported model with oneDNN on and off",
    remedy="report the operator to paddle, or leave it out with config.delete_pass(); do not deploy it "
    "as it is",
)
def onednn(scene: StepScene) -> Iterator[Outcome]:
    """oneDNN replaces and fuses operators. It is on in most deployments on a CPU, and its results must be the
    same."""
    answer, _ = asked(scene)
    if answer is None:
        return
    limit, share = tolerance(scene, answer)
    rows = [row for row in answer.table if row.engine == "onednn"]
    wrong = [text for row in rows if (text := disagrees(row, limit, share))]
    if wrong:
        yield failed(wrong[0], evidence=evidence_of(answer, limit))
    elif rows:
        yield passed(told(rows[0]), evidence=evidence_of(answer, limit))
    else:
        yield unchecked("there is no oneDNN in this paddle", required=False)


@check(
    "TP303",
    "Batch 1 and larger batches predict the same",
    scope="export",
    reads="the exported model at batch 1, at the configured size and with all samples at once",
    remedy="export with InputSpec([None, …]) and the network in eval mode",
)
def batches(scene: StepScene) -> Iterator[Outcome]:
    """A model that was exported in training mode normalises by the batch, and one with a fixed batch refuses
    others: its predictions depend on which images happen to come together."""
    answer, _ = asked(scene)
    if answer is None:
        return
    limit, _ = tolerance(scene, answer)
    by_batch = {row.batch: row for row in answer.table if row.engine == "native"}
    if len(by_batch) < 2:
        yield unchecked(
            "there is a single sample: one batch size is all that can be tried",
            evidence=evidence_of(answer, limit),
        )
        return
    evidence = evidence_of(answer, limit)
    broken = [row for row in by_batch.values() if row.error]
    other = [row for row in by_batch.values() if row.batch_max_abs > limit]
    if broken and len(broken) < len(by_batch):
        yield failed(f"it refuses batch {broken[0].batch}: {broken[0].error}", evidence=evidence)
    elif other:
        yield failed(
            f"the predictions depend on the batch size: at batch {other[0].batch} they differ by "
            f"{other[0].batch_max_abs:.2g} from those at {max(by_batch)}",
            evidence=evidence,
        )
    elif not broken:
        yield passed(f"same at {', '.join(map(str, sorted(by_batch)))}", evidence=evidence_of(answer, limit))


@check(
    "TP304",
    "Deployment feeds what training saw",
    scope="export",
    reads="train_preprocess and deploy_preprocess of test_tipc/parity.py on the lite images",
    remedy="take the transforms of training, evaluation and deployment from one place; write them into "
    "the exported "
    "model's yaml",
)
def preprocessing(scene: StepScene) -> Iterator[Outcome]:
    """Same weights, other input: another resize, crop, mean, scale or colour order in the deployment script.
    It is the most frequent cause of a model that is worse in production, and no error is ever raised."""
    answer, _ = asked(scene)
    if answer is None:
        return
    difference = answer.preprocess_max_abs
    evidence = {"shapes": answer.preprocess_shapes, "max_abs": difference, "note": answer.preprocess_note}
    if difference is None:
        one, other = ([*answer.preprocess_shapes, [], []])[:2]
        yield failed(
            f"training feeds {one}, deployment {other}: the preprocessing differs", evidence=evidence
        )
    elif not difference <= PREPROCESS:
        note = f": {answer.preprocess_note}" if answer.preprocess_note else ""
        yield failed(f"the preprocessing differs by {difference:.3g}{note}", evidence=evidence)
    else:
        yield passed(f"same input, max |Δ| {difference:.2g}", evidence=evidence)


@check(
    "TP305",
    "int8 loses no more than allowed",
    scope="export",
    reads="metric() of test_tipc/parity.py on the outputs of the int8 engine",
    remedy="train the quantised model longer or with a smaller learning rate, store its weights as real "
    "int8, keep "
    "sensitive layers in fp32",
)
def int8_drop(scene: StepScene) -> Iterator[Outcome]:
    """An int8 model is used only if it is as good. oneDNN's int8 pass silently misreads weights that are
    stored as integers in float32: it runs, and the accuracy is that of guessing."""
    if scene.cell.precision != "pact":
        return
    answer, reason = asked(scene)
    if answer is None:
        if reason:
            yield unchecked(f"int8 was not measured: {reason.message}", remedy=WRITE_PARITY)
        return
    rows = [row for row in answer.table if row.engine == "int8"]
    reference, measured = answer.metrics.get("reference"), answer.metrics.get("int8")
    broken = next((row for row in rows if row.error or not row.finite), None)
    if broken:
        yield failed(f"int8, batch {broken.batch}: {broken.error or 'the output is not finite'}")
    elif not rows or not reference or not measured:
        yield unchecked("there is no metric() in test_tipc/parity.py", remedy=WRITE_PARITY)
    else:
        bound = max(DROP, 1.01 / max(answer.samples, 1))
        drop = reference.value - measured.value
        evidence = {
            "metric": reference.name,
            "reference": reference.value,
            "int8": measured.value,
            "drop": drop,
            "bound": bound,
            "table": [row.model_dump() for row in rows],
        }
        text = f"{reference.name} {reference.value:.4g} → {measured.value:.4g} in int8"
        whole = max(rows, key=lambda row: row.argmax_total)
        if drop <= bound:
            yield passed(f"{text}, {told(whole)}", evidence=evidence)
        elif lacks_vnni(scene):
            yield not_certified(
                f"{text}: a loss of {drop:.3g}, allowed are {bound:.3g}; this CPU has no VNNI, without which "
                "oneDNN's sums can saturate",
                remedy="run it on a CPU with AVX512 VNNI or AVX VNNI",
                evidence=evidence,
            )
        else:
            yield failed(f"{text}: a loss of {drop:.3g}, allowed are {bound:.3g}", evidence=evidence)


def lacks_vnni(scene: StepScene) -> bool:
    """The processor that the run happened on is known, and has no instructions for int8."""
    flags = scene.run.environment.get("cpu", {}).get("flags")
    return bool(flags) and not any("vnni" in flag for flag in flags)


@check(
    "TP306",
    "The inference script predicts the same in all its settings",
    scope="cell",
    reads="the result lines and prediction files of the cell's inference steps",
    remedy="see what the script does with a batch: every image of it must be predicted, and with its own "
    "result",
)
def settings_agree(scene: CellScene) -> Iterator[Outcome]:
    """Batch size, threads and oneDNN are a matter of speed. A script that loses images of a larger batch, or
    gives each the result of the first, shows only when its outputs are laid side by side."""
    steps = scene.steps("infer", scene.cell.id)
    found: list[tuple[Step, dict[str, Any]]] = [(step, predictions(scene, step)) for step in steps]
    found = [(step, result) for step, result in found if result]
    if not steps:
        return
    if len(found) < 2:
        if len(steps) > 1:
            yield unchecked(
                f"{len(found)} of {len(steps)} inference steps printed predictions that can be compared",
                required=False,
            )
        return
    compared = 0
    for (first_step, first), (step, result) in combinations(found, 2):
        # int8 may decide otherwise than fp32: TP305 bounds that.
        if first_step.settings.get("precision") != step.settings.get("precision"):
            continue
        compared += 1
        comparison = compare_predictions(first, result, all_images=True)
        if comparison.differences:
            yield failed(
                f"{setting(step)} differs from {setting(first_step)}: {comparison.differences[0]}",
                step=step.id,
                evidence=comparison.evidence(),
            )
            return
    images = len(found[0][1])
    if compared:
        yield passed(f"{len(found)} settings, {images} images alike", settings=len(found), images=images)
    else:
        yield unchecked("each setting has another precision", required=False)


def setting(step: Step) -> str:
    return ", ".join(f"{key} {value}" for key, value in step.settings.items()) or step.id


@check(
    "TP307",
    "The inference script prints what the exported model predicts",
    scope="cell",
    reads="the result lines (`class_id`) of the inference steps, and the exported model on the same images",
    remedy="read the model that --model-dir names, and print the arg-max of its own output",
)
def printed_is_predicted(scene: CellScene) -> Iterator[Outcome]:
    """A script that reads another model, mixes up its images or prints what it always prints passes every
    other check. The images that it printed a class for go through the exported model once more."""
    if scene.cell.precision == "pact":
        return  # the script may run it in int8, and int8 may decide otherwise: TP305 bounds that
    for step in scene.steps("export", scene.cell.id):
        answer = scene.answer("parity", step)
        decisions = answer.decisions if isinstance(answer, ParityAnswer) else {}
        printed = printed_classes(scene, scene.cell.id)
        common = [image for image in printed if image in decisions]
        wrong = [image for image in common if printed[image] != decisions[image]]
        if wrong:
            image = wrong[0]
            yield failed(
                f"it printed class {printed[image]} for {image.rpartition('/')[2]}, the exported model "
                "predicts "
                f"{decisions[image]}",
                printed=printed,
                predicted=decisions,
            )
        elif common:
            yield passed(f"{len(common)} of {len(common)} classes", printed=printed, predicted=decisions)
