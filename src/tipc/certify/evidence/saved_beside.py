"""Weights that training saved beside those that the config names, and that later steps load in their place.

Averages of the weights are often kept in a file of their own (``.pdema`` beside ``.pdparams``). They are of
the training where they lie along the way that it went.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tipc.certify.evidence.weights_file import find_weights
from tipc.kinds import TRAIN

if TYPE_CHECKING:
    from tipc.certify.scene import PlanScene
    from tipc.plan.model import Step
    from tipc.run.record.step_facts import Weights, WeightsFile

ALONG = 1.5  # times the way that training has gone: averages of it lie no farther off
FEW = 0.1  # of the tensors of an average may lie off their own ways


def are_averages(save: WeightsFile) -> bool:
    """Whether what was saved lies along the way that training went, each tensor along its own."""
    return not save.changed and 0 <= save.apart <= ALONG and len(save.strayed) <= FEW * save.judged


def loaded_in_place(scene: PlanScene, cell: str, step: Step) -> Weights | None:
    """The averages that a step loaded in place of the weights that the config names; None: it did not. They
    were saved in the same folder when training had ended, and are still what was saved."""
    process = scene.main_process(step)
    trainings = [one for one in scene.steps(TRAIN, cell) if one.weights]
    if process is None or not trainings:
        return None
    trained = scene.main_process(trainings[0])
    if trained is None or trained.training is None:
        return None
    named = os.path.realpath(find_weights(scene.path(trainings[0].weights)))
    loaded: dict[str, Weights] = {}
    for load in process.loads:
        loaded[os.path.realpath(load.path)] = load.weights
    if named in loaded:
        return None
    for save in trained.saves:
        path = os.path.realpath(save.path)
        beside = os.path.dirname(path) == os.path.dirname(named)
        at_the_end = save.at_step == trained.training.steps
        again = loaded.get(path)
        if again is None or not beside or not at_the_end or not are_averages(save):
            continue
        if again.digest == save.weights.digest:
            return save.weights
    return None
