"""What an exported model is made to answer: the evaluation's inputs, the export's, the deployment's.

A probe runs the model and hands arrays back; everything is compared here, by ``tipc``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tipc.certify.engines import Model, all_engines, engines_for
from tipc.certify.evidence.evaluations import Feeds, SeenEvaluation, seen_evaluation
from tipc.certify.evidence.exported import ExportedModel, exported_model, predictors_seen
from tipc.certify.evidence.params_file import neighbours, write_rounded
from tipc.certify.evidence.question import digest_of
from tipc.certify.scene import PlanScene
from tipc.kinds import INFER, INT8, PACT
from tipc.plan.model import Step
from tipc.run.record.step_facts import PredictorFacts

Arrays = dict[str, NDArray[Any]]
NATIVE = "native"
EVALUATION, SEEDED, ROUNDED, SIMULATED, ONE_BY_ONE, DEPLOYED = (
    "evaluation",
    "seeded",
    "rounded",
    "simulated",
    "one-by-one",
    "deployed",
)
QUICK = 0.5  # seconds that all runs of a step that are replayed may have taken there
FEW = 4  # samples that are enough to see another batch size, or what rounding does


@dataclass(frozen=True)
class Trial:
    """One run of the model: on what, in which engine; and how to ask for it."""

    source: str  # EVALUATION, …; "deployed <step> <number>"
    engine: str
    feeds: Arrays
    model: Path
    params: Path
    fill: Mapping[str, float] = field(default_factory=dict)
    batch: int = 0
    inner: tuple[tuple[int, ...], ...] = ()  # shapes of a sample to look for inside, if the outputs are flat
    skip: tuple[str, ...] = ()  # passes of paddle's that are left out
    simulated: bool = False  # by paddle's own kernels, rounded as the engine rounds

    @property
    def name(self) -> str:
        return f"{self.source}/{self.engine}"

    @cached_property
    def digest(self) -> str:
        """Tells runs apart by all that their outcome depends on."""
        files = [digest_of(self.model), digest_of(self.params)]
        total = hashlib.sha256(
            repr((str(self.model), files, self.engine, sorted(self.fill.items()), self.batch)).encode()
        )
        total.update(repr((self.inner, self.skip, self.simulated)).encode())
        feeds = self.feeds
        if not isinstance(feeds, Feeds):
            feeds = Feeds(feeds)
        total.update(feeds.digest.encode())
        return total.hexdigest()


@dataclass(frozen=True)
class Answered:
    """What came out."""

    trial: Trial
    outputs: Arrays = field(default_factory=dict)  # in the model's order
    unfed: tuple[str, ...] = ()
    error: str = ""
    limited: bool = False  # the error is a limit of ours (time, memory), not the model's
    inner: Arrays = field(default_factory=dict)  # values inside the model, asked for where outputs are flat


def trials(scene: PlanScene, step: Step, scratch: Path, *, rounding: bool) -> Iterator[Trial]:
    """Everything that is tried with the model of one export step; what rounding does, only on demand."""
    model = exported_model(scene, step)
    if model is None:
        return
    evaluation = seen_evaluation(scene, step.cell)
    seeded = seeded_inputs(scene, step, model)
    fill = constants(scene, step.cell)
    engines = [engine.name for engine in engines_for(kind_of(scene, step, model))]
    deleted = deleted_passes(scene, step, model)
    for engine in engines:
        skip = deleted.get(engine, ())
        if evaluation is not None:
            yield Trial(
                EVALUATION, engine, evaluation.inputs, model.structure, model.parameters, fill,
                inner=shapes_of(evaluation), skip=skip,
            )  # fmt: skip
        if seeded:
            yield Trial(SEEDED, engine, seeded, model.structure, model.parameters, fill, skip=skip)
    if rounding:
        yield from rounded(model, evaluation, seeded, fill, scratch)
        yield from simulated(scene, step, model, evaluation, seeded, fill, deleted)
    feeds = evaluation.inputs if evaluation is not None else seeded
    if feeds:
        few = first_samples(feeds)
        yield Trial(ONE_BY_ONE, NATIVE, few, model.structure, model.parameters, fill, batch=1)
    yield from deployed(scene, step, model)


def rounded(
    model: ExportedModel,
    evaluation: SeenEvaluation | None,
    seeded: Arrays,
    fill: Mapping[str, float],
    scratch: Path,
) -> Iterator[Trial]:
    """The same with every number of input and weights moved to its neighbour: what rounding does."""
    params = scratch / f"{digest_of(model.parameters)}.rounded"
    try:
        if not params.exists():
            write_rounded(model.parameters, params)
    except (OSError, ValueError):
        return  # in another form: without it, the usual bounds hold
    random = np.random.default_rng(0)
    inner = shapes_of(evaluation) if evaluation is not None else ()
    for source, feeds, shapes in (
        (EVALUATION, evaluation.inputs if evaluation else {}, inner),
        (SEEDED, seeded, ()),
    ):
        if feeds:
            moved = {name: neighbours(value, random) for name, value in first_samples(feeds).items()}
            yield Trial(f"{ROUNDED} {source}", NATIVE, moved, model.structure, params, fill, inner=shapes)


def simulated(
    scene: PlanScene,
    step: Step,
    model: ExportedModel,
    evaluation: SeenEvaluation | None,
    seeded: Arrays,
    fill: Mapping[str, float],
    deleted: Mapping[str, tuple[str, ...]],
) -> Iterator[Trial]:
    """The same in paddle's own kernels, with every number rounded as an engine rounds it."""
    source, feeds = SEEDED, seeded
    if evaluation is not None:
        source, feeds = EVALUATION, evaluation.inputs
    for engine in engines_for(kind_of(scene, step, model)):
        if engine.rounds_anew and feeds:
            yield Trial(
                f"{SIMULATED} {source}", engine.name, feeds, model.structure, model.parameters, fill,
                skip=deleted.get(engine.name, ()), simulated=True,
            )  # fmt: skip


