"""Warm and cold are the same: output, exit code and signal of many small scripts."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from execution_bench import Bench, warmed
from warm_scripts import PADDLE_SCRIPTS, SCRIPTS

from tipc.run.executors.executor import Task
from tipc.run.executors.local import LocalExecutor
from tipc.run.executors.warmth import MOST_SERVERS

# The scripts can be run by another interpreter than that of the tests, which need not know tipc.
PYTHON = os.environ.get("EXECUTION_PYTHON", sys.executable)
FAKE_PADDLE = """
import os, sys
from . import nn, device
import decoy
os.environ['SET_BY_PADDLE'] = 'yes'
sys.stderr.write('paddle prints this\\n')
__version__ = 'fake'
"""


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """A directory of scripts, with a package called paddle that imports in no time."""
    bench = Bench(tmp_path_factory.mktemp("stage"))
    bench.script(FAKE_PADDLE, "lib/paddle/__init__.py")
    bench.script("from . import layer", "lib/paddle/nn/__init__.py")
    bench.script("", "lib/paddle/nn/layer.py")
    bench.script("raise RuntimeError('cannot be imported')", "lib/paddle/broken.py")
    bench.script(
        "def is_compiled_with_cuda(): return False\n"
        "def is_compiled_with_xpu(): return False\n"
        "def get_all_custom_device_type(): return []\n",
        "lib/paddle/device.py",
    )
    bench.script("WHO = 'the package'", "lib/decoy.py")
    bench.script("WHO = 'beside the script'", "decoy.py")
    bench.script("WHO = 'helper'", "helper.py")
    bench.env["PYTHONPATH"] = str(bench.directory / "lib")
    bench.env.pop("PYTHONUNBUFFERED", None)
    yield bench
    assert bench.eventually(lambda: not bench.alive())


@pytest.fixture(scope="module")
def warm(stage: Bench) -> Iterator[LocalExecutor]:
    executor = warmed(stage, PYTHON)
    yield executor
    executor.close()


def test_a_warm_script_hears_the_signals_that_tipc_was_told_to_ignore(
    stage: Bench, ignoring: tuple[signal.Signals, ...]
) -> None:
    executor = warmed(stage, PYTHON)
    text = f"import signal, paddle\nprint(*(signal.getsignal(n) for n in {[int(n) for n in ignoring]}))"
    try:
        task = stage.task(PYTHON, str(stage.script(text, "hears.py")), warm=True, name="hears")
        warm, told = same_in_both(stage, executor, task)
    finally:
        executor.close()
    assert warm
    assert "default_int_handler" in told
    assert "SIG_IGN" not in told


def same_in_both(bench: Bench, executor: LocalExecutor, task: Task) -> tuple[bool, str]:
    """Run a task cold and warm and see no difference. Whether the second ran warm, and its log."""
    seen = []
    for warm in (False, True):
        log = bench.directory / "logs" / "compared.log"
        attempt = Task(task.name, task.argv, task.cwd, task.env, log, task.timeout, warm=warm)
        outcome = bench.run(executor, attempt)
        text = re.sub(rb"0x[0-9a-f]{6,}", b"0x", log.read_bytes())
        seen.append((outcome.exit_code, outcome.signal, outcome.left, outcome.error, text))
    assert seen[1] == seen[0]
    return outcome.warm, seen[1][-1].decode("utf-8", "replace")


# These are handed to a fresh interpreter: what Python says about a file that it cannot compile is its own.
COLD = ("a syntax error", "an indentation error", "a null byte")


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_cannot_tell_warm_from_cold(stage: Bench, warm: LocalExecutor, name: str) -> None:
    path = stage.directory / "the script.py"
    path.write_text(SCRIPTS[name], encoding="latin-1")
    task = stage.task(PYTHON, "./the script.py", "--n", "5")
    ran_warm, _log = same_in_both(stage, warm, task)
    assert ran_warm == (name not in COLD)


@pytest.mark.parametrize(
    "name", [name for name in SCRIPTS if name not in ("descriptors", "descriptors before")]
)
@pytest.mark.parametrize("forked", [False, True], ids=["cold", "warm"])
def test_a_script_cannot_tell_that_it_is_watched(
    stage: Bench, warm: LocalExecutor, name: str, forked: bool
) -> None:
    path = stage.directory / "the script.py"
    path.write_text(SCRIPTS[name], encoding="latin-1")
    seen = []
    for facts in (None, stage.directory / "watched"):
        task = stage.task(
            PYTHON, "./the script.py", "--n", "5", facts=facts, warm=forked and facts is not None
        )
        outcome = stage.run(warm, task)
        text = re.sub(rb"0x[0-9a-f]{6,}", b"0x", stage.log())
        seen.append((outcome.exit_code, outcome.signal, outcome.left, outcome.error, text))
    assert seen[1] == seen[0]


@pytest.mark.parametrize(
    "spelling", ["script.py", "./script.py", "../{0}/script.py", "{1}/script.py", "link.py"]
)
def test_a_script_may_be_named_in_any_way(stage: Bench, warm: LocalExecutor, spelling: str) -> None:
    text = "import sys; print(__file__, sys.argv, sys.path[:2], sys._getframe().f_code.co_filename); 1 / 0"
    stage.script(text, "inner/script.py")
    (stage.directory / "script.py").unlink(missing_ok=True)
    (stage.directory / "script.py").write_text(text)
    link = stage.directory / "link.py"
    link.unlink(missing_ok=True)
    link.symlink_to("inner/script.py")
    name = spelling.format(stage.directory.name, stage.directory)
    ran_warm, log = same_in_both(stage, warm, stage.task(PYTHON, name, "a"))
    assert ran_warm
    assert "warm/server.py" not in log


def test_what_must_be_set_before_the_import_makes_a_cold_start_and_then_a_server_that_suits(
    stage: Bench, warm: LocalExecutor
) -> None:
    setting = "os.environ.update(FLAGS_x='0')"
    text = f"import os\nprint('once')\n{setting}\nimport paddle\nprint(os.environ['FLAGS_x'])"
    stage.script(text, "flags.py")
    task = stage.task(PYTHON, "flags.py", warm=True)
    assert not stage.run(warm, task).warm
    assert stage.log() == b"paddle prints this\nonce\n0\n"
    waiting = warm.start(stage.task("sleep", "1000", name="waiting"))
    assert stage.eventually(lambda: warm.wait(0.05) or warm.warmth.server(task))
    warm.kill(waiting)
    warm.wait(None)
    assert same_in_both(stage, warm, task)[0]
    stage.script("import paddle\nprint('no flags')", "plain.py")
    assert same_in_both(stage, warm, stage.task(PYTHON, "plain.py"))[0], "by the server without them"


def test_what_a_script_plainly_sets_before_the_import_is_set_in_its_first_server(stage: Bench) -> None:
    setting = "os.environ['FLAGS_x'] = '0'"
    text = f"import os\n{setting}\nimport paddle\nprint(os.environ['FLAGS_x'])"
    stage.script(text, "first_flags.py")
    stage.script("import paddle\nprint('no flags')", "without.py")
    task = stage.task(PYTHON, "first_flags.py", warm=True)
    without = stage.task(PYTHON, "without.py", warm=True)
    executor = LocalExecutor(grace=0.5)
    executor.get_ready(without)
    executor.get_ready(task)
    executor.get_ready(task)
    assert [dict(server.needs) for server in executor.warmth.servers] == [{}, {"FLAGS_x": "0"}]
    for _ in range(2):
        assert [same_in_both(stage, executor, one)[0] for one in (task, without)] == [True, True]
    executor.close()


@pytest.mark.parametrize(("name", "is_warm"), [("FLAGS_x", True), ("OMP_NUM_THREADS", False)])
def test_what_paddle_alone_reads_may_be_set_after_other_packages_are_imported(
    bench: Bench, name: str, is_warm: bool
) -> None:
    device = "class device:\n    def __getattr__(self, name): return lambda: None\n"
    bench.script(
        f"import companion\n__version__ = 'fake'\n{device}device = device()", "lib/paddle/__init__.py"
    )
    bench.script("import os\nprint('with paddle')", "lib/companion.py")
    bench.env["PYTHONPATH"] = str(bench.directory / "lib")
    bench.env.pop(name, None)
    text = f"import os, companion\nos.environ['{name}'] = '3'\nimport paddle\nprint(os.environ['{name}'])"
    bench.script(text, "script.py")
    executor = LocalExecutor(grace=0.5)
    task = bench.task(PYTHON, "script.py", warm=True)
    executor.get_ready(task)
    assert [dict(server.needs) for server in executor.warmth.servers] == [{name: "3"}]
    assert bench.run(executor, task).warm == is_warm
    assert bench.log().endswith(b"3\n")
    executor.close()


def test_scripts_that_do_not_do_what_their_text_tells_are_believed_no_longer(stage: Bench) -> None:
    stage.script("import os\nos.environ['FLAGS_y'] = '0'", "sets_it.py")
    stage.script("exec(open('sets_it.py').read())\nimport paddle\nprint(1)", "misread.py")
    stage.script("import paddle\nprint(2)", "next.py")
    task, following = (stage.task(PYTHON, name, warm=True) for name in ("misread.py", "next.py"))
    executor = LocalExecutor(grace=0.5)
    executor.get_ready(task)
    assert [dict(server.needs) for server in executor.warmth.servers] == [{}]
    assert not stage.run(executor, task).warm
    assert stage.eventually(lambda: {"FLAGS_y": "0"} in [server.needs for server in executor.warmth.servers])
    count = len(executor.warmth.servers)
    executor.get_ready(following)
    assert len(executor.warmth.servers) == count
    executor.close()


@pytest.mark.parametrize(
    "arguments",
    [["-u", "a.py"], ["-m", "helper"], ["-c", "pass"], ["-X", "dev", "a.py"], ["missing.py"], ["lib"], []],
)
def test_what_is_not_a_plain_script_runs_cold(
    stage: Bench, warm: LocalExecutor, arguments: list[str]
) -> None:
    stage.script("print(1)", "a.py")
    ran_warm, _log = same_in_both(stage, warm, stage.task(PYTHON, *arguments))
    assert not ran_warm


def test_a_step_that_holds_a_gpu_runs_cold(stage: Bench, warm: LocalExecutor) -> None:
    stage.script("print(1)", "a.py")
    assert not stage.run(warm, stage.task(PYTHON, "a.py", warm=True, gpus=("0",))).warm
    assert stage.run(warm, stage.task(PYTHON, "a.py", warm=True)).warm


def test_another_environment_is_not_served_by_this_server(stage: Bench, warm: LocalExecutor) -> None:
    stage.script("print(1)", "a.py")
    env = {**stage.env, "OMP_NUM_THREADS": "7"}
    assert not stage.run(warm, stage.task(PYTHON, "a.py", warm=True, env=env)).warm
    free = {**stage.env, "CUDA_VISIBLE_DEVICES": "3", "TIPC_STEP": "x"}
    assert stage.run(warm, stage.task(PYTHON, "a.py", warm=True, env=free)).warm


def test_a_warm_tree_ends_like_any_other(stage: Bench, warm: LocalExecutor) -> None:
    twice = "for _ in range(2):\n    if os.fork():\n        os._exit(4)\n    os.setsid()\n"
    stage.script(f"import os, time\n{twice}time.sleep(1000)", "daemon.py")
    outcome = stage.run(warm, stage.task(PYTHON, "daemon.py", warm=True))
    assert (outcome.warm, outcome.exit_code, outcome.left) == (True, 4, 1)
    stage.script("import time\ntime.sleep(1000)", "hang.py")
    outcome = stage.run(warm, stage.task(PYTHON, "hang.py", warm=True, timeout=0.3))
    assert (outcome.warm, outcome.timed_out, outcome.signal) == (True, True, 15)


def test_a_server_that_was_killed_means_cold_not_failure(stage: Bench) -> None:
    executor = warmed(stage, PYTHON)
    task = stage.task(PYTHON, str(stage.script("print(1)", "a.py")), warm=True)
    assert stage.run(executor, task).warm
    [server] = executor.warmth.servers
    server.spawner.process.kill()
    server.spawner.process.wait()
    for _ in range(3):
        assert stage.run(executor, task).exit_code == 0
    executor.close()


def test_a_server_that_dies_before_the_step_began_means_cold_not_failure(stage: Bench) -> None:
    executor = warmed(stage, PYTHON)
    [server] = executor.warmth.servers
    [process] = psutil.Process(server.spawner.process.pid).children()
    process.suspend()
    executor.start(stage.task(PYTHON, str(stage.script("print(1)", "a.py")), warm=True))
    process.kill()
    [(_ticket, outcome)] = executor.wait(None)
    assert (outcome.exit_code, outcome.warm, outcome.error) == (0, False, "")
    executor.close()


def test_with_many_repositories_the_servers_used_last_are_kept(stage: Bench) -> None:
    executor = LocalExecutor(grace=0.5)
    tasks = []
    for number in range(MOST_SERVERS + 2):
        repo = stage.script("", f"repo{number}/a.py").parent
        tasks.append(stage.task(PYTHON, "a.py", cwd=repo, warm=True))
        executor.warm_up(tasks[-1])
    waiting = executor.start(stage.task("sleep", "1000", name="waiting"))
    assert stage.eventually(lambda: executor.wait(0.05) or executor.warmth.server(tasks[-1]))
    assert [bool(executor.warmth.server(task)) for task in tasks[:2]] == [False, False]
    assert len(executor.warmth.servers) == MOST_SERVERS
    executor.kill(waiting)
    executor.wait(None)
    assert stage.run(executor, tasks[0]).exit_code == 0
    executor.close()


DRIVER = """
import os, sys, time
from pathlib import Path
from tipc.run.executors.executor import Task
from tipc.run.executors.local import LocalExecutor
from tipc.run.executors.warmth import MOST_SERVERS
executor, here = LocalExecutor(grace=0.5), Path.cwd()
task = Task("0", (sys.argv[1], "daemon.py"), here, dict(os.environ), here / "driven.log", None)
executor.warm_up(task)
executor.start(Task("1", ("sleep", "1000"), here, dict(os.environ), here / "sleep.log", None))
while not executor.warmth.server(task):
    executor.wait(0.02)
