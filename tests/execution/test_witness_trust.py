"""Facts are what the witness saw: not what another process says, not more than the limits, not a file that
somebody has changed."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from execution_bench import Bench

from tipc.errors import EnvironmentProblem
from tipc.run.executors.local import LocalExecutor
from tipc.run.guest import hearing as hearings
from tipc.run.guest.hearing import Hearing
from tipc.run.guest.wire import LENGTH
from tipc.run.guest.witness.telling import Telling, connect
from tipc.run.record.facts import facts_base, facts_file, load_facts, read_arrays, store_facts

# Everything that a script needs to tell a story of its own, if it were heard.
FORGER = """
import json, os, socket, struct, sys

def tell(address):
    sock = socket.socket(socket.AF_UNIX)
    sock.settimeout(5)
    try:
        sock.connect('\\0' + address)
        if sock.recv(1) != b'+':
            return 'refused'
        facts = {'rank': 0, 'pid': 1, 'paddle': '9.9', 'doors': {}}
        body = json.dumps({'facts': facts, 'final': True}).encode()
        sock.sendall(struct.pack('<I', len(body)) + body)
        return 'heard'
    except OSError as error:
        return 'refused'

words = open('/proc/self/environ', 'rb').read().decode().split('\\0')
address = next(word.partition('=')[2] for word in words if word.startswith('TIPC_WITNESS='))
assert address and 'TIPC_WITNESS' not in os.environ
print('itself', tell(address), flush=True)
if os.fork() == 0:
    print('child', tell(address), flush=True)
    os._exit(0)
os.wait()
"""


def test_a_script_that_connects_by_itself_or_from_a_child_is_not_heard(
    bench: Bench, local: LocalExecutor
) -> None:
    bench.script(FORGER, "forger.py")
    base = facts_base(bench.directory, 0, "step")
    outcome = bench.run(local, bench.task(sys.executable, "forger.py", facts=base))
    assert bench.log() == b"itself refused\nchild refused\n"
    (process,) = load_facts(bench.directory, 0, "step", outcome.facts).processes
    assert process.paddle == ""


def test_a_child_of_a_launcher_that_is_no_witness_is_not_heard(bench: Bench, local: LocalExecutor) -> None:
    """The launcher's variable is inherited by whatever it starts."""
    package = bench.directory / "paddle" / "distributed"
    package.mkdir(parents=True)
    (bench.directory / "paddle" / "__init__.py").touch()
    (package / "__init__.py").touch()
    launcher = "import subprocess, sys\nsys.exit(subprocess.run([sys.executable, 'forger.py']).returncode)"
    (package / "launch.py").write_text(launcher)
    bench.script(FORGER.replace(" and 'TIPC_WITNESS' not in os.environ", ""), "forger.py")
    base = facts_base(bench.directory, 0, "step")
    argv = (sys.executable, "-m", "paddle.distributed.launch", "forger.py")
    outcome = bench.run(local, bench.task(*argv, facts=base))
    assert bench.log() == b"itself refused\nchild refused\n"
    assert load_facts(bench.directory, 0, "step", outcome.facts).processes == ()


