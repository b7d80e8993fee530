"""Lint of configs whose script is none of ours: its own ``lines[N]`` are the layout."""

from __future__ import annotations

from pathlib import Path

import pytest
from lint_examples import FULL, SLIM, replaced, without

from tipc.cli.main import main
from tipc.config.lint.finding import LintFinding
from tipc.config.lint.linter import lint_bytes, lint_file
from tipc.config.lint.script_layout import layout_of_script

# A script as people write them: one more line than the usual layout (train_config), and modes of its own.
OWN = """
source test_tipc/common_func.sh
# MODE be one of ['quick' 'lite_train_lite_infer']
model_name=$(func_parser_value "${lines[1]}")
python=$(func_parser_value "${lines[2]}")
gpu_list=$(func_parser_value "${lines[3]}")
epoch_key=$(func_parser_key "${lines[4]}")
epoch_num=$(func_parser_params "${lines[4]}" "${MODE}")
save_model_key=$(func_parser_key "${lines[5]}")
train_config_key=$(func_parser_key "${lines[6]}")
train_config_value=$(func_parser_value "${lines[6]}")
trainer_list=$(func_parser_value "${lines[8]}")
trainer_norm=$(func_parser_key "${lines[9]}")
norm_trainer=$(func_parser_value "${lines[9]}")
eval_py=$(func_parser_value "${lines[10]}")
use_gpu_list=$(func_parser_value "${lines[11]}")
    inference_py=$(func_parser_value "${lines[2]}")
"""
HELPER = 'function func_parser_value(){ IFS=":"; array=(${1}); echo ${array[1]}; }\n'
CONFIG = """===========================train_params===========================
model_name:toy
python:python3
gpu_list:0|0,1
--epochs:quick=1|lite_train_lite_infer=2
--save:
--config:toy.yml
##
trainer:norm
norm_train:train.py
eval:null
--device:cpu|gpu
"""


def lint_own(root: Path, config: str, script: str = OWN) -> list[LintFinding]:
    folder = root / "test_tipc"
    folder.mkdir(exist_ok=True)
    (folder / "test_train_inference_python.sh").write_text(script)
    (folder / "common_func.sh").write_text(HELPER)
    path = folder / "train_infer_python.txt"
    path.write_text(config)
    return lint_file(path)


def test_the_layout_is_read_from_the_scripts_own_lines() -> None:
    layout = layout_of_script(OWN + HELPER)
    assert layout is not None
    assert layout.row("epoch").index == 4
    assert layout.row("epoch").reads == "kp"
    assert layout.row("train_config").reads == "kv"
    assert layout.row("trainer_list").reads == "l"
    assert layout.row("python").index == 2
    assert layout.row("python").kind == "python"
    assert layout.value == "second field"
    assert layout.length == 12


def test_a_script_that_goes_by_names_has_no_layout() -> None:
    assert layout_of_script("while read line; do echo $line; done") is None


def test_a_good_config_of_a_script_of_its_own_has_no_findings(tmp_path: Path) -> None:
    assert lint_own(tmp_path, CONFIG) == []


def test_without_a_layout_only_rules_for_every_file_fire(tmp_path: Path) -> None:
    config = CONFIG.replace("gpu_list:0|0,1", "gpu_list:xx.xx;0").replace("eval:null", "eval: null")
    assert [one.code for one in lint_own(tmp_path, config, "echo my own way\n")] == ["TC009"]


@pytest.mark.parametrize(
    ("old", "new", "code", "line"),
    [
        ("eval:null", "eval: null", "TC030", 11),
        ("eval:null", "eval: ", "TC034", 11),
        ("eval:null", "eval", "TC020", 11),
        ("--save:", "--save", "TC023", 6),
        ("quick=1|", "slow=1|", "TC040", 5),
        ("|lite_train_lite_infer=2", "", "TC041", 5),
        ("gpu_list:0|0,1", "gpu_list:a", "TC060", 4),
        ("gpu_list:0|0,1", "gpu_list:xx.xx.xx.xx,10.0.0.2;0", "TC061", 4),
        ("trainer:norm\nnorm_train:train.py", "norm_train:train.py\ntrainer:norm", "TC013", 9),
    ],
)
def test_real_defects_of_strangers_are_found(
    tmp_path: Path, old: str, new: str, code: str, line: int
) -> None:
    found = [(one.code, one.line) for one in lint_own(tmp_path, CONFIG.replace(old, new))]
    assert (code, line) in found


