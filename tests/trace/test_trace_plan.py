"""The plan of a script of our own invention: the right commands, kinds, cells and needs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tipc.errors import UsageError
from tipc.plan.build import build_plan
from tipc.plan.model import Plan
from tipc.plan.request import PlanOptions
from tipc.plan.trace.tracing import trace_upstream

Make = Callable[..., Path]


def trace(config: Path, mode: str = "lite") -> Plan:
    return trace_upstream(config, mode, config.parents[2])


@pytest.fixture
def plan(repository: Make) -> Plan:
    return trace(repository())


def by_kind(plan: Plan, kind: str) -> list[list[str]]:
    return [list(step.argv) for step in plan.steps if step.kind == kind]


def test_the_commands_are_those_that_the_script_calls(plan: Plan) -> None:
    fit = ["tools/fit.py", "-c", "toy.yml"]
    assert by_kind(plan, "train") == [
        ["python3.7", *fit, "--save_dir=work/toy/lite/run1"],
        ["python3.7", "-m", "paddle.distributed.launch", "--gpus=0,1", *fit, "--save_dir=work/toy/lite/run2"],
    ]
    assert by_kind(plan, "eval")[0] == [
        "python3.7",
        *fit,
        "--judge",
        "--weights=work/toy/lite/run1/final.pdparams",
    ]
    assert by_kind(plan, "export")[1] == [
        "python3.7",
        "freeze.py",
        "--weights=../work/toy/lite/run2/final.pdparams",
        "--out=../work/toy/lite/run2/static",
    ]
    assert len(by_kind(plan, "infer")) == 4
    assert {word for argv in by_kind(plan, "infer") for word in argv if "threads" in word} == {
        "--cpu_threads=1",
        "--cpu_threads=4",
    }


def test_a_step_knows_its_directory_device_and_environment(plan: Plan) -> None:
    train, export = plan.steps[0], next(step for step in plan.steps if step.kind == "export")
    assert (train.cwd, export.cwd) == (".", "tools")
    assert train.env == {"CUDA_VISIBLE_DEVICES": "0", "TOY_SEED": "7"}
    assert export.env == {"CUDA_VISIBLE_DEVICES": None, "TOY_SEED": "7"}
    launched = [step for step in plan.steps if step.kind == "train"][1]
    assert (launched.processes, launched.gpus, launched.env["CUDA_VISIBLE_DEVICES"]) == (2, ("0", "1"), "0,1")


def test_steps_need_what_they_read(plan: Plan) -> None:
    kinds = {step.id: step.kind for step in plan.steps}
    cells = {step.id: step.cell for step in plan.steps}
    needed = {"train": [], "eval": ["train"], "export": ["train"], "infer": ["export"]}
    for step in plan.steps:
        assert [kinds[other] for other in step.needs] == needed[step.kind], step.id
        assert all(cells[other] == step.cell for other in step.needs)
    assert len(plan.cells) == 2
    assert [cell.asked for cell in plan.cells] == ["0", "0,1"]


def test_logs_come_from_redirections_and_tee(plan: Plan) -> None:
    logs = {step.kind: step.log for step in plan.steps if step.cell == plan.cells[0].id}
    assert logs["train"] == "work/toy/lite/train1.log"
    assert logs["eval"] == "work/toy/lite/eval1.log"
    assert logs["export"] == "work/toy/lite/export1.log"
    assert len({step.log for step in plan.steps}) == len(plan.steps)


def test_weights_models_and_status_lines_are_found(plan: Plan) -> None:
    train, evaluation = plan.steps[0], plan.steps[1]
    assert train.weights == evaluation.weights == "work/toy/lite/run1/final.pdparams"
    assert train.produces == ("work/toy/lite/run1/final.pdparams",)
    infer = next(step for step in plan.steps if step.kind == "infer")
    assert infer.model_dir == "work/toy/lite/run1/static"
    assert evaluation.status_line.startswith("Run successfully with command - python3.7 tools/fit.py")


def test_a_traced_plan_says_so_and_names_what_it_leaves_out(plan: Plan) -> None:
    assert plan.traced
    assert "test_tipc/go.sh" in plan.notes[0]
    left_out = " / ".join(skip.label for skip in plan.skipped)
    for word in ("pip install", "apt-get install", "curl", "wget"):
        assert word in left_out


def test_ids_are_unique_and_the_same_when_traced_again(repository: Make) -> None:
    config = repository()
    first, second = trace(config), trace(config)
    assert len({step.id for step in first.steps}) == len(first.steps)
    assert {step.id for step in first.steps} == {step.id for step in second.steps}


def test_what_an_earlier_run_has_left_changes_nothing(repository: Make) -> None:
    config = repository()
    first = trace(config)
    for run in ("run1", "run2"):
        folder = config.parents[2] / "work/toy/lite" / run
        (folder / "static").mkdir(parents=True)
        (folder / "final.pdparams").touch()
    second = trace(config)
    assert [step.weights for step in first.steps if step.kind == "train"] == [
        "work/toy/lite/run1/final.pdparams",
        "work/toy/lite/run2/final.pdparams",
    ]
    # The script starts its inference in the background: which of two comes first is chance.
    assert {step.id: step for step in second.steps} == {step.id: step for step in first.steps}


def test_a_script_that_makes_what_is_missing_still_makes_it(repository: Make) -> None:
    script = """
