"""The probes run other people's code and files: whatever those do, there is an answer for every question."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from tipc.certify.checks.deployment import judge_answer
from tipc.certify.engines import all_engines
from tipc.certify.evidence import prober, trials
from tipc.certify.evidence.answers import Answer, ParityAnswer, read_answer
from tipc.certify.evidence.prober import Prober, is_clean
from tipc.certify.evidence.question import Key, Question, QuestionGroup
from tipc.certify.evidence.trials import Answered, Trial, passes_off
from tipc.certify.scaffold import parity_file
from tipc.run.executors.executor import Task
from tipc.run.executors.local import LocalExecutor
from tipc.run.guest.witness.predictors import Predictors
from tipc.run.record.step_facts import PredictorFacts
from tipc.run.tasks import environment


def group(repo: Path, interpreter: str = sys.executable) -> QuestionGroup:
    return QuestionGroup(interpreter, str(repo), str(repo), ())


def questions(tmp_path: Path, count: int) -> list[Question]:
    body = {
        "kind": "model",
        "structure": "",
        "endings": "*.pdmodel",
        "model_dir": str(tmp_path),
        "path": [],
        "legacy": False,
    }
    return [
        Question(("model", "plan", str(index)), group(tmp_path), {**body, "number": index})
        for index in range(count)
    ]


def ask(asked: list[Question], log: Path, timeout: float) -> dict[Key, Answer]:
    with closing(Prober(log.parent, timeout=timeout)) as probes:
        probes.ask(asked)
        return {question.key: probes.answer(question) for question in asked}


def tried(question: Question, evidence: Path) -> tuple[Answered, ...]:
    with closing(Prober(evidence)) as probes:
        probes.ask([question])
        return probes.tried(question)


def fake_probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    path = tmp_path / "fake_probe.py"
    path.write_text("import json, os, signal, sys, time\nanswers = open(sys.argv[2], 'a')\n" + source)
    monkeypatch.setattr(prober, "PROBE", path)


@pytest.mark.paddle
def test_a_question_that_kills_its_process_costs_one_answer(tmp_path: Path) -> None:
    (tmp_path / "test_tipc").mkdir()
    bomb = "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n"
    (tmp_path / "test_tipc" / "parity.py").write_text(bomb)
    one, other = questions(tmp_path, 2)
    body = {"kind": "parity", "repo": str(tmp_path), "request": {}, "path": [], "legacy": False}
    parity = Question(("parity", "plan", "x"), group(tmp_path), body)
    found = ask([one, parity, other], tmp_path / "log", 60)
    assert found["parity", "plan", "x"].error == "the probe was killed by signal 11"
    assert "FileNotFoundError" in found["model", "plan", "0"].error
    assert "FileNotFoundError" in found["model", "plan", "1"].error


@pytest.mark.paddle
def test_parity_meets_the_repositorys_own_package_and_not_an_installed_one(tmp_path: Path) -> None:
    (tmp_path / "test_tipc").mkdir()
    (tmp_path / "pytest.py").write_text("")  # as `paddleseg` is in PaddleSeg, and perhaps installed as well
    parity = "import pytest\nraise LookupError(pytest.__file__)\n"
    (tmp_path / "test_tipc" / "parity.py").write_text(parity)
    body = {"kind": "parity", "repo": str(tmp_path), "request": {}, "path": [], "legacy": False}
    question = Question(("parity", "plan", "x"), group(tmp_path), body)
    found = ask([question], tmp_path / "log", 60)
    assert str(tmp_path / "pytest.py") in found["parity", "plan", "x"].error


@pytest.mark.paddle
def test_a_parity_that_is_still_the_skeleton_lacks_its_first_function(tmp_path: Path) -> None:
    for name, text in parity_file("toy").items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    body = {"kind": "parity", "repo": str(tmp_path), "request": {}, "path": [], "legacy": False}
    answer = ask([Question(("parity", "plan", "x"), group(tmp_path), body)], tmp_path / "log", 60)
    found = answer["parity", "plan", "x"]
    assert isinstance(found, ParityAnswer)
    outcome = judge_answer(found, tmp_path)
    told = str(outcome.message)
    assert told == "there is no samples() in test_tipc/parity.py, which is still the skeleton"
    assert "tipc init --parity" in str(outcome.remedy)


@pytest.mark.paddle
def test_a_probe_imports_nothing_of_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("glob", "hashlib", "sitecustomize", "probe_model", "numpy"):
        (tmp_path / f"{name}.py").write_text("import os\nos._exit(0)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    found = ask(questions(tmp_path, 1), tmp_path / "log", 60)
    assert "no structure" in found["model", "plan", "0"].error


def test_a_probe_that_dies_whole_is_asked_again_for_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_probe(
        tmp_path, monkeypatch,
        "item = json.load(open(sys.argv[1]))[0]\n"
        "if item['number'] == 2:\n    os.kill(os.getpid(), signal.SIGKILL)\n"
        "answers.write(json.dumps({'id': item['id'], 'answer': {'outputs': 7}}) + '\\n')\n",
    )  # fmt: skip
    found = ask(questions(tmp_path, 4), tmp_path / "log", 60)
    told = [found["model", "plan", str(index)].error.partition(";")[0] for index in range(4)]
    killed = "the probe was killed by signal 9"
    assert told == ["", "", killed, killed]


def test_a_short_question_that_kills_its_process_costs_the_others_that_share_it_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    probe = tmp_path / "bomb_probe.py"
    probe.write_text(
        "import os, signal, sys, types\n"
        f"sys.path.insert(0, {str(prober.PROBE.parent)!r})\n"
        "import probe_main\n"
        "sys.modules['paddle'] = types.ModuleType('paddle')\n"
        "def answer(question):\n"
        "    if question['number'] == 1:\n        os.kill(os.getpid(), signal.SIGSEGV)\n"
        "    return {'outputs': question['number']}\n"
        "probe_main.KINDS['model'] = answer\n"
        "sys.exit(probe_main.main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])))\n"
    )
    monkeypatch.setattr(prober, "PROBE", probe)
    found = ask(questions(tmp_path, 3), tmp_path / "log", 60)
    told = [found["model", "plan", str(index)].error for index in range(3)]
    assert told == ["", "the probe was killed by signal 11", ""]


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
    found = ask(questions(tmp_path, 1), tmp_path / "log", 1.0)
    assert "no answer within" in found["model", "plan", "0"].error
    child = int((tmp_path / "child").read_text())
    assert is_gone(child)


def test_a_probe_that_eats_memory_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prober, "MEMORY", 60 * 2**20)
    hoard = "hoard = bytearray(120 * 2**20)\nfor i in range(0, len(hoard), 4096):\n    hoard[i] = 1\n"
    fake_probe(tmp_path, monkeypatch, hoard + "time.sleep(60)\n")
    found = ask(questions(tmp_path, 1), tmp_path / "log", 60)
    assert "of memory" in found["model", "plan", "0"].error
    assert found["model", "plan", "0"].limited


def test_what_takes_too_much_memory_beside_others_is_asked_once_more_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prober, "MEMORY", 60 * 2**20)
    monkeypatch.setattr(prober.os, "sched_getaffinity", lambda pid: {0, 1})
    source = (
        "if int(sys.argv[3]) > 1:\n"
        "    hoard = bytearray(120 * 2**20)\n"
        "    for i in range(0, len(hoard), 4096):\n"
        "        hoard[i] = 1\n"
        "    time.sleep(60)\n"
        "for item in json.load(open(sys.argv[1])):\n"
        "    answers.write(json.dumps({'id': item['id'], 'answer': {'outputs': 7}}) + '\\n')\n"
    )
    fake_probe(tmp_path, monkeypatch, source)
    found = ask(questions(tmp_path, 2), tmp_path / "log", 60)
    assert [found["model", "plan", str(index)].error for index in range(2)] == ["", ""]


@pytest.mark.parametrize(
    "line",
    [
        "'nonsense'",
        "'[]'",
        "'[' * 200_000",
        "json.dumps({'id': asked, 'answer': {'outputs': 'many'}})",
        '\'{"id": "9"}\'',
    ],
)
def test_an_answer_that_cannot_be_read_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    source = f"asked = json.load(open(sys.argv[1]))[0]['id']\nanswers.write({line} + '\\n')\n"
    fake_probe(tmp_path, monkeypatch, source)
    found = ask(questions(tmp_path, 1), tmp_path / "log", 60)
    assert found["model", "plan", "0"].error


def test_an_interpreter_that_is_not_there_is_an_error_and_not_the_models(tmp_path: Path) -> None:
    [question] = questions(tmp_path, 1)
    gone = Question(question.key, group(tmp_path, "/no/such/python"), question.body)
    answer = ask([gone], tmp_path / "log", 5)[question.key]
    assert "cannot be started" in answer.error
    assert answer.limited  # so that no check fails for it: nothing was seen of the model


def test_an_interpreter_that_a_config_names_is_as_seen_from_its_steps(tmp_path: Path) -> None:
    (tmp_path / "env").mkdir()
    (tmp_path / "env" / "python").symlink_to(sys.executable)
    body = {"kind": "model", "structure": "", "endings": "*.pdmodel", "path": [], "legacy": False}
    body["model_dir"] = str(tmp_path)
    with closing(Prober(tmp_path)) as probes:
        task = probes.prepare([Question(("model", "p", "s"), group(tmp_path, "env/python"), body)], 1)
    assert task.argv[0] == str(tmp_path / "env" / "python")
    assert task.cwd != tmp_path  # isolated: it would not be found from there


@pytest.mark.parametrize("engine", sorted(all_engines()))
def test_an_engine_can_be_loaded_where_nothing_is_installed(engine: str) -> None:
    script = all_engines()[engine].script
    load = "import runpy, sys; assert callable(runpy.run_path(sys.argv[1])['configure'])"
    bare = [sys.executable, "-I", "-S", "-c", load, str(script)]  # -S: no site-packages
    done = subprocess.run(bare, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_figures_that_are_not_finite_survive_the_way_back() -> None:
    answer = read_answer("parity", '{"preprocess_max_abs": Infinity}')
    assert isinstance(answer, ParityAnswer)
    assert answer.preprocess_max_abs == float("inf")


MAKE_SATURATED = """
import sys
import numpy as np, paddle
network = paddle.nn.Sequential(paddle.nn.Linear(4, 3), paddle.nn.Softmax())
network[0].weight.set_value(np.arange(12, dtype="float32").reshape(4, 3) * 1e6)
network[0].bias.set_value(np.array([1e9, 0, 0], "float32"))
network.eval()
spec = [paddle.static.InputSpec([None, 4], "float32", name="x")]
paddle.jit.save(paddle.jit.to_static(network, input_spec=spec, full_graph=True), sys.argv[1])
"""


@pytest.mark.paddle
@pytest.mark.parametrize(("newer_form", "ending"), [("0", ".pdmodel"), ("1", ".json")])
@pytest.mark.parametrize("engine", ["native", "onednn"])
def test_behind_outputs_that_are_all_alike_a_probe_looks_at_the_values_inside(
    newer_form: str, ending: str, engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLAGS_enable_pir_api", newer_form)
    prefix = tmp_path / "inference"
    subprocess.run([sys.executable, "-c", MAKE_SATURATED, str(prefix)], check=True, capture_output=True)
    given = np.random.default_rng(0).standard_normal((5, 4)).astype("float32")
    trial = Trial(
        "evaluation", engine, {"x": given}, Path(str(prefix) + ending), Path(f"{prefix}.pdiparams"),
        inner=((3,),),
    )  # fmt: skip
    body = {"kind": "run", "path": [], "legacy": ending == ".pdmodel"}
    question = Question(("run", "plan", "x"), group(tmp_path), body, (trial,))
    [answered] = tried(question, tmp_path)
    outputs, inner = answered.outputs, answered.inner
    [told] = outputs.values()
    assert np.allclose(told, [1, 0, 0])
    weight = np.arange(12, dtype="float32").reshape(4, 3) * 1e6
    wanted = given @ weight + np.array([1e9, 0, 0], "float32")
    assert any(np.allclose(value, wanted, rtol=1e-5) for value in inner.values()), list(inner)


MAKE_DEEP = """
import sys
import paddle
layers = [paddle.nn.Conv2D(8, 8, 3, padding=1) for _ in range(40)]
network = paddle.nn.Sequential(*layers)
network.eval()
spec = [paddle.static.InputSpec([None, 8, 256, 256], "float32", name="x")]
paddle.jit.save(paddle.jit.to_static(network, input_spec=spec, full_graph=True), sys.argv[1])
"""
RUN_DEEP = """
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import probe_run
def peak():
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
predictor = probe_run.open_predictor(*sys.argv[2:5])
given = {"x": np.ones([4, 8, 256, 256], "float32")}
before = peak()
answered = probe_run.run(predictor, ["x"], given)
assert next(iter(answered.values())).shape == (4, 8, 256, 256)
print(peak() - before)
"""


@pytest.mark.paddle
@pytest.mark.parametrize(("newer_form", "ending"), [("0", ".pdmodel"), ("1", ".json")])
@pytest.mark.parametrize("engine", ["native", "onednn"])
def test_a_probe_does_not_hold_the_values_of_all_layers_at_once(
    newer_form: str, ending: str, engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLAGS_enable_pir_api", newer_form)
    prefix = tmp_path / "inference"
    subprocess.run([sys.executable, "-c", MAKE_DEEP, str(prefix)], check=True, capture_output=True)
    files = [str(prefix) + ending, f"{prefix}.pdiparams", str(all_engines()[engine].script)]
    done = subprocess.run(
        [sys.executable, "-c", RUN_DEEP, str(prober.PROBE.parent), *files],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    one_layer = 4 * 8 * 256 * 256 * 4

    assert one_layer < int(done.stdout) < 20 * one_layer


ANSWERS_AND_COUNTS = (
    "for asked in json.load(open(sys.argv[1])):\n"
    "    open({counted!r}, 'a').write('x')\n"
    "    answers.write(json.dumps({{'id': asked['id'], 'answer': {{'outputs': 1}}}}) + '\\n')\n"
)


def test_what_was_answered_is_not_asked_again_unless_a_file_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted, model = tmp_path / "counted", tmp_path / "model"
    model.write_text("one")
    fake_probe(tmp_path, monkeypatch, ANSWERS_AND_COUNTS.format(counted=str(counted)))
    [plain] = questions(tmp_path, 1)

    def about_the_model() -> Question:
        return Question(plain.key, plain.group, plain.body, files=(str(model),))

    with closing(Prober(tmp_path)) as probes:
        probes.ask([about_the_model()])
        probes.ask([about_the_model()])
        assert counted.read_text() == "x"
        model.write_text("another")
        assert probes.open_questions([about_the_model()])
        probes.ask([about_the_model()])
        assert counted.read_text() == "xx"


def test_what_went_wrong_beside_the_steps_is_asked_again_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = questions(tmp_path, 1)
    with closing(Prober(tmp_path)) as probes:
        fake_probe(tmp_path, monkeypatch, "sys.exit(3)\n")
        probes.ask(asked)
        assert "status 3" in probes.answer(asked[0]).error
        fake_probe(tmp_path, monkeypatch, ANSWERS_AND_COUNTS.format(counted=str(tmp_path / "counted")))
        probes.ask(asked)
        assert not probes.answer(asked[0]).error


@pytest.mark.paddle
def test_a_real_probe_yields_if_it_is_told_to(tmp_path: Path) -> None:
    found = set()
    with closing(LocalExecutor(warm=False)) as executor, closing(Prober(tmp_path, executor)) as probes:
        for yields in (False, True):
            task = probes.prepare(questions(tmp_path, 1), at_once=1, yields=yields)
            ticket = executor.start(task)
            ended: list[object] = []
            seen = set()
            while not ended:
                ended += executor.wait(0.02)
                for pid in executor.processes(ticket):
                    with contextlib.suppress(OSError):
                        seen.add(os.getpriority(os.PRIO_PROCESS, pid))
            found.add((yields, max(seen) - os.nice(0)))
    assert found == {(False, 0), (True, 10)}


@pytest.mark.parametrize(
    ("variables", "clean"),
    [
        ({"PATH": "/bin", "PYTHONUNBUFFERED": "1"}, True),
        ({"PYTHONPATH": "/opt/packages"}, True),
        ({"PYTHONPATH": "."}, False),
        ({"PYTHONPATH": "/opt/packages:"}, False),
        ({"PYTHONPATH": "{repo}/lib"}, False),
        ({"PYTHONHOME": "/elsewhere"}, False),
        ({"PYTHONUSERBASE": "{repo}"}, False),
    ],
)
def test_the_server_of_the_steps_is_shared_only_where_nothing_of_the_repository_is_in_it(
    variables: dict[str, str], clean: bool, tmp_path: Path
) -> None:
    env = {name: value.format(repo=tmp_path) for name, value in variables.items()}
    assert is_clean(env, tmp_path) is clean


@pytest.mark.paddle
def test_a_probe_forked_from_a_warm_server_imports_nothing_of_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("glob", "hashlib", "sitecustomize", "probe_model", "numpy"):
        (tmp_path / f"{name}.py").write_text("import os\nos._exit(0)\n")
    (tmp_path / "step.py").write_text("import paddle\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    with closing(LocalExecutor()) as executor, closing(Prober(tmp_path, executor)) as probes:
        argv = (sys.executable, "-c", "import time; time.sleep(600)")
        idle = Task("idle", argv, tmp_path, dict(os.environ), tmp_path / "idle.log", 600, warm=False)
        step = Task("step", (sys.executable, "step.py"), tmp_path, environment(os.environ, {}), idle.log, 60)
        executor.start(idle)  # an executor listens to its servers while something runs
        executor.warm_up(step)
        while not executor.is_warm(step):
            executor.wait(0.2)
            assert not executor.warmth.problems
        [question] = questions(tmp_path, 1)
        task = probes.prepare([question], at_once=1)
        assert "-I" not in task.argv
        ticket = executor.start(task)
        probes.started(task, ticket)
        outcome = dict(executor.wait(60))[ticket]
        probes.ended(ticket, outcome)
        assert outcome.warm
        assert "no structure" in probes.answer(question).error


class SomeConfig:
    """Stands for a ``paddle.inference.Config``, by which the witness keeps settings."""


def test_a_deployment_is_replayed_without_every_pass_that_it_deletes() -> None:
    door, config = Predictors(None), SomeConfig()
    for name in ("one_fuse_pass", "another_fuse_pass"):
        door._set("delete_pass", None, None, config, name)
    door._set("set_cpu_math_library_num_threads", None, None, config, 1)
    door._set("set_cpu_math_library_num_threads", None, None, config, 2)
    settings = door.settings[config]
    assert settings["set_cpu_math_library_num_threads"] == "2"
    facts = PredictorFacts(
        "model", "params", {}, "onednn", "cpu", "int8", 1, 1, 0.1, (0.1,), (1,), 1, (), settings=settings
    )
    assert passes_off(facts) == ("one_fuse_pass", "another_fuse_pass")


def test_an_engine_is_tried_without_the_passes_that_all_its_deployments_delete(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def deployed(engine: str, precision: str, *names: str) -> tuple[None, PredictorFacts]:
        settings = {"delete_pass": ", ".join(map(repr, names))}
        return None, PredictorFacts(
            "model", "params", {}, engine, "cpu", precision, 1, 1, 0.1, (0.1,), (1,), 1, (), settings=settings
        )

    seen = [
        deployed("onednn", "fp32", "a_pass"),
        deployed("onednn", "fp32", "a_pass"),
        deployed("onednn", "int8", "b_pass", "c_pass"),
        deployed("paddle", "fp32", "d_pass"),
        deployed("paddle", "fp32"),
    ]
    monkeypatch.setattr(trials, "deployments", lambda *_words: iter(seen))
    found = trials.deleted_passes(None, None, None)  # type: ignore[arg-type]
    # The two of paddle's own engine do not agree: it is tried as it comes.
    assert found == {"onednn": ("a_pass",), "onednn-int8": ("b_pass", "c_pass")}


def test_the_passes_of_a_trial_make_it_another_one(tmp_path: Path) -> None:
    plain = Trial("deployed step", "onednn", {}, tmp_path / "model", tmp_path / "params")
    other = Trial("deployed step", "onednn", {}, tmp_path / "model", tmp_path / "params", skip=("a_pass",))
    assert plain.digest != other.digest
