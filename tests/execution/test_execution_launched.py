"""A launcher and its ranks as forks of a warm server: the same output, codes and signals as cold ones."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import psutil
import pytest
from execution_bench import Bench
from warm_scripts import SCRIPTS

from tipc.run.executors.executor import Task, TaskOutcome
from tipc.run.executors.local import LocalExecutor

# The scripts can be run by another interpreter than that of the tests, which need not know tipc.
PYTHON = os.environ.get("EXECUTION_PYTHON", sys.executable)
LAUNCH = (PYTHON, "-m", "paddle.distributed.launch")
FAKE_PADDLE = """
import os, sys
from . import device
import decoy
__version__ = 'fake'
"""
# As paddle's starts its ranks; here one after the other, so that what they write never mixes.
FAKE_LAUNCHER = """
import os, subprocess, sys
print("launching", sys.argv[1:], sys.path[0] == os.getcwd(), __name__, __spec__.name)
codes = []
for rank in range(2):
    env = {**os.environ, "PADDLE_TRAINER_ID": str(rank), "PADDLE_TRAINERS_NUM": "2"}
    with open(f"workerlog.{rank}", "w") as log:
        process = subprocess.Popen(
            [sys.executable, "-u", *sys.argv[1:]], env=env, stdout=log, stderr=log, preexec_fn=os.setsid)
        codes.append(process.wait())
sys.stderr.write("this comes before what is printed\\n")
print(codes)
sys.exit(abs(codes[0]))
"""


def launched(bench: Bench, *argv: str, **fields: object) -> Task:
    return bench.task(*LAUNCH, *argv, **fields)  # type: ignore[arg-type]


def warm_for(bench: Bench, task: Task) -> LocalExecutor:
    """An executor whose warm server is ready for a launched task."""
    executor = LocalExecutor(grace=0.5)
    task = replace(task, warm=True)
    executor.warm_up(task)
    waiting = executor.start(bench.task("sleep", "1000", timeout=None, name="waiting"))
    assert bench.eventually(lambda: executor.wait(0.05) or executor.warmth.server(task), within=120.0)
    executor.kill(waiting)
    executor.wait(None)
    return executor


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """A directory of scripts, with a package called paddle that imports in no time and has a launcher."""
    bench = Bench(tmp_path_factory.mktemp("launched"))
    bench.script(FAKE_PADDLE, "lib/paddle/__init__.py")
    bench.script("", "lib/paddle/nn/__init__.py")
    bench.script("", "lib/paddle/nn/layer.py")
    bench.script("raise RuntimeError('cannot be imported')", "lib/paddle/broken.py")
    bench.script("", "lib/paddle/distributed/__init__.py")
    bench.script("", "lib/paddle/distributed/launch/__init__.py")
    bench.script(FAKE_LAUNCHER, "lib/paddle/distributed/launch/__main__.py")
    bench.script(
        "def is_compiled_with_cuda(): return False\n"
        "def is_compiled_with_xpu(): return False\n"
        "def get_all_custom_device_type(): return []\n",
        "lib/paddle/device.py",
    )
    bench.script("WHO = 'the package'", "lib/decoy.py")
    bench.script("WHO = 'beside the script'", "decoy.py")
    bench.script("WHO = 'helper'", "helper.py")
    bench.script("", "rank.py")
    bench.env["PYTHONPATH"] = str(bench.directory / "lib")
    bench.env.pop("PYTHONUNBUFFERED", None)
    yield bench
    assert bench.eventually(lambda: not bench.alive())


@pytest.fixture(scope="module")
def warm(stage: Bench) -> Iterator[LocalExecutor]:
    executor = warm_for(stage, launched(stage, "rank.py"))
    yield executor
    executor.close()


def seen(bench: Bench, outcome: TaskOutcome, logs: str = ".") -> tuple[Any, ...]:
    """What a launch did, as far as it must be the same each time."""
    texts = [bench.log()]
    for rank in (0, 1):
        texts.append((bench.directory / logs / f"workerlog.{rank}").read_bytes())
    plain = [re.sub(rb"0x[0-9a-f]{6,}", b"0x", text) for text in texts]
    return (outcome.exit_code, outcome.signal, outcome.left, outcome.error, *plain)


# What Python says about a file that it cannot compile is its own: those ranks are fresh interpreters.
COLD = ("a syntax error", "an indentation error", "a null byte")


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_rank_cannot_tell_warm_from_cold(stage: Bench, warm: LocalExecutor, name: str) -> None:
    (stage.directory / "rank.py").write_text(SCRIPTS[name], encoding="latin-1")
    told = []
    for forked in (False, True):
        outcome = stage.run(warm, launched(stage, "rank.py", "--n", "5", warm=forked))
        told.append(seen(stage, outcome))
    assert told[1] == told[0]
    assert outcome.warm == (name not in COLD)


def test_a_rank_is_the_launchers_own_child_in_a_session_of_its_own(stage: Bench, warm: LocalExecutor) -> None:
    text = (
        "import os, sys\n"
        "parent = open(f'/proc/{os.getppid()}/cmdline').read().split('\\0')\n"
        "print(any('server.py' in word for word in parent), os.getsid(0) == os.getpid(), sys.argv)\n"
        "print(open('/proc/self/cmdline').read().count('server.py'))\n"
    )
    stage.script(text, "rank.py")
    outcome = stage.run(warm, launched(stage, "rank.py", "a b", warm=True))
    assert (outcome.exit_code, outcome.warm) == (0, True)
    rank = (stage.directory / "workerlog.1").read_text()
    assert rank == "True True ['rank.py', 'a b']\n1\n"  # both are forks of the server


def test_a_rank_that_sets_what_the_import_reads_begins_again_cold(stage: Bench, warm: LocalExecutor) -> None:
    text = (
        "import os, sys\n"
        "print('this is told once')\n"
        "os.environ['FLAGS_of_a_rank'] = os.environ['PADDLE_TRAINER_ID']\n"
        "import paddle\n"
        "print('server.py' in open('/proc/self/cmdline').read(), os.environ['FLAGS_of_a_rank'])\n"
    )
    stage.script(text, "needs.py")
    outcome = stage.run(warm, launched(stage, "needs.py", warm=True))
    assert (outcome.exit_code, outcome.warm) == (0, False)
    for rank in (0, 1):
        log = (stage.directory / f"workerlog.{rank}").read_text()
        assert log == f"this is told once\nFalse {rank}\n"


def test_a_rank_is_started_as_ever_when_the_rank_server_was_killed(stage: Bench, warm: LocalExecutor) -> None:
    text = (
        "import os, signal\n"
        "print('server.py' in open('/proc/self/cmdline').read())\n"
        "parent = os.getppid()\n"
        "for pid in map(int, open(f'/proc/{parent}/task/{parent}/children').read().split()):\n"
        "    if pid != os.getpid(): os.kill(pid, signal.SIGKILL)\n"
    )
    stage.script(text, "rank.py")
    outcome = stage.run(warm, launched(stage, "rank.py", warm=True))
    assert (outcome.exit_code, outcome.left, outcome.error) == (0, 0, "")
    logs = [(stage.directory / f"workerlog.{rank}").read_text() for rank in (0, 1)]
    assert logs == ["True\n", "False\n"]


def test_a_launcher_is_woken_when_its_last_rank_has_ended(stage: Bench, warm: LocalExecutor) -> None:
    """It sleeps for as long as the test may take: it has to be woken."""
    launcher = stage.directory / "lib/paddle/distributed/launch/__main__.py"
    usual = launcher.read_text()
    text = usual.replace(
        "codes.append(process.wait())",
        "import time; time.sleep(100000); codes.append(process.poll())",
    )
    assert text != usual
    stage.script("import time; time.sleep(0.2)", "rank.py")
    try:
        launcher.write_text(text)
        outcome = stage.run(warm, launched(stage, "rank.py", warm=True))
    finally:
        launcher.write_text(usual)
    assert (outcome.exit_code, outcome.timed_out) == (0, False)
    assert stage.log().endswith(b"[0, 0]\n")


TRAINING = """
import os, sys, time
import paddle
import paddle.distributed as dist
import logging

