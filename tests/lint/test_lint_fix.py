"""``--fix``: only what a finding says, atomically, and once is enough."""

from __future__ import annotations

import os
from argparse import Namespace
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lint_examples import FULL, SLIM, replaced, with_line, without

from tipc.cli.lint_risk import plan_risk
from tipc.cli.main import main
from tipc.config.lint.finding import Edit
from tipc.config.lint.fix import apply, fixed, write_atomically
from tipc.config.lint.linter import lint_bytes
from tipc.config.source import source_of
from tipc.errors import TipcError
from tipc.plan.build import plan_source

HERE = Path("/nowhere/test_tipc/configs/toy/train_infer_python.txt")


def mend(text: str | bytes) -> tuple[str, list[str], list[str]]:
    data = text if isinstance(text, bytes) else text.encode()
    made = fixed(data, "c.txt", HERE)
    text = made.data.decode("utf-8", "surrogateescape")
    return text, [f.code for f in made.mended], [f.code for f in made.findings]


@pytest.mark.parametrize(
    ("broken", "code"),
    [
        (FULL.replace("\n", "\r\n"), "TC003"),
        (FULL.rstrip("\n"), "TC004"),
        ("\ufeff" + FULL, "TC005"),
        (without(FULL, "pact_train"), "TC012"),
        (without(FULL, "##"), "TC012"),
        (with_line(FULL, "trainer:", "   "), "TC011"),
        (with_line(FULL, "norm_train", "trainer:norm_train"), "TC011"),
        (replaced(FULL, "eval:", "evl:tools/val.py --config configs/toy.yml"), "TC013"),
        (replaced(FULL, "gpu_list", "gpu_list=0|0,1"), "TC021"),
        (replaced(FULL, "pact_train", "pact_train: null"), "TC030"),
        (replaced(FULL, "--enable_mkldnn", "--enable_mkldnn:True | False"), "TC031"),
        (replaced(FULL, "model_name", "model_name: toyseg "), "TC032"),
        (replaced(FULL, "infer_quant", "infer_quant:Fasle"), "TC033"),
        (FULL.replace("lite_train_lite_infer=20", "lite_train_lite_infre=20"), "TC040"),
        (FULL.replace("model.pdparams\ntrain_infer", "model.pdparams.pdparams\ntrain_infer"), "TC080"),
    ],
)
def test_a_mechanical_fault_is_mended_to_the_very_text_that_was_meant(broken: str, code: str) -> None:
    after, done, left = mend(broken)
    assert code in done
    assert left == []
    assert after == FULL


def test_blank_lines_go_where_they_count() -> None:
    after, done, left = mend(with_line(SLIM, "##", ""))
    assert (after, done, left) == (SLIM, ["TC006"], [])


def test_many_faults_in_one_file_are_mended_together() -> None:
    text = replaced(without(FULL, "pact_train"), "infer_quant", "infer_quant:Fasle")
    text = replaced(text, "gpu_list", "gpu_list=0|0,1").replace("\n", "\r\n")
    after, done, left = mend(text)
    assert after == FULL
    assert sorted(done) == ["TC003", "TC012", "TC021", "TC033"]
    assert left == []


def test_what_cannot_be_mended_stays_and_is_told() -> None:
    text = replaced(without(FULL, "gpu_list"), "infer_quant", "infer_quant:Fasle")
    after, done, left = mend(text)
    assert done == ["TC033"]
    assert left == ["TC012"]
    assert "gpu_list" not in after


def test_a_good_file_is_left_alone() -> None:
    assert mend(FULL) == (FULL, [], [])


def test_edits_touch_their_lines_only() -> None:
    assert apply(b"a\nb\xff\r\nc", [Edit(1, "A")]) == b"A\nb\xff\r\nc\n"
    assert apply(b"a\nb\n", [Edit(2, "x", insert=True), Edit(1, None)]) == b"x\nb\n"


def test_writing_is_atomic_and_keeps_the_mode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "c.txt"
    path.write_bytes(b"old")
    path.chmod(0o640)
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640

    def refuse(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", refuse)
    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, b"half")
    assert path.read_bytes() == b"new"
    assert [p.name for p in tmp_path.iterdir()] == ["c.txt"]


