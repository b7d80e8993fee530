"""A probe that has its model open before it is asked: it answers what others would, or they are asked."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from test_certify_probing import group, questions

from tipc.certify.evidence.prober import PIPE, Prober
from tipc.certify.evidence.question import Question
from tipc.certify.evidence.trials import NATIVE, Trial
from tipc.run.executors.local import LocalExecutor

MAKE = """\
import sys
import paddle

paddle.seed(int(sys.argv[2]))
network = paddle.nn.Linear(4, 3)
network.eval()
paddle.jit.save(network, sys.argv[1], input_spec=[paddle.static.InputSpec([None, 4], "float32", "x")])
"""

pytestmark = pytest.mark.paddle


def export(prefix: Path, seed: int) -> None:
    env = {**os.environ, "FLAGS_enable_pir_api": "0"}
    subprocess.run(
        [sys.executable, "-c", MAKE, str(prefix), str(seed)], check=True, capture_output=True, env=env
    )


@dataclass
class Bench:
    """A model, questions about it, and the probes that answer them."""

    folder: Path
    probes: Prober
    executor: LocalExecutor

    def question(self, value: float, engine: str = NATIVE) -> Question:
        """What the model answers to an input that is all this value."""
        structure, params = self.folder / "model.pdmodel", self.folder / "model.pdiparams"
        trial = Trial("seeded", engine, {"x": np.full([2, 4], value, "float32")}, structure, params, {})
        body = {
            "kind": "run", "repo": str(self.folder), "path": [], "legacy": True,
            "structure": str(structure), "model_dir": str(self.folder),
        }  # fmt: skip
        return Question(("run", "plan", "export"), group(self.folder), body, (trial,))

    def answer(self, question: Question) -> np.ndarray:
        self.probes.ask([question])
        [tried] = self.probes.tried(question)
        assert not tried.error
        [values] = tried.outputs.values()
        return values

    def stand_by(self) -> int:
        """Start a probe that stands by, and wait until it does."""
        task = self.probes.stand_by([self.question(0.0), self.question(0.0, "onednn")])
        assert task is not None
        ticket = self.executor.start(task)
        self.probes.started(task, ticket)
        while not self.is_listening(ticket):
            assert not self.executor.wait(0.02)
        return ticket

    def is_listening(self, ticket: int) -> bool:
        """Somebody has the pipe open."""
        for pid in self.executor.processes(ticket):
            with contextlib.suppress(OSError):
                for link in Path(f"/proc/{pid}/fd").iterdir():
                    with contextlib.suppress(OSError):
                        if Path(os.readlink(link)).name == PIPE:
                            return True
        return False

    def started(self) -> int:
        """How many probes there were."""
        return len(list(self.probes.evidence.glob("probe-*.log")))


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported")
    export(folder / "model", 1)
    return folder


@pytest.fixture
def bench(exported: Path, tmp_path: Path) -> Iterator[Bench]:
    for file in exported.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    with (
        closing(LocalExecutor(warm=False)) as executor,
        closing(Prober(tmp_path / "logs", executor)) as probes,
    ):
        yield Bench(tmp_path, probes, executor)


def test_it_answers_as_another_would(bench: Bench) -> None:
    fresh = bench.answer(bench.question(0.5))
    bench.stand_by()
    before = bench.started()
    other = replace(bench.question(0.5), key=("run", "plan", "another"))
    standing = bench.answer(bench.question(1.5))
    assert bench.started() == before, "no probe was started for it"
    assert not np.array_equal(standing, fresh)
    np.testing.assert_array_equal(bench.answer(other), fresh)
    np.testing.assert_array_equal(Bench.answer(replace_probes(bench), bench.question(1.5)), standing)


def replace_probes(bench: Bench) -> Bench:
    """The same with probes that know nothing yet."""
    return replace(bench, probes=Prober(bench.folder / "others", bench.executor))


def test_it_gives_way_to_steps(bench: Bench) -> None:
    ticket = bench.stand_by()
    for pid in bench.executor.processes(ticket):
        assert os.getpriority(os.PRIO_PROCESS, pid) == os.nice(0) + 10


def test_a_model_that_was_touched_since_is_opened_anew(bench: Bench) -> None:
    old = bench.answer(bench.question(0.5))
    bench.stand_by()
    export(bench.folder / "model", 2)
    new = bench.answer(bench.question(0.5))
    assert not np.array_equal(old, new)


def test_a_model_that_was_put_back_meanwhile_is_opened_anew(bench: Bench) -> None:
    """It may have been another one when the probe read it."""
    bench.stand_by()
    before = bench.started()
    params = bench.folder / "model.pdiparams"
    params.write_bytes(params.read_bytes())
    bench.answer(bench.question(0.5))
    assert bench.started() == before + 1


def test_one_that_has_died_costs_no_answer(bench: Bench) -> None:
    ticket = bench.stand_by()
    for pid in bench.executor.processes(ticket):
        os.kill(pid, signal.SIGKILL)
    assert bench.answer(bench.question(0.5)).shape == (2, 3)


def test_one_that_died_before_it_was_asked_is_forgotten(bench: Bench) -> None:
    ticket = bench.stand_by()
    for pid in bench.executor.processes(ticket):
        os.kill(pid, signal.SIGKILL)
    [(ended, outcome)] = bench.executor.wait(10)
    bench.probes.ended(ended, outcome)
    assert bench.answer(bench.question(0.5)).shape == (2, 3)


def test_questions_of_another_kind_are_not_for_it(bench: Bench) -> None:
    ticket = bench.stand_by()
    before = bench.started()
    [other] = questions(bench.folder, 1)
    bench.probes.ask([other])
    assert "no structure" in bench.probes.answer(other).error
    assert bench.started() == before + 1
    while bench.executor.processes(ticket):  # it was sent away
        bench.executor.wait(0.05)


def test_a_model_that_cannot_be_opened_is_told_to_who_asks(bench: Bench) -> None:
    (bench.folder / "model.pdmodel").write_bytes(b"no model")
    bench.stand_by()
    question = bench.question(0.5)
    bench.probes.ask([question])
    [tried] = bench.probes.tried(question)
    assert tried.error


def test_there_is_one_and_only_where_a_predictor_can_be_made(bench: Bench) -> None:
    assert bench.probes.stand_by([]) is None
    [no_trials] = questions(bench.folder, 1)
    assert bench.probes.stand_by([no_trials]) is None
    bench.stand_by()
    assert bench.probes.stand_by([bench.question(0.0)]) is None