def at(text: str, name: str = "train_infer_python.txt") -> list[tuple[str, str]]:
    path = Path("/nowhere/test_tipc/configs/toy") / name
    return [(one.code, one.severity) for one in lint_bytes(text.encode(), name, path)]


@pytest.mark.parametrize("chain", ["ptq_params", "paddle2onnx_params", "serving_params", " base_train "])
def test_a_config_of_another_chain_is_not_measured_by_the_training_layout(chain: str) -> None:
    assert at(f"==={chain}===\nmodel_name:toy\npython: python3\ntrainer:PTQ\n", "a_serving_python.txt") == []


def test_a_file_whose_extension_is_there_twice_is_told() -> None:
    assert at(SLIM, "train_infer_python.txt.txt") == [("TC080", "warning")]


def test_a_benchmark_config_under_the_name_of_a_training_config_is_an_error() -> None:
    text = "===train_params===\nmodel_item:toy\nbs_item:1\nrun_mode:DP\ndevice_num:N1C1\npython:python3\n"
    assert at(text) == [("TC015", "error")]


@pytest.mark.parametrize("address", ["192.168.0.1,192.168.0.2", "10.0.0.1", "127.0.0.1", "node1,node2.local"])
def test_an_address_that_can_be_one_is_no_placeholder(address: str) -> None:
    assert at(replaced(SLIM, "gpu_list", f"gpu_list:{address};0,1")) == []


@pytest.mark.parametrize("address", ["xx.xx.xx.xx", "192.168.0.300", "<ip>", "ip1,ip2", "0.0.0.0"])
def test_a_placeholder_is_an_error(address: str) -> None:
    assert at(replaced(SLIM, "gpu_list", f"gpu_list:{address};0,1")) == [("TC061", "error")]


def test_several_gpus_after_one_without_an_export_are_told() -> None:
    without_export = replaced(FULL, "norm_export", "norm_export:null")
    assert ("TC063", "warning") in at(replaced(without_export, "gpu_list", "gpu_list:0|0,1"))
    assert ("TC063", "warning") not in at(replaced(without_export, "gpu_list", "gpu_list:0,1|0"))
    assert ("TC063", "warning") not in at(replaced(FULL, "gpu_list", "gpu_list:0|0,1"))


def test_an_inference_of_null_after_an_export_is_told() -> None:
    assert at(replaced(FULL, "inference:", "inference:null")) == [("TC072", "warning")]


def test_an_unknown_trainer_is_a_warning_because_the_bash_works() -> None:
    assert at(replaced(FULL, "trainer:", "trainer:norm")) == [("TC050", "warning")]


def test_a_file_that_ends_before_a_section_is_a_warning_and_inside_one_an_error() -> None:
    lines = FULL.splitlines(keepends=True)
    header = next(n for n, line in enumerate(lines) if "export_params" in line)
    assert at("".join(lines[:header])) == [("TC016", "warning")]
    assert ("TC010", "error") in at("".join(lines[: header + 4]))


def test_a_missing_script_is_told_with_the_one_that_is_meant(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "train.py").touch()
    path = tmp_path / "test_tipc" / "configs" / "train_infer_python.txt"
    path.parent.mkdir(parents=True)
    path.write_text(replaced(FULL, "norm_train", "norm_train:train.py"))
    (finding,) = [one for one in lint_file(path) if one.code == "TC070" and one.line == 16]
    assert finding.fix == "did you mean `tools/train.py`?"


def findings_in(root: Path, text: str) -> list[tuple[str, int]]:
    """What is found in a config of a repository with code, by code and line."""
    (root / "tools").mkdir(parents=True)
    for name in ("train", "val", "export", "infer"):
        (root / "tools" / f"{name}.py").touch()
    path = root / "test_tipc" / "configs" / "train_infer_python.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return [(one.code, one.line) for one in lint_file(path) if one.code in ("TC070", "TC071", "TC093")]


GOOD = FULL.replace("deploy/python/infer.py", "tools/infer.py").replace("configs/toy.yml", "toy")


def test_a_missing_script_of_a_trainer_that_is_not_listed_is_only_a_warning(tmp_path: Path) -> None:
    assert findings_in(tmp_path / "good", GOOD) == []
    text = replaced(GOOD, "distill_train", "distill_train:tools/gone.py")
    assert findings_in(tmp_path / "idle", text) == [("TC071", 19)]
    text = text.replace("trainer:norm_train", "trainer:norm_train|distill_train")
    assert findings_in(tmp_path / "listed", text) == [("TC070", 19)]


