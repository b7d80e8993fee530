"""The command as people call it: files, directories, formats, exit codes, --fix, explain."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from lint_examples import FULL, SLIM, replaced, without

from tipc.cli.main import main
from tipc.config.lint.codes import CODES
from tipc.config.lint.linter import lint_file

UPSTREAM = Path(os.environ.get("TIPC_UPSTREAM", Path(__file__).parents[2].parent / "shared" / "upstream"))


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a good config, a broken one, and texts that are no configs."""
    folder = tmp_path / "test_tipc" / "configs" / "toy"
    folder.mkdir(parents=True)
    (folder / "good.txt").write_text(SLIM, encoding="utf-8")
    (folder / "bad.txt").write_text(replaced(without(FULL, "pact_train"), "infer_quant", "infer_quant:Fasle"))
    (folder / "labels.txt").write_text("cat\ndog\n", encoding="utf-8")
    (tmp_path / "requirements.txt").write_text("numpy\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_text_has_the_place_the_carets_and_what_to_do(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lint"]) == 1
    out = capsys.readouterr().out
    head = "test_tipc/configs/toy/bad.txt:17:1  error TC012  a line is missing: expected `pact_train`, found"
    assert head in out
    assert "  17 │ fpgm_train:null\n" in out
    assert "     │ ^^^^^^^^^^ every value below is read 1 line too high" in out
    assert "fix: insert `pact_train:null` as line 17   (tipc lint --fix can do it)" in out
    assert out.endswith("1 error, 1 warning in 2 files\n")


