"""Exported models that are damaged: paddle, in a process of its own, may die of them; there is an answer."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

from damage import damage_by_chance, damaged
from tipc.certify.evidence.answers import ModelAnswer
from tipc.certify.evidence.params_file import HEAD
from tipc.certify.evidence.prober import Prober
from tipc.certify.evidence.question import Question, QuestionGroup
from tipc.certify.evidence.trials import Trial
from tipc.kinds import MODEL_FORMATS

PARAMETERS = MODEL_FORMATS["pdmodel"].parameters  # of the other format, too

MAKE = """
import sys
import paddle
network = paddle.nn.Sequential(
    paddle.nn.Conv2D(3, 4, 3), paddle.nn.ReLU(), paddle.nn.Flatten(), paddle.nn.Linear(144, 5)
)
network.eval()
spec = [paddle.static.InputSpec([None, 3, 8, 8], "float32", name="x")]
paddle.jit.save(paddle.jit.to_static(network, input_spec=spec, full_graph=True), sys.argv[1])
"""
FORMS = {".pdmodel": "0", ".json": "1"}
TELLING = b'\x00\xff\x80\x08\x12{}[],:"0918'  # of a protobuf message, of JSON, of a file of parameters
COUNT = 250  # damaged models of a form, in one of their files; each is asked about twice


@dataclass(frozen=True)
class Exported:
    """The bytes of a whole model in one form."""

    ending: str
    structure: bytes
    parameters: bytes

    def write(self, folder: Path) -> None:
        folder.mkdir()
        (folder / f"inference{self.ending}").write_bytes(self.structure)
        (folder / f"inference{PARAMETERS}").write_bytes(self.parameters)


@pytest.fixture(scope="module", params=list(FORMS))
def exported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Exported:
    prefix = tmp_path_factory.mktemp("exported") / "inference"
    env = {"PATH": "/usr/bin:/bin", "FLAGS_enable_pir_api": FORMS[request.param]}
    subprocess.run([sys.executable, "-c", MAKE, str(prefix)], check=True, capture_output=True, env=env)
    structure = Path(f"{prefix}{request.param}").read_bytes()
    return Exported(request.param, structure, Path(f"{prefix}{PARAMETERS}").read_bytes())


def questions_about(folder: Path, ending: str) -> list[Question]:
    """What a model is, and what it answers."""
    place = str(folder.parent)  # one for all: a group has a process
    group = QuestionGroup(sys.executable, place, place, ())
    model, params = folder / f"inference{ending}", folder / f"inference{PARAMETERS}"
    body = {
        "structure": str(model),
        "params": str(params),
        "model_dir": str(folder),
        "path": [],
        "legacy": ending == ".pdmodel",
    }
    trial = Trial("evaluation", "native", {"x": np.ones((2, 3, 8, 8), "float32")}, model, params)
    return [
        Question(("model", "plan", folder.name), group, {**body, "kind": "model"}),
        Question(("run", "plan", folder.name), group, {**body, "kind": "run"}, (trial,)),
    ]


@pytest.mark.slow
@pytest.mark.paddle
@pytest.mark.parametrize("damaged_file", ["structure", "parameters"])
def test_a_damaged_model_costs_its_own_answer_and_no_other(
    exported: Exported, damaged_file: str, tmp_path: Path
) -> None:
    chance = Random(f"{exported.ending} {damaged_file}")
    exported.write(tmp_path / "whole")
    asked = questions_about(tmp_path / "whole", exported.ending)
    for number in range(COUNT):
        damage = damage_by_chance(chance, TELLING, 200)
        bad = replace(exported, **{damaged_file: damaged(getattr(exported, damaged_file), damage)})
        bad.write(tmp_path / str(number))
        asked += questions_about(tmp_path / str(number), exported.ending)
    with closing(Prober(tmp_path, timeout=60)) as probes:
        probes.ask(asked)
        whole = probes.answer(asked[0])
        assert isinstance(whole, ModelAnswer)
        assert whole.outputs == 1
        assert [one.error for one in probes.tried(asked[1])] == [""]
        reasons = []
        for question in asked:
            reasons.append(probes.answer(question).error)
            reasons += [one.error for one in probes.tried(question)]
    told = [reason for reason in reasons if reason]
    assert len(told) > COUNT // 4  # else there was hardly any damage
    for reason in told:
        assert reason.isprintable(), reason
        assert "[Hint" not in reason
        assert "no answer" not in reason  # as where another one has cost it
        assert len(reason) <= 400


@pytest.mark.paddle
def test_a_model_that_asks_for_all_memory_costs_its_own_answer_and_no_other(
    exported: Exported, tmp_path: Path
) -> None:
    side = b"\x10\x80\x80\x80\x80\x80\x08"  # 2 ** 38 numbers of four bytes
    description = b"\x08\x05" + side
    greedy = HEAD.pack(0, 0, 0, len(description)) + description + exported.parameters
    replace(exported, parameters=greedy).write(tmp_path / "greedy")
    exported.write(tmp_path / "whole")
    asked = []
    for name in ("greedy", "whole", "greedy", "whole"):
        asked += questions_about(tmp_path / name, exported.ending)[:1]
    with closing(Prober(tmp_path, timeout=60)) as probes:
        probes.ask(asked)
        assert probes.answer(asked[0]).error
        assert probes.answer(asked[0]).limited
        assert probes.answer(asked[1]).error == ""


@pytest.mark.paddle
def test_a_question_without_an_end_costs_its_own_answer_and_no_other(tmp_path: Path) -> None:
    (tmp_path / "test_tipc").mkdir()
    (tmp_path / "test_tipc/parity.py").write_text("while True:\n    pass\n")
    group = QuestionGroup(sys.executable, str(tmp_path), str(tmp_path), ())
    body = {"repo": str(tmp_path), "request": {}, "path": [], "legacy": False}
    endless = Question(("parity", "plan", "x"), group, {**body, "kind": "parity"})
    other = Question(
        ("model", "plan", "x"),
        group,
        {**body, "kind": "model", "structure": "", "model_dir": "", "endings": ""},
    )
    with closing(Prober(tmp_path, timeout=5)) as probes:
        probes.ask([endless, other])
        assert "no answer within" in probes.answer(endless).error
        assert probes.answer(endless).limited
        assert "no structure" in probes.answer(other).error
