"""TQ4xx: a quantised model really is one, and int8 really ran."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from tipc.certify.evidence.answers import Layer, ModelAnswer
from tipc.certify.evidence.benchmark_block import autolog_block
from tipc.certify.evidence.exported import predictors_seen
from tipc.certify.evidence.weights_file import WeightsInFile, find_weights, read_weights
from tipc.certify.registry import Outcome, check, failed, passed, unchecked
from tipc.certify.scene import CellScene, StepScene
from tipc.kinds import INT8, PACT
from tipc.run.record.facts import ProcessFacts

SHARE = 0.5  # a first or last layer may well be left in fp32; most may not
MOVED = 1e-6  # relative: less is rounding


def exported_model_of(scene: CellScene) -> ModelAnswer | None:
    """The exported model of the cell, if it could be opened."""
    for step in scene.steps("export", scene.cell.id):
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
    if not isinstance(answer, ModelAnswer) or answer.error:
        yield unchecked(f"the model could not be opened: {answer.error if answer else 'not asked'}")
        return
    layers = answer.layers
    done = [layer for layer in layers if layer.quantised]
    bits = sorted({layer.bits for layer in done})
    evidence = {
        "layers": table(layers),
        "quantised": len(done),
        "total": len(layers),
        "share": len(done) / len(layers) if layers else 0.0,
        "bits": bits,
        "per_channel": sum(layer.per_channel for layer in done),
    }
    if not layers:
        yield unchecked(
            "the model has no convolution and no linear layer that could be quantised", evidence=evidence
        )
    elif not done:
        half = [layer for layer in layers if layer.bits or layer.activation_bits]
        only = f" ({len(half)} have only the weight or only the input quantised)" if half else ""
        yield failed(
            f"none of its {len(layers)} convolutions and linear layers is quantised{only}", evidence=evidence
        )
    elif len(done) < SHARE * len(layers):
        first = next(layer for layer in layers if not layer.quantised)
        yield failed(
            f"only {len(done)} of {len(layers)} layers are quantised; not, for one, {first.op} "
            f"{first.weight}",
            evidence=evidence,
        )
    else:
        told = "/".join(map(str, bits))
        channels = evidence["per_channel"]
        yield passed(
            f"{len(done)} of {len(layers)} layers at {told} bits, {channels} of them per channel",
            evidence=evidence,
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
        yield failed(
            f"{len(off)} of {len(done)} quantised weights are not on their grid: {off[0].weight}",
            evidence=evidence,
        )
    elif unknown:
        yield unchecked(
            f"the scale of {len(unknown)} of {len(done)} weights is not in the model", evidence=evidence
        )
    else:
        kinds = sorted({layer.dtype for layer in done})
        yield passed(f"all {len(done)}, stored as {', '.join(kinds)}", evidence=evidence)


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
    found = read_weights(find_weights(scene.path(scene.step.weights))) if scene.step.weights else None
    if found is None or found.error:
        yield unchecked(f"the weights could not be read: {found.error if found else 'the plan names none'}")
        return
    evidence = {"clips": [asdict(clip) for clip in found.clips]}
    still = [clip for clip in found.clips if clip.start is not None and not has_moved(clip.start, clip.end)]
    known = [clip for clip in found.clips if clip.start is not None]
    trained = trained_clips(scene.main_process(scene.step), found)
    if not found.clips:
        yield unchecked(
            f"none of the {found.tensors} tensors is known as a clipping value (`….alpha`)",
            required=False,
            evidence=evidence,
        )
    elif known and len(still) > len(known) // 2:
        yield failed(
            f"{len(still)} of {len(known)} clipping values never moved: {still[0].name} is still "
            f"{still[0].end:g}",
            evidence=evidence,
        )
    elif (moved := moved_by_hand(scene, found)) != "":
        yield failed(
            f"{moved} is not what it was when training evaluated after its last step: it was not learnt",
            evidence=evidence,
        )
    elif trained is not None and trained * 2 < len(found.clips):
        yield failed(
            f"only {trained} of {len(found.clips)} clipping values are among what the optimiser "
            "changed: the others "
            "were not learnt",
            evidence=evidence,
        )
    elif trained is not None:
        yield passed(
            f"{trained} of {len(found.clips)} clipping values were changed by the optimiser",
            evidence=evidence,
        )
    elif known:
        yield passed(f"{len(known) - len(still)} of {len(known)} clipping values moved", evidence=evidence)
    else:
        yield unchecked("the start of the clipping values is not known", required=False, evidence=evidence)


def has_moved(start: float, end: float) -> bool:
    """More than rounding."""
    return abs(end - start) > MOVED * max(abs(start), 1e-12)


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
    given = main.training.given or tuple(tensors)
    after = {tensors[name] for name in given if name in tensors}
    moved = after - before
    counts = [sum(found.digests[clip.name] in moved for clip in found.clips)]
    for save in main.saves:
        if save.at_step == main.training.steps:
            counts.append(sum(save.weights.tensors.get(clip.name) in moved for clip in found.clips))
    return max(counts)


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
    names = [
        name for name in main.operators if "quant" in name.lower() or name.lower() in ("round", "round_")
    ]
    calls = sum(sum(main.operators[name].values()) for name in names)
    if calls:
        yield passed(f"{calls} calls of {', '.join(sorted(names)[:3])}", operators=names)
    else:
        yield failed(
            f"none of the {len(main.operators)} kinds of operators that training called quantises or rounds",
            operators=sorted(main.operators)[:50],
        )


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
    asked = INT8 in scene.step.settings.get("precision", "").lower()
    block = autolog_block(scene.step_log) or {}
    told = str(block.get("model", {}).get("precision", "")).lower()
    if not asked and INT8 not in told and scene.cell.precision != PACT:
        return
    model = exported_model_of(scene)
    quantised = sum(layer.quantised for layer in model.layers) if model else 0
    seen = predictors_seen(scene.facts(scene.step))
    ran = {one.precision for one in seen}
    counts = [one.int8_operators for one in seen if one.precision == INT8]
    operators = [count for count in counts if count is not None]
    evidence = {
        "quantised_layers": quantised if model else None,
        "reported_precision": told,
        "ran": sorted(ran),
        "int8_operators": max(operators) if operators else None,
    }
    why = "int8 was asked for" if asked else f"the benchmark says {told}"
    if not asked and INT8 not in told:
        yield from quantised_cell(ran, evidence)
    elif model and not quantised:
        yield failed(f"{why}, but the model has no quantised layer: it ran in fp32", evidence=evidence)
    elif not ran:
        yield unchecked(f"{why}, and no predictor was seen", evidence=evidence)
    elif INT8 not in ran:
        yield failed(f"{why}, but the predictor computed in {', '.join(sorted(ran))}", evidence=evidence)
    elif operators and not max(operators):
        yield failed(f"{why}, but no operator of the predictor computes in it", evidence=evidence)
    elif asked and told and INT8 not in told:
        yield failed(f"{why}, but the benchmark log says precision {told}", evidence=evidence)
    else:
        yield passed(f"{quantised} quantised layers, the predictor computed in int8", evidence=evidence)


def quantised_cell(ran: set[str], evidence: dict[str, Any]) -> Iterator[Outcome]:
    """A cell that trains for int8, and a setting that asks for nothing."""
    if INT8 in ran:
        yield passed("the predictor computed in int8", evidence=evidence)
    elif ran:
        yield unchecked(
            f"the quantised model was deployed in {', '.join(sorted(ran))}: int8 is shown by TP305 only",
            required=False,
            evidence=evidence,
        )
