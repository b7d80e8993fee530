"""The end of ``tipc run``: the summary, the HTML report, the history and the job summary of a CI server."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

from tipc.certify.verdict import Verdict
from tipc.errors import TipcError
from tipc.language import say
from tipc.report.github import error_lines
from tipc.report.history.history_store import History
from tipc.report.history.past import Past
from tipc.report.html.page import page_parts
from tipc.report.load import past_for
from tipc.report.markdown import job_summary
from tipc.report.reporters import reporter
from tipc.report.terminal import write_summary
from tipc.report.view import RunView, view_of
from tipc.run.record.disk import write_parts
from tipc.run.record.results import Run
from tipc.run.record.run_store import home
from tipc.visible import write_command

NAME = "report.html"


def finish(run: Run, verdict: Verdict | None, stream: TextIO, files: Mapping[str, str] | None = None) -> None:
    """Print the summary, write ``report.html``, add the run to the history and to the CI's job summary.

    ``files`` are further reports: the name of their form and where they go.
    What cannot be written (a full disk) is told and changes nothing about the result of the run.
    """
    view = view_of(run, verdict)
    target: Path | None = run.directory / NAME
    problems = []
    try:
        with History(home()) as history:
            if run.calls > 1:
                history.keep_call(run.id, run.calls - 1)
            history.add(view)
    except TipcError as error:
        problems.append(f"{say('not in the history: ')}{error}")
    try:
        write_page([view], run.directory / NAME)
    except TipcError as error:
        target = None
        problems.append(f"{say('no report.html: ')}{error}")
    write_summary(view, stream, target)
    for name, path in (files or {}).items():
        try:
            Path(path).absolute().parent.mkdir(parents=True, exist_ok=True)
            write_parts(Path(path).absolute(), reporter(name).parts([view]))
        except (TipcError, OSError) as error:
            problems.append(say("not written: {path}: {error}", path=path, error=error))
    try:
        add_to_job_summary([view], os.environ)
    except OSError as error:
        problems.append(say("nothing in {name}: {error}", name="$GITHUB_STEP_SUMMARY", error=error))
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for line in error_lines(view):
            write_command(stream, line)
    for problem in problems:
        stream.write(f"{problem}\n")


def write_page(views: Sequence[RunView], target: Path, past: Past | None = None) -> None:
    """Write the HTML report, all or nothing; with what the history knows beside it."""
    write_parts(target, page_parts(views, target, past or past_for(views)))


def add_to_job_summary(views: Sequence[RunView], environment: Mapping[str, str]) -> None:
    """Append the result in Markdown to the file that GitHub shows beside the job, where there is one."""
    path = environment.get("GITHUB_STEP_SUMMARY")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(job_summary(views))
