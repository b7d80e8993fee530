"""TR5xx: predictions against those that the repository keeps in ``test_tipc/results``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tipc.certify.evidence.predictions import compare_predictions, predictions, read_predictions
from tipc.certify.registry import Outcome, check, failed, passed, unchecked
from tipc.certify.scene import StepScene
from tipc.kinds import FP32, INT8, PACT, find_precision
from tipc.message import wording

SUFFIXES = (".txt", ".json", ".jsonl", ".log")


def stored_results(scene: StepScene) -> list[Path]:
    """The stored results that are about this model and this precision, by their names."""
    folder = scene.repo / "test_tipc" / "results"
    usual = FP32
    if scene.cell.precision == PACT:
        usual = INT8
    precision = scene.step.settings.get("precision", usual).lower()
    found = []
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.suffix not in SUFFIXES:
            continue
        named = precision_in(path.name)
        if scene.plan.model in f"{path.parent.name}/{path.name}" and named in ("", precision):
            found.append(path)
    return found


def precision_in(name: str) -> str:
    """The precision that a file's name has as a word of its own; empty where it has none."""
    for word in re.split("[^a-z0-9]+", name.lower()):
        if find_precision(word):
            return word
    return ""


@check(
    "TR501",
    "The predictions are those that the repository keeps",
    scope="infer",
    reads="test_tipc/results/*<model>*[_fp32|_int8]*, against the inference step's result lines",
    remedy="if the new predictions are right, store them: they are lines `image<TAB>JSON` or `image: …, "
    "class_id: …, "
    "prob: …`",
)
def stored(scene: StepScene) -> Iterator[Outcome]:
    """compare_results.py compared predictions with stored ones, and printed where they differ; this one
    fails. Only where results are stored for a run of these weights (a whole_infer mode) do they have to be
    the same."""
    for path in stored_results(scene):
        name = path.relative_to(scene.repo).as_posix()
        wanted = read_predictions(path)
        got = predictions(scene, scene.step)
        result = compare_predictions(wanted, got)
        absent = [image for image in wanted if image not in got]
        evidence = {"file": name, **result.evidence()}
        if not wanted:
            # A table of metrics, say: it is no promise about predictions.
            told = wording("{file} has no line that is a prediction", file=name)
            yield unchecked(told, required=False, evidence=evidence)
        elif not got:
            told = wording("the step printed no prediction to compare with {file}", file=name)
            yield failed(told, evidence=evidence)
        elif absent:
            told = wording("no prediction for {image}, which {file} has", image=absent[0], file=name)
            yield failed(told, evidence=evidence)
        elif result.differences:
            told = wording("other than in {file}: {difference}", file=name, difference=result.differences[0])
            yield failed(told, evidence=evidence)
        else:
            told = wording("{count} images as in {file}", count=result.common, file=name)
            yield passed(told, evidence=evidence)