executor.start(task)
while True:
    executor.wait(None)
"""


def test_no_server_and_no_warm_step_is_left_when_tipc_is_killed_with_9(stage: Bench) -> None:
    text = (
        "import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork():\n        os._exit(0)\n"
        "else:\n    os.wait()\n    open('is-warm', 'w').write(open('/proc/self/cmdline').read())\n"
        "time.sleep(1000)\n"
    )
    stage.script(text, "daemon.py")
    before = {process.pid for process in stage.alive()}
    driver = stage.script(DRIVER, "driver.py")
    process = subprocess.Popen([sys.executable, str(driver), PYTHON], cwd=stage.directory, env=stage.env)
    sign = stage.directory / "is-warm"
    assert stage.eventually(lambda: sign.exists() and "server.py" in sign.read_text())
    process.kill()
    process.wait()
    assert stage.eventually(lambda: {left.pid for left in stage.alive()} == before)


def test_closing_does_not_wait_for_an_import(bench: Bench) -> None:
    bench.script("import time\ntime.sleep(1000)", "lib/paddle/__init__.py")
    bench.env["PYTHONPATH"] = str(bench.directory / "lib")
    executor = LocalExecutor()
    executor.warm_up(bench.python("print(1)", warm=True))
    assert bench.eventually(bench.alive)
    executor.close()
    assert bench.eventually(lambda: not bench.alive())


def test_an_interpreter_without_paddle_stays_cold_and_says_why(bench: Bench, local: LocalExecutor) -> None:
    bench.script("raise ImportError('no paddle in here')", "lib/paddle/__init__.py")
    bench.env["PYTHONPATH"] = str(bench.directory / "lib")
    task = bench.python("print(1)", warm=True)
    local.warm_up(task)
    local.start(bench.task("sleep", "1000", timeout=None, name="waiting"))
    assert bench.eventually(lambda: local.wait(0.05) or local.warmth.problems)
    assert list(local.warmth.problems.values()) == ["ImportError: no paddle in here"]
    local.warm_up(task)
    assert local.warmth.servers == []


def test_a_task_that_was_foreseen_uses_the_server_that_was_started_for_it(stage: Bench) -> None:
    executor = LocalExecutor(grace=0.5)
    task = stage.task(PYTHON, str(stage.script("import paddle", "foreseen.py")), warm=True, name="foreseen")
    plain = stage.task(PYTHON, str(stage.script("print()", "plain.py")), warm=True, name="plain")
    try:
        executor.get_ready(plain)
        assert not executor.warmth.servers, "it will not import paddle"
        executor.get_ready(task)
        (server,) = executor.warmth.servers
        assert stage.run(executor, task).warm
        assert executor.warmth.servers == [server]
    finally:
        executor.close()


def test_the_first_script_that_speaks_of_paddle_waits_for_a_server_and_is_warm(stage: Bench) -> None:
    stage.script("import paddle\nprint(paddle.__version__)", "first.py")
    executor = LocalExecutor(grace=0.5)
    both = [executor.start(stage.task(PYTHON, "first.py", warm=True, name=name)) for name in ("a", "b")]
    outcomes = dict(executor.wait(60.0))
    while len(outcomes) < 2:
        outcomes.update(executor.wait(60.0))
    assert [(outcomes[ticket].exit_code, outcomes[ticket].warm) for ticket in both] == [(0, True), (0, True)]
    assert len(executor.warmth.servers) == 1
    assert stage.log("a") == stage.log("b") == b"paddle prints this\nfake\n"
    executor.close()


@pytest.mark.parametrize(
    "text", ["import os\nos.environ.update(FLAGS_x='0')\nimport paddle", "print('none of it')"]
)
def test_a_script_that_changes_variables_or_names_no_paddle_waits_for_nothing(
    stage: Bench, text: str
) -> None:
    stage.script(text, "other.py")
    executor = LocalExecutor(grace=0.5)
    assert not stage.run(executor, stage.task(PYTHON, "other.py", warm=True)).warm
    executor.close()


def test_a_script_whose_server_cannot_import_paddle_runs_cold(bench: Bench, local: LocalExecutor) -> None:
    bench.script("raise ImportError('no paddle in here')", "lib/paddle/__init__.py")
    bench.env["PYTHONPATH"] = str(bench.directory / "lib")
    outcome = bench.run(local, bench.python("print('paddle is not needed')", warm=True))
    assert (outcome.exit_code, outcome.warm) == (0, False)


def test_a_task_that_waits_for_its_server_can_be_ended_and_does_not_wait_for_ever(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.script("import time\ntime.sleep(1000)", "lib/paddle/__init__.py")
    bench.env["PYTHONPATH"] = str(bench.directory / "lib")
    executor = LocalExecutor(grace=0.5)
    ticket = executor.start(bench.python("print('paddle')", warm=True))
    assert executor.wait(0.2) == []
    executor.kill(ticket)
    [(ended, outcome)] = executor.wait(None)
    assert (ended, outcome.interrupted, outcome.exit_code) == (ticket, True, None)
    monkeypatch.setattr("tipc.run.executors.local.PATIENCE", 0.3)
    outcome = bench.run(executor, bench.python("print('paddle')", warm=True))
    assert (outcome.exit_code, outcome.warm) == (0, False)
    executor.close()
    # A process that was just killed may still be on its way out.
    assert bench.eventually(lambda: not bench.alive())


def test_nothing_is_started_for_scripts_that_do_not_use_paddle(bench: Bench, local: LocalExecutor) -> None:
    assert not bench.run(local, bench.python("import time\ntime.sleep(0.5)", warm=True)).warm
    assert local.warmth.servers == []


@pytest.mark.paddle
@pytest.mark.parametrize("name", PADDLE_SCRIPTS)
def test_paddle_cannot_tell_warm_from_cold(paddle_stage: tuple[Bench, LocalExecutor], name: str) -> None:
    bench, executor = paddle_stage
    path: Path = bench.script(PADDLE_SCRIPTS[name])
    assert same_in_both(bench, executor, bench.task(PYTHON, path.name))[0]


@pytest.mark.paddle
def test_a_server_is_started_by_itself_when_a_step_loads_paddle(bench: Bench, local: LocalExecutor) -> None:
    # The name of the package is not to be found in the text.
    bench.script("import sys, time\n__import__('pad' 'dle')\ntime.sleep(float(sys.argv[1]))", "loads.py")
    first = bench.task(PYTHON, "loads.py", "1000", warm=True, timeout=None)
    ticket = local.start(first)
    assert bench.eventually(lambda: local.wait(0.05) or local.warmth.server(first), within=120.0)
    local.kill(ticket)
    assert not local.wait(None)[0][1].warm
    assert bench.run(local, bench.task(PYTHON, "loads.py", "0", warm=True)).warm


def test_a_script_with_options_of_the_interpreter_is_served_by_a_server_that_has_them(stage: Bench) -> None:
    text = "import sys, paddle\nprint(sys.flags, sys.path, sys.argv, sys.orig_argv, sys.stdout.write_through)"
    stage.script(text, "options.py")
    executor = LocalExecutor(grace=0.5)
    for options in (["-X", "dev"], ["-u", "-B"]):
        task = stage.task(PYTHON, *options, "options.py", "a", warm=True, name="options")
        executor.warm_up(task)
        waiting = executor.start(stage.task("sleep", "1000", name="waiting"))
        assert stage.eventually(lambda task=task: executor.wait(0.05) or executor.warmth.server(task))
        executor.kill(waiting)
        executor.wait(None)
        assert same_in_both(stage, executor, task)[0]
    executor.close()


def test_a_first_step_that_is_watched_makes_a_server_that_suits_the_second(stage: Bench) -> None:
    text = "import os, time\nos.environ['FLAGS_x'] = '0'\nimport paddle\n"
    text += "while not os.path.exists('go'):\n    time.sleep(0.01)"
    stage.script(text, "first.py")
    executor = LocalExecutor(grace=0.5)
    task = stage.task(PYTHON, "first.py", warm=True, facts=stage.directory / "first")
    executor.start(task)
    # Long before it ends there is a server, and with the variable that such scripts set.
    assert stage.eventually(lambda: executor.wait(0.05) or executor.warmth.server(task))
    (stage.directory / "go").touch()
    while not executor.wait(1.0):
        pass
    assert stage.run(executor, task).warm
    executor.close()
