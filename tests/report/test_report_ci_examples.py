"""The examples for CI servers are files that those servers can read, and use options that exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tipc.cli import run as run_command

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "ci.md").read_text(encoding="utf-8")
BLOCKS: list[Any] = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)]


def test_every_option_that_is_named_exists() -> None:
    known = {option for action in run_command.parser()._actions for option in action.option_strings}
    for line in TEXT.splitlines():
        if "tipc run " in line:
            used = set(re.findall(r"--[a-z-]+", line.partition("tipc run ")[2]))
            assert used <= known, line


def test_the_workflow_has_jobs_with_steps() -> None:
    (job,) = BLOCKS[0]["jobs"].values()
    assert job["runs-on"]
    for step in job["steps"]:
        assert ("uses" in step) != ("run" in step)
    inputs = yaml.safe_load((Path(__file__).parents[2] / "action.yml").read_text(encoding="utf-8"))["inputs"]
    assert set(job["steps"][-1]["with"]) <= set(inputs)


def test_the_gitlab_job_has_a_script_and_a_junit_report() -> None:
    (job,) = BLOCKS[1].values()
    assert all(isinstance(line, str) for line in job["script"])
    assert job["artifacts"]["reports"]["junit"] == "junit.xml"


def test_the_jenkinsfile_has_balanced_blocks() -> None:
    (block,) = re.findall(r"```groovy\n(.*?)```", TEXT, re.DOTALL)
    assert block.count("{") == block.count("}")
    assert re.search(r"junit 'junit.xml'", block)


def commands(path: Path) -> list[str]:
    """The lines of a document's code blocks, without comments and the names that a reader fills in."""
    blocks = re.findall(r"^```[^\n]*\n(.*?)^```", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    lines = "\n".join(blocks).splitlines()
    kept = []
    for line in lines:
        line = line.partition("  #")[0].rstrip()
        kept.append(re.sub("YOUR_[A-Z]+|你的[仓库环境]+", "YOURS", line))
    return kept


@pytest.mark.parametrize("name", ["../README", "ci", "repository", "new-model"])
def test_both_languages_give_the_same_commands(name: str) -> None:
    english = commands(DOCS / f"{name}.md")
    assert len(english) > 5
    assert commands(DOCS / f"{name}.zh-CN.md") == english


def test_nothing_is_installed_from_an_index_under_our_name() -> None:
    for name in ("ci.md", "ci.zh-CN.md"):
        for line in commands(DOCS / name):
            if "pip install" in line:
                assert not re.search(r"\stipc\b", line), line
