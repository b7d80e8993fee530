"""One test a rule: the code, the line, the column, and nothing else is found."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lint_examples import FULL, PER_MODE, SLIM, line_of, replaced, with_line, without

from tipc.config.lint.codes import CODES
from tipc.config.lint.finding import LintFinding
from tipc.config.lint.linter import REMARK_RULES, RULES, find_errors, lint_bytes, lint_file
from tipc.reasons import Reason

HERE = Path("/nowhere/test_tipc/configs/toy/train_infer_python.txt")


def lint(text: str | bytes, dialect: str | None = None, repo: Path | None = None) -> list[LintFinding]:
    data = text if isinstance(text, bytes) else text.encode()
    return lint_bytes(data, "c.txt", HERE, dialect=dialect, repo=repo)


def codes(text: str | bytes, dialect: str | None = None) -> list[tuple[str, int]]:
    return [(finding.code, finding.line) for finding in lint(text, dialect)]


@pytest.mark.parametrize("text", [SLIM, FULL], ids=["slim", "full"])
def test_a_good_config_has_no_findings(text: str) -> None:
    assert lint(text) == []


def every_line() -> list[tuple[str, int]]:
    return [(text, n) for text in (SLIM, FULL) for n in range(len(text.splitlines()))]


@pytest.mark.parametrize(("text", "number"), every_line())
def test_a_missing_line_is_one_finding_and_hides_nothing_below(text: str, number: int) -> None:
    lines = text.splitlines(keepends=True)
    gone = lines.pop(number)
    found = lint("".join(lines))
    shifts = [finding for finding in found if finding.code in ("TC011", "TC012", "TC013", "TC014", "TC017")]
    # Of the last two lines, which may be anything, only the number can be told.
    expected = ("TC017", "TC012") if number >= len(lines) - 1 else ("TC012",)
    assert [finding.code for finding in shifts if finding.code in expected] == [shifts[0].code], gone
    assert len(found) <= 2, (gone, found)
    # Lines that look the same (null:null twice) cannot be told apart.
    assert abs(shifts[0].line - (number + 1)) <= 3, (gone, shifts)


@pytest.mark.parametrize(("text", "number"), every_line())
def test_an_extra_line_is_one_finding(text: str, number: int) -> None:
    lines = text.splitlines(keepends=True)
    lines.insert(number, "something:else entirely\n")
    found = lint("".join(lines))
    assert [finding.code for finding in found] == ["TC011"], (number, found)
    assert abs(found[0].line - (number + 1)) <= 3


def test_a_missing_trainer_line_is_told_as_in_the_manual() -> None:
    text = without(FULL, "pact_train")
    (finding,) = lint(text)
    assert (finding.code, finding.line, finding.column, finding.length) == ("TC012", 17, 1, len("fpgm_train"))
    assert finding.message == "a line is missing: expected `pact_train`, found `fpgm_train`"
    assert finding.fix == "insert `pact_train:null` as line 17"
    assert "export and inference are silently dropped" in finding.detail


def test_a_missing_block_is_one_finding() -> None:
    text = without(without(without(FULL, "pact_train"), "fpgm_train"), "distill_train")
    (finding,) = lint(text)
    assert finding.code == "TC012"
    assert "3 lines are missing" in finding.message


@pytest.mark.parametrize("kept", [6, 12, 20, 30, 45])
def test_a_truncated_file_is_one_finding_at_its_end(kept: int) -> None:
    text = "".join(FULL.splitlines(keepends=True)[:kept])
    found = [finding for finding in lint(text) if finding.code == "TC010"]
    assert [finding.line for finding in found] == [kept]
    assert len([finding for finding in lint(text) if finding.code.startswith("TC01")]) == 1


@pytest.mark.parametrize("text", ["", "\n\n", "  \n", "\r\n"])
def test_an_empty_file_is_told(text: str) -> None:
    assert [code for code, _ in codes(text)] == ["TC001"]


def test_crlf_is_one_finding_for_the_file() -> None:
    assert codes(FULL.replace("\n", "\r\n")) == [("TC003", 1)]


def test_crlf_on_one_line_points_at_it() -> None:
    assert codes(FULL.replace("python3\n", "python3\r\n")) == [("TC003", 3)]


def test_bytes_that_are_no_text_are_told_with_their_place() -> None:
    found = lint(FULL.encode().replace(b"toyseg", b"toy\xffseg", 1))
    assert (found[0].code, found[0].line, found[0].column) == ("TC002", 2, 15)
    assert codes(FULL.encode().replace(b"toyseg", b"toy\0seg", 1))[0] == ("TC002", 2)


def test_a_byte_order_mark_is_told() -> None:
    assert codes("\ufeff" + FULL) == [("TC005", 1)]


def test_no_newline_at_the_end_is_only_a_note() -> None:
    (finding,) = lint(FULL.rstrip("\n"))
    assert (finding.code, finding.severity) == ("TC004", "note")


def test_a_blank_line_matters_where_the_script_counts_lines() -> None:
    assert codes(with_line(SLIM, "##", "")) == [("TC006", 12)]
    assert codes(with_line(FULL, "##", "")) == []


def test_a_line_of_blanks_is_a_line_too_many() -> None:
    assert codes(with_line(FULL, "trainer:", "   ")) == [("TC011", 15)]


@pytest.mark.parametrize(
    ("beginning", "new", "code"),
    [
        ("gpu_list", "gpu_list=0|0,1", "TC021"),
        ("--iters", f"--iters={PER_MODE.format(2, 2, 9)}", "TC021"),
        ("eval:", "eval=tools/val.py", "TC021"),
        ("python", "python", "TC020"),
        ("norm_train", "norm_train:tools/train.py --url http://host/x", "TC022"),
        ("infer_model", "infer_model:https://host/model.pdparams", "TC022"),
        ("pact_train", "pact_train: null", "TC030"),
        ("fpgm_export", "fpgm_export:null ", "TC030"),
        ("eval:", "eval:\tnull", "TC030"),
        ("--enable_mkldnn", "--enable_mkldnn:True| False", "TC031"),
        ("gpu_list", "gpu_list:0 |0,1", "TC031"),
        ("model_name", "model_name:toyseg ", "TC032"),
        ("train_infer_img_dir", "train_infer_img_dir: data/val.list", "TC032"),
        ("infer_quant", "infer_quant:Fasle", "TC033"),
        ("--enable_mkldnn", "--enable_mkldnn:Ture|False", "TC033"),
        ("--benchmark", "--benchmark:Treu", "TC033"),
        ("infer_quant", "infer_quant:false", "TC033"),
        ("--iters", "--iters:lite_train_lite_infer=20|whole_train_whole_infer=9", "TC041"),
        ("--iters", "--iters:20", "TC042"),
        ("trainer:", "trainer:norm_train|amp_train", "TC050"),
        ("trainer:", "trainer:norm_trian", "TC050"),
        ("trainer:", "trainer:norm_train|pact_train", "TC051"),
        ("trainer:", "trainer:norm_train|norm_train", "TC052"),
        ("gpu_list", "gpu_list:0|gpu1", "TC060"),
        ("gpu_list", "gpu_list:xx.xx.xx.xx,yy.yy.yy.yy;0,1", "TC061"),
        ("gpu_list", "gpu_list:xx.xx.xx.xx,192.168.0.2;0,1", "TC061"),
        ("gpu_list", "gpu_list:10", "TC062"),
        ("gpu_list", "gpu_list:0,1,2,3,4,5,6,7,8", "TC062"),
        ("train_model_name", "train_model_name:best_model/model.pdparams.pdparams", "TC080"),
        ("norm_train", "norm_train:tools/train.py --seed 1 --seed 2", "TC081"),
        ("norm_train", "norm_train:tools/train.py --iters 7", "TC081"),
        ("norm_train", "norm_train:tools/train.py -o a.b=1 -o a.b=2", "TC081"),
        ("norm_train", "norm_train:tools/train.py && rm -rf x", "TC082"),
        ("--device:cpu", "--device:cpu|cuda", "TC090"),
        ("--cpu_threads", "--cpu_threads:one", "TC091"),
        ("--iters", f"--iters:{PER_MODE.format('x', 2, 9)}", "TC091"),
        ("infer_model", "infer_model:a.pdparams|b.pdparams", "TC092"),
        ("--precision:fp32", "--precision:", "TC093"),
        ("eval:", "evla:tools/val.py", "TC013"),
    ],
)  # fmt: skip
def test_a_wrong_line_is_found_where_it_is(beginning: str, new: str, code: str) -> None:
    found = lint(replaced(FULL, beginning, new))
    assert {finding.code for finding in found} == {code}, found
    assert {finding.line for finding in found} <= {line_of(FULL, beginning), *range(36, 40)}


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        ("lite_train_lite_infre=2|lite_train_whole_infer=2|whole_train_whole_infer=9", "TC040"),
        ("lite_train_lite_infer|lite_train_whole_infer=2|whole_train_whole_infer=9", "TC043"),
        ("lite_train_lite_infer=2=3|lite_train_whole_infer=2|whole_train_whole_infer=9", "TC043"),
        (PER_MODE.format(2, 2, 9) + "|lite_train_lite_infer=3", "TC044"),
    ],
)  # fmt: skip
def test_the_items_of_a_per_mode_line_are_checked(new: str, expected: str) -> None:
    found = lint(replaced(FULL, "--iters", f"--iters:{new}"))
    assert [finding.code for finding in found] == [expected]
    assert found[0].column > len("--iters")


def test_ordinary_things_are_not_found() -> None:
    for beginning, new in [
        ("infer_quant", "infer_quant:False|True"),
        ("gpu_list", "gpu_list:-1"),
        ("gpu_list", "gpu_list:10.1.2.3,10.1.2.4;0,1"),
        ("--device:cpu", "--device:npu"),
        ("norm_train", "norm_train:tools/train.py -o a.b=1 -o a.c=2 --name 'x y'"),
        ("--precision:null", "--precision:fp16|null"),
        ("--iters", "null:null"),
        ("--batch_size", "--batch_size:null"),
    ]:
        text = replaced(FULL, beginning, new)
        if new.startswith("infer_quant"):
            text = replaced(
                replaced(text, "infer_model", "infer_model:a|b"), "infer_export", "infer_export:null|null"
            )
        assert lint(text) == [], new


def test_a_colon_in_a_value_is_fine_where_the_script_reads_the_whole_line() -> None:
    text = replaced(FULL, "infer_model", "infer_model:https://host/model.pdparams")
    assert "TC022" not in {finding.code for finding in lint(text, "det")}


def test_scripts_and_their_config_files_are_looked_for_in_the_repository(tmp_path: Path) -> None:
    for name in ("tools/train.py", "tools/export.py", "deploy/python/infer.py", "configs/toy.yml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (finding,) = lint(FULL, repo=tmp_path)
    assert (finding.code, finding.line, finding.column) == ("TC070", line_of(FULL, "eval:"), 6)
    (tmp_path / "tools/val.py").touch()
    assert lint(FULL, repo=tmp_path) == []
    (tmp_path / "configs/toy.yml").unlink()
    assert {finding.code for finding in lint(FULL, repo=tmp_path)} == {"TC071"}


def test_a_slip_of_the_pen_in_a_scripts_name_is_told_with_the_name_that_is_meant(tmp_path: Path) -> None:
    for name in ("tools/train.py", "tools/val.py", "tools/export.py", "deploy/python/infer.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for wrong, meant in (("tools/trian.py", "tools/train.py"), ("tools/quite_other.py", "")):
        found = lint(replaced(FULL, "norm_train", f"norm_train:{wrong}"), repo=tmp_path)
        (finding,) = [one for one in found if one.code == "TC070"]
        fix = dict(finding.params)["fix"]
        assert isinstance(fix, Reason)
        assert fix.code == ("lint-did-you-mean" if meant else "lint-correct-path")
        assert not meant or fix["text"] == meant


def test_all_findings_of_a_file_come_at_once_in_order() -> None:
    text = replaced(without(FULL, "pact_train"), "infer_quant", "infer_quant:Fasle")
    text = replaced(text, "gpu_list", "gpu_list=0")
    found = lint(text)
    assert [finding.code for finding in found] == ["TC021", "TC012", "TC033"]
    assert [finding.line for finding in found] == sorted(finding.line for finding in found)


def test_another_kind_of_config_is_not_held_against_the_training_layout() -> None:
    text = (
        "===========================ptq_params===========================\nmodel_name:toy\npython:python3\n"
    )
    assert lint(text) == []


def test_a_file_of_no_known_layout_gets_a_note_and_the_general_rules() -> None:
    found = lint("just:some\nother:Fasle\n")
    assert [(finding.code, finding.severity) for finding in found] == [
        ("TC009", "note"),
        ("TC033", "warning"),
    ]


def test_every_code_has_a_title_a_reason_and_a_remedy() -> None:
    for name, code in CODES.items():
        assert name == code.code
        assert code.severity in ("error", "warning", "note")
        assert code.title
        assert code.reason.endswith(".")
        assert code.remedy.endswith(".")


def test_every_rule_says_which_codes_it_finds() -> None:
    for rule in RULES:
        assert rule.__doc__
        assert rule.__doc__.startswith("TC")


def codes_of(rule: object) -> set[str]:
    """The codes that a rule's docstring names: ``TC020, TC021`` or ``TC010 to TC014``."""
    named, _, _ = (rule.__doc__ or "").partition(":")
    numbers = [int(number) for number in re.findall(r"TC(\d+)", named)]
    if " to " in named:
        numbers = list(range(numbers[0], numbers[1] + 1))
    return {f"TC{number:03}" for number in numbers} & set(CODES)


