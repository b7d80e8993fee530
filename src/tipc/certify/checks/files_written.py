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
from tipc.certify.evidence.training_log_file import complaint
from tipc.certify.evidence.weights_file import (
    WeightsInFile,
    digest,
    find_weights,
    load_arrays,
    read_weights,
)
from tipc.certify.registry import Outcome, check, failed, passed, unchecked
from tipc.certify.scene import StepScene
from tipc.kinds import PACT
from tipc.run.artefacts import matches

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
    started, ended = scene.outcome.since, scene.outcome.until
    files = []
    for wanted in scene.step.produces:
        path = next(
            (path for one in wanted.split("|") for path in matches(scene.repo, one) if path.exists()), None
        )
        if path is None:
            yield failed(f"it did not write {wanted}")
            return
        if path.is_file() and path.stat().st_size == 0:
            yield failed(f"{wanted} is empty")
            return
        written_at = newest(path)
        files.append({"path": wanted, "bytes": size(path), "age": round(written_at - started, 3)})
        if written_at < started - CLOCK:
            old = (started - written_at) / 60
            yield failed(f"{wanted} is of an earlier run: {old:.1f} min older than this step", files=files)
            return
        if written_at > time.time() + CLOCK:
            yield failed(
                f"{wanted} is dated in the future: it would look new in every later run", files=files
            )
            return
        if scene.run.ended and written_at > max(scene.run.ended, ended) + CLOCK:
            yield unchecked(f"{wanted} was replaced after this run", required=False, files=files)
            return
    yield passed(f"{len(files)} written", files=files)


def newest(path: Path) -> float:
    """When a file, or the newest file of a folder, was written."""
    if path.is_file():
        return path.stat().st_mtime
    return max(
        (file.stat().st_mtime for file in path.rglob("*") if file.is_file()), default=path.stat().st_mtime
    )


def size(path: Path) -> int:
    return (
        path.stat().st_size
        if path.is_file()
        else sum(f.stat().st_size for f in path.rglob("*") if f.is_file())
    )


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
        yield failed(f"the exported model does not load: {answer.error}", model_dir=scene.step.model_dir)
        return
    evidence = answer.model_dump(include={"structure", "parameters", "inputs", "outputs", "operators"})
    free = any(shape and shape[0] <= 0 for shape in answer.inputs.values())
    batches = asked_batches(scene, but_those_seen=free)
    fixed = {name: shape[0] for name, shape in answer.inputs.items() if shape and shape[0] > 0}
    clash = [(name, size) for name, size in fixed.items() if any(batch != size for batch in batches)]
    if not answer.inputs or not answer.outputs:
        yield failed(
            f"the exported model has {len(answer.inputs)} inputs and {answer.outputs} outputs",
            evidence=evidence,
        )
    elif (broken := parameter_not_finite(scene)) != "":
        yield failed(f"a parameter of the exported model is not finite: {broken}", evidence=evidence)
    elif clash:
        name, size = clash[0]
        yield failed(
            f"input {name} has a fixed batch of {size}; inference asks for {max(batches)}", evidence=evidence
        )
    else:
        told = ", ".join(f"{name} {shape}" for name, shape in answer.inputs.items())
        yield passed(f"{answer.structure}: {told}", evidence=evidence)


def asked_batches(scene: StepScene, *, but_those_seen: bool) -> list[int]:
    """The batch sizes that inference asks for.

    Where one input has a free batch, another may be declared with a fixed one (the scale factors of a
    detector) and take more all the same: sizes that a predictor was seen to run are no question then.
    """
    batches = []
    for step in scene.steps("infer", scene.cell.id):
        asked = step.settings.get("batch_size", "1")
        ran = {size for one in predictors_seen(scene.facts(step)) for size in one.batch_sizes}
        if asked.isdigit() and not (but_those_seen and int(asked) in ran):
            batches.append(int(asked))
    return batches


def parameter_not_finite(scene: StepScene) -> str:
    """The form of an exported parameter that holds NaN or an infinity; empty if none does."""
    for array in exported_parameters(scene):
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            return f"one of shape {list(array.shape)}"
    return ""


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
    """Half a file, a file that is no checkpoint, one with NaN in it, or the file that training started
    from."""
    if not scene.step.weights:
        return
    path = find_weights(scene.path(scene.step.weights))
    if not path.is_file():
        yield failed(f"training left no weights at {scene.step.weights}{complaint(scene)}")
        return
    found = read_weights(path)
    evidence = {"tensors": found.tensors, "values": found.values, "not_finite": list(found.not_finite)}
    if found.error:
        yield failed(f"{scene.step.weights} cannot be read: {found.error}")
    elif not found.values:
        yield failed(f"{scene.step.weights} has no values", evidence=evidence)
    elif found.not_finite:
        yield failed(f"{found.not_finite[0]} in {scene.step.weights} is not finite", evidence=evidence)
    elif start := unchanged_from(scene, found):
        yield failed(
            f"the weights are those that training started from, every tensor of them ({start})",
            evidence=evidence,
        )
    else:
        yield passed(f"{found.tensors} tensors, {found.values:,} values", evidence=evidence)


def unchanged_from(scene: StepScene, found: WeightsInFile) -> str:
    """The pretrained file that the trained weights are a mere copy of; "" if they are not."""
    given = argument(scene.step.argv, ("pretrained", "pretrained_model", "pretrain_weights", "weights"))
    if not given or given in ("null", "None"):
        return ""
    start = read_weights(find_weights(scene.path(given, scene.step)))
    return given if start.digests and start.digests == found.digests else ""


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
    if scene.cell.precision == PACT or not scene.step.weights:
        return
    trained = read_weights(find_weights(scene.path(scene.step.weights)))
    exported = exported_parameters(scene)
    known = set(trained.digests.values())
    # Constants (the ones and zeros that layers start with) are alike in any two models and prove nothing.
    telling = [
        array for array in exported if array.size > 1 and array.dtype.kind == "f" and np.ptp(array) > 0
    ]
    matched = sum(digest(array) in known for array in telling)
    evidence = {
        "tensors": len(exported),
        "comparable": len(telling),
        "matched": matched,
        "weights": str(trained.path),
    }
    if not telling or not known:
        yield unchecked(
            "no tensor of the exported model can be compared with the weights",
            required=False,
            evidence=evidence,
        )
    elif matched == 0 and same_forms(trained, telling):
        yield failed(
            f"none of {len(telling)} exported tensors is in {scene.step.weights}: random or other "
            "weights were "
            "exported",
            evidence=evidence,
        )
    elif matched < len(telling):
        yield unchecked(
            f"{len(telling) - matched} of {len(telling)} exported tensors are not in "
            f"{scene.step.weights} as they "
            "are: folded, converted, or not loaded; parity must tell",
            required=False,
            evidence=evidence,
        )
    else:
        yield passed(f"all {matched} tensors bit-equal", evidence=evidence)


def same_forms(trained: WeightsInFile, exported: list[NDArray[Any]]) -> bool:
    """The exported tensors have shapes and types that the trained ones have: then the values should
    be, too."""
    forms = {(array.shape, array.dtype.str) for array in load_arrays(trained.path).values()}
    return all((array.shape, array.dtype.str) in forms for array in exported)
