"""Dynamic against static graph: how each family's script turns a section into two training configs."""

from __future__ import annotations

from typing import NamedTuple


class SectionEdit(NamedTuple):
    """A change of one line of a section: text that is put behind it, or that replaces it."""

    line: int  # of the section, from 1
    text: str
    replaces: bool = False


class Sections(NamedTuple):
    """What a family's script does with a section of a file."""

    both: tuple[SectionEdit, ...]  # for both trainings
    static: tuple[SectionEdit, ...]  # for the second, with the static graph
    losses: tuple[str, str]  # the line of a log that has a loss, and the loss in it


LENGTH = 22  # lines of a section: the training's part of a training config
MODE = "lite_train_lite_infer"  # whatever the script is given
GPUS = "gpu_list:0"  # whatever the section has
EXPORTED = {"FLAGS_cudnn_deterministic": "True"}

SECTIONS = {
    "seg": Sections(
        both=(),
        static=(SectionEdit(16, " --opts to_static_training=True"),),
        losses=("[TRAIN] epoch:", "loss: {%f},"),
    ),
    "clas": Sections(
        both=(SectionEdit(16, " -o Global.print_batch_step=1"),),
        static=(SectionEdit(15, "trainer:to_static_train", replaces=True),),
        losses=("Iter:", "loss: {%f},"),
    ),
}
