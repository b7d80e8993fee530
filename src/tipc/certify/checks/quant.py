"""TQ4xx: a quantised model really is one, and int8 really ran."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from tipc.certify.evidence.answers import Layer, ModelAnswer
from tipc.certify.evidence.benchmark_block import autolog_block
from tipc.certify.evidence.exported import predictors_seen
from tipc.certify.evidence.option_values import argument
from tipc.certify.evidence.weights_file import Clip, WeightsInFile, find_weights, read_weights
from tipc.certify.registry import Outcome, check, failed, passed, unchecked
from tipc.certify.scene import CellScene, StepScene
from tipc.kinds import EXPORT, INT8, PACT
from tipc.message import Message, wording
from tipc.run.record.step_facts import PredictorFacts, ProcessFacts

SHARE = 0.5  # a first or last layer may well be left in fp32; most may not
MOVED = 1e-6  # relative: less is rounding


def exported_model_of(scene: CellScene) -> ModelAnswer | None:
    """The exported model of the cell, if it could be opened."""
    for step in scene.steps(EXPORT, scene.cell.id):
        answer = scene.answer("model", step)
        if isinstance(answer, ModelAnswer) and not answer.error:
            return answer
    return None


def table(layers: list[Layer]) -> list[dict[str, object]]:
    return [layer.model_dump() for layer in layers]


@check(
    "TQ401",
    "The exported model is quantised",
    scope="export",
    reads="the exported model's operators",
    remedy="quantise before training (QAT.quantize), convert before export, and export what was converted",
)
def is_quantised(scene: StepScene) -> Iterator[Outcome]:
    """A `pact_train` whose option nothing reads, or whose export drops the quantisers, gives a plain fp32
    model that passes every other step. Quantisation must be on the convolutions and the linear layers, weight
    and input."""
    if scene.cell.precision != PACT:
        return
    answer = scene.answer("model", scene.step)
    if answer is None:
        yield unchecked("the model could not be opened: not asked")
        return
    if not isinstance(answer, ModelAnswer) or answer.error:
        yield unchecked(wording("the model could not be opened: {error}", error=answer.error))
        return
    layers = answer.layers
    done = [layer for layer in layers if layer.quantised]
    evidence: dict[str, Any] = {
        "layers": table(layers),
        "quantised": len(done),
        "total": len(layers),
        "share": len(done) / max(len(layers), 1),
        "bits": sorted({layer.bits for layer in done}),
        "per_channel": sum(layer.per_channel for layer in done),
    }
    if not layers:
        yield unchecked(
            "the model has no convolution and no linear layer that could be quantised", evidence=evidence
        )
    elif not done:
        yield failed(none_quantised(layers), evidence=evidence)
    elif len(done) < SHARE * len(layers):
        first = next(layer for layer in layers if not layer.quantised)
        told = wording(
            "only {done} of {layers} layers are quantised; not, for one, {operator} {weight}",
            done=len(done),
            layers=len(layers),
            operator=first.op,
            weight=first.weight,
        )
        yield failed(told, evidence=evidence)
    else:
        told = wording(
            "{done} of {layers} layers at {bits} bits, {per_channel} of them per channel",
            done=len(done),
            layers=len(layers),
            bits="/".join(map(str, evidence["bits"])),
            per_channel=evidence["per_channel"],
        )
        yield passed(told, evidence=evidence)


def none_quantised(layers: list[Layer]) -> Message:
    """What is said of a model without a quantised layer."""
    half = []
    for layer in layers:
        if layer.bits or layer.activation_bits:
            half.append(layer)
    told = wording("none of its {layers} convolutions and linear layers is quantised", layers=len(layers))
    if not half:
        return told
    return wording(
        "{message} ({half} have only the weight or only the input quantised)", message=told, half=len(half)
    )


@check(
    "TQ402",
    "Quantised weights lie on the int8 grid",
    scope="export",
    reads="the exported model's parameters",
    remedy="store the weights as int8, or rounded to their scale: convert() before jit.save",
)
def on_the_grid(scene: StepScene) -> Iterator[Outcome]:
    """A dequantiser after weights that were never rounded makes a model that looks quantised and computes in
    fp32, or, in the int8 engine, computes something else."""
    answer = scene.answer("model", scene.step)
    if scene.cell.precision != PACT or not isinstance(answer, ModelAnswer) or answer.error:
        return
    done = [layer for layer in answer.layers if layer.bits]
    off = [layer for layer in done if layer.on_grid is False]
    unknown = [layer for layer in done if layer.on_grid is None]
    evidence = {
        "weights": len(done),
        "off_grid": [layer.weight for layer in off][:20],
        "unknown": len(unknown),
    }
    if not done:
        return  # TQ401 has said it
    if off:
        told = wording(
            "{off} of {weights} quantised weights are not on their grid: {first}",
            off=len(off),
            weights=len(done),
            first=off[0].weight,
        )
        yield failed(told, evidence=evidence)
    elif unknown:
        told = wording(
            "the scale of {unknown} of {weights} weights is not in the model",
            unknown=len(unknown),
            weights=len(done),
        )
        yield unchecked(told, evidence=evidence)
    else:
        kinds = sorted({layer.dtype for layer in done})
        told = wording("all {weights}, stored as {types}", weights=len(done), types=", ".join(kinds))
        yield passed(told, evidence=evidence)


@check(
    "TQ403",
    "The clipping values were learnt",
    scope="train",
    reads="the trained weights: `….alpha`, and `….alpha_start` where it is kept; what the optimiser changed",
    remedy="give the clipping values to the optimiser; keep their start in a buffer `alpha_start` beside "
    "`alpha`",
)
def clips_moved(scene: StepScene) -> Iterator[Outcome]:
    """PACT learns where to clip the activations. Clipping values that still are what they were at the start
    were not given to the optimiser: that is plain quantisation with an arbitrary clip."""
    if scene.cell.precision != PACT:
        return
    if not scene.step.weights:
        yield unchecked("the weights could not be read: the plan names none")
        return
    found = read_weights(find_weights(scene.path(scene.step.weights)))
    if found.error:
        yield unchecked(wording("the weights could not be read: {error}", error=found.error))
        return
    evidence = {"clips": [asdict(clip) for clip in found.clips]}
    if not found.clips:
        told = wording(
            "none of the {tensors} tensors is known as a clipping value (`….alpha`)", tensors=found.tensors
        )
        yield unchecked(told, required=False, evidence=evidence)
        return
    wrong = not_learnt(scene, found)
    if wrong is not None:
        yield failed(wrong, evidence=evidence)
        return
    yield what_moved(scene, found, evidence)


def what_moved(scene: StepScene, found: WeightsInFile, evidence: dict[str, Any]) -> Outcome:
    """How many clipping values were learnt."""
    trained = trained_clips(scene.main_process(scene.step), found)
    known = [clip for clip in found.clips if clip.start is not None]
    if trained is not None:
        told = wording(
            "{trained} of {clips} clipping values were changed by the optimiser",
            trained=trained,
            clips=len(found.clips),
        )
        return passed(told, evidence=evidence)
    if known:
        told = wording(
            "{moved} of {clips} clipping values moved",
            moved=len(known) - len(still_at_start(found)),
            clips=len(known),
        )
        return passed(told, evidence=evidence)
    return unchecked("the start of the clipping values is not known", required=False, evidence=evidence)


def still_at_start(found: WeightsInFile) -> list[Clip]:
    """The clipping values whose start is known, and which are there still."""
    still = []
    for clip in found.clips:
        if clip.start is not None and not has_moved(clip.start, clip.end):
            still.append(clip)
    return still


def not_learnt(scene: StepScene, found: WeightsInFile) -> Message | None:
    """Why the clipping values are not those that training learnt; None: nothing speaks against it."""
    known = [clip for clip in found.clips if clip.start is not None]
    still = still_at_start(found)
    if known and len(still) > len(known) // 2:
        return wording(
            "{still} of {clips} clipping values never moved: {first} is still {value:g}",
            still=len(still),
            clips=len(known),
            first=still[0].name,
            value=still[0].end,
        )
    ungraded = without_gradient(scene.main_process(scene.step), found)
    if ungraded:
        return wording(
            "{name} and more than half of the clipping values had no gradient before the first steps: they "
            "were not learnt",
            name=ungraded,
        )
    moved = moved_by_hand(scene, found)
    if moved:
        return wording(
            "{name} is not what it was when training evaluated after its last step: it was not learnt",
            name=moved,
        )
    trained = trained_clips(scene.main_process(scene.step), found)
    if trained is not None and trained * 2 < len(found.clips):
        return wording(
            "only {trained} of {clips} clipping values are among what the optimiser changed: the others "
            "were not learnt",
            trained=trained,
            clips=len(found.clips),
        )
    return None


def has_moved(start: float, end: float) -> bool:
    """More than rounding."""
    return abs(end - start) > MOVED * max(abs(start), 1e-12)


def without_gradient(main: ProcessFacts | None, found: WeightsInFile) -> str:
    """A clipping value that an optimiser was given and that had no gradient, if that is so of more than half
    of them; empty: it is not, or it was not seen."""
    if main is None or main.training is None or main.training.after is None:
        return ""
    names = {digest: name for name, digest in main.training.after.tensors.items()}
    known = 0
    lacking = []
    for clip in found.clips:
        name = names.get(found.digests[clip.name])
        if name is None:
            continue
        known += 1
        if name in main.training.without_gradient:
            lacking.append(clip.name)
    if len(lacking) * 2 > known:
        return lacking[0]
    return ""


def moved_by_hand(scene: StepScene, found: WeightsInFile) -> str:
    """A clipping value that changed between the last step and the file; empty: none, or it was not seen."""
    main = scene.main_process(scene.step)
    if main is None or main.training is None:
        return ""
    for evaluation in main.evaluations:
        if evaluation.at_step != main.training.steps or evaluation.weights is None:
            continue
        for clip in found.clips:
            seen = evaluation.weights.tensors.get(clip.name)
            if seen is not None and seen != found.digests[clip.name]:
                return clip.name
    return ""


def trained_clips(main: ProcessFacts | None, found: WeightsInFile) -> int | None:
    """How many clipping values were given to the optimiser and came out changed; None: there was no witness.

    A file of averages has none of them as it came out: then a file that was saved beside it may.
    """
    if main is None or main.training is None or main.training.before is None or main.training.after is None:
        return None
    before = set(main.training.before.tensors.values())
    tensors = main.training.after.tensors
    moved = set()
    for name in main.training.given or tuple(tensors):
        if name in tensors and tensors[name] not in before:
            moved.add(tensors[name])
    most = _in_file(found.digests, found, moved)
    for save in main.saves:
        if save.at_step == main.training.steps:
            most = max(most, _in_file(save.weights.tensors, found, moved))
    return most


def _in_file(digests: Mapping[str, str], found: WeightsInFile, moved: set[str]) -> int:
    """How many clipping values a file has as they came out of the optimiser."""
    count = 0
    for clip in found.clips:
        count += digests.get(clip.name) in moved
    return count


@check(
    "TQ405",
    "Quantisers were at work in training",
    scope="train",
    reads="the operators that the witness counted in the training step",
    remedy="quantise the network before training (QAT.quantize), so that each step sees rounded values",
)
def quantisers_ran(scene: StepScene) -> Iterator[Outcome]:
    """Quantisation-aware training rounds weights and activations in every step. Without an operator that
    does, it is plain training, and the export quantises a network that never saw it."""
    main = scene.main_process(scene.step)
    if scene.cell.precision != PACT or main is None or not main.operators:
        return
    names = list(filter(rounds, main.operators))
    calls = 0
    for name in names:
        calls += sum(main.operators[name].values())
    in_training = list(filter(rounds, main.operators_in_training))
    if calls and main.operators_in_training and not in_training:
        told = wording(
            "operators that quantise or round were called {calls} times, and never where the network was "
            "called in training mode: it was trained unquantised",
            calls=calls,
        )
        yield unchecked(told, operators=names)
    elif calls:
        told = wording("{calls} calls of {operators}", calls=calls, operators=", ".join(sorted(names)[:3]))
        yield passed(told, operators=names)
    else:
        told = wording(
            "none of the {kinds} kinds of operators that training called quantises or rounds",
            kinds=len(main.operators),
        )
        yield failed(told, operators=sorted(main.operators)[:50])


def rounds(operator: str) -> bool:
    """An operator that quantises, or that a quantiser is made of."""
    name = operator.lower()
    return "quant" in name or name in ("round", "round_")


@check(
    "TQ404",
    "Where int8 was asked for, int8 ran",
    scope="infer",
    reads="the predictor that the witness saw, the exported model, the benchmark block",
    remedy="enable_mkldnn_int8() or TensorRT with int8 on a quantised model, and tell AutoLog the "
    "precision that runs",
)
def int8_ran(scene: StepScene) -> Iterator[Outcome]:
    """`--precision=int8` that the script does not read, or a model with nothing quantised, runs in fp32 and
    is reported as int8."""
    wish = scene.step.settings.get("precision") or argument(scene.step.argv, ("precision",)) or ""
    asked = INT8 in wish.lower()
    block = autolog_block(scene.step_log) or {}
    told = str(block.get("model", {}).get("precision", "")).lower()
    claimed = INT8 in told
    if not asked and not claimed and scene.cell.precision != PACT:
        return
    model = exported_model_of(scene)
    quantised = None
    if model is not None:
        quantised = sum(layer.quantised for layer in model.layers)
    seen = predictors_seen(scene.facts(scene.step))
    ran = {one.precision for one in seen}
    operators = int8_operators(seen)
    evidence = {
        "quantised_layers": quantised,
        "reported_precision": told,
        "ran": sorted(ran),
        "int8_operators": operators,
    }
    if not asked and not claimed:
        yield from quantised_cell(ran, evidence)
        return
    why = wording("int8 was asked for")
    if not asked:
        why = wording("the benchmark says {told}", told=told)
    wrong = why_not_int8(why, ran, quantised, operators)
    if wrong is None and told and not claimed:
        wrong = wording("{why}, but the benchmark log says precision {told}", why=why, told=told)
    if not ran and quantised != 0:
        yield unchecked(wording("{why}, and no predictor was seen", why=why), evidence=evidence)
    elif wrong is not None:
        yield failed(wrong, evidence=evidence)
    else:
        message = wording("{layers} quantised layers, the predictor computed in int8", layers=quantised or 0)
        yield passed(message, evidence=evidence)


def why_not_int8(why: Message, ran: set[str], quantised: int | None, operators: int | None) -> Message | None:
    """What speaks against int8 where it should have run; None: nothing does."""
    if quantised == 0:
        return wording("{why}, but the model has no quantised layer: it ran in fp32", why=why)
    if INT8 not in ran:
        return wording(
            "{why}, but the predictor computed in {precisions}", why=why, precisions=", ".join(sorted(ran))
        )
    if operators == 0:
        return wording("{why}, but no operator of the predictor computes in it", why=why)
    return None


def int8_operators(seen: Sequence[PredictorFacts]) -> int | None:
    """The most operators that a predictor in int8 computed in it; None: they were not counted."""
    most: int | None = None
    for one in seen:
        if one.precision == INT8 and one.int8_operators is not None:
            most = max(most or 0, one.int8_operators)
    return most


def quantised_cell(ran: set[str], evidence: dict[str, Any]) -> Iterator[Outcome]:
    """A cell that trains for int8, and a setting that asks for nothing."""
    if INT8 in ran:
        yield passed("the predictor computed in int8", evidence=evidence)
    elif ran:
        told = wording(
            "the quantised model was deployed in {precisions}: int8 is shown by TP305 only",
            precisions=", ".join(sorted(ran)),
        )
        yield unchecked(told, required=False, evidence=evidence)
