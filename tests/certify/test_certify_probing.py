"""The probes run other people's code and files: whatever those do, there is an answer for every question."""

from __future__ import annotations

import pickle
import sys
import time
from pathlib import Path

import pytest

from tipc.certify import probing
from tipc.certify.answers import ParityAnswer, WeightsAnswer, read_answer
from tipc.certify.probing import Question, ask


def questions(tmp_path: Path, *weights: Path) -> list[Question]:
    return [
        Question(
            ("weights", "plan", str(index)), sys.executable, str(tmp_path), (),
            {"id": str(index), "kind": "weights", "weights": str(path)},
        )
        for index, path in enumerate(weights)
    ]  # fmt: skip


def fake_probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    path = tmp_path / "fake_probe.py"
    path.write_text("import json, os, signal, sys, time\nanswers = open(sys.argv[2], 'a')\n" + source)
    monkeypatch.setattr(probing, "PROBE", path)


def test_weights_are_read_without_paddle_and_without_running_anything(tmp_path: Path) -> None:
    np = pytest.importorskip("numpy")

    class Bomb:
        def __reduce__(self) -> object:
            import os

            return os.mkdir, (str(tmp_path / "bombed"),)

    good, bomb, half, nan = (tmp_path / name for name in ("good", "bomb", "half", "nan"))
    arrays = {"a.alpha": np.array([2.0]), "a.alpha_start": np.array([1.0]), "w": np.ones((3, 3), "float32")}
    good.write_bytes(pickle.dumps({**arrays, "StructuredToParameterName@@": {"w": "linear_0.w_0"}}))
    bomb.write_bytes(pickle.dumps({"w": Bomb()}))
    half.write_bytes(good.read_bytes()[:60])
    nan.write_bytes(pickle.dumps({"w": np.array([1.0, np.nan])}))
    found = ask(questions(tmp_path, good, bomb, half, nan, tmp_path / "absent"), tmp_path / "log", 60)
    answers = [found["weights", "plan", str(index)] for index in range(5)]
    assert all(isinstance(answer, WeightsAnswer) for answer in answers)
    assert answers[0].tensors == 3  # type: ignore[attr-defined]
    assert answers[0].clips[0].model_dump() == {"name": "a.alpha", "start": 1.0, "end": 2.0}  # type: ignore[attr-defined]
    assert "is no array" in answers[1].error
    assert not (tmp_path / "bombed").exists()
    assert answers[2].error
    assert answers[3].not_finite == ["w"]  # type: ignore[attr-defined]
    assert "FileNotFoundError" in answers[4].error


@pytest.mark.paddle
def test_a_question_that_kills_its_process_costs_one_answer(tmp_path: Path) -> None:
    (tmp_path / "test_tipc").mkdir()
    bomb = "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n"
    (tmp_path / "test_tipc" / "parity.py").write_text(bomb)
    one, other = questions(tmp_path, tmp_path / "a", tmp_path / "b")
    body = {"id": "p", "kind": "parity", "repo": str(tmp_path), "request": {}, "batch_size": 1, "int8": False}
    parity = Question(("parity", "plan", "x"), sys.executable, str(tmp_path), (), body)
    found = ask([one, parity, other], tmp_path / "log", 60)
    assert found["parity", "plan", "x"].error == "the probe was killed by signal 11"
    assert "FileNotFoundError" in found["weights", "plan", "0"].error
    assert "FileNotFoundError" in found["weights", "plan", "1"].error


def test_a_probe_that_dies_whole_is_asked_again_for_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_probe(
        tmp_path, monkeypatch,
        "item = json.load(open(sys.argv[1]))[0]\n"
        "if item['id'] == '2':\n    os.kill(os.getpid(), signal.SIGKILL)\n"
        "answers.write(json.dumps({'id': item['id'], 'answer': {'tensors': 7}}) + '\\n')\n",
    )  # fmt: skip
    found = ask(questions(tmp_path, *[tmp_path] * 4), tmp_path / "log", 60)
    told = [found["weights", "plan", str(index)].error.partition(";")[0] for index in range(4)]
    killed = "the probe was killed by signal 9"
    assert told == ["", "", killed, killed]


def is_gone(pid: int) -> bool:
    """A killed process has ended, or is about to: the kernel may take its time on a busy machine."""
    for _ in range(200):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state in "ZX":
            return True
        time.sleep(0.05)
    return False


def test_a_probe_that_hangs_is_ended_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_probe(
        tmp_path, monkeypatch,
        f"import subprocess\nchild = subprocess.Popen(['sleep', '300'])\n"
        f"open({str(tmp_path / 'child')!r}, 'w').write(str(child.pid))\ntime.sleep(300)\n",
    )  # fmt: skip
    found = ask(questions(tmp_path, tmp_path), tmp_path / "log", 1.0)
    assert "no answer within" in found["weights", "plan", "0"].error
    child = int((tmp_path / "child").read_text())
    assert is_gone(child)


def test_a_probe_that_eats_memory_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "MEMORY", 60 * 2**20)
    hoard = "hoard = bytearray(120 * 2**20)\nfor i in range(0, len(hoard), 4096):\n    hoard[i] = 1\n"
    fake_probe(tmp_path, monkeypatch, hoard + "time.sleep(60)\n")
    found = ask(questions(tmp_path, tmp_path), tmp_path / "log", 60)
    assert "of memory" in found["weights", "plan", "0"].error


@pytest.mark.parametrize(
    "line", ["nonsense", "[]", '{"id": "0", "answer": {"tensors": "many"}}', '{"id": "9"}']
)
def test_an_answer_that_cannot_be_read_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    fake_probe(tmp_path, monkeypatch, f"answers.write({line!r} + '\\n')\n")
    found = ask(questions(tmp_path, tmp_path), tmp_path / "log", 60)
    assert found["weights", "plan", "0"].error


def test_an_interpreter_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    [question] = questions(tmp_path, tmp_path)
    gone = Question(question.key, "/no/such/python", str(tmp_path), (), question.body)
    assert "cannot be started" in ask([gone], tmp_path / "log", 5)[question.key].error


def test_figures_that_are_not_finite_survive_the_way_back() -> None:
    answer = read_answer("parity", '{"noise": Infinity, "scale": NaN}')
    assert isinstance(answer, ParityAnswer)
    assert answer.noise == float("inf")
