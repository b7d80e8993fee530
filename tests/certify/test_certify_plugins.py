"""Toys of every kind, added from outside the package, that really work in runs with paddle."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from certify_paddle_repo import make_paddle_repo, write_config

sys.path.insert(0, str(Path(__file__).parents[1] / "plan"))
from toy_chain import TABLE

pytestmark = [pytest.mark.paddle, pytest.mark.xdist_group("certify_paddle")]

PLUGIN = (
    TABLE
    + """
import coarse_engine
import unfused_engine
from tipc.config.dialects import load
from tipc.config.rules import OwnChain
from tipc.hooks import hookimpl
from tipc.kinds import Chain, Device, ModelFormat, Precision
from tipc.run.executors.executor_kinds import ExecutorKind
from tipc.run.executors.local import LocalExecutor

TOY = ModelFormat("toy", ".toy", ".toyweights")


@hookimpl
def tipc_devices():
    return [Device("abc", "ABC")]


@hookimpl
def tipc_precisions():
    return [Precision("fp12", noise=0.3, decisions=0.8)]


@hookimpl
def tipc_engines():
    return [unfused_engine, coarse_engine]


@hookimpl
def tipc_model_formats():
    return [TOY]


@hookimpl
def tipc_dialects():
    models = load("models")
    return [models._replace(name="toyish", rules=models.rules._replace(model_files=TOY.files))]


@hookimpl
def tipc_chains():
    table = chain("models", "Toy", LINES, WHOLE, RUN)
    return [OwnChain(Chain("toy", "a chain of toys", headers=("toy_params",)), (table,))]


class Counting(LocalExecutor):
    name = "counting"

    def start(self, task):
        with open("started", "a") as file:
            file.write(task.name + "\\n")
        return super().start(task)


@hookimpl
def tipc_executors():
    return [ExecutorKind("counting", "counts", Counting, lambda executor: 1)]
"""
)
# paddle's own kernels, with nothing replaced or fused: another way to the same answers.
UNFUSED = """
NAME = "unfused"
PRECISION = "fp32"


def applies(legacy, quantised, used):
    return True


def configure(config):
    config.disable_mkldnn()
    config.switch_ir_optim(False)
"""
# The same with eight bits of every weight: it computes in a precision that paddle does not have.
COARSE = '''
import os
import struct
import tempfile

NAME = "coarse"
PRECISION = "fp12"


def applies(legacy, quantised, used):
    return legacy


def configure(config):
    config.disable_mkldnn()
    folder = tempfile.mkdtemp()
    params = os.path.join(folder, "coarse")
    with open(config.params_file(), "rb") as file, open(params, "wb") as target:
        target.write(coarse(file.read()))
    config.set_model(config.prog_file(), params)


def coarse(data):
    """Every tensor of floats with eight bits; ``params_file`` of tipc has the layout."""
    import numpy as np

    parts, at = [], 0
    while at < len(data):
        length = struct.unpack_from("<IQIi", data, at)[3]
        begin = at + 20 + length
        sides, kind, place = [], 0, at + 20
        while place < begin:  # one byte for a tag; then a number, seven bits a byte
            tag, value, shift = data[place], 0, 0
            place += 1
            while True:
                value |= (data[place] & 127) << shift
                shift += 7
                place += 1
                if not data[place - 1] & 128:
                    break
            if tag == 8:
                kind = value
            else:
                sides.append(value)
        assert kind == 5, kind
        count = int(np.prod(sides, dtype=int))
        values = np.frombuffer(data, "<f4", count, begin)
        fraction, power = np.frexp(values)
        rounded = np.ldexp(np.round(fraction * BITS) / BITS, power).astype("<f4")
        parts += [data[at:begin], rounded.tobytes()]
        at = begin + 4 * count
    return b"".join(parts)


BITS = 256
'''
PACK = """
import argparse

import paddle

import net

