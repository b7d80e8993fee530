"""What a witness would have seen of the plain repository's chain, if its scripts did what they print."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from certify_plain_repo import WEIGHTS

from tipc.certify.evidence.trials import (
    DEPLOYED,
    EVALUATION,
    NATIVE,
    ONE_BY_ONE,
    ROUNDED,
    SEEDED,
    SIMULATED,
    Answered,
    Trial,
)
from tipc.certify.evidence.weights_file import digest
from tipc.plan.model import Step
from tipc.run.artefacts import digest as file_digest
from tipc.run.record.results import Run
from tipc.run.record.step_facts import (
    EvaluationFacts,
    ExportFacts,
    NetworkCall,
    PredictorFacts,
    PredictorRun,
    ProcessFacts,
    StepFacts,
    TrainingFacts,
    Weights,
    WeightsFile,
)

Witnessed = dict[tuple[str, str], StepFacts]
Tried = dict[tuple[str, str], tuple[Answered, ...]]
RANDOM = np.random.default_rng(5)
IMAGES = RANDOM.standard_normal((8, 3, 16, 16)).astype("float32")
SEEDS = RANDOM.standard_normal((2, 3, 16, 16)).astype("float32")
# Probabilities as the scripts print them: image n is of class n % 3, with 0.9 - n / 100.
ANSWERS = np.zeros((8, 3), "float32")
for _index in range(8):
    ANSWERS[_index] = 0.05 + _index / 200
    ANSWERS[_index, _index % 3] = 0.9 - _index / 100
OWN = RANDOM.standard_normal((2, 3)).astype("float32")


def weights_of(scale: float = 1.0) -> Weights:
    """The weights that the plain repository saves, or others."""
    tensors = {
        name: digest(np.array(value, "float32") * np.float32(scale)) for name, value in WEIGHTS.items()
    }
    return Weights(f"digest-{scale}", len(tensors), 1.0, tensors)


def training_facts() -> TrainingFacts:
    """Six steps, as the log tells."""
    losses = tuple(2.31 * 0.9**step for step in range(1, 7))
    return TrainingFacts(
        steps=6, skipped_steps=0, backwards=6, losses=losses, before=weights_of(0.5), after=weights_of(),
        change=0.5, learning_rates=(0.001,), batch_sizes=(4,), samples=24, forwards=6, seconds=0.6,
        step_seconds=(0.1,) * 6, input_digests=("a", "b", "a", "b", "a", "b"),
    )  # fmt: skip


class Honest:
    """The facts of a chain, which a test may change before it is judged."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.plan = run.plans[0]
        self.repo = Path(self.plan.repo)
        self.arrays: dict[str, Any] = {"x": IMAGES, "y": ANSWERS, "seed": SEEDS, "own": OWN}
        self.processes = {step.id: self._process(step) for step in self.plan.steps}
        self.beside: dict[str, tuple[ProcessFacts, ...]] = {}  # other processes of a step, by its name
        self.answers: dict[str, Any] = {EVALUATION: ANSWERS, SEEDED: OWN}
        self.inner: dict[str, Any] = {}  # values inside the exported model on the evaluation's inputs

    def change(self, step: str, **fields: Any) -> None:
        """Other facts of a step's process."""
        self.processes[f"cell/{step}"] = replace(self.processes[f"cell/{step}"], **fields)

    def change_training(self, **fields: Any) -> None:
        """Other facts of the training."""
        self.change("train", training=replace(training_facts(), **fields))

    def change_predictors(self, edit: Callable[[PredictorFacts], PredictorFacts]) -> None:
        """Other facts of every predictor."""
        for name, process in self.processes.items():
            self.processes[name] = replace(process, predictors=tuple(map(edit, process.predictors)))

    def _process(self, step: Step) -> ProcessFacts:
        base = ProcessFacts(rank=0, pid=1, paddle="3.1.1", doors={})
        saved = WeightsFile(str(self.repo / step.weights), weights_of(), 6)
        if step.kind == "train":
            return replace(base, training=training_facts(), saves=(saved,))
        if step.kind == "eval":
            call = NetworkCall("Net", {"0": "x"}, {"0": "y"})
            seen = EvaluationFacts(1, 8, weights_of(), 0, (call,), different_inputs=1)
            return replace(base, evaluations=(seen,), loads=(replace(saved, at_step=0),))
        prefix = self.repo / step.model_dir / "inference"
        files = {
            str(prefix) + suffix: file_digest(Path(str(prefix) + suffix))
            for suffix in (".pdmodel", ".pdiparams")
            if Path(str(prefix) + suffix).is_file()
        }
        if step.kind == "export":
            export = ExportFacts(str(prefix), weights_of(), files, {"x": "seed"}, {"0": "own"})
            return replace(base, exports=(export,))
        return replace(base, predictors=(self._predictor(step, str(prefix), files),))

    def _predictor(self, step: Step, prefix: str, files: dict[str, str]) -> PredictorFacts:
        size = int(step.settings["batch_size"])
        runs = []
        for start in range(0, 8, size):
            key = f"{step.id} {start}"
            self.arrays[f"{key} in"] = IMAGES[start : start + size]
            self.arrays[f"{key} out"] = ANSWERS[start : start + size]
            runs.append(PredictorRun({"x": f"{key} in"}, {"out": f"{key} out"}, size, 0.025))
        precision = step.settings["precision"]
        return PredictorFacts(
            model=prefix + ".pdmodel", params=prefix + ".pdiparams", digests=files, engine="onednn",
            device="cpu", precision=precision, threads=1, runs=len(runs), seconds=0.025 * len(runs),
            run_seconds=(0.025,) * len(runs), batch_sizes=(size,), samples=8, kept=tuple(runs),
        )  # fmt: skip

    def witnessed(self) -> Witnessed:
        """What the witness told, with its arrays in a file."""
        path = self.run.directory / f"arrays-{np.random.default_rng().integers(1 << 60)}.npz"
        np.savez(path, **self.arrays)
        facts = {}
        for name, process in self.processes.items():
            if self.run.results[(self.plan.key, name)].ok:
                processes = (process, *self.beside.get(name, ()))
                facts[(self.plan.key, name)] = StepFacts(processes, arrays=str(path))
        return facts

    def tried(self) -> Tried:
        """What the exported model answers when it is tried."""
        model = Path(self.repo, self.plan.steps[2].model_dir, "inference.pdmodel")
        params = model.with_suffix(".pdiparams")
        found = []
        engines = ["native", "onednn"]
        if any(cell.precision == "pact" for cell in self.plan.cells):
            engines.append("onednn-int8")
        for source, feeds in ((EVALUATION, IMAGES), (SEEDED, SEEDS)):
            for engine in engines:
                trial = Trial(source, engine, {"x": feeds}, model, params)
                inner = self.inner if source == EVALUATION else {}
                outputs = {"out": self.answers.get(f"{source}/{engine}", self.answers[source])}
                found.append(Answered(trial, outputs, inner=inner))
            moved = Trial(f"{ROUNDED} {source}", NATIVE, {"x": feeds[:4]}, model, params)
            found.append(Answered(moved, {"out": self.answers[source][:4] * np.float32(1 + 1e-7)}))
            simulated = f"{SIMULATED} {source}/onednn-int8"
            if simulated in self.answers:
                trial = Trial(
                    f"{SIMULATED} {source}", "onednn-int8", {"x": feeds}, model, params, simulated=True
                )
                found.append(Answered(trial, {"out": self.answers[simulated]}))
        single = Trial(ONE_BY_ONE, NATIVE, {"x": IMAGES[:4]}, model, params, batch=1)
        found.append(Answered(single, {"out": self.answers.get(ONE_BY_ONE, self.answers[EVALUATION][:4])}))
        for step in self.plan.steps:
            if step.kind == "infer":
                size = int(step.settings["batch_size"])
                trial = Trial(f"{DEPLOYED} {step.id} 0", "onednn", {"x": IMAGES[:size]}, model, params)
                found.append(Answered(trial, {"out": self.answers.get(DEPLOYED, ANSWERS)[:size]}))
        return {(self.plan.key, "cell/export"): tuple(found)}
