"""The summary of a run: honest, aligned, and without control codes where nobody obeys them."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from fabric import Recipe, fabricate, stored

from tipc import language
from tipc.certify.verdict import Finding, Verdict
from tipc.cli.main import main
from tipc.kinds import FAIL, NOT_CERTIFIED, UNCHECKED
from tipc.reasons import because
from tipc.report.failures import failure_groups
from tipc.report.headline import headline
from tipc.report.history.history_store import entry_of
from tipc.report.terminal import write_summary
from tipc.report.view import label, view_of
from tipc.run.show import colour


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def summary(tmp_path: Path, recipe: Recipe) -> str:
    out = io.StringIO()
    write_summary(view_of(*fabricate(tmp_path, recipe)), out, tmp_path / "report.html")
    return out.getvalue()


def word(tmp_path: Path, recipe: Recipe, *findings: Finding, strict: bool = False) -> str:
    run, verdict = fabricate(tmp_path, recipe)
    if verdict is not None:
        verdict = replace(verdict, findings=(*verdict.findings, *findings), strict=strict)
    return str(headline(view_of(run, verdict)))


def test_a_passed_run_names_the_device_and_what_it_did_not_certify(tmp_path: Path) -> None:
    text = summary(tmp_path, Recipe())
    assert "PASSED on cpu · 10 steps, 2 skipped · 2 cells not certified" in text
    assert "not certified  no GPU on this machine" in text
    assert "skipped  infer ×2: no GPU on this machine" in text
    assert "TP301" in text
    assert "report: " in text


def test_the_rows_of_a_model_stand_below_each_other(tmp_path: Path) -> None:
    rows = [line for line in summary(tmp_path, Recipe()).splitlines() if line.startswith("  norm_train")]
    assert len(rows) == 2
    for name in ("train ✔", "eval ✔", "export ✔", "infer cpu fp32 ✔2"):
        assert len({row.index(name) for row in rows}) == 1


def test_wide_characters_keep_the_columns_aligned(tmp_path: Path) -> None:
    from rich.cells import cell_len

    run, verdict = fabricate(tmp_path)
    plan = run.plans[0]
    cells = (replace(plan.cells[0], trainer="正常训练"), plan.cells[1])
    out = io.StringIO()
    write_summary(view_of(replace(run, plans=(replace(plan, cells=cells),)), verdict), out)
    rows = [line for line in out.getvalue().splitlines() if " train ✔" in line]
    assert len({cell_len(row[: row.index("train ✔ ")]) for row in rows}) == 1


@pytest.mark.parametrize(
    ("recipe", "says"),
    [
        (Recipe(checks=False), "NOT CHECKED"),
        (Recipe(states={"gpu0-null/train": "failed"}), "FAILED"),
        (Recipe(states={"eval": "timeout"}), "FAILED"),
        (Recipe(states={"eval": "interrupted"}), "INTERRUPTED"),
        (Recipe(states={"infer": "pending"}), "INCOMPLETE"),
        (Recipe(states={"": "pending"}), "NOTHING RUN"),
        (Recipe(states={"eval": "flaky"}), "PASSED on cpu · 10 steps, 2 flaky"),
    ],
)
def test_the_headline_claims_no_more_than_was_shown(tmp_path: Path, recipe: Recipe, says: str) -> None:
    assert word(tmp_path, recipe).startswith(says)


def test_a_failed_or_missing_check_keeps_the_headline_from_passing(tmp_path: Path) -> None:
    broken = Finding("TP301", "parity", FAIL, "max |Δ| 0.3")
    unmade = Finding("TP301", "parity", UNCHECKED, "no parity.py")
    assert word(tmp_path, Recipe(), broken).startswith("FAILED · 10 steps, 2 skipped · 1 check failed")
    assert "1 check could not be made" in word(tmp_path, Recipe(), unmade)
    assert word(tmp_path, Recipe(), unmade).startswith("NOT CERTIFIED: parity unchecked")
    assert word(tmp_path, Recipe(), replace(unmade, required=False)).startswith("PASSED")


def test_strict_does_not_pass_what_is_not_certified(tmp_path: Path) -> None:
    missing = Finding("TA201", "AMP", NOT_CERTIFIED, "on a CPU")
    assert word(tmp_path, Recipe(), missing).startswith("PASSED")
    assert word(tmp_path, Recipe(), missing, strict=True).startswith("NOT CERTIFIED: mixed precision")


@pytest.mark.parametrize("checks", [True, False])
def test_a_part_of_the_chain_is_not_certified_whether_it_was_checked_or_not(
    tmp_path: Path, checks: bool
) -> None:
    run, verdict = fabricate(tmp_path, Recipe(states={"infer": "not selected"}, checks=checks))
    line = headline(view_of(run, verdict))
    assert str(line).startswith("NOT CERTIFIED: 4 of 10 steps were not selected · 10 steps")
    assert (line.word, line.tone) == ("NOT CERTIFIED", "open")
    assert entry_of(view_of(run, verdict)).word == "NOT CERTIFIED", "the history says the same"
    out = io.StringIO()
    write_summary(view_of(run, verdict), out)
    assert "NOT CERTIFIED: 4 of 10 steps were not selected · 10 steps" in out.getvalue()


def test_what_failed_in_a_part_of_the_chain_is_a_failure(tmp_path: Path) -> None:
    part = Recipe(states={"infer": "not selected"})
    assert word(tmp_path, part, Finding("TP301", "parity", FAIL, "max |Δ| 0.3")).startswith("FAILED")
    assert word(tmp_path, Recipe(states={**part.states, "eval": "failed"})).startswith("FAILED")


def test_a_failure_says_what_why_and_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "repo/test_tipc").mkdir(parents=True)
    (tmp_path / "repo/test_tipc/prepare.sh").touch()
    text = summary(tmp_path, Recipe(states={"gpu0-null/train": "failed"}))
    assert "FAILED  mobilenet_v3_small · norm_train-gpu0-null/train" in text
    assert "cause    ./lite_data/train_list.txt is not there" in text
    assert "try      tipc prepare" in text
    assert "eval ▫ blocked" in text
    full = summary(tmp_path, Recipe(states={"gpu0-null/train": "failed"}))
    assert "┆ FileNotFoundError: ./lite_data/train_list.txt" in full


def test_a_file_that_is_missing_among_the_results_of_each_cell_is_one_cause(tmp_path: Path) -> None:
    recipe = Recipe(models=("a", "b"), states={"infer": "failed"})
    run, verdict = fabricate(tmp_path, recipe)
    plans = []
    for plan in run.plans:
        results = f"./test_tipc/output/{plan.model}/lite_train_lite_infer"
        plans.append(replace(plan, results_log=f"{results}/results_python.log"))
        for step in plan.steps:
            result = run.results[plan.key, step.id]
            if result.state == "failed":
                Path(result.log).write_text(
                    f"RuntimeError: (NotFound) Cannot open file {results}/{step.cell}/inference.pdmodel, …"
                )
    [group] = failure_groups(view_of(replace(run, plans=tuple(plans)), verdict))
    assert len(group.failures) == 8
    assert group.first.cause == (
        "./test_tipc/output/a/lite_train_lite_infer/norm_train-gpu0-null/inference.pdmodel is not there"
    )


def test_many_configs_get_a_line_each_and_the_failed_ones_come_first(tmp_path: Path) -> None:
    recipe = Recipe(models=[f"model_{number:03d}" for number in range(80)], gpus=("0",))
    run, verdict = fabricate(tmp_path, recipe)
    last = run.plans[-1]
    step = last.steps[0]
    results = dict(run.results)
    results[last.key, step.id] = replace(
        results[last.key, step.id], state="failed", reason=because("exit", status=1)
    )
    out = io.StringIO()
    write_summary(view_of(replace(run, results=results), verdict), out)
    lines = out.getvalue().splitlines()
    assert lines[0].startswith("  model_079")
    assert "and 20 more; the report has them all" in out.getvalue()
    assert len(lines) < 90


def test_elsewhere_than_on_a_terminal_there_is_not_one_control_code(tmp_path: Path) -> None:
    nasty = "\x1b[31mred\x1b[0m\x07 \x9b2J ]]> <b>"
    recipe = Recipe(
        models=(nasty,), states={"gpu0-null/train": "failed"}, logs={"train": f"Error: {nasty}\n"}
    )
    recipe.name = "nasty"
    text = summary(tmp_path, recipe)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)


def test_a_terminal_gets_colours_but_none_from_the_logs(tmp_path: Path) -> None:
    out = Terminal()
    write_summary(view_of(*fabricate(tmp_path, Recipe(models=("\x1b[5mblink",), name="blink"))), out)
    assert not [line for line in out.getvalue().splitlines() if line.endswith(" ")]
    assert "\x1b[5m" not in out.getvalue()
    assert "PASSED on cpu" in out.getvalue()


def test_a_stream_without_unicode_still_tells_passed_from_failed(tmp_path: Path) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii", errors="strict")
    write_summary(view_of(*fabricate(tmp_path, Recipe(states={"gpu0-null/train": "failed"}))), stream)
    text = raw.getvalue().decode("ascii")
    assert "train FAILED" in text
    assert "train ok" in text


def test_the_same_finding_about_many_cells_is_told_once(tmp_path: Path) -> None:
    text = summary(tmp_path, Recipe(precisions=("amp",)))
    assert text.count("conv2d 0 of 52") == 1
    assert "×2" in next(line for line in text.splitlines() if "conv2d 0 of 52" in line)
    assert "try  Run on a GPU" in text


def test_an_empty_verdict_does_not_pass() -> None:
    assert not Verdict("x", ()).passed


def test_a_setting_is_named_by_what_sets_it_apart(tmp_path: Path) -> None:
    run, _ = fabricate(tmp_path)
    step = run.plans[0].steps[-1]
    settings = {"device": "cpu", "mkldnn": "True", "use_trt": "False", "batch_size": "6", "precision": "int8"}
    assert label(replace(step, settings=settings)) == "infer cpu int8 bs6 mkldnn"
    assert label(run.plans[0].steps[0]) == "train"


@pytest.mark.parametrize(
    ("stream", "when", "no_color", "expected"),
    [
        (io.StringIO, "auto", "", False),
        (io.StringIO, "always", "", True),
        (io.StringIO, "always", "1", True),
        (Terminal, "auto", "", True),
        (Terminal, "auto", "1", False),
        (Terminal, "never", "", False),
    ],
)
def test_colours_are_written_where_they_are_wanted(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    stream: type[io.StringIO],
    when: str,
    no_color: str,
    expected: bool,
) -> None:
    monkeypatch.setattr(colour, "_chosen", when)
    monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setenv("TERM", "xterm-256color")
    out = stream()
    write_summary(view_of(*fabricate(tmp_path)), out, None)
    assert ("\x1b[1;32m" in out.getvalue()) == expected
    assert "PASSED on cpu" in out.getvalue()


def test_color_is_an_option_of_every_command(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(colour, "_chosen", "auto")
    stored(*fabricate(home, Recipe(name="first")))
    assert main(["report", "first", "--color", "always"]) == 0
    assert "\x1b[" in capsys.readouterr().out
    assert main(["report", "--color=never", "first"]) == 0
    assert "\x1b[" not in capsys.readouterr().out
    assert main(["report", "--color", "sometimes"]) == 2
    assert "one of auto, always, never" in capsys.readouterr().err


@pytest.mark.parametrize("columns", [80, 100])
def test_on_a_narrow_terminal_a_step_is_not_torn_from_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("NO_COLOR", "1")
    out = Terminal()
    write_summary(view_of(*fabricate(tmp_path, Recipe())), out)
    text = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())
    table = text[: text.index("skipped")].splitlines()[1:]
    assert len(table) > 2, "it was broken"
    assert max(map(len, table)) <= columns
    assert sum(len(re.findall(r"(?:train|eval|export|fp32) ✔\d? \d+\.\ds", line)) for line in table) == 8


def test_in_chinese_a_finding_is_told_in_chinese(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "_chosen", "zh")
    text = summary(tmp_path, Recipe())
    assert re.search(r"TP301 +最大 \|Δ\| 3.1e-06", text)
