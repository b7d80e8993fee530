"""TQ4xx: a quantised model really is one, and int8 really ran."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tipc.certify.answers import Layer, ModelAnswer, WeightsAnswer
from tipc.certify.logs import autolog_block, lines
from tipc.certify.registry import Outcome, check, failed, passed, unchecked
from tipc.certify.scene import CellScene, StepScene
from tipc.certify.sources import mentions

SHARE = 0.5  # a first or last layer may well be left in fp32; most may not
QUANTISED = re.compile(r"---\s+quantized (\d{1,6}) \w+ ops")
INT8_WORDS = ("enable_mkldnn_int8", "enable_onednn_int8", "Int8", "PrecisionType.Int8", "int8")
MOVED = 1e-6  # relative: less is rounding


def exported_model(scene: CellScene) -> ModelAnswer | None:
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
    if scene.cell.precision != "pact":
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
    if scene.cell.precision != "pact" or not isinstance(answer, ModelAnswer) or answer.error:
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
    reads="the trained weights: `….alpha`, and `….alpha_start` where it is kept",
    remedy="give the clipping values to the optimiser; keep their start in a buffer `alpha_start` beside "
    "`alpha`",
)
def clips_moved(scene: StepScene) -> Iterator[Outcome]:
    """PACT learns where to clip the activations. Clipping values that still are what they were at the start
    were not given to the optimiser: that is plain quantisation with an arbitrary clip."""
    if scene.cell.precision != "pact":
        return
    answer = scene.answer("weights", scene.step)
    if not isinstance(answer, WeightsAnswer) or answer.error:
        yield unchecked(f"the weights could not be read: {answer.error if answer else 'no such file'}")
        return
    clips = answer.clips
    evidence = {"clips": [clip.model_dump() for clip in clips]}
    with_start = [clip for clip in clips if clip.start is not None]
    still = [
        clip
        for clip in with_start
        if clip.start is not None and abs(clip.end - clip.start) <= MOVED * max(abs(clip.start), 1e-12)
    ]
    if not clips:
        yield failed(
            f"the weights have no clipping value (`….alpha`) among {answer.tensors} tensors: nothing was "
            "learnt",
            evidence=evidence,
        )
    elif len(still) > len(with_start) // 2:
        yield failed(
            f"{len(still)} of {len(with_start)} clipping values never moved: {still[0].name} is still "
            f"{still[0].end:g}",
            evidence=evidence,
        )
    elif with_start:
        yield passed(
            f"{len(with_start) - len(still)} of {len(with_start)} clipping values moved", evidence=evidence
        )
    elif len(clips) > 1 and len({clip.end for clip in clips}) == 1:
        yield failed(
            f"all {len(clips)} clipping values are {clips[0].end:g}: they never moved", evidence=evidence
        )
    elif len(clips) > 1:
        yield passed(f"{len(clips)} clipping values that differ; their start is not kept", evidence=evidence)
    else:
        yield unchecked("one clipping value, and its start is not kept", evidence=evidence)


@check(
    "TQ404",
    "Where int8 was asked for, int8 ran",
    scope="infer",
    reads="the exported model, the benchmark block, the inference script's source",
    remedy="enable_mkldnn_int8() or TensorRT with int8 on a quantised model, and tell AutoLog the "
    "precision that runs",
)
def int8_ran(scene: StepScene) -> Iterator[Outcome]:
    """`--precision=int8` that the script does not read, or a model with nothing quantised, runs in fp32 and
    is reported as int8."""
    if "int8" not in scene.step.settings.get("precision", ""):
        return
    model = exported_model(scene)
    block = autolog_block(scene.step_log) or {}
    told = str(block.get("model", {}).get("precision", ""))
    quantised = sum(layer.quantised for layer in model.layers) if model else 0
    engine = engine_count(scene)
    evidence = {
        "quantised_layers": quantised if model else None,
        "reported_precision": told,
        "engine_operators": engine,
    }
    if model and not quantised:
        yield failed(
            "int8 was asked for, but the model has no quantised layer: it ran in fp32", evidence=evidence
        )
    elif engine == 0:
        yield failed("int8 was asked for, but oneDNN says that it quantised no operator", evidence=evidence)
    elif told and "int8" not in told.lower():
        yield failed(f"int8 was asked for, but the benchmark log says precision {told}", evidence=evidence)
    elif model is None:
        yield unchecked("the exported model could not be opened", evidence=evidence)
    elif engine:
        yield passed(
            f"{quantised} quantised layers, oneDNN ran {engine} operators in int8", evidence=evidence
        )
    elif (place := mentions(scene, INT8_WORDS)) == "":
        yield failed(
            "int8 was asked for, but the inference script has nothing that enables it", evidence=evidence
        )
    elif place == "?" or not told:
        yield unchecked("neither the log nor the script's source shows that int8 ran", evidence=evidence)
    else:
        yield passed(
            f"{quantised} quantised layers, the log says {told}, {place} enables it", evidence=evidence
        )


def engine_count(scene: StepScene) -> int | None:
    """How many operators oneDNN's int8 pass says that it quantised; None if it does not say."""
    counts = [int(match[1]) for _, text in lines(scene.step_log) if (match := QUANTISED.search(text))]
    return sum(counts) if counts else None
