"""TX7xx: each step wrote what it must, in this run, and it is what it should be."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tipc.certify.evidence.answers import ModelAnswer
from tipc.certify.evidence.exported import exported_model, predictors_seen
from tipc.certify.evidence.option_values import argument
from tipc.certify.evidence.params_file import read_params
from tipc.certify.evidence.saved_beside import loaded_in_place
from tipc.certify.evidence.training_log_file import with_complaint
from tipc.certify.evidence.trials import EVALUATION, NATIVE
from tipc.certify.evidence.weights_file import (
    WeightsInFile,
    digest,
    find_weights,
    load_arrays,
    read_weights,
)
from tipc.certify.registry import Outcome, check, failed, passed, unchecked
from tipc.certify.scene import StepScene
from tipc.kinds import INFER, PACT
from tipc.message import Message, wording
from tipc.run.artefacts import matches

SAME_ROW = 1e-5  # of the spread of an answer: what may differ where it is a row of a tensor
LARGEST_TABLE = 4 << 20  # values of a tensor that answers are looked for in
CLOCK = 2.0  # seconds by which a file system's clock may be behind


@check(
    "TX701",
    "The step wrote its files in this run",
    scope="step",
    reads="the files that the plan says it produces",
    remedy="write the files to the folder that the command names; let the script fail if it cannot",
)
def written(scene: StepScene) -> Iterator[Outcome]:
    """A model file of an earlier run makes every later step succeed although this training wrote nothing."""
    if not scene.outcome.ok or not scene.step.produces:
        return
    files: list[dict[str, Any]] = []
    for wanted in scene.step.produces:
        path = first_match(scene.repo, wanted)
        if path is None:
            yield failed(wording("it did not write {file}", file=wanted))
            return
        if path.is_file() and path.stat().st_size == 0:
            yield failed(wording("{file} is empty", file=wanted))
            return
        written_at = newest(path)
        age = round(written_at - scene.outcome.since, 3)
        files.append({"path": wanted, "bytes": size(path), "age": age})
        problem = wrong_date(scene, wanted, written_at, files)
        if problem is not None:
            yield problem
            return
    yield passed(wording("{count} written", count=len(files)), files=files)


def first_match(repo: Path, wanted: str) -> Path | None:
    """The first file that is there of those that ``one|other`` names; None: none is."""
    for name in wanted.split("|"):
        for path in matches(repo, name):
            if path.exists():
                return path
    return None


def wrong_date(
    scene: StepScene, wanted: str, written_at: float, files: list[dict[str, Any]]
) -> Outcome | None:
    """A file that was not written while its step ran; None: it was."""
    started = scene.outcome.since
    if written_at < started - CLOCK:
        told = wording(
            "{file} is of an earlier run: {minutes:.1f} min older than this step",
            file=wanted,
            minutes=(started - written_at) / 60,
        )
        return failed(told, files=files)
    if written_at > time.time() + CLOCK:
        told = wording("{file} is dated in the future: it would look new in every later run", file=wanted)
        return failed(told, files=files)
    if scene.run.ended and written_at > max(scene.run.ended, scene.outcome.until) + CLOCK:
        told = wording("{file} was replaced after this run", file=wanted)
        return unchecked(told, required=False, files=files)
    return None


def files_in(path: Path) -> list[Path]:
    """A file, or the files of a folder."""
    if path.is_file():
        return [path]
    return [file for file in path.rglob("*") if file.is_file()]


def newest(path: Path) -> float:
    """When a file, or the newest file of a folder, was written."""
    times = [file.stat().st_mtime for file in files_in(path)]
    return max(times, default=path.stat().st_mtime)


def size(path: Path) -> int:
    return sum(file.stat().st_size for file in files_in(path))


@check(
    "TX702",
    "The exported model loads, with its inputs",
    scope="export",
    reads="the exported model, opened by paddle",
    remedy="export with paddle.jit.save and an InputSpec for each input, batch None",
)
def loads(scene: StepScene) -> Iterator[Outcome]:
    """Structure and parameters must both be there and belong together, and the inputs must be those that the
    deployment feeds: a batch that is fixed at 1 fails in the field, not here."""
    answer = scene.answer("model", scene.step)
    if answer is None:
        yield unchecked("no folder is named in which the model should be, or it was not made by a python")
        return
    if not isinstance(answer, ModelAnswer) or answer.error:
        told = wording("the exported model does not load: {error}", error=answer.error)
        if answer.limited:
            yield unchecked(told)
        else:
            yield failed(told, model_dir=scene.step.model_dir)
        return
    evidence = answer.model_dump(include={"structure", "parameters", "inputs", "outputs", "operators"})
    wrong = wrong_model(scene, answer)
    if wrong is not None:
        yield failed(wrong, evidence=evidence)
    else:
        inputs = ", ".join(f"{name} {shape}" for name, shape in answer.inputs.items())
        told = wording("{model}: {inputs}", model=answer.structure, inputs=inputs)
        yield passed(told, evidence=evidence)


def wrong_model(scene: StepScene, answer: ModelAnswer) -> Message | None:
    """What is wrong with a model that loads; None: nothing."""
    if not answer.inputs or not answer.outputs:
        return wording(
            "the exported model has {inputs} inputs and {outputs} outputs",
            inputs=len(answer.inputs),
            outputs=answer.outputs,
        )
    shape = parameter_not_finite(scene)
    if shape:
        return wording("a parameter of the exported model is not finite: one of shape {shape}", shape=shape)
    return fixed_batch(scene, answer)


def fixed_batch(scene: StepScene, answer: ModelAnswer) -> Message | None:
    """An input that takes no batch of a size that inference asks for; None: there is none."""
    shaped = {name: shape for name, shape in answer.inputs.items() if shape}
    free = any(shape[0] <= 0 for shape in shaped.values())
    batches = asked_batches(scene, but_those_seen=free)
    for name, shape in shaped.items():
        if shape[0] > 0 and set(batches) - {shape[0]}:
            return wording(
                "input {name} has a fixed batch of {size}; inference asks for {asked}",
                name=name,
                size=shape[0],
                asked=max(batches),
            )
    return None


def asked_batches(scene: StepScene, *, but_those_seen: bool) -> list[int]:
    """The batch sizes that inference asks for.

    Where one input has a free batch, another may be declared with a fixed one (the scale factors of a
    detector) and take more all the same: sizes that a predictor was seen to run are no question then.
    """
    batches = []
    for step in scene.steps(INFER, scene.cell.id):
        asked = step.settings.get("batch_size", "1")
        if not asked.isdigit():
            continue
        ran: set[int] = set()
        for predictor in predictors_seen(scene.facts(step)):
            ran.update(predictor.batch_sizes)
        if not (but_those_seen and int(asked) in ran):
            batches.append(int(asked))
    return batches


def parameter_not_finite(scene: StepScene) -> list[int]:
    """The shape of an exported parameter that holds NaN or an infinity; empty if none does."""
    for array in exported_parameters(scene):
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            return list(array.shape)
    return []


def exported_parameters(scene: StepScene) -> list[NDArray[Any]]:
    """The parameters of the model that the step exported; empty where they cannot be read."""
    model = exported_model(scene, scene.step)
    if model is None:
        return []
    try:
        return read_params(model.parameters)
    except (OSError, ValueError):
        return []


@check(
    "TX703",
    "The trained weights are whole and finite",
    scope="train",
    reads="the weights that training left, by an unpickler that admits arrays only",
    remedy="write the checkpoint with paddle.save at the end of training; see TL103 if values are not finite",
)
def weights_are_whole(scene: StepScene) -> Iterator[Outcome]:
    """Half a file, a file that is not a checkpoint, one with NaN in it, or the file that training started
    from."""
    if not scene.step.weights:
        return
    path = find_weights(scene.path(scene.step.weights))
    weights = scene.step.weights
    if not path.is_file():
        yield failed(with_complaint(scene, wording("training left no weights at {weights}", weights=weights)))
        return
    found = read_weights(path)
    evidence = {"tensors": found.tensors, "values": found.values, "not_finite": list(found.not_finite)}
    start = unchanged_from(scene, found)
    if found.error:
        yield failed(wording("{file} cannot be read: {error}", file=weights, error=found.error))
    elif not found.values:
        yield failed(wording("{file} has no values", file=weights), evidence=evidence)
    elif found.not_finite:
        told = wording("{name} in {file} is not finite", name=found.not_finite[0], file=weights)
        yield failed(told, evidence=evidence)
    elif start:
        told = wording(
            "the weights are those that training started from, every tensor of them ({start})", start=start
        )
        yield failed(told, evidence=evidence)
    else:
        told = wording("{tensors} tensors, {values:,} values", tensors=found.tensors, values=found.values)
        yield passed(told, evidence=evidence)


def unchanged_from(scene: StepScene, found: WeightsInFile) -> str:
    """The pretrained file that the trained weights are a mere copy of; "" if they are not."""
    given = argument(scene.step.argv, ("pretrained", "pretrained_model", "pretrain_weights", "weights"))
    if not given or given in ("null", "None"):
        return ""
    start = read_weights(find_weights(scene.path(given, scene.step)))
    if start.digests and start.digests == found.digests:
        return given
    return ""


@check(
    "TX704",
    "The exported parameters are the trained ones",
    scope="export",
    reads="the trained weights and the exported model's parameters",
    remedy="load the weights before the export, and fail if a name is missing: set_state_dict ignores "
    "what does not fit",
)
def same_values(scene: StepScene) -> Iterator[Outcome]:
    """An export that does not find its weights, or does not apply them, exports the random start. Tensors are
    compared bit for bit, whatever their names became. Quantised and folded models change them: parity covers
    those."""
    if not scene.step.weights:
        return
    trained = read_weights(find_weights(scene.path(scene.step.weights)))
    exported = exported_parameters(scene)
    if scene.cell.precision == PACT:
        yield from learnt_clips_left_out(trained, exported)
        return
    known = trained.known
    averages = loaded_in_place(scene, scene.cell.id, scene.step)
    if averages is not None:
        known = frozenset(averages.tensors.values())
    # Constants (the ones and zeros that layers start with) are alike in any two models and prove nothing.
    telling = [array for array in exported if is_telling(array)]
    matched = sum(digest(array) in known for array in telling)
    remembered = answers_remembered(scene, telling)
    evidence = {
        "tensors": len(exported),
        "comparable": len(telling),
        "matched": matched,
        "weights": str(trained.path),
        "answers_remembered": remembered,
    }
    if remembered > 1:
        told = wording(
            "what it answers to {count} images of the evaluation stands among its own tensors: it may only "
            "remember them",
            count=remembered,
        )
        yield unchecked(told, remedy="export the trained network itself", evidence=evidence)
        return
    if not telling or not known:
        yield unchecked(
            "no tensor of the exported model can be compared with the weights",
            required=False,
            evidence=evidence,
        )
    elif matched == 0 and same_forms(trained, telling):
        told = wording(
            "none of {tensors} exported tensors is in {weights}: random or other weights were exported",
            tensors=len(telling),
            weights=scene.step.weights,
        )
        yield failed(told, evidence=evidence)
    elif matched < len(telling):
        told = wording(
            "{others} of {tensors} exported tensors are not in {weights} as they are: folded, converted, or "
            "not loaded; parity must tell",
            others=len(telling) - matched,
            tensors=len(telling),
            weights=scene.step.weights,
        )
        yield unchecked(told, required=False, evidence=evidence)
    else:
        yield passed(wording("all {count} tensors bit-equal", count=matched), evidence=evidence)


def learnt_clips_left_out(trained: WeightsInFile, exported: list[NDArray[Any]]) -> Iterator[Outcome]:
    """Clipping values that the export has as they were at the start, though they were learnt since: parity is
    held to no bound as narrow as what a few steps change."""
    numbers = {float(array.reshape(-1)[0]) for array in exported if array.size == 1}
    learnt = left_out = 0
    for clip in trained.clips:
        if clip.start is None or clip.start == clip.end:
            continue
        learnt += 1
        left_out += clip.start in numbers and clip.end not in numbers
    if left_out * 2 > learnt:
        told = wording(
            "{count} of {learnt} clipping values that were learnt are in the exported model as they were at "
            "the start",
            count=left_out,
            learnt=learnt,
        )
        yield unchecked(told, remedy="export the learnt clipping values (`….alpha`)")


def answers_remembered(scene: StepScene, exported: list[NDArray[Any]]) -> int:
    """How many different answers of the exported model to the evaluation's inputs it holds as constants."""
    most = 0
    for trial in scene.trials(scene.step):
        if (trial.trial.source, trial.trial.engine) != (EVALUATION, NATIVE):
            continue
        for output in trial.outputs.values():
            if output.ndim > 1 and output.dtype.kind == "f":
                most = max(most, rows_held(output.reshape(len(output), -1), exported))
    return most