dist.init_parallel_env()
rank = dist.get_rank()
total = paddle.ones([2]) * (rank + 1)
dist.all_reduce(total)
print(rank, dist.get_world_size(), total.numpy(), len(logging.getLogger("hapi").handlers))
print(sorted(name for name in os.environ if name.startswith(("PADDLE_", "FLAGS_", "OMP_"))))
open(f"up.{rank}", "w").close()
"""
# The second rank fails when the first has ended, or only then would the launcher end that: when it looks.
AFTER_THE_FIRST = """
with open(f"pid.{rank}", "w") as file:
    file.write(str(os.getpid()))
dist.barrier()
def runs(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
while rank and runs(open("pid.0").read()):
    time.sleep(0.01)
"""
ENDINGS = {
    "well": "",
    "with a code": AFTER_THE_FIRST + "sys.exit(7 if rank else 0)",
    "by an error": AFTER_THE_FIRST + "if rank: raise ValueError('it is wrong')",
    "by a signal": AFTER_THE_FIRST + "if rank: os.kill(os.getpid(), 6)",
    "with the other": "os.kill(os.getpid(), 9) if rank else time.sleep(1000)",
    "both": "os._exit(3)",
}
# Times, ports, names and process numbers that are others in each launch.
CHANGING = (
    (rb"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+", b"WHEN"),
    (rb"[IWE]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ [^\n]*\n", b""),
    (rb"\[(Time|Signal)Info: [^\n]*\n", b""),
    (rb"Pod: [a-z]+", b"Pod: NAME"),
    (rb"LAUNCH INFO WHEN Watching[^\n]*\n", b""),  # says who has ended when it first looked
)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Bench, LocalExecutor]]:
    """A directory for launches of the real paddle, and an executor that has a warm server for them."""
    pytest.importorskip("paddle")
    bench = Bench(tmp_path_factory.mktemp("ranks"))
    bench.env["OMP_NUM_THREADS"] = "1"
    bench.env.pop("PYTHONUNBUFFERED", None)
    bench.script("", "rank.py")
    executor = warm_for(bench, launched(bench, "rank.py"))
    yield bench, executor
    executor.close()
    assert bench.eventually(lambda: not bench.alive())


def unchanging(text: bytes) -> bytes:
    for pattern, name in CHANGING:
        text = re.sub(pattern, name, text)
    return text


@pytest.mark.paddle
@pytest.mark.parametrize("ending", ENDINGS)
def test_paddles_own_launcher_and_its_ranks_are_the_same_warm_and_cold(
    real: tuple[Bench, LocalExecutor], ending: str
) -> None:
    bench, executor = real
    bench.script(TRAINING + ENDINGS[ending], "rank.py")
    told = []
    for warm in (False, True):
        for log in (bench.directory / "ranks").glob("*"):
            log.unlink()
        task = launched(bench, "--nproc_per_node=2", "--log_dir=ranks", "rank.py", warm=warm, timeout=200.0)
        outcome = bench.run(executor, task)
        code, number, left, error, launcher, *ranks = seen(bench, outcome, "ranks")
        own = re.findall(rb"^LAUNCH.*", unchanging(launcher), re.MULTILINE)  # the rest is of the first rank
        told.append((code, number, left, error, own, *[unchanging(text) for text in ranks]))
    assert told[1] == told[0]
    assert outcome.warm


FOREVER = TRAINING + "\ntime.sleep(100000)"


def beginning(bench: Bench) -> None:
    bench.script(FOREVER, "rank.py")
    for path in bench.directory.glob("up.*"):
        path.unlink()


def left_of(bench: Bench, before: list[psutil.Process], keeper: int) -> list[psutil.Process]:
    """What there was not before, but for the keeper: it waits for another step."""
    return [process for process in bench.alive() if process not in before and process.pid != keeper]


def ranks_are_up(bench: Bench) -> bool:
    return all((bench.directory / f"up.{rank}").exists() for rank in (0, 1))


@pytest.mark.paddle
def test_a_killed_step_leaves_neither_launcher_nor_rank(real: tuple[Bench, LocalExecutor]) -> None:
    bench, executor = real
    beginning(bench)
    before = bench.alive()
    ticket = executor.start(launched(bench, "--nproc_per_node=2", "rank.py", warm=True, timeout=None))
    assert bench.eventually(lambda: executor.wait(0.05) or ranks_are_up(bench), within=120.0)
    keeper = executor._running[ticket].keeper
    assert len(left_of(bench, before, keeper)) >= 3
    executor.kill(ticket)
    [(_ticket, outcome)] = executor.wait(None)
    assert outcome.interrupted
    assert outcome.warm
    assert not left_of(bench, before, keeper)


@pytest.mark.paddle
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_launcher_that_is_killed_leaves_no_rank(
    real: tuple[Bench, LocalExecutor], number: signal.Signals
) -> None:
    bench, executor = real
    beginning(bench)
    before = bench.alive()
    ticket = executor.start(launched(bench, "--nproc_per_node=2", "rank.py", warm=True, timeout=None))
    assert bench.eventually(lambda: executor.wait(0.05) or ranks_are_up(bench), within=120.0)
    step, keeper = executor._running[ticket].step, executor._running[ticket].keeper
    assert step is not None
    os.kill(step.pid, number)
    [(_ticket, outcome)] = executor.wait(None)
    if number == signal.SIGKILL:
        assert outcome.signal == number
    else:
        assert outcome.exit_code == number  # the launcher ends its ranks and itself
        assert b"Terminating with signal 15" in bench.log()
    assert not left_of(bench, before, keeper)


DRIVER = """
import os, sys, time
from pathlib import Path
from tipc.run.executors.executor import Task
from tipc.run.executors.local import LocalExecutor
executor = LocalExecutor(grace=0.5)
here = Path.cwd()
argv = (sys.executable, "-m", "paddle.distributed.launch", "--nproc_per_node=2", "rank.py")
task = Task("ranks", argv, here, dict(os.environ), here / "ranks.log", None)
executor.get_ready(task)
executor.start(task)
while True:
    executor.wait(0.05)
    if executor.warmth.server(task) is not None:
        open("server-is-ready", "w").close()
"""


@pytest.mark.paddle
def test_nothing_of_a_launch_is_left_when_tipc_is_killed_with_9(bench: Bench) -> None:
    pytest.importorskip("paddle")
    bench.script(FOREVER.replace("os.environ", "{}"), "rank.py")  # sets nothing: it waits for its server
    driver = bench.script(DRIVER, "driver.py")
    process = subprocess.Popen([sys.executable, str(driver)], cwd=bench.directory, env=bench.env)
    assert bench.eventually(lambda: ranks_are_up(bench), within=120.0)
    assert (bench.directory / "server-is-ready").exists()
    forks = [one for one in bench.alive() if any("server.py" in word for word in one.cmdline())]
    assert len(forks) >= 4  # launcher, rank server and two ranks, and their keeper
    process.kill()
    process.wait()
    assert bench.eventually(lambda: not bench.alive()), bench.alive()
