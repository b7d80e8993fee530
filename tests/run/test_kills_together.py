"""``tipc``, a server, its keepers and their steps killed in the same instant, in any combination.

Nobody is left, also not a process that has left its session, its parent, its environment and its directory;
and the run that goes on does the work of a step again only if it was interrupted in it.
"""

from __future__ import annotations

import itertools
import json
import random
import signal
import subprocess
import time
from collections import Counter, deque
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest
import toy_repo
from toy_repo import STEPS, events, journals, states

from tipc.run.record.run_store import load_run

ROLES = ("tipc", "server", "keeper", "step")
SOON = 2.0  # seconds after which nobody may be left, without those in which a processor was waited for
COMBINATIONS = [
    combination for count in range(1, len(ROLES) + 1) for combination in itertools.combinations(ROLES, count)
]
KILLS = 200
PARTS = 10  # tests
LANES = 2  # runs at once
# Before the work of each script: a process that has hidden as well as it can; then a note of the work.
STRAY = """\
import json, os, signal, sys
ENTRY, TOKEN = sys.argv[:], "{token}"
HERE = os.path.dirname(os.path.abspath(__file__))
LEDGER = os.open(os.path.join(HERE, "ledger"), os.O_WRONLY | os.O_APPEND)
def enter(kind):
    os.write(LEDGER, (json.dumps([kind, ENTRY]) + "\\n").encode())
readable, writable = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    os.chdir("/")
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    os.set_inheritable(writable, True)
    wait = (
        "import os, sys, time; told = int(sys.argv[2]); os.write(told, b'%d' % os.getpid()); os.close(told);"
        "time.sleep(1000)"
    )
    words = [sys.executable, "-I", "-S", "-c", wait, TOKEN, str(writable)]
    os.execve(sys.executable, words, {{}})
os.close(writable)
stray = int(os.read(readable, 20))
enter("begin")
import atexit
def leave():
    enter("end")
    os.kill(stray, signal.SIGKILL)
atexit.register(leave)
"""


@dataclass
class Place:
    """A repository, the run in it, and what was seen of it."""

    directory: Path
    token: str
    words: list[str] = field(default_factory=list)
    interrupted: Counter[str] = field(default_factory=Counter)  # step → how often that was not told as ended

    @classmethod
    def make(cls, directory: Path) -> Place:
        config = toy_repo.make(directory / "repo")
        token = f"stray-of-{directory.name}-{random.getrandbits(64):x}"
        for name, text in toy_repo.SCRIPTS.items():
            (directory / "repo" / name).write_text(STRAY.format(token=token) + text)
        (directory / "repo/ledger").touch()
        (directory / "repo/behave").write_text("0.15")
        return cls(directory, token, [str(config)])

    def start(self) -> subprocess.Popen[bytes]:
        nothing = subprocess.DEVNULL
        return subprocess.Popen(
            toy_repo.command(*self.words), cwd=self.directory, stdout=nothing, stderr=nothing
        )

    def left(self) -> list[psutil.Process]:
        """What still lives of the steps: in the repository, or with the token in its command."""
        found = []
        for process in psutil.process_iter():
            try:
                words = process.cmdline()
                if self.token in words or process.cwd().startswith(str(self.directory / "repo")):
                    found.append(process)
            except psutil.Error:
                continue
        return found

    def journal(self) -> Path | None:
        known = [journal for journal in journals(self.directory) if b"\n" in journal.read_bytes()]
        return known[-1] if known else None

    def note_the_interrupted(self) -> None:
        """Steps that began and whose end was not told, as a run that goes on will see it."""
        journal = self.journal()
        if journal is None:
            return
        open_steps: set[str] = set()
        for event in events(journal):
            if event["event"] == "start":
                open_steps.add(event["step"])
            if event["event"] == "end":
                open_steps.discard(event["step"])
                if event["state"] != "passed":
                    open_steps.add(event["step"])  # it will be run again, and may be
            if event["event"] == "resume":
                open_steps.clear()
        self.interrupted.update(open_steps)

    def go_on_with(self) -> None:
        self.words = ["--rerun-failed"] if self.journal() else self.words

    def works_begun(self) -> int:
        return (self.directory / "repo/ledger").read_bytes().count(b'["begin"')


def family(tipc: subprocess.Popen[bytes], token: str) -> dict[str, list[psutil.Process]]:
    """Who is there now, by role. Who hides is a child of the keeper by now, and of no role."""
    found: dict[str, list[psutil.Process]] = {role: [] for role in ROLES}
    try:
        found["tipc"] = [psutil.Process(tipc.pid)]
        guardians = found["tipc"][0].children()
        found["server"] = [child for guardian in guardians for child in guardian.children()]
        found["keeper"] = [child for server in found["server"] for child in server.children()]
        below = [child for keeper in found["keeper"] for child in keeper.children()]
        found["step"] = [child for child in below if token not in child.cmdline()]
    except psutil.Error:
        pass
    return found


