"""What a config is told to be: chain, dialect and evidence; and that a dialect is a small table."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tipc.config.chains import chain_of
from tipc.config.dialects import NAMES, load
from tipc.config.identify import Identity, family_by_lines, find_repo, identify
from tipc.config.known_scripts import KNOWN
from tipc.config.scripts import digest, helpers_of, reading_script
from tipc.config.source import read_source, source_of
from tipc.errors import UsageError
from tipc.kinds import CHAINS, TRAIN_CHAIN

sys.path.insert(0, str(Path(__file__).parents[1] / "plan"))
from plan_samples import SAMPLES, write

ENGINE = Path(__file__).parents[2] / "src" / "tipc"
SCRIPT = "test_train_inference_python.sh"


def told(path: Path, repo: Path) -> Identity:
    return identify(read_source(path), repo)


def script(repo: Path, text: str, name: str = SCRIPT) -> Path:
    path = repo / "test_tipc" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def know(monkeypatch: pytest.MonkeyPatch, path: Path, repo: Path, family: str) -> None:
    monkeypatch.setitem(KNOWN[TRAIN_CHAIN], digest(str(path), str(repo)), family)


# ---------------------------------------------------------------------------------------------------- chains


@pytest.mark.parametrize(
    ("name", "first", "chain"),
    [
        ("a_train_infer_python.txt", "=====train_params=====", "train"),
        ("a.txt", "=====train_params=====", "train"),
        ("a_train_ptq_infer_python.txt", "=====train_params=====", "ptq"),
        ("a_train_ptq_infer_python.txt", "=====ptq_params=====", "ptq"),
        ("a_train_ptq_infer_python.txt", "=====kl_quant_params=====", "ptq"),
        (
            "a_linux_gpu_normal_normal_paddle2onnx_python_linux_cpu.txt",
            "===paddle2onnx_params===",
            "paddle2onnx",
        ),
        ("a.txt", "==== base_train ====", "dy2static"),
        ("model_linux_gpu_normal_normal_infer_python_linux_gpu_cpu.txt", "===my_model===", "infer"),
        ("model_linux_gpu_normal_normal_infer_python_jetson.txt", "===infer_params===", "infer"),
        ("a_infer_cpp_linux_gpu_cpu.txt", "===cpp_infer_params===", "infer_cpp"),
        ("inference_cpp.txt", "# model load config", "infer_cpp"),
        ("a_serving_cpp_linux_gpu_cpu.txt", "===serving_params===", "serving_cpp"),
        ("a_serving_python_linux_gpu_cpu.txt", "===serving_params===", "serving_python"),
        ("a_lite_model_serving_python_linux.txt", "===serving_infer_python_params===", "serving_python"),
        ("lite_arm_cpu_cpp.txt", "runtime_device:arm_cpu", "lite"),
        ("a.txt", "runtime_device:arm_cpu", "lite"),
        ("a_lite_cpp_arm_gpu_opencl.txt", "===lite_params===", "lite"),
        ("people_pipeline_python_linux.txt", "===pipeline_infer_python_params===", "pipeline"),
        ("a.txt", "2onnx: paddle2onnx", "paddle2onnx"),
        ("a.txt", "trainer:norm_train", "train"),
        ("train_list.txt", "images/1.jpg 3", ""),
        ("requirements.txt", "numpy", ""),
    ],
)
def test_the_chain_is_told_by_header_name_and_lines(name: str, first: str, chain: str) -> None:
    found, evidence = chain_of(source_of(f"{first}\nmodel_name:x\n".encode(), name))
    assert found == chain
    assert bool(evidence) == bool(chain)
    assert not chain or chain in CHAINS


def test_a_byte_order_mark_hides_no_header() -> None:
    assert chain_of(source_of(b"\xef\xbb\xbf====ptq_params====\n", "x.txt"))[0] == "ptq"


# --------------------------------------------------------------------------------------------------- dialects


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_told_by_its_lines_even_with_one_missing_or_added(name: str) -> None:
    lines = SAMPLES[name].split("\n")
    variants = [lines, lines[:2] + lines[3:], [*lines[:5], "##", *lines[5:]], lines[:20] + lines[21:]]
    for variant in variants:
        assert family_by_lines(source_of("\n".join(variant).encode(), "x.txt"), TRAIN_CHAIN) == name


def test_a_file_of_another_kind_is_no_config(tmp_path: Path) -> None:
    path = write(tmp_path, "numpy\nopencv-python\n", "requirements.txt")
    identity = told(path, tmp_path)
    assert (identity.chain, identity.dialect, identity.native) == ("", None, False)
    assert "not a TIPC config" in str(identity.refusal())


def test_a_config_of_a_chain_without_table_and_script_is_refused_by_what_it_is(tmp_path: Path) -> None:
    path = write(tmp_path, "===serving_params===\nmodel_name:x\n", "a_serving_python_linux.txt")
    identity = told(path, tmp_path)
    assert not identity.native
    assert not identity.traceable
    assert "serving by a Python service" in str(identity.refusal())


@pytest.mark.parametrize(
    ("name", "directory"),
    [("seg", "paddleseg"), ("ocr", "ppocr"), ("clas", "ppcls"), ("det", "ppdet")],
)
def test_the_repositorys_package_decides_for_a_broken_file(tmp_path: Path, name: str, directory: str) -> None:
    path = write(tmp_path, "title\nmodel_name:x\n")
    (tmp_path / directory).mkdir()
    identity = told(path, tmp_path)
    assert (identity.dialect, identity.native) == (name, True)
    assert identity.evidence[1].kind == "repository"


def test_a_script_that_is_not_known_has_to_be_traced(tmp_path: Path) -> None:
    path = write(tmp_path, SAMPLES["models"])
    script(tmp_path, "echo my own script\n")
    identity = told(path, tmp_path)
    assert (identity.dialect, identity.native, identity.family) == (None, False, "models")
    assert identity.script == f"test_tipc/{SCRIPT}"
    assert "not known" in identity.evidence[-1].text


def test_a_known_script_decides_whatever_the_lines_look_like(tmp_path: Path, monkeypatch) -> None:
    know(monkeypatch, script(tmp_path, "echo a\n"), tmp_path, "seg")
    identity = told(write(tmp_path, SAMPLES["ocr"]), tmp_path)
    assert (identity.dialect, identity.native) == ("seg", True)


@pytest.mark.parametrize(
    "same", ["# a comment\r\necho a\r\n", "echo a\n\n\n# the end\n", "#!/bin/bash\necho a  \n   # more\n"]
)
def test_comments_blank_lines_and_line_ends_make_no_other_script(tmp_path: Path, same: str) -> None:
    path = script(tmp_path, "echo a\n")
    before = digest(str(path), str(tmp_path))
    path.write_text(same)
    assert digest(str(path), str(tmp_path)) == before
    path.write_text("echo b\n")
    assert digest(str(path), str(tmp_path)) != before


def test_a_changed_helper_makes_another_script(tmp_path: Path, monkeypatch) -> None:
    path = script(tmp_path, "source test_tipc/common_func.sh\nbash ${BASEDIR}/test_tipc/other.sh\n")
    helper = script(tmp_path, "function f(){ echo a; }\nsource test_tipc/deeper.sh\n", "common_func.sh")
    deeper = script(tmp_path, "echo c\n", "deeper.sh")
    other = script(tmp_path, "echo d\n", "other.sh")
    assert helpers_of(str(path), str(tmp_path)) == [str(helper), str(other), str(deeper)]
    know(monkeypatch, path, tmp_path, "seg")
    config = write(tmp_path, SAMPLES["seg"])
    assert told(config, tmp_path).native
    deeper.write_text("echo changed\n")
    assert not told(config, tmp_path).native


def test_a_script_that_only_calls_tipc_says_nothing(tmp_path: Path) -> None:
    path = write(tmp_path, SAMPLES["models"])
    script(tmp_path, 'tipc run "$1" "$2"\n')
    identity = told(path, tmp_path)
    assert (identity.dialect, identity.native, identity.script) == ("models", True, "")


@pytest.mark.parametrize(
    "text", ["# like tipc run\necho train\n", 'model=${lines[1]}\npython train.py; tipc run "$1"\n']
)
def test_a_script_that_speaks_of_tipc_and_does_something_else_is_traced(tmp_path: Path, text: str) -> None:
    path = write(tmp_path, SAMPLES["models"])
    script(tmp_path, text)
    identity = told(path, tmp_path)
    assert (identity.native, identity.script) == (False, "test_tipc/test_train_inference_python.sh")


def test_a_script_of_another_chain_does_not_read_the_file(tmp_path: Path) -> None:
    script(tmp_path, "echo train\n")
    path = write(tmp_path, "===paddle2onnx_params===\nmodel_name:x\n", "a_paddle2onnx_python.txt")
    assert told(path, tmp_path).script == ""


def test_the_script_beside_the_config_is_nearer_than_the_usual_one(tmp_path: Path) -> None:
    script(tmp_path, "echo usual\n")
    (tmp_path / "tests" / "config").mkdir(parents=True)
    (tmp_path / "tests" / "test.sh").write_text("echo own\n")
    (tmp_path / "tests" / "prepare.sh").write_text("echo data\n")
    config = tmp_path / "tests" / "config" / "a.txt"
    config.write_text("===train_params===\n")
    assert reading_script(str(config), str(tmp_path), TRAIN_CHAIN).path == "tests/test.sh"


def test_of_several_scripts_without_telling_names_none_is_chosen(tmp_path: Path) -> None:
    path = write(tmp_path, SAMPLES["models"])
    script(tmp_path, "echo a\n", "one.sh")
    script(tmp_path, "echo b\n", "two.sh")
    identity = told(path, tmp_path)
    assert identity.candidates == ("test_tipc/one.sh", "test_tipc/two.sh")
    assert not identity.native
    assert identity.traceable


def test_a_dialect_that_is_given_is_believed(tmp_path: Path) -> None:
    path = write(tmp_path, SAMPLES["models"])
    script(tmp_path, "echo my own script\n")
    identity = identify(read_source(path), tmp_path, dialect="models")
    assert identity.native
    assert identity.evidence[-1].text == "--dialect models"


def test_the_repository_is_the_directory_that_holds_test_tipc(tmp_path: Path, monkeypatch) -> None:
    path = write(tmp_path, "x")
    assert find_repo(path) == tmp_path
    monkeypatch.chdir(path.parent)
    assert find_repo(Path(path.name)).resolve() == tmp_path.resolve()


def test_an_unknown_dialect_is_an_error_that_lists_the_known() -> None:
    with pytest.raises(UsageError, match="there is no dialect `yolo`") as caught:
        load("yolo")
    assert "models" in caught.value.remedy


@pytest.mark.parametrize("name", NAMES)
def test_a_dialect_file_has_at_most_150_lines(name: str) -> None:
    path = ENGINE / "config" / "dialects" / f"{name}.py"
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 150


def test_nothing_asks_which_dialect_it_has() -> None:
    asks = re.compile(r"(dialect|\.name)\s*(==|!=|in)\s*\(?[\"'](" + "|".join(NAMES) + ")[\"']")
    for folder in ("config", "plan"):
        for path in (ENGINE / folder).rglob("*.py"):
            assert not asks.search(path.read_text(encoding="utf-8")), path
