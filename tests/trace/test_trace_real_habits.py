"""Habits of real scripts: where their helpers are, what they look for, how they start their commands."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tipc.plan.build import build_plan
from tipc.plan.model import Plan
from tipc.plan.modes import DEFAULT_MODE
from tipc.plan.request import PlanOptions
from tipc.plan.target.machine import Machine
from tipc.plan.trace.record.find_script import find_script
from tipc.plan.trace.tracing import trace_upstream

Make = Callable[..., Path]
SETTING = "out=work/toy; save=$out/run; mkdir -p $out\n"


def trace(config: Path, mode: str = "lite") -> Plan:
    return trace_upstream(config, mode, config.parents[2])


def commands(plan: Plan) -> list[str]:
    return [" ".join(step.argv) for step in plan.steps]


def test_a_model_whose_name_has_a_word_of_failure_in_it_still_leaves_its_weights(repository: Make) -> None:
    script = """\
save=work/pidnet_score/run
python3 tools/fit.py --save_dir=$save
name=best.pdparams
[ -f $save/$name ] || name=last.pdparams
[ ! -f $save/error.log ] || exit 1
[ ! -e $save/FAILED ] || exit 1
python3 tools/freeze.py --weights=$save/$name
"""
    plan = trace(repository(script))
    assert commands(plan)[1:] == ["python3 tools/freeze.py --weights=work/pidnet_score/run/best.pdparams"]


def test_a_variable_that_the_caller_sets_to_the_repository_is_known_by_the_helpers(repository: Make) -> None:
    config = repository("source ${TEST_DIR}/test_tipc/common_func.sh\nlaunch tools/fit.py\n")
    root = config.parents[2]
    helpers = 'launch() { python3 "$@" --save_dir=$TEST_DIR/out; }\n'
    (root / "test_tipc" / "common_func.sh").write_text(helpers, encoding="utf-8")
    plan = trace(config)
    assert commands(plan) == [f"python3 tools/fit.py --save_dir={root}/out"]
    assert any("TEST_DIR" in note and str(root) in note for note in plan.notes)


def test_a_variable_that_the_script_sets_itself_is_left_alone(repository: Make) -> None:
    config = repository("HERE=$(pwd)/test_tipc/..\nsource $HERE/test_tipc/common_func.sh\nlaunch\n")
    helpers = "launch() { python3 tools/fit.py $HERE; }\n"
    (config.parents[1] / "common_func.sh").write_text(helpers, encoding="utf-8")
    plan = trace(config)
    assert commands(plan) == [f"python3 tools/fit.py {config.parents[2]}/test_tipc/.."]
    assert not any("HERE" in note for note in plan.notes)


def test_a_helper_that_is_missing_is_told(repository: Make) -> None:
    plan = trace(repository("source test_tipc/lost.sh\npython3 tools/fit.py\n"))
    assert any("sources" in note and "test_tipc/lost.sh" in note for note in plan.notes)


def test_the_newest_weights_by_ls_or_find_keep_their_wildcard(repository: Make) -> None:
    script = (
        SETTING
        + """\
