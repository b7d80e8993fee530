"""Command lines: one parser that takes ``--data-path`` and ``--data_path`` alike, and the words that all
scripts share.
"""

from __future__ import annotations

import argparse
from typing import Any

TRUE = frozenset({"true", "1", "yes", "y", "on", "t"})
FALSE = frozenset({"false", "0", "no", "n", "off", "f"})


def str2bool(text: str) -> bool:
    """``True``, ``false``, ``1``, ``off``, …; anything else is an error of the command line."""
    word = text.strip().lower()
    if word in TRUE or word in FALSE:
        return word in TRUE
    raise argparse.ArgumentTypeError(f"expected True or False, not {text!r}")


def positive_int(text: str) -> int:
    """A whole number of at least 1."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, not {text!r}")
    return number


class Parser(argparse.ArgumentParser):
    """Options are found under both spellings, since config files in the wild use either."""

    def __init__(self, description: str) -> None:
        super().__init__(
            description=description,
            allow_abbrev=False,
            formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        )

    def add_argument(self, *names: str, **options: Any) -> argparse.Action:
        """Like argparse's, with the other spelling of each long option added."""
        spellings = list(names)
        for name in names:
            if name.startswith("--"):
                stem = name[2:]
                spellings += [f"--{stem.replace('_', '-')}", f"--{stem.replace('-', '_')}"]
        return super().add_argument(*dict.fromkeys(spellings), **options)

    def add_switch(self, name: str, default: bool, help: str) -> None:
        """An option that is on when bare (``--name``) and takes True or False (``--name=False``)."""
        self.add_argument(name, type=str2bool, nargs="?", const=True, default=default, help=help)


def add_device(parser: Parser) -> None:
    """``--device`` and its older spelling ``--use-gpu``; ``device.choose`` reads both."""
    parser.add_argument(
        "--device", choices=("cpu", "gpu"), default=None, help="gpu where there is one, if not given"
    )
    parser.add_argument("--use-gpu", type=str2bool, default=None, help="True or False: the same as --device")


def add_training(parser: Parser, example: str) -> None:
    """What both training scripts know by PaddleSeg's names: ``--opts``, ``--use_vdl``,
    ``--keep_checkpoint_max``.
    """
    parser.add_argument(
        "--opts", nargs="+", default=[], metavar="KEY=VALUE", help=f"change the recipe: {example}"
    )
    parser.add_switch("--use_vdl", False, "also write the curves for VisualDL (pip install visualdl)")
    parser.add_argument(
        "--keep_checkpoint_max", type=positive_int, default=5, help="numbered checkpoints that are kept"
    )


def add_format(parser: Parser) -> None:
    """``--format``: of the exported graph."""
    parser.add_argument(
        "--format",
        choices=("legacy", "pir"),
        default="legacy",
        help="legacy: .pdmodel, for every engine and int8; pir: paddle 3's own .json",
    )