def test_a_missing_script_of_a_folder_that_is_fetched_first_is_only_a_warning(tmp_path: Path) -> None:
    text = replaced(GOOD, "norm_train", "norm_train:Other/tools/fit.py")
    for name, prepare, code in (
        ("fetched", "cd x; git clone https://example.com/Other.git", "TC071"),
        ("named", "echo Other  # git clone Other", "TC070"),
    ):
        folder = tmp_path / name / "test_tipc"
        folder.mkdir(parents=True)
        (folder / "prepare.sh").write_text(f"{prepare}\n")
        assert findings_in(tmp_path / name, text) == [(code, 16)]


def test_an_empty_list_of_an_inference_that_there_is_not_is_no_error(tmp_path: Path) -> None:
    text = replaced(GOOD, "--precision:fp32", "--precision:")
    line = 1 + text.splitlines().index("--precision:")
    assert findings_in(tmp_path / "infers", text) == [("TC093", line)]
    text = replaced(text, "inference:", "inference:null")
    assert findings_in(tmp_path / "null", text) == []


def test_an_option_behind_a_backslash_does_not_end_lint() -> None:
    text = replaced(FULL, "norm_train", "norm_train:tools/train.py --it\\ers 5 --iters 4")
    assert ("TC081", "warning") in at(text)


def test_a_lost_line_below_the_trainers_is_still_one_finding() -> None:
    assert at(without(FULL, "pact_train")) == [("TC012", "error")]


def test_a_fix_is_offered_only_where_the_script_is_known(tmp_path: Path, capsys) -> None:
    (tmp_path / "own").mkdir()
    lint_own(tmp_path / "own", CONFIG)
    own = tmp_path / "own/test_tipc/train_infer_python.txt"
    own.write_bytes(CONFIG.replace("\n", "\r\n").encode())
    usual = tmp_path / "train_infer_python.txt"
    usual.write_bytes(FULL.replace("\n", "\r\n").encode())
    main(["lint", str(usual)])
    assert "--fix can do it" in capsys.readouterr().out
    main(["lint", str(own)])
    told = capsys.readouterr().out
    assert "fix: " in told
    assert "--fix can do it" not in told
    before = own.read_bytes()
    main(["lint", "--fix", str(own)])
    assert "is not known, so what reads this file is not" in "".join(capsys.readouterr())
    assert own.read_bytes() == before


def test_a_script_that_tests_its_mode_is_asked_for_no_other(tmp_path: Path) -> None:
    only_in_a_comment = OWN.replace("'quick'", "'quick' 'whole_train_whole_infer'")
    assert [finding.code for finding in lint_own(tmp_path, CONFIG, only_in_a_comment)] == ["TC041"]
    tests_one = only_in_a_comment + 'if [ ${MODE} = "lite_train_lite_infer" ]; then echo; fi\n'
    assert lint_own(tmp_path, CONFIG, tests_one) == []


def test_an_inference_script_that_is_null_is_found_unless_the_script_looks(tmp_path: Path) -> None:
    reads = (
        'norm_export=$(func_parser_value "${lines[12]}")\ninference_py=$(func_parser_value "${lines[13]}")\n'
    )
    config = CONFIG + "norm_export:export.py\ninference:null\n"
    found = lint_own(tmp_path, config, OWN + reads)
    assert [finding.code for finding in found] == ["TC072"]
    assert found[0].line == 14
    looks = 'if [ ${inference_py} != "null" ]; then echo; fi\n'
    assert lint_own(tmp_path, config, OWN + reads + looks) == []
    assert lint_own(tmp_path, config.replace("export.py", "null"), OWN + reads) == []


def test_an_export_before_inference_that_is_another_is_told_in_the_specifications_lines() -> None:
    same = "tools/export_model.py --model=toy"
    slim = replaced(
        replaced(SLIM, "norm_export", f"norm_export:{same}"), "infer_export", f"infer_export:{same}"
    )
    assert at(slim) == []
    assert at(replaced(slim, "infer_export", "infer_export:null")) == []
    assert at(replaced(slim, "infer_export", "infer_export:tools/other.py")) == [("TC074", "warning")]
    assert at(replaced(FULL, "infer_export", "infer_export:tools/other.py")) == []
