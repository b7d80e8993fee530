"""How much noise is agreement for an exported model: by its numbers, its precision, and the network."""

from __future__ import annotations

import math

from tipc.certify.compare.agreement import (
    BF16,
    FP16,
    FP32,
    INT8,
    Bound,
    bound_of_precision,
    compare,
)
from tipc.certify.engines import all_engines
from tipc.certify.evidence.exported import exported_model
from tipc.certify.evidence.params_file import kinds_of_numbers
from tipc.certify.evidence.trials import NATIVE, ROUNDED, Answered, samples_of
from tipc.certify.scene import StepScene
from tipc.kinds import PACT


def trial_of(scene: StepScene, source: str, engine: str = NATIVE) -> Answered | None:
    """What the model answered in one of its trials; None: it was not tried."""
    for one in scene.trials(scene.step):
        if one.trial.source == source and one.trial.engine == engine:
            return one
    return None


def bound_for(scene: StepScene, source: str, engine: str = NATIVE) -> Bound:
    """How much noise is agreement for this model in an engine: by its numbers, its precision and the
    engine's, and what rounding does to it."""
    base = INT8
    if scene.cell.precision != PACT:
        base = bound_of_numbers(scene)
    base = base.or_coarser(bound_of_precision(engine_precision(engine)))
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
    if model is None:
        return FP32
    try:
        kinds = kinds_of_numbers(model.parameters)
    except (OSError, ValueError):
        return FP32
    if "uint16" in kinds:
        return BF16  # its 16 bits
    if "float16" in kinds:
        return FP16
    return FP32


def engine_precision(name: str) -> str:
    """What an engine computes in."""
    return all_engines()[name].precision
