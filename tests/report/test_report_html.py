"""The HTML page as text: complete, escaped, small, with no address of another host in it."""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from random import Random

import pytest
from fabric import Recipe, benchmark_log, fabricate
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tipc.plan.model import Plan
from tipc.reasons import Reason, because
from tipc.report.html.charts import axis, curve, thinned
from tipc.report.html.page import page
from tipc.report.view import RunView, view_of
from tipc.run.record.results import Run

HOSTILE = '</script><script>alert(1)</script><img src=x onerror=alert(2)>]]>"\' onload="x\x00\x1b[31m\u202e'


class Seen(HTMLParser):
    """The elements and the text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def view(tmp_path: Path, recipe: Recipe | None = None) -> RunView:
    return view_of(*fabricate(tmp_path, recipe))


def html(tmp_path: Path, recipe: Recipe | None = None) -> str:
    one = view(tmp_path, recipe)
    return page([one], one.run.directory / "report.html")


def test_the_page_has_everything_that_a_reader_looks_for(tmp_path: Path) -> None:
    seen = Seen(html(tmp_path, Recipe(precisions=("fp32", "amp"))))
    for text in (
        "PASSED on cpu",
        "Support matrix",
        "◇ cpu",  # the matrix does not claim a GPU
        "no GPU on this machine",
        "Latency by stage",
        "max |Δ| 3.1e-06",
        "Operator calls by type",
        "conv2d",
        "infer gpu use_trt=False precision=fp32 batch_size=1: no GPU on this machine",
        "python train.py --epochs=4",
        "Imaginary Xeon",
        "avg_ips: 14.2857 images/sec",  # the end of a log
        "paddlepaddle 3.1.1",
    ):
        assert text in seen.text, text
    drawn = [attrs for tag, attrs in seen.tags if tag == "svg" and attrs.get("role") == "img"]
    assert len(drawn) == 2 * 4 + 1  # loss and speed of four cells, and the timeline
    links = [
        attrs["href"] for tag, attrs in seen.tags if tag == "a" and attrs.get("href", "").startswith("./")
    ]
    assert links
    assert all((tmp_path / "runs" / links[0]).parent for _ in links)


def test_links_to_logs_lead_to_the_logs(tmp_path: Path) -> None:
    one = view(tmp_path)
    target = tmp_path / "elsewhere" / "deep" / "report.html"
    seen = Seen(page([one], target))
    logs = [
        attrs["href"] for tag, attrs in seen.tags if tag == "a" and str(attrs.get("href")).endswith(".log")
    ]
    assert logs
    for link in logs:
        assert Path(os.path.normpath(target.parent / str(link))).is_file()


def test_a_failed_step_is_open_and_shows_the_end_of_its_log(tmp_path: Path) -> None:
    (tmp_path / "repo/test_tipc").mkdir(parents=True)
    (tmp_path / "repo/test_tipc/prepare.sh").touch()
    text = html(tmp_path, Recipe(states={"gpu0-null/train": "failed"}))
    seen = Seen(text)
    opened = [attrs for tag, attrs in seen.tags if tag == "details" and "open" in attrs]
    assert {attrs["class"] for attrs in opened} == {"plan", "cell", "step"}
    assert "FileNotFoundError: ./lite_data/train_list.txt" in seen.text
    assert "train_infer_python.txt lite_train_lite_infer" in seen.text
    assert "tipc prepare " in seen.text


def test_no_other_host_is_named_as_a_source(tmp_path: Path) -> None:
    seen = Seen(html(tmp_path))
    for tag, attrs in seen.tags:
        for name in ("src", "href", "action", "data", "poster", "srcset"):
            value = attrs.get(name)
            assert value is None or value.startswith(("#", "./", "data:")), (tag, value)
    policy = [attrs.get("content") for tag, attrs in seen.tags if attrs.get("http-equiv")]
    assert "default-src 'none'" in str(policy)


def hostile(run: Run) -> Run:
    """The same run with the worst names that a config can have."""
    plans = []
    results = {}
    why = Reason(HOSTILE)
    for plan in run.plans:
        cells = tuple(
            replace(cell, trainer=HOSTILE, runs_on=HOSTILE, not_certified=(why,)) for cell in plan.cells
        )
        steps = tuple(
            replace(step, argv=(HOSTILE,), settings={"precision": HOSTILE, HOSTILE: HOSTILE}, device=HOSTILE)
            for step in plan.steps
        )
        skips = tuple(
            replace(skip, device=HOSTILE, settings={HOSTILE: HOSTILE}, reason=why) for skip in plan.skipped
        )
        named: Plan = replace(
            plan, model=HOSTILE, config=HOSTILE, cells=cells, steps=steps, skipped=skips, notes=(HOSTILE,)
        )
        plans.append(named)
        for step in plan.steps:
            results[named.key, step.id] = replace(
                run.results[plan.key, step.id], reason=because("not-started", error=HOSTILE)
            )
    return replace(run, plans=tuple(plans), results=results, environment={HOSTILE: HOSTILE}, argv=(HOSTILE,))


def test_hostile_names_and_logs_stay_text(tmp_path: Path) -> None:
    run, verdict = fabricate(tmp_path, Recipe(logs={"": HOSTILE + "\n"}))
    assert verdict is not None
    findings = tuple(
        replace(
            one,
            plan="",
            cell="",
            step="",
            status="fail",
            message=HOSTILE,
            title=HOSTILE,
            remedy=HOSTILE,
            evidence={HOSTILE: HOSTILE, "table": {HOSTILE: {HOSTILE: HOSTILE}}},
        )
        for one in verdict.findings
    )
    text = page([view_of(hostile(run), replace(verdict, findings=findings))], run.directory / "report.html")
    seen = Seen(text)
    assert [tag for tag, _ in seen.tags].count("script") == 1
    assert not [tag for tag, attrs in seen.tags if tag == "img"]
    assert not [attrs for _, attrs in seen.tags if any(name.startswith("on") for name in attrs)]
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\u202e]", text)
    assert "<script>alert(1)" in seen.text


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.text(st.characters(exclude_categories=()), min_size=1))
def test_whatever_a_model_is_called_the_page_keeps_its_form(tmp_path: Path, name: str) -> None:
    run, verdict = fabricate(tmp_path)
    plans = tuple(replace(plan, model=name) for plan in run.plans)
    text = page([view_of(replace(run, plans=plans), verdict)], run.directory / "report.html")
    text.encode()
    tags = [tag for tag, _ in Seen(text).tags]
    assert tags == [tag for tag, _ in Seen(page([view_of(run, verdict)], run.directory / "report.html")).tags]


def test_a_line_of_ten_megabytes_does_not_make_the_page_large(tmp_path: Path) -> None:
    text = html(
        tmp_path, Recipe(states={"gpu0-null/train": "failed"}, logs={"train": "x" * 10_000_000 + "\n"})
    )
    assert len(text) < 80_000


def test_fifty_configs_are_a_few_hundred_kilobytes(tmp_path: Path) -> None:
    text = html(tmp_path, Recipe(models=[f"model_{number}" for number in range(50)]))
    assert len(text.encode()) < 250_000
    for states in ({"train": "failed"}, {"infer": "failed"}):
        text = html(tmp_path, Recipe(models=[f"model_{number}" for number in range(50)], states=states))
        assert len(text.encode()) < 500_000


def test_on_a_large_page_the_insides_of_cells_are_packed_and_failures_are_not(tmp_path: Path) -> None:
    recipe = Recipe(
        models=[f"model_{number}" for number in range(25)], states={"gpu0,1-null/train": "failed"}
    )
    text = html(tmp_path, recipe)
    packed = re.search(r'id="packed">([^<]*)<', text)
    assert packed
    insides = json.loads(gzip.decompress(base64.b64decode(packed[1])))
    assert len(insides) == 25
    assert "CUDA_VISIBLE_DEVICES= python train.py --epochs=4" in insides[0]
    assert "avg_ips: 14.2857" in insides[0]
    assert "TP301" in insides[0]
    assert insides[0].count("<path d=") == 2, "loss and speed"
    cells = [attrs for _, attrs in Seen(text).tags if "cell" in (attrs.get("class") or "").split()]
    assert ["packed" in (attrs["class"] or "") for attrs in cells] == [True, False] * 25
    assert "infer cpu" in insides[0], "where the filter finds it"
    assert text.count("FileNotFoundError: ./lite_data/train_list.txt") >= 25


def test_several_runs_go_on_one_page_and_the_matrix_takes_the_newest(tmp_path: Path) -> None:
    old = view(tmp_path, Recipe(name="old", states={"train": "failed"}))
    new = view(tmp_path, Recipe(name="new", seed=1, started=1_800_000_000.0))
    text = page([old, new], tmp_path / "both.html")
    seen = Seen(text)
    assert "run old" in seen.text
    assert "run new" in seen.text
    matrix = text.split('id="matrix"')[1].split("</section>")[0]
    assert "failed" not in matrix


def test_a_run_without_a_verdict_without_logs_and_without_an_environment_has_a_page(tmp_path: Path) -> None:
    run, _ = fabricate(tmp_path, Recipe(states={"": "pending"}))
    text = page([view_of(replace(run, environment={}, ended=None), None)], tmp_path / "x.html")
    assert "NOTHING RUN" in text


def pictured(
    tmp_path: Path, options: tuple[str, ...], log: str, run_name: str
) -> list[dict[str, str | None]]:
    """The pictures on the page of a run whose inference saved ``results/demo.png``."""
    image = pytest.importorskip("PIL.Image")
    run, verdict = fabricate(tmp_path, Recipe(gpus=("0",), logs={"infer": log}, name=run_name))
    repo = Path(run.plans[0].repo)
    for folder in ("images", "results"):
        (repo / folder).mkdir(parents=True, exist_ok=True)
        image.new("RGB", (900, 700), "teal").save(repo / folder / "demo.png")
    (repo / "results" / "broken.png").write_bytes(b"\x89PNG no")
    (repo / "masks").mkdir(exist_ok=True)
    image.new("L", (900, 700), 1).save(repo / "masks" / "demo.png")
    (repo / "val.txt").write_text("images/other.png masks/other.png\nimages/demo.png masks/demo.png\n")
    os.utime(repo / "images" / "demo.png", (1, 1))  # long before the run
    plan = run.plans[0]
    for name in ("demo.png", "broken.png"):
        began = run.results[plan.key, plan.steps[-1].id].started
        os.utime(repo / "results" / name, (began, began))
    steps = tuple(
        replace(step, argv=(*step.argv, *options)) if step.kind == "infer" else step for step in plan.steps
    )
    changed = replace(run, plans=(replace(plan, steps=steps),))
    text = page([view_of(changed, verdict)], tmp_path / "report.html")
    return [attrs for tag, attrs in Seen(text).tags if tag == "img"]


@pytest.mark.parametrize(
    ("options", "log"),
    [
        (("--img-path=./images/demo.png", "--save-dir", "results"), ""),
        ((), "images/demo.png: class_id: 2, picture: results/demo.png\n"),
    ],
)
def test_pictures_stand_beside_their_inputs_and_broken_ones_do_no_harm(
    tmp_path: Path, options: tuple[str, ...], log: str
) -> None:
    pictures = pictured(tmp_path, options, log, "pictures")
    assert [str(attrs["alt"]) for attrs in pictures] == [
        "input demo.png",
        "ground truth demo.png",
        "prediction demo.png",
    ]
    assert all(len(str(attrs["src"])) < 20_000 for attrs in pictures)


def test_a_picture_that_this_step_did_not_write_is_not_shown(tmp_path: Path) -> None:
    assert pictured(tmp_path, ("--save-dir", "images"), "", "old") == []


def test_every_engine_that_a_step_measured_has_its_own_latencies(tmp_path: Path) -> None:
    second = "engine: native, precision: fp32\n" + benchmark_log(0.5, Random(1), 0.0, "m", "int8", "1")
    text = html(tmp_path, Recipe(logs={"infer": second + "engine: onednn, precision: int8\n"}, name="two"))
    seen = Seen(text).text
    assert "native fp32" in seen
    assert "onednn int8" in seen


def test_a_curve_keeps_its_ends_and_no_more_points_than_a_screen_has() -> None:
    points = thinned([float(number) for number in range(100_000)])
    assert points[0] == (0, 0.0)
    assert points[-1] == (99_999, 99_999.0)
    assert len(points) == 120
    assert curve("loss", "", []) == ""
    assert 'd="M0 50l300 0"' in curve("loss", "", [1.0])
    assert 'd="M0 100l150-100 150 50"' in curve("loss", "", [1.0, 3.0, 2.0])
    assert "&lt;b&gt;" in curve("<b>", "", [1.0, 2.0])
    assert 'data-x="&lt;|2"' in curve("loss", "", [1.0, 2.0], ["<", "2"])


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.5661, 2.31, [0, 1, 2, 3]),
        (0.0, 1.0, [0, 0.5, 1]),
        (7.9, 14.3, [7.5, 10, 12.5, 15]),
        (5.0, 5.0, [4.5, 5, 5.5]),
        (0.0, 0.0, [-1, 0, 1]),
        (-3e-7, 2e-7, [-4e-7, -2e-7, 0, 2e-7]),
    ],
)
def test_an_axis_has_round_numbers_around_the_values(low: float, high: float, ticks: list[float]) -> None:
    assert axis(low, high) == pytest.approx(ticks)


@given(st.floats(-1e12, 1e12), st.floats(-1e12, 1e12))
def test_whatever_the_values_an_axis_holds_them(one: float, other: float) -> None:
    ticks = axis(min(one, other), max(one, other))
    spare = 1e-6 * (ticks[-1] - ticks[0])
    assert 2 <= len(ticks) <= 8
    assert ticks[0] - spare <= min(one, other) <= max(one, other) <= ticks[-1] + spare


def test_steps_that_ran_at_once_lie_below_each_other(tmp_path: Path) -> None:
    run, verdict = fabricate(tmp_path, Recipe(gpus=("0",)))
    plan = run.plans[0]
    train, second = (plan.key, plan.steps[0].id), (plan.key, plan.steps[1].id)
    results = {**run.results, second: replace(run.results[second], started=run.results[train].started)}
    text = page([view_of(replace(run, results=results), verdict)], tmp_path / "x")
    assert re.findall(r'<svg class=lane viewBox="0 0 1000 (\d+)"', text) == ["4"]
    assert re.findall(r'class=k-eval d="M\d+ (\d+)h', text) == ["3"]
    assert set(re.findall(r'<svg class=lane viewBox="0 0 1000 (\d+)"', html(tmp_path))) == {"2"}
