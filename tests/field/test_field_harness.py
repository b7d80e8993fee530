"""The field harness itself: its data, its rows, its table. The chains need checkouts: ``make field``."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from field import __main__ as command
from field import data, plans
from field.bash_run import BashSays
from field.recorder import recorder
from field.rows import REPOSITORIES, ROWS, on_a_cpu
from field.table import Result, load, markdown, save
from field.tipc_run import PROJECT, TipcSays, commit_of
from field.work import held

GOOD_BASH = BashSays(successes=3, failures=0, exit=0, seconds=9.0, broken=[], commands=3)
PASSED = TipcSays(0, "PASSED on cpu · 3 steps", 8.0, [], [], [])
FAILED = TipcSays(1, "FAILED · 3 steps, 1 failed", 8.0, ["TS001 fail infer: exit 1"], [], [])
ROW = next(row for row in ROWS if not row.fault)


def test_every_row_has_a_name_of_its_own_and_a_known_repository() -> None:
    assert len({row.id for row in ROWS}) == len(ROWS)
    assert {row.repository for row in ROWS} == set(REPOSITORIES)


def test_every_repository_has_a_base_an_amp_and_a_pact_chain() -> None:
    for name in REPOSITORIES:
        assert {row.chain for row in ROWS if row.repository == name} == {"base", "AMP", "PACT"}


@pytest.mark.parametrize(
    ("repository", "line", "changed"),
    [
        ("PaddleSeg", "gpu_list:0|0,1", "gpu_list:-1"),
        ("PaddleSeg", "--device:cpu|gpu", "--device:cpu"),
        ("PaddleClas", "-o Global.use_gpu:True|False", "-o Global.use_gpu:False"),
        ("PaddleOCR", "Global.use_gpu:True|True", "Global.use_gpu:False"),
        ("PaddleDetection", "pretrain_weights:https://x/y", "pretrain_weights:null"),
        ("models", "--use-gpu:True|False", "--use-gpu:False"),
        ("models", "--img-path:./images/demo.jpg", "--img-path:./images/demo.jpg"),
    ],
)
def test_a_config_is_taken_to_a_cpu(repository: str, line: str, changed: str) -> None:
    assert on_a_cpu(line, REPOSITORIES[repository].edits) == changed


@pytest.mark.parametrize("draw", [draw for one in REPOSITORIES.values() for draw in one.datasets])
def test_data_are_drawn_the_same_every_time(draw: data.Draw, tmp_path: Path) -> None:
    for place in ("one", "two"):
        draw(tmp_path / place)
    first = {path.relative_to(tmp_path / "one"): path.read_bytes() for path in files(tmp_path / "one")}
    second = {path.relative_to(tmp_path / "two"): path.read_bytes() for path in files(tmp_path / "two")}
    assert first == second
    assert len(first) >= (1 if draw is data.start_weights else 8)


def files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


def test_every_line_of_a_list_names_a_picture_that_is_there(tmp_path: Path) -> None:
    data.imagenet(tmp_path)
    data.people(tmp_path)
    for name in ("dataset/ILSVRC2012/train_list.txt", "test_tipc/data/mini_supervisely/val.txt"):
        for line in (tmp_path / name).read_text().splitlines():
            assert (tmp_path / name).with_name(line.split()[0].split("/")[0]).is_dir()
            assert ((tmp_path / name).parent / line.split()[0]).is_file()


def test_coco_boxes_lie_in_their_pictures(tmp_path: Path) -> None:
    data.coco(tmp_path)
    notes = json.loads((tmp_path / "dataset/coco/annotations/instances_train2017.json").read_text())
    sizes = {image["id"]: (image["width"], image["height"]) for image in notes["images"]}
    for box in notes["annotations"]:
        left, top, width, height = box["bbox"]
        assert left + width <= sizes[box["image_id"]][0]
        assert top + height <= sizes[box["image_id"]][1]
    assert len(notes["categories"]) == 80


@pytest.mark.parametrize(
    ("bash", "tipc", "right"),
    [
        (GOOD_BASH, PASSED, "bash and tipc"),
        (GOOD_BASH, FAILED, "bash"),
        (replace(GOOD_BASH, broken=["infer.py (exit 1)"]), FAILED, "tipc"),
        (replace(GOOD_BASH, broken=["infer.py (exit 1)"]), PASSED, "neither"),
        (replace(GOOD_BASH, failures=1, successes=2, broken=["x"]), FAILED, "bash and tipc"),
        (replace(GOOD_BASH, failures=1, successes=2), PASSED, "tipc"),
    ],
)
def test_who_is_right_follows_from_the_exit_codes(bash: BashSays, tipc: TipcSays, right: str) -> None:
    result = Result(ROW, "abc", bash, tipc)
    assert markdown([result]).splitlines()[2].endswith(f"| {right} |")


def test_the_table_says_by_what_code_on_what_day_and_under_what_load_its_rows_were_run() -> None:
    early = replace(PASSED, code="abc1234", date="2026-11-18", load=2.5)
    late = replace(FAILED, code="def5678-dirty", date="2026-11-19", load=0.5)
    said = markdown([Result(ROW, "abc", GOOD_BASH, early), Result(ROW, "abc", GOOD_BASH, late)])
    assert said.splitlines()[-1] == (
        "1 rows by abc1234, 2026-11-18; 1 rows by def5678-dirty, 2026-11-19; load 0.5 to 2.5;"
        " tipc is right in 1 of 2; the bash in 2."
    )


def test_code_that_was_changed_since_its_commit_is_marked(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=tmp_path, check=True)

    assert commit_of(tmp_path) == "unknown"
    (tmp_path / "code.py").write_text("one = 1\n")
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "one"], ["tag", "v1"]):
        git(*words)
    clean = commit_of(tmp_path)
    (tmp_path / "code.py").write_text("one = 2\n")
    assert re.fullmatch("[0-9a-f]{7}", clean)
    assert commit_of(tmp_path) == f"{clean}-dirty"


def test_a_second_call_in_one_work_folder_is_refused_while_the_first_works(tmp_path: Path) -> None:
    # A lock belongs to a process: the second call has to be another one.
    script = f"from pathlib import Path; from field.work import held\nwith held(Path({str(tmp_path)!r})): 1"
    second = [sys.executable, "-c", script]
    with held(tmp_path):
        refused = subprocess.run(second, cwd=PROJECT, capture_output=True, text=True, check=False)
    after = subprocess.run(second, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert refused.returncode != 0
    assert "another call of the field works here" in refused.stderr
    assert "--work DIR" in refused.stderr
    assert after.returncode == 0, after.stderr


def test_a_known_fault_makes_a_row_dishonest_though_all_commands_ended_well() -> None:
    result = Result(replace(ROW, fault="it quantises nothing"), "abc", GOOD_BASH, FAILED)
    assert not result.honest
    assert result.tipc_is_right
    assert not result.bash_is_right


def test_a_result_is_kept_and_read_back(tmp_path: Path) -> None:
    result = Result(ROW, "abc", GOOD_BASH, FAILED)
    save(result, tmp_path / "result.json")
    assert load(ROW, tmp_path / "result.json") == result
    assert load(ROW, tmp_path / "none.json") is None


@pytest.mark.parametrize(
    ("name", "chain"),
    [
        ("train_infer_python.txt", "train"),
        ("train_ptq_infer_python.txt", "ptq"),
        ("model_linux_gpu_normal_normal_infer_python_linux_gpu_cpu.txt", "infer"),
        ("model_linux_gpu_normal_normal_infer_python_jetson.txt", "infer"),
        ("model_linux_gpu_normal_normal_paddle2onnx_python_linux_cpu.txt", "paddle2onnx"),
        ("model_linux_gpu_normal_normal_serving_python_linux_gpu_cpu.txt", "other"),
        ("model_linux_gpu_normal_normal_infer_cpp_linux_gpu_cpu.txt", "other"),
        ("MobileNetV3_large_x1_0_train_dy2static_python.txt", "dy2static"),
    ],
)
def test_a_chain_is_told_by_the_name_of_the_file(name: str, chain: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("===train_params===\nmodel_name:m\n", encoding="utf-8")
    assert plans.chain_of(tmp_path / name) == chain


def test_the_header_of_a_quantisation_says_more_than_its_name(tmp_path: Path) -> None:
    path = tmp_path / "model_linux_gpu_normal_normal_infer_python_linux_gpu_cpu.txt"
    path.write_text("===kl_quant_params===\nmodel_name:m\n", encoding="utf-8")
    assert plans.chain_of(path) == "ptq"


def test_without_checkouts_the_commands_skip_and_say_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("TIPC_FIELD", raising=False)
    assert command.main([]) == 0
    assert plans.main([]) == 0
    assert capsys.readouterr().out.count("skipped, TIPC_FIELD names no folder") == 2


SCRIPT = """\
export autocast=$2
CUDA_VISIBLE_DEVICES=3 python3 train.py "two words" --out=./o/x
(cd deploy && python3 infer.py)
printf '\\033[33m Run successfully with command - python3 train.py! \\033[0m\\n'
exit 4
"""


def test_a_recording_has_words_folder_device_variables_status_and_exit(tmp_path: Path) -> None:
    (tmp_path / "test_tipc/configs").mkdir(parents=True)
    (tmp_path / "deploy").mkdir()
    (tmp_path / "test_tipc/test_train_inference_python.sh").write_text(SCRIPT)
    (tmp_path / "test_tipc/configs/a.txt").write_text("x\nmodel_name:m\npython:python3\n")
    before = sorted(os.walk(tmp_path))
    with recorder(tmp_path, "models") as one:
        run = one.record("train", "test_tipc/configs/a.txt", "lite").as_json()
    assert run["commands"] == [
        {
            "argv": ["python3", "train.py", "two words", "--out=./o/x"],
            "cuda": "3",
            "env": {"autocast": "lite"},
        },
        {"argv": ["python3", "infer.py"], "cuda": None, "cwd": "deploy", "env": {"autocast": "lite"}},
    ]
    assert run["status"] == [" Run successfully with command - python3 train.py! "]
    assert run["exit"] == 4
    assert sorted(os.walk(tmp_path)) == before
