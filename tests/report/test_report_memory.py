"""A report about ten thousand steps, in each of its forms by the real command: little memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from fabric import Recipe, fabricate, stored

# Ten steps each of many configs, or all of them in one cell of one, with their logs and findings.
SHAPES = {
    "many configs": Recipe(models=[f"model_{number}" for number in range(1000)]),
    "one cell": Recipe(gpus=("0",), batch_sizes=[str(number) for number in range(4999)]),
}
MOST = 120  # megabytes
FORMS = {
    "terminal": [],
    "html": ["--html", "a.html"],
    "junit": ["--junit", "a.xml"],
    "json": ["--json", "a.json"],
    "markdown": ["--markdown", "a.md"],
    "json on stdout": ["--json"],
}

# Starts a command from a small process: what a process is said to have used at most counts the one that it
# was forked from, and that of the tests is large.
SMALL = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
sys.stderr.write("\\n" + str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
raise SystemExit(status)
"""

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("ten thousand steps")]


@pytest.fixture(scope="module", params=SHAPES)
def ten_thousand_steps(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    place = tmp_path_factory.mktemp("ten-thousand")
    run, verdict = fabricate(place / ".tipc", SHAPES[request.param])
    assert len(run.results) in (10_000, 10_001)
    stored(run, verdict)
    return place


@pytest.mark.parametrize("form", FORMS)
def test_a_report_of_ten_thousand_steps_takes_little_memory(ten_thousand_steps: Path, form: str) -> None:
    words = [sys.executable, "-I", "-S", "-c", SMALL, sys.executable, "-m", "tipc", "report", *FORMS[form]]
    with open(ten_thousand_steps / "stdout", "wb") as stdout:
        done = subprocess.run(
            words, cwd=ten_thousand_steps, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
    written = FORMS[form][1] if len(FORMS[form]) > 1 else "stdout"
    assert (ten_thousand_steps / written).stat().st_size > 100
    # The command may have said something on stderr, too: the figure is its last line.
    assert int(done.stderr.splitlines()[-1]) / 1024 <= MOST
