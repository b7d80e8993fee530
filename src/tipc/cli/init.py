"""``tipc init``: make test_tipc/ for a new model."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tipc.errors import UsageError

# option: (name in the texts, question)
ASKED = {
    "train": ("TRAIN", "training script, with its fixed options"),
    "eval": ("EVAL", "evaluation command"),
    "export": ("EXPORT", "export script"),
    "infer": ("INFER", "inference script"),
    "data_path": ("DATA", "folder of the lite data"),
    "img_path": ("IMAGE", "image or folder for inference"),
    "weights": ("WEIGHTS", "name of the weights that training leaves"),
    "amp_option": ("AMP", "option that turns on mixed precision: --amp-option=--amp_level=O2"),
    "pact_option": ("PACT", "option that turns on quantisation: --pact-option=--pact_quant"),
    "epochs": ("EPOCHS", "epochs of a lite training"),
    "batch_size": ("BATCH", "batch size of a lite training"),
}


def main(argv: list[str]) -> int:
    """Ask what was not given (on a terminal), write the files, say what is still missing."""
    options = parser().parse_args(argv)
    if not options.repo.is_dir():
        raise UsageError("is not a directory", path=str(options.repo))

    from tipc.certify.scaffold import DEFAULTS, Scaffold, write

    ask = options.model is None and sys.stdin.isatty()
    model = options.model or (question("model's name", "") if ask else "")
    if not model:
        raise UsageError("which model?", remedy="tipc init --model NAME")
    values = {}
    for option, (name, text) in ASKED.items():
        given = getattr(options, option)
        values[name] = (
            given if given is not None else question(text, DEFAULTS[name]) if ask else DEFAULTS[name]
        )
    scaffold = Scaffold(model, values)
    written, kept = write(options.repo, scaffold.files(), force=options.force)
    # The model's own scripts: only where there is none. Those are never overwritten.
    written += write(options.repo, scaffold.entry_scripts(), force=False)[0]
    sys.stdout.writelines(f"wrote  {name}\n" for name in written)
    sys.stdout.writelines(f"kept   {name}  (it is there; --force overwrites it)\n" for name in kept)
    sys.stdout.write("next   tipc lint test_tipc/configs, then tipc check: it says what is still missing\n")
    return 0


def question(text: str, default: str) -> str:
    """One question on the terminal; an empty answer means the default."""
    told = f"{text} [{default}]: " if default else f"{text}: "
    try:
        return input(told).strip() or default
    except EOFError:
        return default


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        "tipc init",
        description="Make test_tipc/ for a new model: configs for base, AMP and PACT, documents, scripts. "
        "On a terminal, what is not given is asked.",
    )
    made.add_argument("repo", nargs="?", default=".", type=Path, help="the repository; the current directory")
    made.add_argument("--model", metavar="NAME")
    for option, (_, text) in ASKED.items():
        made.add_argument(f"--{option.replace('_', '-')}", metavar="TEXT", help=text)
    made.add_argument("--force", action="store_true", help="overwrite what is there")
    return made