def test_a_good_file_is_exit_code_0(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", "test_tipc/configs/toy/good.txt"]) == 0
    assert capsys.readouterr().out == "nothing found in 1 file\n"


def test_json_has_every_finding_with_its_place(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", "--format", "json", "."]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "tipc.lint/1"
    assert (document["files"], document["errors"], document["warnings"]) == (2, 1, 1)
    first = document["findings"][0]
    assert (first["code"], first["line"], first["column"], first["fixable"]) == ("TC012", 17, 1, True)


def test_github_annotations_name_file_line_and_code(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["lint", "--format", "github", "test_tipc"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(
        "::error file=test_tipc/configs/toy/bad.txt,line=17,col=1,endColumn=11,title=TC012::"
    )
    assert lines[1].startswith("::warning file=")
    assert "%0Afix: " in lines[0]


def test_fix_mends_in_place_and_the_next_lint_is_clean(
    repo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lint", "--fix"]) == 0
    assert "fixed test_tipc/configs/toy/bad.txt:17 TC012" in capsys.readouterr().out
    assert (repo / "test_tipc/configs/toy/bad.txt").read_text(encoding="utf-8") == FULL
    assert main(["lint"]) == 0


@pytest.mark.parametrize(
    "arguments",
    [["missing.txt"], ["--repo", "missing", "test_tipc"], ["no*.txt"], ["empty"]],
    ids=["file", "repo", "glob", "directory"],
)
def test_a_wrong_call_is_exit_code_2(
    repo: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (repo / "empty").mkdir()
    assert main(["lint", *arguments]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_an_unknown_dialect_is_exit_code_2(repo: Path) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["lint", "--dialect", "klingon"])
    assert caught.value.code == 2


def test_globs_and_files_are_taken_once(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = "test_tipc/configs/toy/good.txt"
    assert main(["lint", good, good, "test_tipc/**/good.txt"]) == 0
    assert "in 1 file" in capsys.readouterr().out


def test_notes_are_told_on_request_and_do_not_fail(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = repo / "test_tipc/configs/toy/good.txt"
    path.write_text(SLIM.rstrip("\n"), encoding="utf-8")
    assert main(["lint", str(path)]) == 0
    assert "(1 note: --notes shows them)" in capsys.readouterr().out
    assert main(["lint", "--notes", str(path)]) == 0
    assert "note TC004" in capsys.readouterr().out


def test_a_long_line_is_shown_around_its_finding(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = repo / "long.txt"
    words = " ".join(f"--option{n} {n}" for n in range(40))
    path.write_text(replaced(FULL, "norm_train", f"norm_train:tools/train.py {words} --seed 1 --seed 2"))
    assert main(["lint", str(path)]) == 1
    quoted = [line for line in capsys.readouterr().out.splitlines() if "│" in line]
    text, carets = quoted[-2], quoted[-1]
    assert len(text) < 120
    assert text[carets.index("^") :].startswith("--seed")


@pytest.mark.parametrize("identity", ["TC012", "tc033", "TF001", "TL101"])
def test_explain_knows_codes_fixes_and_checks(identity: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", identity]) == 0
    out = capsys.readouterr().out
    assert out.startswith(identity.upper())
    assert "reason" in out


def test_explain_of_an_unknown_id_suggests(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "TC0122"]) == 2
    assert "TC012" in capsys.readouterr().err


def upstream(*parts: str) -> list[Path]:
    if not UPSTREAM.is_dir():
        pytest.skip(f"no upstream configs at {UPSTREAM} (TIPC_UPSTREAM)")
    return sorted(UPSTREAM.glob("/".join(parts)))


def test_real_configs_have_only_faults_that_are_really_there() -> None:
    expected = {
        "TC004",
        "TC016",
        "TC017",
        "TC030",
        "TC034",
        "TC040",
        "TC063",
        "TC073",
        "TC033",
        "TC041",
        "TC050",
        "TC061",
        "TC081",
    }
    for path in upstream("*", "test_tipc", "**", "*.txt"):
        for finding in lint_file(path):
            assert finding.code in expected, finding


@pytest.mark.parametrize("family", ["models", "PaddleSeg", "PaddleOCR", "PaddleClas", "PaddleDetection"])
def test_a_line_removed_from_a_real_config_is_one_finding(family: str, tmp_path: Path) -> None:
    path = next(path for path in upstream(family, "test_tipc", "configs", "*", "*train_infer_python.txt"))
    lines = path.read_bytes().splitlines(keepends=True)
    usual = {finding.code for finding in lint_file(path)}
    rows = 32 if family == "models" else 51
    for number in range(rows - 3):
        broken = tmp_path / family / "test_tipc" / "configs" / "x.txt"
        broken.parent.mkdir(parents=True, exist_ok=True)
        broken.write_bytes(b"".join(lines[:number] + lines[number + 1 :]))
        found = [finding for finding in lint_file(broken) if finding.code not in usual]
        shifts = [finding.code for finding in found if finding.code.startswith("TC01")]
        assert len(shifts) == 1, (number, lines[number], found)
        assert len(found) <= 2, (number, lines[number], found)
    shutil.rmtree(tmp_path / family)


def test_the_manual_lists_every_code() -> None:
    manual = (Path(__file__).parents[2] / "docs" / "lint.md").read_text(encoding="utf-8")
    for code in CODES.values():
        assert f"| {code.code} | {code.severity} | {code.title} |" in manual


def test_codes_can_be_ignored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = tmp_path / "train_infer_python.txt"
    broken.write_text("")
    assert main(["lint", str(broken)]) == 1
    assert "TC001" in capsys.readouterr().out
    assert main(["lint", "--ignore", "TC001", str(broken)]) == 0


def test_a_finding_in_many_files_is_shown_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(5):
        path = tmp_path / "test_tipc" / "configs" / f"m{number}_train_infer_python.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(replaced(FULL, "infer_quant", "infer_quant:Fasle"))
    assert main(["lint", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert said.count("TC033") == 1
    assert "the same 4 times in other places" in said
    assert "5 warnings in 5 files" in said
    assert main(["lint", "--each", str(tmp_path)]) == 1
    assert capsys.readouterr().out.count("TC033") == 5
