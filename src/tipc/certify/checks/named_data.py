"""What TT901 and TT905 ask of the data that a command names: that images of it were opened."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from tipc.certify.evidence.images_left import MOST, images_in
from tipc.certify.registry import Outcome, unchecked
from tipc.certify.scene import StepScene
from tipc.message import wording
from tipc.run.record.step_facts import ProcessFacts

READ_THEM = "read the images of the folder that the command names, or take the option out of the config"


def named_data_unopened(
    scene: StepScene, process: ProcessFacts, evidence: Mapping[str, object]
) -> Iterator[Outcome]:
    """Folders of images that options name, where others were opened and none of their own. Lists may lead
    elsewhere, and workers and other programs open files unseen."""
    opened = {os.path.realpath(path) for path in process.images}
    if not opened or len(opened) >= MOST or process.lists or process.forks or process.started:
        return
    folders = [folder for folder in folders_of_data(scene) if images_in(folder, below=True)]
    inside = tuple(os.path.realpath(folder) + os.sep for folder in folders)
    if not folders or any(path.startswith(inside) for path in opened):
        return
    told = wording(
        "the command names {folder}; none of its images was opened, but {count} others, {first} for one",
        folder=os.path.relpath(folders[0], scene.repo),
        count=len(opened),
        first=os.path.relpath(min(opened), os.path.realpath(scene.repo)),
    )
    yield unchecked(told, remedy=READ_THEM, evidence=dict(evidence))


def folders_of_data(scene: StepScene) -> Iterator[Path]:
    """The folders that options of a step's command name as its data."""
    before = ""
    for word in scene.step.argv[1:]:
        name, _, value = word.rpartition("=")
        if "data" in (name or before).lower():
            folder = scene.path(value, scene.step)
            if folder.is_dir():
                yield folder
        before = word
