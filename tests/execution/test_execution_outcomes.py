"""How a task ended is told exactly, whatever it did."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from execution_bench import Bench

from tipc.run.executors.local import LocalExecutor
from tipc.run.guest import usage


@pytest.mark.parametrize("code", [0, 1, 2, 77, 126, 127, 255])
def test_the_exit_code_is_the_programs(bench: Bench, local: LocalExecutor, code: int) -> None:
    outcome = bench.run(local, bench.task("sh", "-c", f"exit {code}"))
    assert (outcome.exit_code, outcome.signal, outcome.error) == (code, None, "")


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGKILL", "SIGTERM", "SIGABRT", "SIGPIPE", "SIGXFSZ", "SIGINT"])
def test_a_signal_that_killed_the_program_is_named(bench: Bench, local: LocalExecutor, name: str) -> None:
    outcome = bench.run(local, bench.task("sh", "-c", f"kill -{name[3:]} $$"))
    assert (outcome.exit_code, outcome.signal) == (None, signal.Signals[name])
    assert not outcome.timed_out
    assert not outcome.interrupted


def test_a_program_hears_the_signals_that_tipc_was_told_to_ignore(
    bench: Bench, ignoring: tuple[signal.Signals, ...], local: LocalExecutor
) -> None:
    for number in ignoring:
        assert bench.run(local, bench.task("sh", "-c", f"kill -{number.name[3:]} $$")).signal == number
    assert all(signal.getsignal(number) is signal.SIG_IGN for number in ignoring), "tipc goes on ignoring"


def test_a_program_that_is_not_there_is_an_error_of_its_own(bench: Bench, local: LocalExecutor) -> None:
    outcome = bench.run(local, bench.task("no-such-program"))
    assert outcome.error == "no such program: no-such-program"
    assert outcome.exit_code == 127


def test_a_directory_that_is_not_there_is_said(bench: Bench, local: LocalExecutor) -> None:
    outcome = bench.run(local, bench.task("true", cwd=bench.directory / "nowhere"))
    assert "nowhere cannot be entered: No such file or directory" in outcome.error


def test_a_file_that_is_no_program_is_said(bench: Bench, local: LocalExecutor) -> None:
    path = bench.script("hello", "text")
    assert "Permission denied" in bench.run(local, bench.task(str(path))).error
    path.chmod(0o755)
    assert "Exec format error" in bench.run(local, bench.task(str(path))).error


def test_a_log_that_cannot_be_written_is_said(bench: Bench, local: LocalExecutor) -> None:
    outcome = bench.run(local, bench.task("true", log=Path("/proc/nothing/step.log")))
    assert "/proc/nothing/step.log cannot be written" in outcome.error


def test_a_log_that_is_a_pipe_without_a_reader_is_refused_and_not_waited_for(
    bench: Bench, local: LocalExecutor
) -> None:
    pipe = bench.directory / "pipe.log"
    os.mkfifo(pipe)
    outcome = bench.run(local, bench.task("true", log=pipe))
    assert outcome.error.startswith(f"the log {pipe} cannot be written")
    assert bench.run(local, bench.task("true")).exit_code == 0


def test_a_program_is_found_by_the_path_of_its_step(bench: Bench, local: LocalExecutor) -> None:
    program = bench.directory / "only-here"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    task = bench.task("only-here")
    assert bench.run(local, task).error == "no such program: only-here"
    found = replace(task, env={**task.env, "PATH": f"{bench.directory}:{task.env['PATH']}"})
    assert bench.run(local, found).exit_code == 3


def test_a_null_byte_in_an_argument_is_an_error_not_a_crash(bench: Bench, local: LocalExecutor) -> None:
    assert "cannot be executed: embedded null byte" in bench.run(local, bench.task("echo", "a\0b")).error
    assert bench.run(local, bench.task("true")).exit_code == 0


def test_argv_env_directory_and_log_reach_the_program_byte_for_byte(
    bench: Bench, local: LocalExecutor
) -> None:
    text = (
        "import os, sys\n"
        "odd = os.environb[b'ODD'].decode('latin1')\n"
        "text = '|'.join([*sys.argv[1:], os.getcwd(), odd, sys.stdin.read()])\n"
        "sys.stdout.buffer.write(os.fsencode(text))\n"
    )
    odd = os.fsdecode(b"caf\xe9 \xff")
    task = bench.python(text, odd, "", "a b", "$HOME;'\"", env={**bench.env, "ODD": odd})
    assert bench.run(local, task).exit_code == 0
    latin = odd.encode("utf-8", "surrogateescape").decode("latin1").encode()
    assert bench.log() == b"caf\xe9 \xff||a b|$HOME;'\"|" + os.fsencode(bench.directory) + b"|" + latin + b"|"


def test_the_environment_is_complete_and_not_on_top_of_ours(bench: Bench, local: LocalExecutor) -> None:
    assert bench.run(local, bench.task("/usr/bin/env", env={"ONLY": "this"})).exit_code == 0
    assert bench.log() == b"ONLY=this\n"


def test_a_large_environment_and_many_arguments_arrive(bench: Bench, local: LocalExecutor) -> None:
    arguments = [str(number) * 20 for number in range(5000)]
    env = {**bench.env, "BIG": "x" * 120_000}
    task = bench.python("import os, sys\nprint(len(sys.argv), len(os.environ['BIG']))", *arguments, env=env)
    assert bench.run(local, task).exit_code == 0
    assert bench.log() == b"5001 120000\n"


def test_a_second_attempt_starts_with_an_empty_log(bench: Bench, local: LocalExecutor) -> None:
    bench.run(local, bench.task("echo", "the first attempt was longer"))
    bench.run(local, bench.task("echo", "second"))
    assert bench.log() == b"second\n"


def test_output_and_errors_share_the_log_in_order(bench: Bench, local: LocalExecutor) -> None:
    bench.run(local, bench.task("sh", "-c", "echo one; echo two >&2; echo three >> /dev/stderr; echo four"))
    assert bench.log() == b"one\ntwo\nthree\nfour\n"


def test_bytes_that_are_not_utf8_stay_as_they_are(bench: Bench, local: LocalExecutor) -> None:
    assert bench.run(local, bench.task("printf", "\\377\\376ok\\n")).exit_code == 0
    assert bench.log() == b"\xff\xfeok\n"


def test_a_program_has_its_own_session_and_python_is_no_trace(bench: Bench, local: LocalExecutor) -> None:
    text = "import os\nassert os.getsid(0) == os.getpgrp() == os.getpid()\n"
    program = bench.task("grep", "-E", "SigIgn|SigBlk", "/proc/self/status")
    assert bench.run(local, program).exit_code == 0
    of_the_c_library = 0b11 << 31  # signals 32 and 33: no program's business
    assert not any(int(mask, 16) & ~of_the_c_library for mask in bench.log().split()[1::2])
    assert bench.run(local, bench.python(text)).exit_code == 0
    assert bench.run(local, bench.task("ls", "/proc/self/fd")).exit_code == 0
    assert bench.log().split() == [b"0", b"1", b"2", b"3"]  # the last is the directory that ls reads


def test_a_step_that_prints_much_costs_us_no_memory(bench: Bench, local: LocalExecutor) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    size = 200_000_000
    outcome = bench.run(local, bench.task("head", "-c", str(size), "/dev/zero"))
    assert outcome.exit_code == 0
    assert (bench.directory / "logs" / "step.log").stat().st_size == size
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # kB
    assert outcome.peak_rss < 50_000_000


def test_a_full_disk_fails_the_step_and_not_us(bench: Bench, local: LocalExecutor) -> None:
    outcome = bench.run(local, bench.task("echo", "hello", log=Path("/dev/full")))
    assert outcome.exit_code == 1
    assert outcome.error == ""
    assert bench.run(local, bench.task("true")).exit_code == 0


def test_the_peak_memory_of_the_tree_and_its_cpu_time_are_measured(
    bench: Bench, local: LocalExecutor
) -> None:
    text = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    block = os.urandom(60_000_000); time.sleep(1.5); os._exit(0)\n"
        "block = os.urandom(60_000_000); end = time.process_time() + 0.3\n"
        "while time.process_time() < end: pass\n"
        "os.wait()\n"
    )
    outcome = bench.run(local, bench.python(text))
    assert outcome.peak_rss > 115_000_000  # both at once, which neither alone has
    assert outcome.cpu > 0.3
    assert outcome.wall > 1.4


BURN = (
    "import os, time\n"
    "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
    "end = time.process_time() + float(__import__('sys').argv[1])\n"
    "while time.process_time() < end: pass\n"
)


def test_waiting_for_a_processor_that_others_have_is_told(bench: Bench, local: LocalExecutor) -> None:
    other = subprocess.Popen([sys.executable, "-c", BURN, "60"])
    try:
        busy = bench.run(local, bench.python(BURN, "1.5"))
    finally:
        other.kill()
        other.wait()
    assert busy.exit_code == 0
    assert 0.4 < busy.waited <= busy.wall - 1.4


@pytest.mark.parametrize(("others", "told"), [(0.0, 0.0), (2.0, 2.0), (9.0, 5.0)])
def test_processes_that_wait_for_their_own_relatives_do_not_wait_for_others(
    monkeypatch: pytest.MonkeyPatch, others: float, told: float
) -> None:
    busy = iter([100.0, 110.0 + others])
    monkeypatch.setattr(usage, "machine_busy", lambda: next(busy))
    seen = usage.Usage()
    seen.cpu = 10.0
    seen.delays = {7: 5.0, 8: 3.0}
    assert seen.waited() == told


def test_many_steps_at_once_are_told_apart(bench: Bench, local: LocalExecutor) -> None:
    expected = {}
    for number in range(12):
        expected[local.start(bench.task("sh", "-c", f"exit {number}", name=f"n{number}"))] = number
    seen: dict[int, int | None] = {}
    while len(seen) < len(expected):
        seen.update({ticket: outcome.exit_code for ticket, outcome in local.wait(60.0)})
    assert seen == expected


def test_waiting_for_nothing_returns_at_once(local: LocalExecutor) -> None:
    assert local.wait(None) == []
    assert local.wait(5.0) == []


def test_waiting_ends_after_the_time_that_was_given(bench: Bench, local: LocalExecutor) -> None:
    ticket = local.start(bench.task("sleep", "60"))
    assert local.wait(0.05) == []
    local.kill(ticket)
    assert local.wait(None)[0][1].interrupted


def test_the_outcome_names_the_host_and_the_time(bench: Bench, local: LocalExecutor) -> None:
    outcome = bench.run(local, bench.task(sys.executable, "-c", "pass"))
    assert outcome.host == os.uname().nodename
    assert outcome.started > 1e9
    assert not outcome.warm