def mutations() -> st.SearchStrategy[bytes]:
    """Real-looking files in which lines were removed, doubled, swapped, cut or spoilt."""
    lines = st.sampled_from([FULL.splitlines(), SLIM.splitlines()])

    @st.composite
    def mutated(draw: st.DrawFn) -> bytes:
        text = list(draw(lines))
        for _ in range(draw(st.integers(0, 5))):
            n = draw(st.integers(0, max(len(text) - 1, 0)))
            kind = draw(st.sampled_from(("drop", "double", "swap", "noise", "cut", "blank", "cr", "equals")))
            if not text:
                break
            if kind == "drop":
                del text[n]
            elif kind == "double":
                text.insert(n, text[n])
            elif kind == "swap":
                text[n], text[0] = text[0], text[n]
            elif kind == "noise":
                text[n] = draw(st.text(max_size=30)).replace("\n", " ")
            elif kind == "cut":
                text = text[:n]
            elif kind == "blank":
                text.insert(n, draw(st.sampled_from(("", " ", "\t"))))
            elif kind == "cr":
                text[n] += "\r"
            else:
                text[n] = text[n].replace(":", "=", 1)
        ending = draw(st.sampled_from(("\n", "", "\r\n")))
        return ("\n".join(text) + ending).encode("utf-8", "surrogateescape")

    return mutated()


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.binary(max_size=400), mutations(), st.text(max_size=200).map(str.encode)))
def test_any_bytes_give_findings_or_none_and_mending_twice_is_mending_once(data: bytes) -> None:
    for finding in lint_bytes(data, "c.txt", HERE):
        lines = data.decode("utf-8", "surrogateescape").split("\n")
        assert 0 <= finding.line <= len(lines)
        assert finding.length >= 1
        assert finding.message
        assert finding.detail
        assert finding.fix
    once = fixed(data, "c.txt", HERE)
    twice = fixed(once.data, "c.txt", HERE)
    assert twice.data == once.data
    assert twice.mended == []
    assert len(once.findings) <= len(lint_bytes(data, "c.txt", HERE))
    refused = {refusal.finding.code for refusal in once.refused}
    assert not [finding for finding in once.findings if finding.edits and finding.code not in refused]


@settings(max_examples=60, deadline=None)
@given(mutations())
def test_mending_with_a_plan_at_hand_never_loses_a_command_and_is_done_at_once(data: bytes) -> None:
    asked = Namespace(repo="", dialect="")
    risk = plan_risk(str(HERE), asked)
    before = lint_bytes(data, "c.txt", HERE)
    once = fixed(data, "c.txt", HERE, risk=risk)
    assert not commands_of(data) - commands_of(once.data)
    assert len(once.findings) < len(before) or once.data == data
    twice = fixed(once.data, "c.txt", HERE, risk=risk)
    assert (twice.data, twice.mended) == (once.data, [])


def commands_of(data: bytes) -> Counter[str]:
    """How many commands of each kind a text plans; none where it cannot be planned."""
    found: Counter[str] = Counter()
    for mode in ("lite_train_lite_infer", "whole_infer"):
        with suppress(TipcError):
            found.update(step.kind for step in plan_source(source_of(data, str(HERE)), mode).steps)
    return found


# ------------------------------------------------------------------- the command, with a plan at hand


def config_in(root: Path, text: str, script: str = "") -> Path:
    path = root / "test_tipc" / "configs" / "train_infer_python.txt"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    if script:
        (root / "test_tipc" / "test_train_inference_python.sh").write_text(script)
    return path


def test_the_file_of_an_unknown_script_is_never_changed(tmp_path: Path, capsys) -> None:
    text = replaced(FULL, "pact_train", "pact_train: null").replace("\n", "\r\n")
    path = config_in(tmp_path, text, "echo my own script\n")
    for option in ("--fix", "--unsafe-fixes"):
        main(["lint", option, str(path)])
        assert path.read_bytes() == text.encode()
        assert "is not known" in capsys.readouterr().out


def test_a_fix_that_loses_commands_is_undone_and_told(tmp_path: Path, capsys, monkeypatch) -> None:
    path = config_in(tmp_path, replaced(FULL, "infer_quant", "infer_quant:Fasle"))
    before = path.read_bytes()
    monkeypatch.setattr("tipc.cli.lint_risk._steps", fewer_after(before))
    assert main(["lint", "--fix", str(path)]) == 1
    said = capsys.readouterr().out
    assert path.read_bytes() == before
    assert "not fixed" in said
    assert "the plan would lose 1 infer" in said
    assert main(["lint", "--unsafe-fixes", str(path)]) == 0
    assert f"risk {path}: the plan would lose 1 infer" in capsys.readouterr().out
    assert path.read_text() == FULL


def fewer_after(before: bytes):
    return lambda path, data, options: Counter(infer=2 if data == before else 1)


def test_an_evaluation_that_is_lost_is_not_replaced_by_null(tmp_path: Path) -> None:
    path = config_in(tmp_path, without(FULL, "eval:"))
    before = path.read_text()
    main(["lint", "--fix", str(path)])
    assert path.read_text() == before


def test_diff_shows_and_changes_nothing(tmp_path: Path, capsys) -> None:
    path = config_in(tmp_path, replaced(FULL, "pact_train", "pact_train: null"))
    before = path.read_text()
    assert main(["lint", "--diff", str(path)]) == 0
    said = capsys.readouterr().out
    assert "-pact_train: null\n+pact_train:null\n" in said
    assert path.read_text() == before


def test_a_safe_fix_is_made_and_leaves_the_plan_as_large(tmp_path: Path, capsys) -> None:
    path = config_in(tmp_path, without(FULL, "pact_train"))
    assert main(["lint", "--fix", str(path)]) == 0
    assert path.read_text() == FULL
    assert "fixed" in capsys.readouterr().out
    assert main(["lint", "--fix", str(path)]) == 0
    assert path.read_text() == FULL