def rows_held(answers: NDArray[Any], tensors: list[NDArray[Any]]) -> int:
    """How many of the rows, those that are alike counted once, are rows or columns of a tensor.

    A row of two values only (a class as a one among zeros) may be there by chance.
    """
    width = answers.shape[1]
    table = []
    for tensor in tensors:
        if tensor.ndim == 2 and tensor.size <= LARGEST_TABLE:
            table += [side for side in (tensor, tensor.T) if side.shape[1] == width]
    held: set[bytes] = set()
    for row in answers:
        near = SAME_ROW * float(np.ptp(row))
        if len(np.unique(np.round(row / max(near, 1e-30)))) < 3:
            continue
        for side in table:
            candidates = side[np.abs(side[:, 0] - row[0]) <= near]  # few, of a large table
            if (np.abs(candidates - row).max(1, initial=0.0) <= near).any():
                held.add(np.round(row / near).tobytes())
    return len(held)


def is_telling(array: NDArray[Any]) -> bool:
    """It has values that two models hardly share."""
    return bool(array.size > 1 and array.dtype.kind == "f" and np.ptp(array) > 0)


def same_forms(trained: WeightsInFile, exported: list[NDArray[Any]]) -> bool:
    """The exported tensors have shapes and types that the trained ones have: then the values should
    be, too."""
    forms = {(array.shape, array.dtype.str) for array in load_arrays(trained.path).values()}
    return all((array.shape, array.dtype.str) in forms for array in exported)