@pytest.mark.parametrize("rule", REMARK_RULES, ids=lambda rule: rule.__name__)
def test_what_plan_does_not_look_at_is_never_an_error(rule: object) -> None:
    assert codes_of(rule)
    assert not [code for code in codes_of(rule) if CODES[code].severity == "error"]


@pytest.mark.parametrize("text", [SLIM, FULL], ids=["slim", "full"])
def test_the_errors_alone_are_those_among_all_findings(text: str, tmp_path: Path) -> None:
    lines = text.splitlines(keepends=True)
    config = tmp_path / "train_infer_python.txt"
    for number in range(len(lines)):
        config.write_text("".join([*lines[:number], lines[number].replace(":", "="), *lines[number + 2 :]]))
        errors = [finding for finding in lint_file(config) if finding.severity == "error"]
        assert find_errors(config) == errors


@pytest.mark.parametrize(
    ("words", "shell"),
    [
        ('--shape="1,3;1,2"', ""),
        ("--shape='a|b' --when 'x > 1'", ""),
        ('--shape="1,3" ; rm x', ";"),
        ('--note="$(date)"', "$("),
        ('--shape="1,3;1,2', ";"),
    ],
)
def test_what_stands_between_quotes_is_no_shell_syntax(words: str, shell: str) -> None:
    found = lint(replaced(FULL, "norm_train", f"norm_train:tools/train.py {words}"))
    told = [dict(finding.params)["text"] for finding in found if finding.code == "TC082"]
    assert told == ([shell] if shell else [])


def test_a_line_too_many_behind_the_training_script_is_told_and_not_the_script() -> None:
    script = line_of(SLIM, "norm_train")
    lines = SLIM.splitlines()
    found = lint("\n".join([*lines[:script], "null:null", *lines[script:]]) + "\n")
    assert [(finding.code, finding.line) for finding in found] == [("TC011", script + 1)]