parser = argparse.ArgumentParser()
parser.add_argument("--out")
args = parser.parse_args()
model = net.build(False)
model.eval()
spec = [paddle.static.InputSpec([None, 3, 16, 16], "float32", name="x")]
static = paddle.jit.to_static(model, input_spec=spec, full_graph=True)
paddle.jit.save(static, args.out + "/inference")
"""
TOY_CHAIN = """\
===========================toy_params===========================
model_name:tiny
python:python3
pack:pack.py
inference:deploy/inference_python/infer.py --precision=fp32 --batch-size=4 --img-path=./lite_data/val
--use-gpu:cpu
--model-dir:./output/toy
"""
TRAIN_CONFIG = "test_tipc/configs/tiny/train_infer_python.txt"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder with a plug-in, as pip would have installed it, and a repository that really trains."""
    site = tmp_path / "site"
    info = site / "toys-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toys\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[tipc]\ntoys = toys\n")
    (site / "toys.py").write_text(PLUGIN)
    (site / "unfused_engine.py").write_text(UNFUSED)
    (site / "coarse_engine.py").write_text(COARSE)
    repo = make_paddle_repo(tmp_path / "repo")
    (repo / "pack.py").write_text(PACK)
    assert write_config(repo, "fp32", "fp32") == TRAIN_CONFIG
    (repo / "test_tipc" / "configs" / "tiny" / "toy_infer_python.txt").write_text(TOY_CHAIN)
    return tmp_path


