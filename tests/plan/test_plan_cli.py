"""``tipc plan`` and ``tipc fixes`` as commands: what they print, and what they refuse."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from plan_samples import MODELS, SAMPLES, SEG, changed, write

from tipc.cli.main import main
from tipc.errors import UsageError
from tipc.plan.build import build_plan
from tipc.plan.fixes import FIXES
from tipc.plan.plan_json import SCHEMA, plan_from_json, plan_json_parts, plan_json_text, plan_to_json
from tipc.plan.request import Expansion, PlanOptions, expand

FIELDS = {"id", "kind", "cell", "argv", "env", "cwd", "log", "needs", "produces", "status_line"}


def test_the_cells_what_is_left_out_and_the_fixes_are_shown(tmp_path: Path, capsys) -> None:
    assert main(["plan", str(write(tmp_path, MODELS)), "lite_train_lite_infer", "--gpus", "0"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("toy · lite_train_lite_infer · dialect models")
    assert "train → eval → export → infer cpu ×2" in text
    assert "left out: infer ×4: no GPU on this machine" in text
    assert "TF001  the image path is passed to inference" in text


def test_json_has_one_object_a_line_and_the_fields_of_the_schema(tmp_path: Path, capsys) -> None:
    paths = [write(tmp_path, text, f"{name}_train_infer_python.txt") for name, text in SAMPLES.items()]
    assert main(["plan", *map(str, paths), "--json", "--as-upstream"]) == 0
    objects = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["dialect"] for one in objects] == list(SAMPLES)
    for one in objects:
        assert one["schema"] == SCHEMA
        assert set(one) >= {"config", "mode", "dialect", "fixes", "skipped", "steps"}
        assert one["fixes"] == []
        assert all(set(step) >= FIELDS for step in one["steps"])
        assert all("CUDA_VISIBLE_DEVICES" in step["env"] for step in one["steps"])
        assert plan_from_json(one).steps[0].argv[0] == "python3"


@pytest.mark.parametrize("dialect", SAMPLES)
def test_what_is_printed_is_the_plan_as_plain_data(plan, dialect: str) -> None:
    made = plan(dialect)
    assert made.skipped
    assert plan_json_text(made) == json.dumps(plan_to_json(made))
    [line] = "".join(plan_json_parts(made)).splitlines()
    assert json.loads(line) == plan_to_json(made)


def test_a_plan_of_another_schema_is_refused() -> None:
    with pytest.raises(UsageError, match="schema 99"):
        plan_from_json({"schema": 99})
    with pytest.raises(UsageError, match="not a plan"):
        plan_from_json({"schema": SCHEMA})


def test_a_wrong_type_in_a_plan_is_refused_with_its_place(tmp_path: Path, capsys) -> None:
    assert main(["plan", str(write(tmp_path, MODELS)), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    data["steps"][1]["argv"] = "python train.py"
    with pytest.raises(UsageError, match=r"not a plan: steps\.1\.argv"):
        plan_from_json(data)
    with pytest.raises(UsageError, match="not a JSON object"):
        plan_from_json([])  # type: ignore[arg-type]


@pytest.mark.parametrize("dialect", ["models", "clas"])
def test_the_commands_can_be_pasted_into_a_shell(tmp_path: Path, capsys, dialect: str) -> None:
    (tmp_path / "deploy").mkdir()
    recorder = tmp_path / "recorder"
    recorder.write_text('#!/bin/sh\nprintf "%s\\n" "$PWD ${CUDA_VISIBLE_DEVICES-unset} $*"\n')
    recorder.chmod(0o755)
    path = write(tmp_path, changed(SAMPLES[dialect], {4: "gpu_list:0"}))
    assert main(["plan", str(path), "--commands", "--python", str(recorder), "--gpus", "1"]) == 0
    text = capsys.readouterr().out
    subprocess.run(["bash", "-euc", text], cwd="/", check=True)
    assert main(["plan", str(path), "--json", "--python", str(recorder), "--gpus", "1"]) == 0
    for step in json.loads(capsys.readouterr().out)["steps"]:
        cwd = tmp_path if step["cwd"] == "." else tmp_path / step["cwd"]
        said = (tmp_path / step["log"]).read_text().strip()
        visible = step["env"]["CUDA_VISIBLE_DEVICES"]
        assert said == f"{cwd} {'unset' if visible is None else visible} {' '.join(step['argv'][1:])}"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b"\0\1\2", "binary"),
        (b"requests\nnumpy\n", "no dialect fits"),
        (MODELS.replace("python:python3", "python:").encode(), ":3:8: line 3 names no interpreter"),
        (MODELS.replace("eval:train.py", "eval:train.py ;").encode(), ":17:15: `;` means something"),
    ],
)
def test_bad_input_exits_2_with_its_place_and_prints_no_plan(
    tmp_path: Path, capsys, data, message: str
) -> None:
    path = write(tmp_path, data)
    assert main(["plan", str(path)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert str(path) in said.err
    assert message in said.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere.txt"], "nowhere.txt: there is no such config file"),
        (["*.nothing"], "no config file matches"),
        (["."], "there is no TIPC config in this directory"),
    ],
)
def test_a_config_that_is_not_there_exits_2(tmp_path: Path, monkeypatch, capsys, words, message: str) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["plan", *words]) == 2
    assert message in capsys.readouterr().err


def test_an_unknown_mode_exits_2_and_lists_the_known(tmp_path: Path, capsys) -> None:
    assert main(["plan", str(write(tmp_path, MODELS)), "lite_train"]) == 2
    assert "whole_infer" in capsys.readouterr().err


def test_each_of_several_plans_is_headed_by_its_file(tmp_path: Path, capsys) -> None:
    first, second = write(tmp_path, MODELS, "a.txt"), write(tmp_path, MODELS, "b.txt")
    assert main(["plan", str(first), str(second), "--mode", "lite_train_lite_infer"]) == 0
    text = capsys.readouterr().out
    assert "a.txt · toy · lite_train_lite_infer" in text
    assert "b.txt · toy · lite_train_lite_infer" in text


def test_every_error_of_several_configs_is_told_and_the_others_are_planned(tmp_path: Path, capsys) -> None:
    good = write(tmp_path, MODELS, "good_train_infer_python.txt")
    bad = [write(tmp_path, changed(MODELS, {3: "python:"}), f"bad{i}_train_infer_python.txt") for i in (1, 2)]
    assert main(["plan", str(good), *map(str, bad)]) == 2
    said = capsys.readouterr()
    assert said.out.count("dialect models") == 1
    assert all(str(path) in said.err for path in bad)


def test_bytes_that_are_no_text_are_printed_as_escapes(tmp_path: Path, capsys) -> None:
    data = MODELS.encode().replace(b"--seed 1", b"--seed \xff")
    assert main(["plan", str(write(tmp_path, data)), "--commands"]) == 0
    assert "\\udcff" in capsys.readouterr().out


def test_a_directory_a_glob_and_a_mode_are_understood(tmp_path: Path, monkeypatch) -> None:
    first = write(tmp_path, MODELS, "a_train_infer_python.txt")
    second = write(tmp_path, SEG, "b_train_infer_python.txt")
    write(tmp_path, "numpy\n", "requirements.txt")
    monkeypatch.chdir(tmp_path)
    both = (str(first), str(second))
    assert expand([str(tmp_path)], None) == Expansion(both, "")
    assert expand([str(tmp_path), "whole_infer"], None) == Expansion(both, "whole_infer")
    found = expand(["test_tipc/configs/*/a_*.txt", str(first)], "nightly")
    assert (Path(found.configs[0]).resolve(), found.mode) == (first.resolve(), "nightly")
    assert expand([str(first), "whole_infer"], "nightly").mode == "nightly"


def test_a_directory_leaves_out_other_chains_and_says_how_many(tmp_path: Path, capsys) -> None:
    write(tmp_path, MODELS, "a_train_infer_python.txt")
    for name in ("a", "b"):
        write(tmp_path, "===serving_params===\nmodel_name:x\n", f"{name}_serving_python_linux.txt")
    assert main(["plan", str(tmp_path)]) == 0
    said = capsys.readouterr()
    assert said.out.count("dialect models") == 1
    assert said.err == "left out: 2 configs for serving_python: the repository has no script for it\n"


ONNX = "===paddle2onnx_params===\nmodel_name:x\npython:python3\n"


def test_a_config_of_a_chain_without_the_mode_is_left_out_and_not_broken(tmp_path: Path, capsys) -> None:
    write(tmp_path, MODELS, "a_train_infer_python.txt")
    other = write(tmp_path, ONNX, "b_paddle2onnx_python.txt")
    assert main(["plan", str(tmp_path), "whole_infer"]) == 0
    assert capsys.readouterr().err == "left out: 1 config for paddle2onnx: it has no mode whole_infer\n"
    assert main(["plan", str(other), "whole_infer"]) == 2  # it was asked for by its name
    capsys.readouterr()
    assert main(["plan", str(tmp_path), "benchmark_train"]) == 2
    assert (
        "no config here has this mode, or a script: 1 for train, 1 for paddle2onnx" in capsys.readouterr().err
    )


def test_a_directory_with_something_broken_plans_the_rest_and_exits_2(tmp_path: Path, capsys) -> None:
    write(tmp_path, MODELS, "a_train_infer_python.txt")
    broken = write(tmp_path, "", "b_train_infer_python.txt")
    short = write(tmp_path, MODELS.replace("\neval:", "\n##\neval:"), "c_train_infer_python.txt")
    assert main(["plan", str(tmp_path)]) == 2
    said = capsys.readouterr()
    assert said.out.count("dialect models") == 1
    assert f"{broken}: TC001" in said.err
    assert f"{short}:17:1: TC011" in said.err


def test_an_error_that_lint_finds_stops_a_plan_but_not_one_as_upstream(tmp_path: Path, capsys) -> None:
    path = str(write(tmp_path, MODELS.replace("\neval:", "\n##\neval:")))
    assert main(["plan", path]) == 2
    assert "TC011" in capsys.readouterr().err
    assert main(["plan", path, "--as-upstream"]) == 0


def test_the_fixes_are_listed_with_their_reasons(capsys) -> None:
    assert main(["fixes"]) == 0
    text = capsys.readouterr().out
    assert all(f"{fix.id}  {fix.title}" in text for fix in FIXES.values())
    assert main(["fixes", "--json", "--dialect", "det"]) == 0
    assert {fix["id"] for fix in json.loads(capsys.readouterr().out)["fixes"]} >= {"TF011", "TF016"}


def test_the_module_runs_as_a_command_from_the_repository(tmp_path: Path) -> None:
    write(tmp_path, MODELS)
    done = subprocess.run(
        [sys.executable, "-m", "tipc", "plan", "test_tipc/configs/tiny/train_infer_python.txt", "--json"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    plan = json.loads(done.stdout)
    assert plan["config"] == "test_tipc/configs/tiny/train_infer_python.txt"
    assert plan["repo"] == str(tmp_path)


def test_planning_imports_nothing_heavy() -> None:
    program = "import sys, tipc.cli.plan, tipc.cli.fixes; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {
        "rich",
        "pydantic",
        "jinja2",
        "psutil",
        "subprocess",
        "shutil",
        "typing_extensions",
        "paddle",
    }


def test_the_step_that_prepares_is_shown(tmp_path: Path, capsys) -> None:
    config = write(tmp_path, MODELS)
    script = config.parents[2] / "prepare.sh"
    assert script.parent.name == "test_tipc"
    script.write_text("")
    assert main(["plan", str(config)]) == 0
    assert "\n  prepare: bash test_tipc/prepare.sh test_tipc/configs/" in capsys.readouterr().out
    assert main(["plan", str(config), "--no-prepare"]) == 0
    assert "prepare" not in capsys.readouterr().out


def test_lists_that_multiply_to_millions_of_commands_are_refused(tmp_path: Path) -> None:
    config = tmp_path / "test_tipc/configs/toy/train_infer_python.txt"
    config.parent.mkdir(parents=True)
    zoo = Path(__file__).parents[2] / "zoo/segmentation/test_tipc/configs"
    text = sorted(zoo.rglob("train_infer_python.txt"))[0].read_text(encoding="utf-8")
    many = "|".join(map(str, range(1, 200)))
    for name in ("batch_size:1|2", "cpu_threads:1"):
        assert f"--{name}\n" in text
        text = text.replace(f"--{name}\n", f"--{name.partition(':')[0]}:{many}\n")
    config.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match="multiply to more than"):
        build_plan(config, "lite_train_lite_infer", PlanOptions(dialect="seg"))