def shapes_of(evaluation: SeenEvaluation) -> tuple[tuple[int, ...], ...]:
    """The shapes that the trained network's answers have for a sample."""
    answers = []
    for value in evaluation.outputs.values():
        if value.ndim > 1 and value.dtype.kind == "f":
            answers.append(value)
    return tuple(dict.fromkeys(value.shape[1:] for value in answers))


def first_samples(feeds: Arrays) -> Arrays:
    """A few samples of a batch; what has no row a sample stays whole."""
    few = {}
    for name, value in feeds.items():
        few[name] = value
        if value.ndim:
            few[name] = value[:FEW]
    return few


def samples_of(feeds: Arrays) -> int:
    """How many samples a batch has."""
    return max((len(value) for value in feeds.values() if value.ndim), default=0)


def deployed(scene: PlanScene, step: Step, model: ExportedModel) -> Iterator[Trial]:
    """The deployment's own inputs, replayed in the engine that it used: those of its first run, and of the
    next ones that were kept as long as they are quick."""
    for infer, predictor in deployments(scene, step, model):
        engine = engine_name(predictor.engine, predictor.precision)
        if engine not in all_engines():
            continue  # TP309 names it
        arrays = scene.arrays(infer)
        seconds = 0.0
        for number, run in enumerate(predictor.kept):
            feeds = {}
            for name, key in run.inputs.items():
                if key in arrays:
                    feeds[name] = arrays[key]
            seconds += run.seconds
            if not feeds or (number and seconds > QUICK):
                break
            yield Trial(
                replay_name(infer, number), engine, feeds, model.structure, model.parameters,
                skip=passes_off(predictor),
            )  # fmt: skip


def replay_name(infer: Step, number: int) -> str:
    """What the replay of one of a step's runs is called."""
    return f"{DEPLOYED} {infer.id} {number}"


def deployments(scene: PlanScene, step: Step, model: ExportedModel) -> Iterator[tuple[Step, PredictorFacts]]:
    """For each inference step of a cell the first predictor that ran the exported model."""
    for infer in scene.steps(INFER, step.cell):
        for predictor in predictors_seen(scene.facts(infer)):
            if predictor.model == str(model.structure) and predictor.kept:
                yield infer, predictor
                break


def deleted_passes(scene: PlanScene, step: Step, model: ExportedModel) -> dict[str, tuple[str, ...]]:
    """By engine what its deployments delete: an engine is tried as it is deployed.

    Where they do not agree on it, it is tried as it comes.
    """
    found: dict[str, set[tuple[str, ...]]] = {}
    for _, predictor in deployments(scene, step, model):
        engine = engine_name(predictor.engine, predictor.precision)
        found.setdefault(engine, set()).add(passes_off(predictor))
    agreed = {}
    for engine, passes in found.items():
        if len(passes) == 1:
            agreed[engine] = passes.pop()
    return agreed


def passes_off(predictor: PredictorFacts) -> tuple[str, ...]:
    """The passes that a deployment deletes: with another set of them, int8 rounds in other places."""
    return tuple(re.findall(r"'(\w+)'", predictor.settings.get("delete_pass", "")))


def engine_name(engine: str, precision: str) -> str:
    """The engine that answers as a predictor does; another one than it names where that is not here."""
    if engine == "onednn" and precision == INT8:
        return "onednn-int8"
    return {"paddle": NATIVE, "jit": NATIVE, "executor": NATIVE}.get(engine, engine)


def seeded_inputs(scene: PlanScene, step: Step, model: ExportedModel) -> Feeds:
    """The inputs that the witness made for the exported network's InputSpec."""
    if model.facts is None:
        return Feeds()
    arrays = scene.arrays(step)
    found = Feeds()
    for name, key in model.facts.inputs.items():
        if key in arrays:
            found[name] = arrays[key]
    return found


def constants(scene: PlanScene, cell: str) -> dict[str, float]:
    """Inputs to which the deployment always gives one value: a scale of 1, a size."""
    found: dict[str, float] = {}
    for step in scene.steps(INFER, cell):
        arrays = scene.arrays(step)
        for predictor in predictors_seen(scene.facts(step)):
            for run in predictor.kept:
                for name, key in run.inputs.items():
                    value = arrays.get(key)
                    if value is not None and value.size and bool((value == value.reshape(-1)[0]).all()):
                        found[name] = float(value.reshape(-1)[0])
    return found


def kind_of(scene: PlanScene, step: Step, model: ExportedModel) -> Model:
    """What the engines are asked about."""
    cell = next((cell for cell in scene.plan.cells if cell.id == step.cell), None)
    used = set()
    for infer in scene.steps(INFER, step.cell):
        for one in predictors_seen(scene.facts(infer)):
            used.add(one.engine)
    quantised = cell is not None and cell.precision == PACT
    return Model(model.format.legacy, quantised, frozenset(used))
