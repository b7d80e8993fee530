"""What the probes are asked about a run: for each export what the model is, and what it answers."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tipc.certify.engines import engines_for
from tipc.certify.evidence.answers import Answer, ImagesAnswer
from tipc.certify.evidence.exported import ExportedModel, exported_model
from tipc.certify.evidence.prober import Prober
from tipc.certify.evidence.question import Key, Question, QuestionGroup, digest_of, is_outside
from tipc.certify.evidence.trials import NATIVE, Answered, Trial, kind_of, trials
from tipc.certify.evidence.weights_file import find_weights
from tipc.certify.scene import PlanScene, Witnessed
from tipc.command import Command
from tipc.kinds import EVAL, EXPORT, FP32, INFER, INT8, TRAIN, model_formats
from tipc.npz import read_npz
from tipc.plan.model import Step
from tipc.plan.target.interpreter import resolve
from tipc.run.record.facts import file_name
from tipc.run.record.results import Run
from tipc.run.tasks import environment

MOST_IMAGES = 16  # of a step


@dataclass(frozen=True)
class Asked:
    """Everything that the probes were asked about a run and answered."""

    answers: dict[Key, Answer] = field(default_factory=dict)
    tried: dict[tuple[str, str], tuple[Answered, ...]] = field(default_factory=dict)
    images: dict[str, Any] = field(default_factory=dict)  # path → pixels


def ask_probes(
    run: Run,
    witnessed: Witnessed,
    prober: Prober,
    say: Callable[[str], None] = lambda text: None,
    *,
    rounding: Container[int] = (),
) -> Asked:
    """Everything that the checks want to know about a run's models; for the plans with these numbers also
    what rounding does to them."""
    asked: list[Question] = []
    for index, plan in enumerate(run.plans):
        scene = PlanScene(run, plan, index, witnessed=witnessed)
        asked += questions(scene, prober.scratch, rounding=index in rounding)
    prober.ask(asked, say)
    answers: dict[Key, Answer] = {}
    tried: dict[tuple[str, str], tuple[Answered, ...]] = {}
    for question in asked:
        if question.trials:
            key = question.key[1:]
            tried[key] = (*tried.get(key, ()), *prober.tried(question))
        else:
            answers[question.key] = prober.answer(question)
    images: dict[str, Any] = {}
    for question in asked:
        images.update(decoded_images(question, answers.get(question.key)))
    return Asked(answers, tried, images)


def questions(scene: PlanScene, scratch: Path, *, rounding: bool) -> Iterator[Question]:
    """What is asked about one plan."""
    for step in scene.steps(EXPORT):
        yield from questions_about(scene, step, scratch, rounding=rounding)
    for cell in scene.plan.cells:
        yield from images_questions(scene, cell.id, scratch)


def images_questions(scene: PlanScene, cell: str, scratch: Path) -> Iterator[Question]:
    """The image files that a cell's evaluation and deployment opened and wrote are decoded.

    Each step is asked about by itself, and about what no step before it has opened: what an evaluation has
    opened can be decoded while the deployment still runs.
    """
    asked_by = [step for step in scene.plan.steps_by_cell.get(cell, ()) if step.kind == INFER]
    if not asked_by or not is_python(asked_by[0]):
        return
    known: set[str] = set()
    for step in [*scene.steps(EVAL, cell), *scene.steps(TRAIN, cell)[:1], *scene.steps(INFER, cell)]:
        process = scene.main_process(step)
        if process is None:
            continue
        seen = dict.fromkeys([*process.images[:MOST_IMAGES], *process.pictures[:MOST_IMAGES]])
        paths = [path for path in seen if path not in known]
        if not paths:
            continue
        known.update(paths)
        # A folder for each state of the files: a step that runs later may write some of them anew.
        state = hashlib.sha256("".join(digest_of(Path(path)) for path in paths).encode()).hexdigest()
        folder = scratch / f"images-{scene.index}-{file_name(step.id)}" / state
        folder.mkdir(parents=True, exist_ok=True)
        body = {"paths": paths, "answers": str(folder), "structure": "", "model_dir": str(folder)}
        asked = question("images", scene, asked_by[0], body, files=tuple(paths))
        yield replace(asked, key=("images", scene.plan.key, step.id))


def decoded_images(question: Question, answer: Answer | None) -> dict[str, Any]:
    """What a probe decoded, by path."""
    if not isinstance(answer, ImagesAnswer) or not answer.read:
        return {}
    try:
        file = read_npz(Path(question.body["answers"]) / "images.npz")
        return {path: file[str(index)] for index, path in enumerate(answer.read)}
    except (OSError, ValueError, KeyError):
        return {}


def questions_about(
    scene: PlanScene, step: Step, scratch: Path, *, rounding: bool = False
) -> Iterator[Question]:
    """What is asked about one export."""
    if not is_python(step):
        return
    model = exported_model(scene, step)
    if model is None:
        if step.model_dir:
            endings = ", ".join(f"*{one.structure}" for one in model_formats())
            body = {"structure": "", "model_dir": str(scene.path(step.model_dir)), "endings": endings}
            yield question("model", scene, step, body)
        return
    files = (str(model.structure), str(model.parameters))
    body = {
        "structure": str(model.structure),
        "params": str(model.parameters),
        "model_dir": str(model.structure.parent),
    }
    yield from run_questions(scene, step, scratch, rounding=rounding)
    protocol = scene.repo / "test_tipc" / "parity.py"
    if protocol.is_file():
        weights = trained_weights(scene, step)
        parity = parity_body(scene, step, model, weights)
        yield question("parity", scene, step, parity, files=(*files, weights, str(protocol)))
    yield question("model", scene, step, body, files=files)


def run_questions(scene: PlanScene, step: Step, scratch: Path, *, rounding: bool) -> Iterator[Question]:
    """The model is run on arrays; one process for each predictor, which takes longest to make."""
    by_predictor: dict[tuple[str, Path, bool], list[Trial]] = {}
    for trial in trials(scene, step, scratch, rounding=rounding):
        by_predictor.setdefault((trial.engine, trial.params, trial.simulated), []).append(trial)
    for asked in by_predictor.values():
        model = asked[0].model
        body = {"structure": str(model), "model_dir": str(model.parent)}
        yield question("run", scene, step, body, tuple(asked))


def parity_body(scene: PlanScene, step: Step, model: ExportedModel, weights: str) -> dict[str, Any]:
    """The protocol's request for one export, and the engines that its metric is taken in."""
    precision = FP32
    for cell in scene.plan.cells:
        if cell.id == step.cell:
            precision = cell.precision
    engines = {}
    for engine in engines_for(kind_of(scene, step, model)):
        if engine.name == NATIVE or engine.precision == INT8:
            engines[engine.name] = str(engine.script)
    return {
        "structure": str(model.structure),
        "params": str(model.parameters),
        "model_dir": str(model.structure.parent),
        "engines": engines,
        "compares_engines": len(engines) > 1,
        "request": {
            "model": scene.plan.model,
            "weights": weights,
            "train_argv": _training_argv(scene, step.cell),
            "precision": precision,
            "repo": scene.plan.repo,
        },
    }


