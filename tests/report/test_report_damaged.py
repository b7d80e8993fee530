"""Files of a run that were damaged: one clear message or what can still be told, never a crash."""

from __future__ import annotations

import io
import json
import math
import os
import shutil
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from fabric import Recipe, fabricate, stored
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tipc.bounded
from damage import bad_bytes, bad_json
from tipc.certify import verdict_store
from tipc.certify.verdict import Verdict
from tipc.certify.verdict_store import load_verdict, save_verdict, verdict_from_json, verdict_to_json
from tipc.errors import EnvironmentProblem, TipcError, UsageError
from tipc.kinds import PASSED
from tipc.plan.model import Step
from tipc.report.as_json import json_parts
from tipc.report.figures import figures_of
from tipc.report.html.page import page
from tipc.report.junit import junit
from tipc.report.load import views_of_repository
from tipc.report.plain_text import log_end
from tipc.report.terminal import write_summary
from tipc.report.view import view_of
from tipc.run.record.results import StepResult
from tipc.run.record.run_store import load_run

FUZZ = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a run with one failure and one blocked step."""
    home = tmp_path_factory.mktemp("home")
    run, verdict = fabricate(home, Recipe(states={"infer": "failed"}))
    stored(run, verdict)
    return run.directory


@pytest.fixture
def damaged(whole: Path, tmp_path: Path) -> Callable[[str, bytes], Path]:
    """The run with other contents in one of its files."""
    copy = tmp_path / "run"
    shutil.copytree(whole, copy)

    def write(name: str, raw: bytes) -> Path:
        for file in ("journal.jsonl", "plan.jsonl", "environment.json", "verdict.json"):
            shutil.copyfile(whole / file, copy / file)
        (copy / name).write_bytes(raw)
        return copy

    return write


def tell_everything(directory: Path, *, html: bool = False) -> None:
    """What ``tipc report`` does. Only an error that has a message for the user may come out."""
    try:
        run = load_run(directory)
        view = view_of(run, load_verdict(run))
    except TipcError:
        return
    write_summary(view, io.StringIO())
    junit([view])
    json.loads("".join(json_parts([view])))
    if html:
        page([view], directory / "report.html")


@pytest.mark.parametrize("name", ["journal.jsonl", "plan.jsonl", "environment.json", "verdict.json"])
@FUZZ
@given(data=st.data())
def test_damaged_records_are_told_or_refused(
    whole: Path, damaged: Callable[[str, bytes], Path], name: str, data: st.DataObject
) -> None:
    raw = (whole / name).read_bytes()
    kind = data.draw(st.sampled_from((bad_bytes, bad_json)))
    if kind is bad_json and name in ("environment.json", "verdict.json"):
        raw = json.dumps(json.loads(raw)).encode() + b"\n"
    tell_everything(damaged(name, data.draw(kind(raw))), html=data.draw(st.integers(0, 9)) == 0)


KINDS: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "an endless device": lambda path: path.symlink_to("/dev/zero"),
    "a directory": lambda path: path.mkdir(),
    "a link to itself": lambda path: path.symlink_to(path),
    "gone": lambda path: None,
    "deeply nested": lambda path: path.write_text("[" * 100_000),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["journal.jsonl", "plan.jsonl", "environment.json", "verdict.json", "lock"])
def test_what_is_no_file_is_told_or_refused(whole: Path, tmp_path: Path, name: str, kind: str) -> None:
    shutil.copytree(whole, tmp_path / "run")
    (tmp_path / "run" / name).unlink(missing_ok=True)
    KINDS[kind](tmp_path / "run" / name)
    tell_everything(tmp_path / "run")


def test_a_record_that_is_a_hole_is_refused(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(whole, tmp_path / "run")
    monkeypatch.setattr(tipc.bounded.bounded_lines, "__defaults__", (1 << 20,))
    for name in ("plan.jsonl", "journal.jsonl"):
        with (tmp_path / "run" / name).open("wb") as file:
            file.truncate(1 << 40)
        with pytest.raises(UsageError, match="longer than 1 MiB"):
            load_run(tmp_path / "run")
        shutil.copyfile(whole / name, tmp_path / "run" / name)
    with (tmp_path / "run/verdict.json").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(EnvironmentProblem, match="longer than 1 MiB"):
        load_verdict(load_run(tmp_path / "run"))


# Words as logs of trainings, evaluations and benchmarks have them, and values that none should have.
WORDS = ("loss", "acc1", "mIoU", "avg_ips", "ips", "avg_batch_cost", "epoch", "iter", "eta", "lr", "data_num",
         "precision", "batch_size", "inference_time(ms)", "inference_time_p50(ms)", "cpu_rss(MB)",
         "[Eval]", "Env info", "Perf info", "Data info", "---")  # fmt: skip
VALUES = (
    "1",
    "0",
    "-1",
    "nan",
    "inf",
    "1e999",
    "9" * 400,
    "",
    "0.1/0.2",
    "None",
    "12.5 images/sec",
    "3%",
    "\x9b2J",
)


@st.composite
def odd_log(draw: st.DrawFn) -> bytes:
    """Lines that look like those of a log, with values that do not, between bytes that are no text."""
    lines = []
    for _ in range(draw(st.integers(0, 8))):
        pairs = draw(st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(VALUES)), max_size=4))
        text = ", ".join(f"{word}: {value}" for word, value in pairs)
        lines.append(f"[2026/11/15 20:12:00] root INFO: {text}".encode() + draw(st.binary(max_size=8)))
    return draw(st.sampled_from((b"\n", b"\r", b"\r\n", b""))).join(lines)


@settings(FUZZ, max_examples=500)
@given(raw=odd_log())
def test_any_log_gives_figures_or_none(tmp_path: Path, raw: bytes) -> None:
    log = tmp_path / "step.log"
    log.write_bytes(raw)
    for kind in ("train", "eval", "export", "infer"):
        step = Step(kind, kind, "cell", ("python",), {}, ".", "", (), (), "")
        figures = figures_of(step, StepResult("p", kind, PASSED, log=str(log)), ())
        assert all(math.isfinite(metric.value) for metric in figures.metrics)
    shown = "".join(log_end(str(log), 12)).replace("\t", "")
    assert not [sign for sign in shown if unicodedata.category(sign) == "Cc"]


def test_a_log_that_is_no_file_gives_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in ("", "a\0b", str(tmp_path), str(tmp_path / "pipe"), "/dev/zero", str(tmp_path / "no")):
        assert log_end(path, 12) == []


def test_runs_that_cannot_be_read_are_passed_over_where_others_can(home: Path) -> None:
    """``tipc docs`` and ``tipc check`` look at all runs of a repository."""
    run, verdict = fabricate(home, Recipe())
    stored(run, verdict)
    for name, text in (
        ("old", '{"event":"run","format":1,"id":"old","at":1.0}\n'),
        ("damaged", "{}\n{\n{}\n"),
    ):
        (home / "runs" / name).mkdir()
        (home / "runs" / name / "journal.jsonl").write_text(text)
    views = views_of_repository(Path(run.plans[0].repo), [])
    assert [view.run.id for view in views] == [run.id]


def test_a_finding_of_a_status_that_there_is_not_is_refused(tmp_path: Path) -> None:
    verdict = fabricate(tmp_path, Recipe())[1]
    assert verdict is not None
    data = verdict_to_json(verdict)
    assert verdict_from_json(data).findings
    data["findings"][0]["status"] = ""
    with pytest.raises(EnvironmentProblem, match="a damaged verdict"):
        verdict_from_json(data)


def test_a_verdict_has_a_finding_a_line_and_is_read_in_any_form(tmp_path: Path) -> None:
    run, verdict = fabricate(tmp_path, Recipe())
    assert verdict is not None
    path = run.directory / "verdict.json"
    data = verdict_to_json(verdict)
    save_verdict(run, verdict)
    lines = path.read_text().splitlines()
    assert json.loads("\n".join(lines)) == data
    assert [json.loads(line.rstrip(",")) for line in lines if line.startswith('{"')] == data["findings"]
    written = load_verdict(run)
    for text in (
        json.dumps(data),
        json.dumps(data, indent=1, ensure_ascii=False),
        json.dumps(data, indent=0),
    ):
        path.write_text(text)
        assert load_verdict(run) == written
    save_verdict(run, Verdict(run.id, ()))
    assert load_verdict(run) == Verdict(run.id, ())


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"status": "pass"', '"status": 7', "findings, 3, status"),
        ('{"check"', '{"check', "cannot be read"),
        ('{"check"', '["check"', "cannot be read"),
    ],
)
def test_a_damaged_finding_is_refused_with_its_place(tmp_path: Path, old: str, new: str, told: str) -> None:
    run, verdict = fabricate(tmp_path, Recipe())
    assert verdict is not None
    save_verdict(run, verdict)
    path = run.directory / "verdict.json"
    lines = path.read_text().splitlines()
    place = [number for number, line in enumerate(lines) if line.startswith('{"')][3]
    lines[place] = lines[place].replace(old, new, 1)
    path.write_text("\n".join(lines))
    with pytest.raises(EnvironmentProblem, match=told):
        load_verdict(run)


def test_a_verdict_that_is_too_long_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, verdict = fabricate(tmp_path, Recipe())
    assert verdict is not None
    save_verdict(run, verdict)
    monkeypatch.setattr(verdict_store, "OF_A_RUN", 1000)
    with pytest.raises(EnvironmentProblem, match="larger than"):
        load_verdict(run)
