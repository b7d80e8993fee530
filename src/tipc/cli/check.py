"""``tipc check``: the spec's checklist for a whole repository."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tipc.cli.align import threshold
from tipc.cli.options import Parser, parse
from tipc.errors import code_of
from tipc.language import say
from tipc.settings import LEVELS
from tipc.visible import visible_name

if TYPE_CHECKING:
    from tipc.certify.evidence.doc_runs import DocRun
    from tipc.certify.scene import RepoScene


def main(argv: list[str]) -> int:
    """Print the checklist with its evidence; 0 if everything is there, else 1."""
    options = parse(parser(), argv, "check")

    from tipc.certify import levels
    from tipc.certify.certifier import repo_findings
    from tipc.certify.evidence.log_text import checklist_markdown, checklist_text
    from tipc.certify.repository import read_repository
    from tipc.certify.verdict import Verdict
    from tipc.certify.verdict_store import CHECKLIST_SCHEMA, verdict_to_json
    from tipc.kinds import PASS
    from tipc.run.show.fold import write_folded

    scene = read_repository(options.repo)
    if options.level:
        scene = replace(scene, level=levels.LEVELS[options.level])
    if options.run_docs:
        scene = replace(scene, doc_runs=run_docs(scene, options.python))
    if options.align:
        from tipc.align import compare, read_recording

        reference, ours = options.align
        alignment = compare(read_recording(reference), read_recording(ours), dict(options.threshold))
        scene = replace(scene, alignment=alignment)
    verdict = Verdict(str(scene.repo), tuple(repo_findings(scene)))
    if options.json:
        content = verdict_to_json(verdict, CHECKLIST_SCHEMA)
        json.dump(content, sys.stdout, indent=1, ensure_ascii=False)
        sys.stdout.write("\n")
    elif options.markdown:
        sys.stdout.write(checklist_markdown(verdict.findings, scene.repo.name))
    else:
        write_folded(sys.stdout, checklist_text(verdict.findings))
        told = say(
            "{count} of {all} points are in order", count=verdict.count(PASS), all=len(verdict.findings)
        )
        sys.stdout.write(f"{visible_name(str(scene.repo))}: {told}\n")
    return code_of(verdict.passed)


def parser() -> Parser:
    """The command line."""
    made = Parser("tipc check", description="The spec's checklist for a whole repository.")
    made.add_argument("repo", nargs="?", default=".", type=Path, help="its root; the current directory")
    made.add_argument(
        "--level",
        choices=LEVELS,
        help="what to hold it against: base, with AMP, with PACT, or both; default: the highest it has",
    )
    made.add_argument(
        "--run-docs",
        action="store_true",
        help="also run the ```bash blocks of README, docs/ and test_tipc/ in a copy of the repository",
    )
    made.add_argument(
        "--align",
        nargs=2,
        metavar=("REF.npz", "OURS.npz"),
        help="also hold recorded tensors of the reproduction against its reference's",
    )
    made.add_argument(
        "--threshold",
        action="append",
        default=[],
        type=threshold,
        metavar="NAME=VALUE",
        help="what a stage, a stage/name or a pattern of --align may differ by on average: forward=1e-5",
    )
    made.add_argument(
        "--python", default="python3", metavar="PROGRAM", help="the interpreter of those commands"
    )
    form = made.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="as a task list for a pull request")
    form.add_argument("--json", action="store_true", help="print it as JSON")
    return made


def run_docs(scene: RepoScene, python: str) -> tuple[DocRun, ...]:
    """Run the documents' commands, and say on stderr how each block ended."""
    from tipc.certify.evidence.doc_runs import run_documents
    from tipc.kinds import GPU, SIGNS, SKIPPED, mark_of
    from tipc.language import sentence
    from tipc.plan.target.interpreter import resolve
    from tipc.run.environment import describe

    def say(run: DocRun) -> None:
        if run.left_out:
            sign, told = SIGNS[SKIPPED].mark, sentence(run.left_out)
        else:
            sign = mark_of(run.status == 0)
            told = f"exit {run.status}, {run.seconds:.0f} s, {run.log}"
        sys.stderr.write(f"{sign} {run.name}  {told}\n")

    devices = []
    if describe().get("gpus"):
        devices.append(GPU)
    logs = scene.repo / ".tipc" / "docs" / time.strftime("%Y%m%d-%H%M%S")
    return run_documents(scene.repo, logs, resolve(python).program, devices, say)