def _training_argv(scene: PlanScene, cell: str) -> list[str]:
    """The words of a cell's training; none where it has none."""
    for step in scene.plan.steps_by_cell.get(cell, ()):
        if step.kind == TRAIN:
            return list(step.argv)
    return []


def trained_weights(scene: PlanScene, step: Step) -> str:
    """The weights that an export reads, as a file; some scripts are given the name without its ending."""
    if not step.weights:
        return ""
    return str(find_weights(scene.path(step.weights)))


def question(
    kind: str,
    scene: PlanScene,
    step: Step,
    body: Mapping[str, Any],
    asked: tuple[Trial, ...] = (),
    files: tuple[str, ...] = (),
) -> Question:
    """A question with the interpreter and the environment of the step that it is about."""
    path = environment(os.environ, step.env).get("PYTHONPATH", "")
    entries = [Path(entry) for entry in path.split(os.pathsep) if entry]
    body = {
        "kind": kind,
        "repo": scene.plan.repo,
        "path": [str(entry) for entry in entries if is_outside(entry, scene.repo)],
        "legacy": _is_legacy(body),
        **body,
    }
    return Question((kind, scene.plan.key, step.id), group_of(scene, step), body, asked, files)


def _is_legacy(body: Mapping[str, Any]) -> bool:
    """Whether a question is about a model in paddle's older form; without one, the folder tells."""
    structure = Path(body["structure"]).name
    if not structure:
        return any(Path(body["model_dir"]).glob("*.pdmodel"))
    return any(one.legacy and structure.endswith(one.structure) for one in model_formats())


def group_of(scene: PlanScene, step: Step) -> QuestionGroup:
    """The interpreter and the environment of a step."""
    cwd = os.path.normpath(scene.path(step.cwd))
    return QuestionGroup(interpreter(step), scene.plan.repo, cwd, tuple(sorted(step.env.items())))


def is_python(step: Step) -> bool:
    """Whether an interpreter runs the step, which then can be asked, too."""
    return bool(Command(step.argv).interpreter)


def interpreter(step: Step) -> str:
    """The interpreter that ran the step; a plan to the letter of the upstream script has only its name."""
    return shutil.which(resolve(step.argv[0]).program) or sys.executable
