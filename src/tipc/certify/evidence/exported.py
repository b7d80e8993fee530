"""An exported model as the witness and the file system know it: which files, which network, which weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tipc.certify.evidence.question import digest_of
from tipc.certify.scene import PlanScene, once_a_cell
from tipc.kinds import EXPORT, INFER, ModelFormat, model_formats
from tipc.plan.model import Step
from tipc.run.record.step_facts import ExportFacts, PredictorFacts, StepFacts


@dataclass(frozen=True)
class ExportedModel:
    """The files of one exported model, and what was seen when it was made."""

    structure: Path
    parameters: Path
    format: ModelFormat
    facts: ExportFacts | None = None


def exports_seen(facts: StepFacts | None) -> list[ExportFacts]:
    """Every export that the witness saw in a step, in order."""
    found: list[ExportFacts] = []
    if facts is not None:
        for process in facts.processes:
            found += process.exports
    return found


def predictors_seen(facts: StepFacts | None) -> list[PredictorFacts]:
    """Every predictor that ran, in order."""
    found: list[PredictorFacts] = []
    if facts is not None:
        for process in facts.processes:
            found += [one for one in process.predictors if one.runs]
    return found


def exported_model(scene: PlanScene, step: Step) -> ExportedModel | None:
    """The model that an export step made, of several the one that was deployed; None: there is none."""
    found = _models(scene, step)
    if not found:
        return None
    opened = opened_models(scene, step.cell)
    for model in found:
        if str(model.structure) in opened:
            return model
    return found[0]


@once_a_cell
def opened_models(scene: PlanScene, cell: str) -> set[str]:
    """The models that the cell's inference steps opened."""
    opened = set()
    for step in scene.steps(INFER, cell):
        for one in predictors_seen(scene.facts(step)):
            opened.add(one.model)
    return opened


def _models(scene: PlanScene, step: Step) -> list[ExportedModel]:
    seen = []
    # A place that was written twice has what was written last.
    for export in {export.path: export for export in exports_seen(scene.facts(step))}.values():
        model = _files(Path(export.path), export)
        if model is not None:
            seen.append(model)
    if seen or not step.model_dir:
        return seen
    folder = scene.path(step.model_dir)
    found = []
    for one in model_formats():
        for structure in sorted(folder.glob(f"*{one.structure}")):
            prefix = structure.with_name(structure.name.removesuffix(one.structure))
            model = _files(prefix, None)
            if model is not None:
                found.append(replace(model, facts=_moved_from(model, exports_seen(scene.facts(step)))))
    return found


def _moved_from(model: ExportedModel, exports: Sequence[ExportFacts]) -> ExportFacts | None:
    """The export whose files these are, byte by byte: a script may save elsewhere and move them here."""
    digests = {digest_of(model.structure), digest_of(model.parameters)}
    for export in reversed(exports):
        if digests <= set(export.files.values()):
            return export
    return None


def _files(prefix: Path, export: ExportFacts | None) -> ExportedModel | None:
    """The two files of a prefix; a name may have dots, so nothing is cut off."""
    for one in model_formats():
        structure = prefix.with_name(prefix.name + one.structure)
        parameters = prefix.with_name(prefix.name + one.parameters)
        known = export is None or not export.files or str(structure) in export.files
        if known and structure.is_file() and parameters.is_file():
            return ExportedModel(structure, parameters, one, export)
    return None


@once_a_cell
def export_of_cell(scene: PlanScene, cell: str) -> ExportedModel | None:
    """The exported model of a cell."""
    for step in scene.steps(EXPORT, cell):
        model = exported_model(scene, step)
        if model is not None:
            return model
    return None


@once_a_cell
def exported_digests(scene: PlanScene, cell: str) -> set[str]:
    """The files that the cell's export wrote, by what is in them."""
    found: set[str] = set()
    for step in scene.steps(EXPORT, cell):
        for export in exports_seen(scene.facts(step)):
            found.update(export.files.values())
    model = export_of_cell(scene, cell)
    if not found and model is not None:
        found = {digest_of(model.structure), digest_of(model.parameters)}
    return found