python3 tools/fit.py --save_dir=$save
python3 tools/freeze.py --weights=$(ls -t $save/*.pdparams | head -1)
python3 tools/freeze.py --weights=$(find $save -name 'iter_*.pdopt' | sort | tail -n 1)
"""
    )
    plan = trace(repository(script))
    assert commands(plan)[1:] == [
        "python3 tools/freeze.py --weights=work/toy/run/*.pdparams",
        "python3 tools/freeze.py --weights=work/toy/run/iter_*.pdopt",
    ]
    assert [step.needs for step in plan.steps[1:]] == [(plan.steps[0].id,)] * 2


def test_ways_to_start_a_command_are_seen_through(repository: Make) -> None:
    script = (
        SETTING
        + """\
py=python3.7
version=$($py -c "import paddle; print(paddle.__version__)")
cards=$(nvidia-smi -L | wc -l)
ps -ef | grep fit | awk '{print $2}' | xargs kill -9
sed -i s/a/b/ tools/fit.py
keep() { eval ${1} | tee "$2"; test ${PIPESTATUS[0]} -eq 0; }
keep "$py -B -m paddle.distributed.launch --gpus=\\"0,1\\" tools/fit.py --save_dir=$save" $out/fit.log
echo "Run successfully: $?"
cat log/workerlog.0 >> $out/fit.log
cp $save/toy/* $save/
sleep 600
timeout -s KILL 5m $py tools/freeze.py --out=$save/static >$out/freeze.log 2>&1
nohup env CUDA_VISIBLE_DEVICES=1 $py deploy/run.py --model_dir=$save/static >$out/run.log 2>&1 &
wait $!
(cd deploy && bash -c "$py run.py --here")
seq 2 | xargs -I{} $py deploy/run.py --number={}
"""
    )
    plan = trace(repository(script))
    assert commands(plan) == [
        "python3.7 -B -m paddle.distributed.launch --gpus=0,1 tools/fit.py --save_dir=work/toy/run",
        "python3.7 tools/freeze.py --out=work/toy/run/static",
        "python3.7 deploy/run.py --model_dir=work/toy/run/static",
        "python3.7 run.py --here",
        "python3.7 deploy/run.py --number=1",
        "python3.7 deploy/run.py --number=2",
    ]
    assert [step.kind for step in plan.steps] == ["train", "export", "infer", "infer", "infer", "infer"]
    assert [step.log for step in plan.steps[:3]] == [f"work/toy/{n}.log" for n in ("fit", "freeze", "run")]
    assert plan.steps[2].env["CUDA_VISIBLE_DEVICES"] == "1"
    assert plan.steps[3].cwd == "deploy"
    assert {os.path.basename(skip.argv[0]) for skip in plan.skipped} == {
        "python3.7",
        "nvidia-smi",
        "ps",
        "kill",
    }


def test_an_inference_that_names_the_files_of_a_model_reads_their_directory(repository: Make) -> None:
    script = """\
python3 tools/fit.py --save_dir=work/run
python3 tools/freeze.py --weights=work/run/best.pdparams --out=work/run/static
python3 deploy/run.py --model_file=work/run/static/m.pdmodel --params_file=work/run/static/m.pdiparams
"""
    plan = trace(repository(script))
    assert [step.model_dir for step in plan.steps] == ["", "work/run/static", "work/run/static"]
    assert plan.steps[1].produces[0].startswith("work/run/static/*.pdmodel|")
    assert plan.steps[2].needs == (plan.steps[1].id,)


@pytest.mark.parametrize(
    ("config", "script"),
    [
        ("train_infer_python", "train_inference_python"),
        ("train_linux_gpu_normal_amp_infer_python_linux_gpu_cpu", "train_inference_python"),
        ("train_ptq_infer_python", "ptq_inference_python"),
        ("model_linux_gpu_normal_normal_infer_python_linux_gpu_cpu", "inference_python"),
        ("model_linux_gpu_normal_normal_infer_cpp_linux_gpu_cpu", "inference_cpp"),
        ("model_linux_gpu_normal_normal_serving_python_linux_gpu_cpu", "serving_infer_python"),
        ("serving_infer_cpp", "serving_infer_cpp"),
        ("model_linux_gpu_normal_normal_paddle2onnx_python_linux_cpu", "paddle2onnx"),
    ],
)
def test_a_config_finds_its_script_among_all_of_a_repository(
    tmp_path: Path, config: str, script: str
) -> None:
    folder = tmp_path / "test_tipc"
    folder.mkdir()
    for name in (
        *("train_inference_python", "inference_python", "inference_cpp", "ptq_inference_python"),
        *("paddle2onnx", "serving_infer_python", "serving_infer_cpp", "lite_arm_cpp"),
    ):
        (folder / f"test_{name}.sh").touch()
    found = find_script(folder / "configs" / "toy" / f"{config}.txt", tmp_path)
    assert found == Path("test_tipc", f"test_{script}.sh")


def test_a_training_that_names_no_device_is_for_the_only_one_of_the_config(repository: Make) -> None:
    config = "gpu_list:-1\nnorm_train:tools/fit.py\n"
    plan = trace(repository("python3 tools/fit.py --steps=10\n", config))
    assert (plan.cells[0].asked, plan.steps[0].device) == ("-1", "cpu")


def test_a_server_in_the_background_comes_before_the_client_that_follows_a_sleep(repository: Make) -> None:
    script = """\
for device in cpu gpu; do
    cd deploy
    python3 run.py --serve --device=$device &
    sleep 10s
    python3 client_infer.py > ../client.log 2>&1
    python3 -m paddle_serving_server.serve stop
    cd ..
done
"""
    plan = trace(repository(script))
    assert [step.argv[1] for step in plan.steps] == ["run.py", "client_infer.py", "-m"] * 2
    assert {step.cwd for step in plan.steps} == {"deploy"}


@pytest.mark.parametrize(("option", "taken"), [(" --do_eval", "best_model"), ("", "iter_20")])
def test_a_best_model_is_there_only_where_the_training_picks_one(
    repository: Make, option: str, taken: str
) -> None:
    script = f"""\
save=work/toy/run
python3 tools/fit.py --iters=20 --save_dir=$save{option}
name=best_model/model.pdparams
[ -f $save/$name ] || name=iter_20/model.pdparams
python3 tools/freeze.py --weights=$save/$name
"""
    config = repository(script)
    fit = config.parents[2] / "tools" / "fit.py"
    fit.write_text("parser.add_argument('--do_eval', action='store_true')\n", encoding="utf-8")
    assert commands(trace(config))[1:] == [
        f"python3 tools/freeze.py --weights=work/toy/run/{taken}/model.pdparams"
    ]


def test_a_name_without_an_ending_is_no_file_of_weights(repository: Make) -> None:
    script = """\
save=work/toy/run
python3 tools/fit.py --save_dir=$save
name=latest
[ -f $save/$name ] || name=best_model/model.pdparams
python3 tools/freeze.py --weights=$save/$name
"""
    assert commands(trace(repository(script)))[1:] == [
        "python3 tools/freeze.py --weights=work/toy/run/best_model/model.pdparams"
    ]


BUILDS = """\
rm -rf build; mkdir build; cd build
cmake .. -DWITH_GPU=OFF
make -j
cd ..
./build/toy_system -c toy.yaml > toy.log 2>&1
"""


@pytest.mark.parametrize("built", [False, True])
def test_a_program_that_the_script_builds_is_an_inference(repository: Make, built: bool) -> None:
    config = repository(BUILDS)
    program = config.parents[2] / "build" / "toy_system"
    if built:  # a copy from an earlier build is not run either
        program.parent.mkdir()
        program.write_bytes(b"\x7fELF and no more")
        program.chmod(0o755)
    plan = trace(config)
    assert commands(plan) == ["./build/toy_system -c toy.yaml"]
    assert (plan.steps[0].kind, plan.steps[0].log) == ("infer", "toy.log")
    assert [skip.argv[0] for skip in plan.skipped] == ["cmake", "make"]
    assert not [note for note in plan.notes if "exit code" in note]


def test_a_program_of_the_repository_that_is_a_script_is_followed(repository: Make) -> None:
    config = repository("./tools/fit.sh 3\n")
    inner = config.parents[2] / "tools" / "fit.sh"
    inner.write_text("#!/bin/bash\npython3 tools/fit.py --steps=$1\n", encoding="utf-8")
    inner.chmod(0o755)
    assert commands(trace(config)) == ["python3 tools/fit.py --steps=3"]


def test_an_inference_that_says_no_device_is_planned_where_there_is_no_gpu(repository: Make) -> None:
    script = """\
python3 tools/freeze.py --out=work/static
python3 deploy/run.py --model_dir=work/static
python3 deploy/run.py --model_dir=work/static --device=gpu
"""
    config = repository(script)
    plan = build_plan(config, "lite", PlanOptions(machine=Machine(gpus=0), prepare=False))
    assert [step.kind for step in plan.steps] == ["export", "infer"]
    assert [(skip.kind, skip.device) for skip in plan.skipped] == [("infer", "gpu")]
    assert [step.settings.get("device", "") for step in trace(config).steps] == ["", "", "gpu"]


@pytest.mark.parametrize(
    ("name", "script", "mode"),
    [
        ("train_infer_python", "train_inference_python", "lite_train_lite_infer"),
        ("train_ptq_infer_python", "ptq_inference_python", "whole_infer"),
        ("model_paddle2onnx_python", "paddle2onnx", "paddle2onnx_infer"),
        ("model_infer_cpp", "inference_cpp", "cpp_infer"),
        ("model_serving_python", "serving_infer_python", "serving_infer"),
    ],
)
def test_a_script_is_given_the_mode_that_the_documents_of_its_chain_name(
    repository: Make, name: str, script: str, mode: str
) -> None:
    """Scripts for quantisation do nothing in any other mode, and what prepare.sh makes depends on it."""
    config = repository('python3 tools/fit.py --mode "$2"\n', name=f"test_tipc/test_{script}.sh")
    config = config.rename(config.with_name(f"{name}.txt"))
    plan = build_plan(config, DEFAULT_MODE, PlanOptions(as_upstream=True))
    assert (plan.mode, commands(plan)) == (mode, [f"python3 tools/fit.py --mode {mode}"])
