"""``tipc init``: a new repository from a template, or test_tipc/ for one that is there."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from tipc.cli.options import Parser
from tipc.errors import UsageError, wording
from tipc.language import say

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
TEMPLATES = ("classification", "segmentation")
IGNORED = (".git", ".tipc", ".venv", ".gitignore", "LICENSE")  # a folder with nothing else is empty


def main(argv: list[str]) -> int:
    """Write what is missing; say what was written and what to do next."""
    options = parser().parse_args(argv)
    name, repo = words_of(options)
    if not repo.is_dir():
        raise UsageError("is not a directory", path=str(repo))
    if options.parity:
        return write_parity(repo, name, options.force)
    from tipc.certify.scaffold import checked, other_dialects

    foreign = other_dialects(repo)
    if foreign:  # before anything is asked
        raise foreign_configs(repo, foreign)
    ask = not name and sys.stdin.isatty()
    if ask:
        name = question("model's name", "", checked)
    is_empty = not {path.name for path in repo.iterdir()} - set(IGNORED)
    if not name and is_empty:
        raise UsageError("which model?", remedy="tipc init --template classification NAME")
    if not name:
        raise UsageError("which model?", remedy="tipc init --model NAME")
    if options.template or (is_empty and not options.tipc):
        return write_template(repo, options.template or TEMPLATES[0], name)
    return write_tipc(repo, name, options, ask)


def words_of(options: argparse.Namespace) -> tuple[str, Path]:
    """The model's name and the folder: ``--template KIND NAME [FOLDER]``, else ``[FOLDER] --model NAME``."""
    words = list(options.words)
    name = options.model or ""
    if options.template and not name and words:
        name = words.pop(0)
    if len(words) > 1:
        raise UsageError(
            wording("one folder at most, not {names}", names=" and ".join(words)), remedy="tipc init --help"
        )
    return name, Path(*words)


def write_template(repo: Path, task: str, model: str) -> int:
    """A whole repository; files of the template that are there stay as they are, also changed ones."""
    from tipc.certify.scaffold import MAKE_DATA, draw_data, other_scripts, template_files, write

    files = template_files(task, model)
    others = other_scripts(repo, files)
    if others:
        raise UsageError(
            wording("other scripts are here: {names}; a template brings its own", names=", ".join(others)),
            path=str(repo),
            remedy=wording("an empty folder; for this repository: tipc init --model {model}", model=model),
        )
    written, kept = write(repo, files, force=False)
    if MAKE_DATA in written:
        draw_data(repo)
        written.append("lite_data.tar, images/demo.png")
    show(written, kept)
    command = "tipc run test_tipc/configs"
    if repo != Path("."):
        command = f"cd {repo} && {command}"
    _tell(say("next   {command}, then change network.py and data.py", command=command))
    return 0


def write_tipc(repo: Path, model: str, options: argparse.Namespace, ask: bool) -> int:
    """The folder test_tipc/ alone: configs, documents and scripts of the specification."""
    from functools import partial

    from tipc.certify.scaffold import DEFAULTS, Scaffold, checked_value, write

    values = {}
    for option, (name, text) in ASKED.items():
        given = getattr(options, option)
        if given is None and ask:
            given = question(text, DEFAULTS[name], partial(checked_value, name))
        values[name] = DEFAULTS[name] if given is None else given
    files = Scaffold(model, values).files()
    show(*write(repo, files, force=options.force))
    _tell(say("next   tipc lint test_tipc/configs, then tipc check: it says what is still missing"))
    return 0


def write_parity(repo: Path, model: str, force: bool) -> int:
    """The skeleton of test_tipc/parity.py, which adds the metric and the preprocessing to the comparison."""
    from tipc.certify.scaffold import parity_file, write

    show(*write(repo, parity_file(model), force=force))
    return 0


def foreign_configs(repo: Path, families: set[str]) -> UsageError:
    """The repository has configs that another script reads: one of ours among them would be read wrongly."""
    return UsageError(
        wording(
            "the configs here are of {names}: none of another dialect is written",
            names=", ".join(sorted(families)),
        ),
        path=str(repo / "test_tipc" / "configs"),
        remedy="copy a config that is there and change it; tipc init --parity writes parity.py alone",
    )


def show(written: list[str], kept: list[str]) -> None:
    """What was written, and what was there."""
    for name in written:
        _tell(say("wrote  {name}", name=name))
    for name in kept:
        _tell(say("kept   {name}  (it is there)", name=name))


def _tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def question(text: str, default: str, check: Callable[[str], str]) -> str:
    """One question on the terminal; an empty answer means the default, a bad one is asked for again."""
    told = f"{wording(text)} [{default}]: " if default else f"{wording(text)}: "
    while True:
        try:
            answer = input(told).strip() or default
        except EOFError:
            return default
        if not answer:
            return ""
        try:
            return check(answer)
        except UsageError as error:
            sys.stderr.write(f"{error}\n")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = Parser(
        "tipc init",
        usage="tipc init --template KIND NAME [FOLDER]\n"
        "       tipc init [FOLDER] --model NAME [--tipc] [options]",
        description="In an empty folder: a small repository that is certified as it is. In one that has "
        "something: test_tipc/ with configs for base, AMP and PACT, documents and scripts. "
        "Only what is missing is written. On a terminal, what is not given is asked.",
    )
    made.add_argument("words", nargs="*", metavar="NAME or FOLDER", help=argparse.SUPPRESS)
    made.add_argument("--template", choices=TEMPLATES, help="a whole repository for this task")
    made.add_argument("--model", metavar="NAME", help="the model's name")
    only = made.add_mutually_exclusive_group()
    only.add_argument(
        "--tipc", action="store_true", help="the folder test_tipc/ alone, also in an empty folder"
    )
    only.add_argument("--parity", action="store_true", help="the skeleton of test_tipc/parity.py alone")
    for option, (_, text) in ASKED.items():
        made.add_argument(f"--{option.replace('_', '-')}", metavar="TEXT", help=text)
    made.add_argument("--force", action="store_true", help="overwrite what is there (not with --template)")
    return made
