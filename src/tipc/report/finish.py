"""The end of ``tipc run``: the summary, the HTML report, the history and the job summary of a CI server."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

from tipc.certify.verdict import Verdict
from tipc.errors import TipcError
from tipc.report.history import History
from tipc.report.markdown import job_summary
from tipc.report.page import page
from tipc.report.terminal import write_summary
from tipc.report.view import RunView, view_of
from tipc.run.record import Run
from tipc.run.store import home, write_text

NAME = "report.html"


def finish(run: Run, verdict: Verdict | None, stream: TextIO) -> None:
    """Print the summary, write ``report.html``, add the run to the history and to the CI's job summary.

    What cannot be written (a full disk) is told and changes nothing about the result of the run.
    """
    view = view_of(run, verdict)
    target: Path | None = run.directory / NAME
    problems = []
    try:
        write_page([view], run.directory / NAME)
    except TipcError as error:
        target = None
        problems.append(f"no report.html: {error.message}")
    write_summary(view, stream, target)
    try:
        with History(home()) as history:
            history.add(view)
    except TipcError as error:
        problems.append(f"not in the history: {error.message}")
    try:
        add_to_job_summary([view], os.environ)
    except OSError as error:
        problems.append(f"nothing in $GITHUB_STEP_SUMMARY: {error}")
    for problem in problems:
        stream.write(f"{problem}\n")


def write_page(views: Sequence[RunView], target: Path) -> None:
    """Write the HTML report, all or nothing."""
    write_text(target, page(views, target))


def add_to_job_summary(views: Sequence[RunView], environment: Mapping[str, str]) -> None:
    """Append the result in Markdown to the file that GitHub shows beside the job, where there is one."""
    path = environment.get("GITHUB_STEP_SUMMARY")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(job_summary(views))
