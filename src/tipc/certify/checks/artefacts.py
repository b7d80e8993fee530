"""TX7xx: each step wrote what it must, in this run, and it is what it should be."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tipc.certify.answers import ModelAnswer, WeightsAnswer
from tipc.certify.arguments import argument
from tipc.certify.registry import Outcome, check, failed, passed, unchecked
from tipc.certify.scene import StepScene
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
    started, ended = scene.outcome.started, scene.outcome.started + scene.outcome.wall
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
    batches = [
        int(step.settings.get("batch_size", "1"))
        for step in scene.steps("infer", scene.cell.id)
        if step.settings.get("batch_size", "1").isdigit()
    ]
    fixed = {name: shape[0] for name, shape in answer.inputs.items() if shape and shape[0] > 0}
    clash = [(name, size) for name, size in fixed.items() if any(batch != size for batch in batches)]
    if not answer.inputs or not answer.outputs:
        yield failed(
            f"the exported model has {len(answer.inputs)} inputs and {answer.outputs} outputs",
            evidence=evidence,
        )
    elif answer.not_finite:
        yield failed(
            f"a parameter of the exported model is not finite: {answer.not_finite[0]}", evidence=evidence
        )
    elif clash:
        name, size = clash[0]
        yield failed(
            f"input {name} has a fixed batch of {size}; inference asks for {max(batches)}", evidence=evidence
        )
    else:
        told = ", ".join(f"{name} {shape}" for name, shape in answer.inputs.items())
        yield passed(f"{answer.structure}: {told}", evidence=evidence)


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
    answer = scene.answer("weights", scene.step)
    if answer is None:
        yield failed(f"training left no weights at {scene.step.weights}")
        return
    if not isinstance(answer, WeightsAnswer) or answer.error:
        yield failed(f"{scene.step.weights} cannot be read: {answer.error}")
        return
    evidence = answer.model_dump(include={"tensors", "values", "not_finite"})
    if not answer.values:
        yield failed(f"{scene.step.weights} has no values", evidence=evidence)
    elif answer.not_finite:
        yield failed(f"{answer.not_finite[0]} in {scene.step.weights} is not finite", evidence=evidence)
    elif start := unchanged_from(scene):
        yield failed(
            f"the weights are, byte for byte, those that training started from ({start})", evidence=evidence
        )
    else:
        yield passed(f"{answer.tensors} tensors, {answer.values:,} values", evidence=evidence)


def unchanged_from(scene: StepScene) -> str:
    """The pretrained file that the trained weights are a mere copy of; "" if they are not."""
    given = argument(scene.step.argv, ("pretrained", "pretrained_model", "pretrain_weights", "weights"))
    if not given:
        return ""
    start, end = scene.path(given, scene.step), scene.path(scene.step.weights)
    try:
        same = start.stat().st_size == end.stat().st_size and start.read_bytes() == end.read_bytes()
    except OSError:
        return ""
    return given if same else ""


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
    answer = scene.answer("model", scene.step)
    if not isinstance(answer, ModelAnswer) or answer.error or scene.cell.precision == "pact":
        return
    evidence = {
        "tensors": answer.tensors,
        "comparable": answer.comparable,
        "matched": answer.matched,
        "weights": answer.compared_with,
    }
    if not answer.comparable:
        yield unchecked(
            "no tensor of the exported model can be compared with the weights",
            required=False,
            evidence=evidence,
        )
    elif answer.matched == 0:
        yield failed(
            f"none of {answer.comparable} exported tensors is in {scene.step.weights}: random or other "
            "weights were "
            "exported",
            evidence=evidence,
        )
    elif answer.matched < answer.comparable:
        others = answer.comparable - answer.matched
        yield unchecked(
            f"{others} of {answer.comparable} exported tensors are not in {scene.step.weights} as they "
            "are, for one "
            f"{answer.unmatched}: folded, or not loaded; parity must tell",
            required=False,
            evidence=evidence,
        )
    else:
        yield passed(f"all {answer.matched} tensors bit-equal", evidence=evidence)
