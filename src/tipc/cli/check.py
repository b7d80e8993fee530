"""``tipc check``: the spec's checklist for a whole repository."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path


def main(argv: list[str]) -> int:
    """Print the checklist with its evidence; 0 if everything is there, else 1."""
    parser = argparse.ArgumentParser("tipc check", description="The spec's checklist for a whole repository.")
    parser.add_argument("repo", nargs="?", default=".", type=Path, help="its root; the current directory")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true", help="as a task list for a pull request")
    form.add_argument("--json", action="store_true")
    options = parser.parse_args(argv)

    from tipc.certify.engine import repo_findings
    from tipc.certify.repository import read_repository
    from tipc.certify.store import verdict_to_json
    from tipc.certify.text import checklist_markdown, checklist_text
    from tipc.certify.verdict import PASS, Verdict

    scene = read_repository(options.repo)
    verdict = Verdict(str(scene.repo), tuple(repo_findings(scene)))
    if options.json:
        json.dump(
            {**verdict_to_json(verdict), "schema": "tipc.checklist/1"},
            sys.stdout,
            indent=1,
            ensure_ascii=False,
        )
        sys.stdout.write("\n")
    elif options.markdown:
        sys.stdout.write(checklist_markdown(verdict.findings, scene.repo.name))
    else:
        sys.stdout.write(checklist_text(verdict.findings))
        told = f"{verdict.count(PASS)} of {len(verdict.findings)} points are in order"
        sys.stdout.write(f"{scene.repo}: {told}\n")
    return 0 if verdict.passed else 1
