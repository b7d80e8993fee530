"""Nothing is left behind: not after a time-out, a kill, a daemon, nor when tipc itself is killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

import psutil
import pytest
from execution_bench import Bench

from tipc.run.executors.local import LocalExecutor

DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        {extra}
        while True: time.sleep(1)
    os._exit(0)
os.wait()
open("daemon-is-there", "w").close()
"""
IGNORE = "import signal; [signal.signal(number, signal.SIG_IGN) for number in (1, 2, 15)]"
SECONDS = str(random.randint(10**6, 10**9))  # tells our nameless process from those of others
NAMELESS = f'os.execve("/bin/sleep", ["sleep", "{SECONDS}"], {{}})'  # no token, its own session


def sleeps() -> list[psutil.Process]:
    everything = psutil.process_iter(["cmdline"])
    return [process for process in everything if process.info["cmdline"] == ["sleep", SECONDS]]


def test_a_time_out_is_told_and_ends_the_step(bench: Bench, local: LocalExecutor) -> None:
    outcome = bench.run(local, bench.task("sleep", "1000", timeout=0.2))
    assert outcome.timed_out
    assert not outcome.interrupted
    assert outcome.signal == signal.SIGTERM


def test_a_step_that_ignores_term_is_killed(bench: Bench, local: LocalExecutor) -> None:
    text = f"{IGNORE}\nimport time\nopen('ready', 'w').close()\ntime.sleep(1000)"
    ticket = local.start(bench.python(text))
    assert bench.eventually((bench.directory / "ready").exists)
    local.kill(ticket)
    assert local.wait(None)[0][1].signal == signal.SIGKILL
    assert not bench.alive()


def test_a_step_that_cleans_up_on_term_keeps_its_exit_code(bench: Bench, local: LocalExecutor) -> None:
    script = "trap 'echo cleaned; exit 7' TERM; touch ready; while :; do sleep 0.05; done"
    ticket = local.start(bench.task("sh", "-c", script))
    assert bench.eventually((bench.directory / "ready").exists)
    local.kill(ticket)
    outcome = local.wait(None)[0][1]
    assert (outcome.exit_code, outcome.interrupted, outcome.timed_out) == (7, True, False)
    assert b"cleaned" in bench.log()


@pytest.mark.parametrize("extra", ["pass", IGNORE, NAMELESS], ids=["polite", "ignores TERM", "nameless"])
def test_a_daemon_that_a_step_leaves_is_ended_and_counted(
    bench: Bench, local: LocalExecutor, extra: str
) -> None:
    outcome = bench.run(local, bench.python(DAEMON.format(extra=extra)))
    assert (outcome.exit_code, outcome.signal) == (0, None)
    assert outcome.left == 1
    assert (bench.directory / "daemon-is-there").exists()
    assert not bench.alive()
    assert not sleeps()


def test_a_helper_that_ends_soon_after_its_step_is_not_counted(bench: Bench, local: LocalExecutor) -> None:
    outcome = bench.run(local, bench.task("sh", "-c", "sleep 0.01 & exit 0"))
    assert (outcome.exit_code, outcome.left) == (0, 0)


def test_a_whole_tree_in_several_sessions_ends_with_a_kill(bench: Bench, local: LocalExecutor) -> None:
    tree = "setsid sh -c 'setsid sleep 1000 & sleep 1000' & (sleep 1000 &) & touch ready; sleep 1000"
    ticket = local.start(bench.task("sh", "-c", tree))
    assert bench.eventually(lambda: (bench.directory / "ready").exists() and len(bench.alive()) >= 4)
    local.kill(ticket)
    local.kill(ticket)  # twice is once
    ended = local.wait(None)
    assert [outcome.interrupted for _ticket, outcome in ended] == [True]
    assert not bench.alive()


def test_killing_one_step_leaves_the_others_alone(bench: Bench, local: LocalExecutor) -> None:
    first = local.start(bench.task("sh", "-c", "touch up; sleep 1000", name="first"))
    second = local.start(
        bench.task("sh", "-c", "while [ ! -e go ]; do sleep 0.02; done; exit 5", name="second")
    )
    assert bench.eventually((bench.directory / "up").exists)
    local.kill(first)
    assert [ticket for ticket, _outcome in local.wait(None)] == [first]
    (bench.directory / "go").touch()
    [(ticket, outcome)] = local.wait(None)
    assert (ticket, outcome.exit_code, outcome.interrupted) == (second, 5, False)


def test_close_ends_what_runs_and_tells_it(bench: Bench) -> None:
    executor = LocalExecutor(grace=0.5)
    executor.start(bench.task("sleep", "1000", name="one"))
    executor.start(bench.python(f"{IGNORE}\nimport time\ntime.sleep(1000)", name="two"))
    executor.close()
    executor.close()
    assert not bench.alive()
    assert [outcome.interrupted for _ticket, outcome in executor.wait(0)] == [True, True]