def tipc(outside: Path, *words: str, code: int = 0) -> str:
    env = {**os.environ, "PYTHONPATH": str(outside / "site"), "FLAGS_enable_pir_api": "0"}
    env.pop("TIPC_HOME", None)
    command = [sys.executable, "-m", "tipc", *words]
    done = subprocess.run(command, cwd=outside / "repo", env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def findings(outside: Path) -> list[dict[str, Any]]:
    """Of the newest run's verdict."""
    path = sorted((outside / "repo" / ".tipc" / "runs").glob("*/verdict.json"))[-1]
    found: list[dict[str, Any]] = json.loads(path.read_text())["findings"]
    return found


def finding(outside: Path, check: str) -> dict[str, Any]:
    [found] = [one for one in findings(outside) if one["check"] == check]
    return found


def noise_of(found: dict[str, Any], engine: str) -> dict[str, float]:
    """In an engine, by what it was fed."""
    return {row["source"]: row["noise"] for row in found["evidence"]["table"] if row["engine"] == engine}


def test_an_engine_a_precision_and_an_executor_are_asked_and_compared(outside: Path) -> None:
    out = tipc(outside, "run", TRAIN_CONFIG, "--cold", "--executor", "counting")
    assert "PASSED on cpu" in out
    started = (outside / "repo" / "started").read_text().splitlines()
    for step in ("train", "eval", "export", "infer-cpu-bs1", "infer-cpu-bs4"):
        assert f"norm_train-cpu/{step}" in started
    assert "probe" in started, "questions are tasks of the executor, too"

    engines = finding(outside, "TP302")
    assert engines["status"] == "pass"
    unfused = noise_of(engines, "unfused")
    assert unfused.keys() == {"seeded", "evaluation"}
    assert max(unfused.values()) < 1e-3
    coarse = noise_of(engines, "coarse")
    assert 1e-3 < max(coarse.values()) < 0.3, "it really computes with fewer bits"

    # The bound is that of its precision: as an engine of fp32 the same answers are wrong.
    edit(outside / "site" / "coarse_engine.py", 'PRECISION = "fp12"', 'PRECISION = "fp32"')
    assert "coarse: output" in tipc(outside, "certify", code=1)
    assert finding(outside, "TP302")["status"] == "fail"


def test_an_engine_that_cannot_run_a_model_fails_it(outside: Path) -> None:
    tipc(outside, "run", TRAIN_CONFIG, "--cold")
    engine = outside / "site" / "unfused_engine.py"
    edit(engine, "config.switch_ir_optim(False)", 'raise ValueError("no licence for this engine")')
    assert "unfused cannot run it: ValueError: no licence" in tipc(outside, "certify", code=1)


@pytest.mark.parametrize(
    ("file", "name", "taken"),
    [
        ("unfused_engine.py", "unfused", "onednn"),
        ("unfused_engine.py", "unfused", "coarse"),  # by another engine of the same plug-in
        ("toys.py", "fp12", "int8"),
        ("toys.py", "toy", "json"),
    ],
)
def test_a_name_that_is_taken_is_one_message(outside: Path, file: str, name: str, taken: str) -> None:
    path = outside / "site" / file
    path.write_text(
        path.read_text().replace(f'("{name}"', f'("{taken}"').replace(f'= "{name}"', f'= "{taken}"')
    )
    told = tipc(outside, "run", TRAIN_CONFIG, "--cold", code=3)
    assert f"has `{taken}`, a name that is taken" in told
    assert "Traceback" not in told


def test_a_format_of_exported_files_is_planned_deployed_and_compared(outside: Path) -> None:
    repo = outside / "repo"
    infer = repo / "deploy" / "inference_python" / "infer.py"
    edit(infer, "inference.pdmodel", "inference.toy")
    edit(infer, "inference.pdiparams", "inference.toyweights")
    told = tipc(outside, "run", TRAIN_CONFIG, "--cold", "--dialect", "toyish", code=1)
    assert "/*.toy" in told, "the export left paddle's own files"
    with (repo / "tools" / "export_model.py").open("a") as script:
        script.write('prefix = args.save_inference_dir + "/inference"\n')
        script.write('os.rename(prefix + ".pdmodel", prefix + ".toy")\n')
        script.write('os.rename(prefix + ".pdiparams", prefix + ".toyweights")\n')
    assert "PASSED on cpu" in tipc(outside, "run", TRAIN_CONFIG, "--cold", "--dialect", "toyish")
    assert finding(outside, "TX702")["evidence"]["structure"] == "inference.toy"
    assert noise_of(finding(outside, "TP302"), "native").keys() == {"seeded", "evaluation"}
    opened = [one for one in findings(outside) if one["check"] == "TP308"]
    assert all("inference.toy" in one["message"] for one in opened)


def test_a_chain_is_run_and_its_model_compared(outside: Path) -> None:
    # It trains nothing, so what was trained cannot be compared; everything else is.
    tipc(outside, "run", "test_tipc/configs/tiny/toy_infer_python.txt", "--cold", code=1)
    status = {one["check"]: one["status"] for one in findings(outside)}
    assert [check for check, word in status.items() if word != "pass"] == ["TP301"]
    assert status["TP302"] == status["TP308"] == status["TP309"] == "pass"


def test_a_device_has_its_commands_its_column_and_is_held_to_it(outside: Path) -> None:
    repo = outside / "repo"
    config = repo / TRAIN_CONFIG
    edit(config, "gpu_list:-1", "gpu_list:0")
    edit(config, "--device:cpu", "--device:gpu")
    edit(config, "--use-gpu:False", "--use-gpu:True|False")
    edit(repo / "deploy" / "inference_python" / "infer.py", '"--use-gpu")', '"--use-gpu", "--use-abc")')
    told = tipc(outside, "run", TRAIN_CONFIG, "--cold", "--device", "abc", code=1)
    assert "not certified  planned for ABC, not for GPU" in told
    # The toy's device is a word only, and the log says so.
    wrong = [one["message"] for one in findings(outside) if one["status"] == "fail"]
    assert len(wrong) == 2
    assert all("asked for abc, the benchmark says cpu" in message for message in wrong)
    table = tipc(outside, "report", "--format", "markdown")
    assert "| device_CPU | device_GPU | device_ABC |" in table