def test_a_process_that_was_killed_has_told_what_it_had_seen(bench: Bench, local: LocalExecutor) -> None:
    bench.script("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "killed.py")
    base = facts_base(bench.directory, 0, "step")
    outcome = bench.run(local, bench.task(sys.executable, "killed.py", facts=base))
    assert outcome.signal == 9
    (process,) = load_facts(bench.directory, 0, "step", outcome.facts).processes
    assert process.doors == {"end": "the process was ended before its last word"}


def speak(hearing: Hearing) -> Telling:
    telling = connect(hearing.address)
    assert telling is not None
    return telling


def test_arrays_beyond_the_limit_are_counted_and_not_kept(
    ear: tuple[Hearing, Callable[[], None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    hearing, end = ear
    monkeypatch.setattr(hearings, "LIMIT", 1000)
    telling = speak(hearing)
    first = telling.arrays({"a": np.zeros(100, "uint8"), "b": np.zeros(800, "uint8")})
    telling.arrays({"c": np.zeros(101, "uint8")})  # the keeper counts for itself
    assert telling.arrays({"d": np.zeros(100)}, most=10) is None  # and the witness has limits, too
    assert telling.dropped == 1
    telling.facts({"rank": 0}, final=True)
    telling.close()
    end()
    told = hearing.told()
    assert first == {"a": "rank0.0", "b": "rank0.1"}
    assert [head["key"] for head in told["arrays"]] == ["rank0.0", "rank0.1"]
    assert told["processes"][0]["dropped"] == 1


def test_what_follows_the_last_word_is_not_heard(ear: tuple[Hearing, Callable[[], None]]) -> None:
    hearing, end = ear
    telling = speak(hearing)
    telling.facts({"word": "first"}, final=False)
    telling.facts({"word": "last"}, final=True)
    telling.facts({"word": "later"}, final=True)
    end()
    assert [process["facts"] for process in hearing.told()["processes"]] == [{"word": "last"}]


@pytest.mark.parametrize(
    "noise",
    [
        b"\xff\xff\xff\xff" + b"x" * 100,
        LENGTH.pack(4) + b"nope",
        LENGTH.pack(2) + b"[]",
        LENGTH.pack(14) + b'{"bytes": -10}',
        LENGTH.pack(24) + b'{"bytes": "many of them"}'[:24],
    ],
)
def test_noise_ends_the_conversation_and_nothing_else(
    ear: tuple[Hearing, Callable[[], None]], noise: bytes
) -> None:
    hearing, end = ear
    telling = speak(hearing)
    telling.facts({"word": "first"}, final=False)
    assert isinstance(telling.sock, socket.socket)
    telling.sock.sendall(noise)
    telling.facts({"word": "later"}, final=True)
    end()
    assert [process["facts"] for process in hearing.told()["processes"]] == [{"word": "first"}]


def told(**facts: Any) -> dict[str, Any]:
    """What a keeper hands on of one process."""
    known = {"rank": 0, "pid": 7, "paddle": "3.1.1", "doors": {}, **facts}
    head = {"key": "rank0.0", "dtype": "<f4", "shape": [2], "bytes": 8, "pid": 7}
    process = {"pid": 7, "facts": known, "dropped": 0, "final": True}
    return {"processes": [process], "arrays": [head], "digests": {}, "refused": 0}


BODIES = [np.arange(2, dtype="float32").tobytes()]


def test_facts_and_arrays_are_read_as_they_were_stored(tmp_path: Path) -> None:
    digest = store_facts(facts_base(tmp_path, 3, "cell/train"), told(), BODIES)
    facts = load_facts(tmp_path, 3, "cell/train", digest)
    assert facts.main is not None
    assert facts.main.paddle == "3.1.1"
    assert read_arrays(facts)["rank0.0"].tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda text: text.replace("3.1.1", "3.1.2"), "changed since"),
        (lambda text: text[:-20], "changed since"),
    ],
)
def test_a_file_that_was_changed_is_refused(tmp_path: Path, change: Callable[[str], str], why: str) -> None:
    base = facts_base(tmp_path, 0, "step")
    digest = store_facts(base, told(), BODIES)
    facts_file(base).write_text(change(facts_file(base).read_text()))
    with pytest.raises(EnvironmentProblem, match=why):
        load_facts(tmp_path, 0, "step", digest)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "damaged"),
        ("[]", "damaged"),
        ('{"version": 1}', "damaged"),
        ('{"version": 1, "arrays_sha256": "", "processes": [{"rank": "x"}]}', "damaged"),
        ('{"version": 99, "arrays_sha256": "", "processes": []}', "version 99"),
    ],
)
def test_a_damaged_file_and_another_version_are_said(tmp_path: Path, content: str, why: str) -> None:
    base = facts_base(tmp_path, 0, "step")
    base.parent.mkdir(parents=True)
    facts_file(base).write_text(content)
    with pytest.raises(EnvironmentProblem, match=why):
        load_facts(tmp_path, 0, "step")


def test_arrays_that_were_changed_or_removed_are_refused(tmp_path: Path) -> None:
    base = facts_base(tmp_path, 0, "step")
    store_facts(base, told(), BODIES)
    arrays = base.with_name("step.arrays.npz")
    arrays.write_bytes(arrays.read_bytes() + b"x")
    with pytest.raises(EnvironmentProblem, match="not as they were written"):
        load_facts(tmp_path, 0, "step")
    arrays.unlink()
    with pytest.raises(EnvironmentProblem, match="not as they were written"):
        load_facts(tmp_path, 0, "step")


def test_a_call_whose_arrays_did_not_arrive_is_left_out(tmp_path: Path) -> None:
    def call(key: str) -> dict[str, Any]:
        return {"network": "Net", "inputs": {"0": "rank0.0"}, "outputs": {"0": key}}

    evaluation = {"calls": 2, "samples": 2, "weights": None, "at_step": 0}
    evaluation["kept"] = [call("rank0.0"), call("rank0.99")]  # type: ignore[assignment]
    digest = store_facts(facts_base(tmp_path, 0, "step"), told(evaluations=[evaluation]), BODIES)
    (process,) = load_facts(tmp_path, 0, "step", digest).processes
    assert [len(item.kept) for item in process.evaluations] == [1]


def test_a_process_that_tells_nonsense_is_said_to(tmp_path: Path) -> None:
    digest = store_facts(facts_base(tmp_path, 0, "step"), told(images=5), BODIES)
    (process,) = load_facts(tmp_path, 0, "step", digest).processes
    assert process.paddle == ""
    assert "malformed" in process.doors["witness"]


def test_losses_that_are_no_numbers_survive_the_way(tmp_path: Path) -> None:
    numbers = dict.fromkeys(
        ("steps", "skipped_steps", "backwards", "samples", "forwards", "seconds", "change"), 0
    )
    lists = dict.fromkeys(("learning_rates", "batch_sizes", "step_seconds"), ())
    losses = [float("nan"), float("inf")]
    training = {**numbers, **lists, "losses": losses, "before": None, "after": None}
    through_the_socket = json.loads(json.dumps(told(training=training)))
    digest = store_facts(facts_base(tmp_path, 0, "step"), through_the_socket, BODIES)
    (process,) = load_facts(tmp_path, 0, "step", digest).processes
    assert process.training is not None
    assert [str(loss) for loss in process.training.losses] == ["nan", "inf"]