def test_no_zombie_and_no_server_is_left_after_close(bench: Bench) -> None:
    before = psutil.Process().children(recursive=True)  # of executors that other tests share
    executor = LocalExecutor()
    for _ in range(5):
        bench.run(executor, bench.task("sh", "-c", "sleep 0.01 & true"))
    executor.close()
    assert set(psutil.Process().children(recursive=True)) <= set(before)


DRIVER = """
import os, sys, time
from pathlib import Path
from tipc.run.executors.executor import Task
from tipc.run.executors.local import LocalExecutor
executor = LocalExecutor(grace=0.5)
here, python = Path.cwd(), sys.executable
for number, argv in enumerate([("sleep", "1000"), (python, "daemon.py"), (python, "stubborn.py")]):
    executor.start(Task(str(number), argv, here, dict(os.environ), here / f"{number}.log", None))
open("started", "w").close()
while True:
    executor.wait(None)
    time.sleep(0.01)
"""


@pytest.mark.parametrize("moment", [0.0, 0.05, 0.3])
def test_nothing_is_left_when_tipc_is_killed_with_9(bench: Bench, moment: float) -> None:
    bench.script(DAEMON.format(extra=IGNORE) + "time.sleep(1000)", "daemon.py")
    bench.script(f"{IGNORE}\nimport time\nwhile True: time.sleep(1)", "stubborn.py")
    driver = bench.script(DRIVER, "driver.py")
    process = subprocess.Popen([sys.executable, str(driver)], cwd=bench.directory, env=bench.env)
    assert bench.eventually((bench.directory / "started").exists)
    time.sleep(moment)
    process.kill()
    process.wait()
    assert bench.eventually(lambda: not bench.alive()), bench.alive()


def test_nothing_is_left_when_the_server_and_then_the_keeper_is_killed(bench: Bench) -> None:
    before = psutil.Process().children()
    executor = LocalExecutor(grace=0.5)
    executor.start(bench.task("sh", "-c", "sh -c 'touch up; sleep 1000'; true"))
    assert bench.eventually((bench.directory / "up").exists)
    [guardian] = set(psutil.Process().children()) - set(before)
    [server] = guardian.children()
    [keeper] = server.children()
    server.kill()
    keeper.kill()
    [(_ticket, outcome)] = executor.wait(None)
    assert outcome.error == "the keeper of the step was killed"
    assert bench.eventually(lambda: not bench.alive()), bench.alive()
    executor.close()


@pytest.mark.parametrize("victim", ["server", "keeper"])
def test_nothing_is_left_when_the_server_or_a_keeper_is_killed(bench: Bench, victim: str) -> None:
    before = psutil.Process().children()
    executor = LocalExecutor(grace=0.5)
    executor.start(bench.task("sh", "-c", "setsid sleep 1000 & touch up; sleep 1000"))
    assert bench.eventually((bench.directory / "up").exists)
    [guardian] = set(psutil.Process().children()) - set(before)
    [server] = guardian.children()
    [keeper] = server.children()
    {"server": server, "keeper": keeper}[victim].kill()
    if victim == "server":  # its keepers answer to us: the step goes on as if nothing had been
        assert executor.wait(0.2) == []
        assert executor.start(bench.task("true", name="next")) == 2  # and another server is started
    else:
        [(_ticket, outcome)] = executor.wait(None)
        assert outcome.error == "the keeper of the step was killed"
        assert bench.eventually(lambda: not bench.alive())
    executor.close()
    assert not bench.alive()


def test_ctrl_c_in_the_terminal_reaches_no_step(bench: Bench, local: LocalExecutor) -> None:
    text = "import os, signal, sys\nsys.exit(os.getpgid(0) == int(sys.argv[1]))"
    assert bench.run(local, bench.python(text, str(os.getpgid(0)))).exit_code == 0


def test_the_step_dies_with_tipc_its_server_and_its_keeper_in_the_same_instant(bench: Bench) -> None:
    code = (
        "from pathlib import Path\nimport os\n"
        "from tipc.run.executors.executor import Task\nfrom tipc.run.executors.local import LocalExecutor\n"
        "executor = LocalExecutor(warm=False)\n"
        f"argv = ('sleep', '{SECONDS}')\n"
        "executor.start(Task('s', argv, Path('.'), dict(os.environ), Path('s.log'), None))\n"
        "executor.wait(None)\n"
    )
    driver = bench.script(code, "instant.py")
    process = subprocess.Popen([sys.executable, str(driver)], cwd=bench.directory, env=bench.env)
    assert bench.eventually(sleeps)
    (step,) = sleeps()
    above = [step.parent(), step.parent().parent(), psutil.Process(process.pid)]
    for number in (signal.SIGSTOP, signal.SIGKILL):  # stopped first: none of them can react to another's end
        for victim in above:
            victim.send_signal(number)
    process.wait()
    assert bench.eventually(lambda: not sleeps())