python train.py --out=o
if [ ! -f o/model.onnx ]; then paddle2onnx --model_dir=o --save_file=o/model.onnx; fi
[ -f o/model.pdparams ] && python eval.py --w=o/model.pdparams
"""
    plan = trace(repository(script))
    assert [step.argv[0] for step in plan.steps] == ["python", "paddle2onnx", "python"]


def test_every_training_leaves_what_the_script_looks_for_after_one_of_them(repository: Make) -> None:
    script = """
name=best/model.pdparams
for cards in 0 1 2 3 4 5 6 7; do
    python tools/fit.py --save_dir=out/run$cards
    if [ ! -f out/run$cards/$name ]; then name=iter_9/model.pdparams; fi
    cat out/run$cards/train.log >> out/run$cards.log || exit 1
    python tools/freeze.py --weights=out/run$cards/$name --out=out/run$cards
    cd deploy && python run.py --model=../out/run$cards; cd ..
done
"""
    plan = trace(repository(script))
    assert [step.kind for step in plan.steps] == ["train", "export", "infer"] * 8
    assert {step.argv[2].split("/", 2)[2] for step in plan.steps if step.kind == "export"} == {
        "best/model.pdparams"
    }
    assert {step.cwd for step in plan.steps if step.kind == "infer"} == {"deploy"}


def test_programs_called_by_path_are_recorded(repository: Make) -> None:
    script = """
/usr/bin/python3.9 train.py
/opt/conda/envs/x/bin/python eval.py
nohup env A=1 python3 infer.py &
bash -c 'python export.py'
"""
    plan = trace(repository(script))
    assert {step.argv for step in plan.steps} == {
        ("/usr/bin/python3.9", "train.py"),
        ("/opt/conda/envs/x/bin/python", "eval.py"),
        ("python3", "infer.py"),
        ("python", "export.py"),
    }


def test_calls_at_the_same_time_and_with_many_words_are_all_recorded(repository: Make) -> None:
    script = """
long=$(seq -s ' ' 1200)
for i in $(seq 24); do python infer.py --number=$i $long é & done
wait
"""
    plan = trace(repository(script))
    assert sorted(int(step.argv[2].split("=")[1]) for step in plan.steps) == list(range(1, 25))
    assert {len(step.argv) for step in plan.steps} == {1204}
    assert {step.argv[-1] for step in plan.steps} == {"é"}


def test_what_cannot_be_a_program_is_not_found_as_in_any_shell(repository: Make) -> None:
    script = """
"$(printf 'python3.7\\r')" train.py || python train.py --after=$?
python eval.py use_gpu=True | False || python eval.py --after=$?
python setup.py install
"""
    plan = trace(repository(script))
    assert [" ".join(step.argv) for step in plan.steps] == [
        "python train.py --after=127",
        "python eval.py use_gpu=True",
        "python eval.py --after=127",
    ]
    assert [skip.argv for skip in plan.skipped] == [("python", "setup.py", "install")]


def test_a_script_that_only_calls_tipc_cannot_be_traced(repository: Make) -> None:
    with pytest.raises(UsageError, match="calls tipc itself"):
        trace(repository("tipc run $1 $2\n"))


def test_a_repository_with_no_script_is_a_usage_error(repository: Make) -> None:
    config = repository(name="test_tipc/prepare.sh")
    with pytest.raises(UsageError, match="no script to trace"):
        trace(config)


def test_several_scripts_are_not_guessed_among(repository: Make) -> None:
    config = repository()
    (config.parents[1] / "other.sh").write_text("true\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"go\.sh, test_tipc/other\.sh"):
        trace(config)
    assert trace_upstream(config, "lite", config.parents[2], script="test_tipc/go.sh").steps


def test_a_script_with_no_command_gives_an_empty_plan_that_says_why(repository: Make) -> None:
    plan = trace(repository("echo 'no such mode' >&2; exit 3\n"))
    assert plan.steps == ()
    assert "called nothing in the mode lite" in plan.notes[1]
    assert "exit code 3: no such mode" in plan.notes[2]


def test_a_script_that_calls_no_program_has_no_plan_and_says_so(tmp_path: Path) -> None:
    config = tmp_path / "test_tipc/configs/strange/own_python.txt"
    config.parent.mkdir(parents=True)
    config.write_text("name:strange\ntrain:tools/step.py\n", encoding="utf-8")
    (tmp_path / "test_tipc/strange.sh").write_text("echo nothing\n", encoding="utf-8")
    with pytest.raises(UsageError, match="calls nothing that could be a step"):
        build_plan(config, "lite_train_lite_infer", PlanOptions(trace=True))
