"""TR5xx: predictions against those that the repository keeps in ``test_tipc/results``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tipc.certify.evidence.predictions import compare_predictions, predictions, read_predictions
from tipc.certify.registry import Outcome, check, failed, passed, unchecked
from tipc.certify.scene import StepScene

PRECISION = re.compile(r"(?<![a-z0-9])(fp32|fp16|bf16|int8)(?![a-z0-9])", re.IGNORECASE)
SUFFIXES = (".txt", ".json", ".jsonl", ".log")


def stored_results(scene: StepScene) -> list[Path]:
    """The stored results that are about this model and this precision, by their names."""
    folder = scene.repo / "test_tipc" / "results"
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix in SUFFIXES]
    named = [path for path in files if scene.plan.model in f"{path.parent.name}/{path.name}"]
    usual = "int8" if scene.cell.precision == "pact" else "fp32"
    precision = scene.step.settings.get("precision", usual)
    return [
        path
        for path in named
        if not (found := PRECISION.search(path.name)) or found[1].lower() == precision.lower()
    ]


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
            yield unchecked(f"{name} has no line that is a prediction", required=False, evidence=evidence)
        elif not got:
            yield failed(f"the step printed no prediction to compare with {name}", evidence=evidence)
        elif absent:
            yield failed(f"no prediction for {absent[0]}, which {name} has", evidence=evidence)
        elif result.differences:
            yield failed(f"other than in {name}: {result.differences[0]}", evidence=evidence)
        else:
            yield passed(f"{result.common} images as in {name}", evidence=evidence)