def kill_together(victims: Iterable[psutil.Process]) -> None:
    """Stopped first: none of them can react to another's end."""
    known = list(victims)
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for victim in known:
            try:
                victim.send_signal(number)
            except psutil.Error:
                continue


def wait_for_a_step(tipc: subprocess.Popen[bytes], place: Place, chance: random.Random) -> None:
    """Some moment at which a step runs, as far as that can be seen from outside."""
    before = place.works_begun()
    while place.works_begun() == before and tipc.poll() is None:
        time.sleep(0.02)
    time.sleep(chance.uniform(0.0, 0.25))


def free_time() -> float:
    """Seconds so far, without those in which somebody on this machine had to wait for a processor, as the
    kernel counts them: a busy machine ends nothing soon."""
    waited = 0.0
    pressure = Path("/proc/pressure/cpu")
    if pressure.is_file():
        waited = int(pressure.read_text().split("total=")[1].split()[0]) / 1e6
    return time.monotonic() - waited


def nobody_is_left(place: Place) -> None:
    """Soon after tipc has ended nothing that it has started since lives, either."""
    begun = free_time()
    while place.left():
        assert free_time() - begun < SOON, place.left()
        time.sleep(0.05)


def kill_and_look(place: Place, roles: tuple[str, ...], chance: random.Random) -> float | None:
    """One call of tipc and one kill; seconds until nobody is left, None if it ended before."""
    tipc = place.start()
    wait_for_a_step(tipc, place, chance)
    here = family(tipc, place.token)
    running = place.left()
    if tipc.poll() is not None or not here["step"]:
        tipc.wait(100)
        place.go_on_with()
        return None
    kill_together(process for role in roles for process in here[role])
    begun = free_time()
    if roles != ("server",):  # a step outlives that one, and goes on
        _gone, alive = psutil.wait_procs(running, timeout=30)
        assert not alive, roles
    spent = free_time() - begun
    assert spent <= SOON, roles
    tipc.wait(100)
    nobody_is_left(place)
    place.note_the_interrupted()
    place.go_on_with()
    return spent


def finish(place: Place) -> None:
    """Let the run come to its end, and see what was done."""
    for _ in range(3):
        code = place.start().wait(100)
        if code == 0:
            break
        place.note_the_interrupted()
        place.go_on_with()
    assert code == 0
    journal = place.journal()
    assert journal is not None
    assert states(journal) == dict.fromkeys(STEPS, "passed")
    assert load_run(journal.parent).ok
    assert not place.left()


def works(place: Place) -> Counter[str]:
    """How often the work of each step was begun: by its command, without the interpreter."""
    found: Counter[str] = Counter()
    for line in (place.directory / "repo/ledger").read_text().splitlines():
        kind, words = json.loads(line)
        if kind == "begin":
            found[" ".join(words)] += 1
    return found


def no_work_twice(place: Place) -> None:
    """Each step's work was begun once, and once more for each time that it was interrupted."""
    journal = place.journal()
    assert journal is not None
    plan = load_run(journal.parent).plans[0]
    done = works(place)
    for step in plan.steps:
        words = " ".join(step.argv[1:])
        assert 1 <= done[words] <= 1 + place.interrupted[step.id], (step.id, done, place.interrupted)


@pytest.mark.parametrize(
    "roles", [("tipc", "server", "keeper", "step"), ("tipc", "server", "keeper"), ("server", "keeper")]
)
def test_nobody_is_left_who_has_hidden_from_all_of_them(tmp_path: Path, roles: tuple[str, ...]) -> None:
    place = Place.make(tmp_path / "place")
    (place.directory / "repo/behave").write_text("30")
    assert kill_and_look(place, roles, random.Random(1)) is not None
    (place.directory / "repo/behave").write_text("0")
    finish(place)
    no_work_twice(place)


def kill_and_go_on(directory: Path, kills: list[tuple[str, ...]], chance: random.Random) -> None:
    """All these kills, in as many runs as that takes, each brought to its end."""
    left = deque(kills)
    for number in itertools.count():
        if not left:
            return
        place = Place.make(directory / f"place{number}")
        while left:
            spent = kill_and_look(place, left[0], chance)
            if spent is None:
                break  # the run came to its end
            print(f"{'+'.join(left.popleft())}: {spent:.2f} s")
        finish(place)
        no_work_twice(place)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_killed_in_any_combination_and_gone_on(tmp_path: Path, part: int) -> None:
    share = KILLS // PARTS
    kills = list(itertools.islice(itertools.cycle(COMBINATIONS), part * share, (part + 1) * share))
    with ThreadPoolExecutor(LANES) as lanes:  # most of the time a lane waits
        done = [
            lanes.submit(kill_and_go_on, tmp_path / str(lane), kills[lane::LANES], random.Random(part + lane))
            for lane in range(LANES)
        ]
    for lane in done:
        lane.result()
