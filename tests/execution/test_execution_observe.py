"""The count of operators: the same warm, cold and launched, and the script does not notice."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from execution_bench import Bench
from warm_scripts import POOL

from tipc.run.local import LocalExecutor
from tipc.run.observed import observed, script_place

CONV = """
import sys, paddle
conv = paddle.nn.Conv2D(3, 4, 3)
for _ in range(2):
    conv(paddle.ones([1, 3, 8, 8]))
print(sys.argv, __name__, __file__)
"""
OWN = """
import paddle
from paddle.amp.debugging import collect_operator_stats, disable_operator_stats_collection
disable_operator_stats_collection()
conv = paddle.nn.Conv2D(3, 4, 3); x = paddle.ones([1, 3, 8, 8])
conv(x)
with collect_operator_stats():
    conv(x)
conv(x)
"""


@pytest.mark.parametrize(
    ("command", "place"),
    [
        ("python3 train.py -o a", 1),
        ("/opt/bin/python3.9 -u -X dev tools/train.py", 4),
        ("python -m paddle.distributed.launch --nproc_per_node=2 --log_dir x tools/train.py -c y.py", 6),
        ("python -m paddle.distributed.launch --gpus 0,1 train.py", 5),
        ("python -m paddle.distributed.launch --gpus=0,1 ppocr.train", None),
        ("python -m other.module train.py", None),
        ("python -c pass", None),
        ("python", None),
        ("bash train.sh", None),
    ],
)
def test_the_script_of_a_command_is_found(command: str, place: int | None) -> None:
    assert script_place(tuple(command.split())) == place


def test_a_command_that_cannot_be_observed_runs_as_it_is_and_the_file_says_why(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "ops.json"
    assert observed(("bash", "train.sh"), out) == ("bash", "train.sh")
    assert "not a python script" in json.loads(out.read_text())["error"]


def observe(
    bench: Bench, executor: LocalExecutor, text: str, *before: str, warm: bool = False
) -> dict[str, Any]:
    """Run a script with and without the count: nothing but the file may differ. The file."""
    bench.script(text, "counted.py")
    out = bench.directory / "evidence" / "ops.json"
    argv = (sys.executable, *before, "counted.py", "a", "--b=1")
    plain = bench.run(executor, bench.task(*argv, name="plain"))
    counted = bench.run(executor, bench.task(*argv, name="counted", observe=out, warm=warm))
    assert counted.warm == warm
    assert (counted.exit_code, counted.signal) == (plain.exit_code, plain.signal)
    if not before:
        assert bench.log("counted") == bench.log("plain")
    report: dict[str, Any] = json.loads(out.read_text())
    assert report["schema"] == "tipc.ops/1"
    return report


@pytest.mark.parametrize(
    "text",
    [
        "import sys\nprint(sys.argv, sys.orig_argv, sys.path, __file__)",
        "1 / 0",
        "print(",
        "import sys\nsys.exit('x')",
        POOL.format(method="spawn"),
    ],
)
def test_a_script_without_paddle_runs_the_same_and_the_file_says_why(
    bench: Bench, local: LocalExecutor, text: str
) -> None:
    if text == "print(":
        bench.script(text, "counted.py")
        out = bench.directory / "ops.json"
        assert bench.run(local, bench.task(sys.executable, "counted.py", observe=out)).exit_code == 1
        assert b"observ" not in bench.log()
        assert not out.exists()
    else:
        assert observe(bench, local, text)["error"] == "paddle was not imported"


def test_counts_of_an_earlier_run_do_not_count(bench: Bench, local: LocalExecutor) -> None:
    out = bench.directory / "ops.json"
    out.write_text("{}")
    bench.script("import os\nos._exit(0)", "quick.py")
    assert bench.run(local, bench.task(sys.executable, "quick.py", observe=out)).exit_code == 0
    assert not out.exists()


@pytest.mark.paddle
@pytest.mark.parametrize("warm", [False, True], ids=["cold", "warm"])
def test_convolutions_are_counted_by_type(paddle_stage: tuple[Bench, LocalExecutor], warm: bool) -> None:
    report = observe(*paddle_stage, CONV, warm=warm)
    assert report["operators"]["conv2d"] == {"fp32": 2, "fp16": 0, "bf16": 0, "other": 0}
    assert (report["device"], report["paddle"].count(".")) == ("cpu", 2)


@pytest.mark.paddle
@pytest.mark.parametrize("warm", [False, True], ids=["cold", "warm"])
def test_a_script_that_fails_is_counted_until_then(
    paddle_stage: tuple[Bench, LocalExecutor], warm: bool
) -> None:
    report = observe(*paddle_stage, CONV + "raise RuntimeError('late')\n", warm=warm)
    assert report["operators"]["conv2d"]["fp32"] == 2


@pytest.mark.paddle
def test_a_script_that_counts_by_itself_gets_its_own_numbers(
    paddle_stage: tuple[Bench, LocalExecutor],
) -> None:
    report = observe(*paddle_stage, OWN, warm=True)
    assert report["operators"]["conv2d"]["fp32"] == 3


@pytest.mark.paddle
def test_the_first_rank_of_a_launch_writes_the_counts(paddle_stage: tuple[Bench, LocalExecutor]) -> None:
    bench, executor = paddle_stage
    text = (
        CONV + "import os\nif os.environ['PADDLE_TRAINER_ID'] == '1':\n    conv(paddle.ones([1, 3, 8, 8]))\n"
    )
    bench.script(text, "counted.py")
    out = bench.directory / "launched.json"
    launch = (sys.executable, "-m", "paddle.distributed.launch", "--nproc_per_node=2", "--log_dir", "ranks")
    env = {**bench.env, "OMP_NUM_THREADS": "1"}
    task = bench.task(*launch, "counted.py", "a", observe=out, env=env, timeout=120.0)
    assert bench.run(executor, task).exit_code == 0, bench.log()
    assert json.loads(out.read_text())["operators"]["conv2d"]["fp32"] == 2
