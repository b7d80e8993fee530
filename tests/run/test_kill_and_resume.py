"""``tipc`` killed with -9 at any moment: nothing is lost, nothing is done twice, nobody is left."""

from __future__ import annotations

import random
import subprocess
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest
import toy_repo
from toy_repo import STEPS, events, journals, states, tipc_run

from tipc.run.record.run_store import load_run

KILLS = 50
# On a busy machine the short time between two steps is hit rarely: then there are more, until it was.
MOST_KILLS = 300


def processes_in(directory: Path) -> list[psutil.Process]:
    """Every process that works in this directory or was started with it in its command line."""
    found = []
    for process in psutil.process_iter():
        try:
            if str(directory) in " ".join([process.cwd(), *process.cmdline()]):
                found.append(process)
        except psutil.Error:
            continue
    return found


def none_left(directory: Path) -> bool:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        if not processes_in(directory):
            return True
        time.sleep(0.05)
    return False


def once_finished_never_again(journal: Path) -> None:
    """After a step has passed, it is not started again and its end is not written again."""
    passed = set()
    for event in events(journal):
        if event["event"] in ("start", "end"):
            assert event["step"] not in passed, f"{event['step']} again in {journal}"
        if event["event"] == "end" and event["state"] == "passed":
            passed.add(event["step"])


def lines(place: Path) -> int:
    """How much the run of this place has told so far."""
    return sum(journal.read_bytes().count(b"\n") for journal in journals(place))


def wait_for_a_moment(process: subprocess.Popen[bytes], place: Path, chance: random.Random) -> None:
    """Some moment of a run: shortly after its start, or around one of the next few things that happen."""
    if chance.random() < 0.2:
        time.sleep(chance.uniform(0.0, 0.4))
        return
    target = lines(place) + chance.randint(1, 5)
    while lines(place) < target and process.poll() is None:
        time.sleep(0.005)
    time.sleep(chance.uniform(0.0, 0.12))


def enough(kills: int, hit: Counter[str]) -> bool:
    """Whether there were kills enough, and some both while a step ran and between two steps."""
    if kills < KILLS:
        return False
    return kills >= MOST_KILLS or {"start", "end"} <= set(hit)


@pytest.mark.slow
def test_killed_at_fifty_moments_and_resumed(tmp_path: Path) -> None:
    chance = random.Random(20)
    kills = 0
    hit = Counter[str]()
    while not enough(kills, hit):
        place = tmp_path / f"place{kills}"
        config = toy_repo.make(place / "repo")
        (place / "repo/behave").write_text("0.1")
        words: list[str | Path] = [config]
        for _ in range(100):
            process = subprocess.Popen(
                toy_repo.command(*words), cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            if not enough(kills, hit):
                wait_for_a_moment(process, place, chance)
                process.kill()
            if process.wait(100) < 0:
                kills += 1
            assert none_left(place / "repo"), f"after kill {kills}"
            if lines(place):
                words = ["--resume"]
                hit[events(journals(place)[-1])[-1]["event"]] += 1
            if process.returncode >= 0:
                break
        assert process.returncode == 0
        journal = journals(place)[-1]  # one before it was killed before its first line
        once_finished_never_again(journal)
        assert states(journal) == dict.fromkeys(STEPS, "passed")
        assert load_run(journal.parent).ok
        log = place / "repo/test_tipc/output/toy/lite_train_lite_infer/results_python.log"
        assert max(Counter(log.read_text().splitlines()).values()) == 1
    assert {"start", "end"} <= set(hit), hit  # it was hit while steps ran and between them


def test_killed_while_a_step_runs_and_resumed(tmp_path: Path) -> None:
    config = toy_repo.make(tmp_path / "repo")
    (tmp_path / "repo/behave").write_text("hang")
    process = subprocess.Popen(toy_repo.command(config), cwd=tmp_path, stdout=subprocess.DEVNULL)
    while not list(tmp_path.glob("repo/hangs/*")):
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert none_left(tmp_path / "repo")
    (journal,) = journals(tmp_path)
    broken = load_run(journal.parent)
    assert broken.ended is None
    assert {result.state for result in broken.results.values()} == {"interrupted", "pending"}
    with open(journal, "ab") as file:
        file.write(b'{"event":"end","plan":"torn')
    (tmp_path / "repo/behave").unlink()
    done = tipc_run(tmp_path, "--resume")
    assert done.returncode == 0, done.stdout + done.stderr
    assert states(journal) == dict.fromkeys(STEPS, "passed")


def test_a_run_that_was_killed_before_its_first_line_is_no_run(tmp_path: Path) -> None:
    for name in ("20260101-000000-toy", "20260101-000001-toy"):
        (tmp_path / ".tipc/runs" / name).mkdir(parents=True)
    (tmp_path / ".tipc/runs" / name / "journal.jsonl").touch()
    done = tipc_run(tmp_path, "--resume")
    assert done.returncode == 2
    assert "there is no run" in done.stderr
