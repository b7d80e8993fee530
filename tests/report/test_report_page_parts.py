"""What a reader does with the page: follow links, see what failed first, look back, read it in Chinese."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from fabric import Recipe, fabricate
from test_report_html import Seen, html, view

from tipc import language
from tipc.report.history.history_store import History
from tipc.report.html.anchors import Anchors
from tipc.report.html.ground_truth import Truth, truth_of
from tipc.report.html.page import page
from tipc.report.html.pictures import data_uri
from tipc.report.html.timeline import timeline
from tipc.report.load import past_for
from tipc.report.view import view_of

FAILING = {
    "norm_train-gpu0,1-null/train": "failed",
    "pact_train-gpu0-null/export": "timeout",
}


def ids(seen: Seen) -> list[str]:
    return [str(attrs["id"]) for _, attrs in seen.tags if attrs.get("id")]


def places(seen: Seen) -> list[str]:
    links = (str(attrs.get("href")) for tag, attrs in seen.tags if tag == "a")
    return [link[1:] for link in links if link.startswith("#")]


def test_every_link_inside_the_page_leads_somewhere_and_no_name_is_given_twice(tmp_path: Path) -> None:
    seen = Seen(html(tmp_path, Recipe(precisions=("fp32", "amp", "pact"), states=FAILING)))
    assert len(set(ids(seen))) == len(ids(seen))
    assert set(places(seen)) <= set(ids(seen))


def test_places_are_called_after_what_is_there(tmp_path: Path) -> None:
    seen = Seen(html(tmp_path))
    for name in ("", "/norm_train-gpu0-null", "/norm_train-gpu0-null/train"):
        assert f"mobilenet_v3_small/train_infer_python{name}" in ids(seen)


def test_names_of_places_are_fit_for_an_address_and_differ() -> None:
    anchors = Anchors()
    assert anchors.plan("run", "a", "a model/<b>", "x/train.txt") == "a-model/-b/train"
    assert anchors.plan("run", "b", "a model/<b>", "y/train.txt") == "a-model/-b/train~2"
    assert anchors.cell(("run", "b", "模型")) == "a-model/-b/train~2/-"


def test_each_field_of_the_matrix_is_a_link_to_its_cell(tmp_path: Path) -> None:
    text = html(tmp_path, Recipe(precisions=("fp32", "pact"), states=FAILING))
    matrix = text.split('<table class="matrix">')[1].split("</table>")[0]
    links = re.findall(r'<td><a href="#([^"]*)" class=([a-z-]*)', matrix)
    assert ("mobilenet_v3_small/train_infer_python/norm_train-gpu0,1-null", "failed") in links
    assert ("mobilenet_v3_small/train_pact_infer_python/pact_train-gpu0-null", "timeout") in links
    assert len(links) == 8


def test_what_failed_comes_first_by_cause_with_all_its_places(tmp_path: Path) -> None:
    models = [f"model_{number}" for number in range(9)]
    states = {"norm_train-gpu0,1-null/train": "failed"}
    run, _ = fabricate(tmp_path, Recipe(models=models, states=states))
    results = dict(run.results)
    for key in results:  # of the first five models everything passed
        if int(re.findall(r"model_(\d)", key[0])[0]) < 5:
            results[key] = replace(results[key], state="passed")
    text = page([view_of(replace(run, results=results), None)], tmp_path / "x.html")
    attention = text.split('id="attention"')[1].split("</section>")[0]
    assert text.index('id="attention"') < text.index('id="matrix"') < text.index('id="results"')
    assert attention.count('class="item"') == 1, "one cause"
    assert "and 1 more" in attention
    assert [f"#model_{number}/" in attention for number in range(9)] == [False] * 5 + [True] * 4
    plans = re.findall(r'<details class="plan" id="(model_\d)', text)
    assert plans == [models[number] for number in (5, 6, 7, 8, 0, 1, 2, 3, 4)]
    rows = re.findall(r'<tr data-of="(model_\d)"><th scope=row><a', text)
    assert rows[:4] == models[5:]


def test_what_the_machine_cannot_show_is_folded_away(tmp_path: Path) -> None:
    text = html(tmp_path, Recipe(precisions=("amp",)))
    assert 'id="attention"' not in text
    folded = text.split('id="uncertified"')[1].split("</section>")[0]
    assert folded.startswith('><details class="card quiet"><summary>')
    assert "TA201" in folded


def test_steps_that_need_two_cores_take_two_rows_of_the_timeline(tmp_path: Path) -> None:
    one = view(tmp_path)
    cells = {(one.plans[0].plan.key, cell.cell.id): number for number, cell in enumerate(one.plans[0].cells)}
    drawn = timeline(one, cells)
    assert drawn is not None
    assert drawn["names"] == ["core 1", "core 2"]
    training = re.findall(
        r'class=k-train data-kind="train" data-c="([^"]*)" d="([^"]*)"', str(drawn["paths"])
    )
    assert training[0][0] == "0 1 1", "the second training is a launch of two processes"
    assert [row for _, row in re.findall(r"M(\d+) (\d+)h", training[0][1])] == ["5", "5", "15"]
    assert drawn["ticks"][0] == ("0:00", "0.00")


def test_a_run_in_which_nothing_ran_has_no_timeline(tmp_path: Path) -> None:
    assert timeline(view(tmp_path, Recipe(states={"": "pending"})), {}) is None


def remembered(home: Path, count: int, **more: float) -> str:
    """The page of the last of some runs, all of which the history knows."""
    last = None
    for number in range(count):
        factor = more.get("slower", 1.0) if number == count - 1 else 1.0
        recipe = Recipe(
            seed=number, noise=0.01, started=1000.0 + 500 * number, name=f"r{number}", slower=factor
        )
        last = view_of(*fabricate(home, recipe))
        with History(home) as history:
            history.add(last)
    assert last is not None
    return page([last], last.run.directory / "report.html", past_for([last]))


def test_the_last_runs_are_in_the_page_with_their_results_and_figures(home: Path) -> None:
    text = remembered(home, 6)
    trends = text.split('id="trends"')[1].split("</section>")[0]
    assert trends.count("role=img aria-label=") == 6 + 4, "six results; time, speed, latency and accuracy"
    assert "time of all steps" in trends
    assert "latency" in trends
    assert "acc1" in trends
    assert len(re.findall(r'data-v="([^"]*)"', trends)[0].split()) == 6


def test_the_comparison_is_in_the_page(home: Path) -> None:
    compared = remembered(home, 8, slower=2.0).split('id="comparison"')[1].split("</section>")[0]
    assert '<b class="bad">regression</b>' in compared
    assert "worse" in compared
    equal = remembered(home, 8).split('id="comparison"')[1].split("</section>")[0]
    assert '<b class="good">no regression</b>' in equal


def test_a_first_run_has_neither_a_past_nor_a_comparison(home: Path) -> None:
    text = remembered(home, 1)
    assert 'id="trends"' not in text
    assert 'id="comparison"' not in text


def test_earlier_calls_of_a_run_are_no_runs_to_compare_with(home: Path) -> None:
    first, second = (
        view_of(*fabricate(home, Recipe(name=name, seed=seed, started=1000.0 + seed)))
        for seed, name in enumerate(("a", "b"))
    )
    with History(home) as history:
        history.add(first)
        history.keep_call("a", 1)
        history.add(second)
    past = past_for([second])
    assert past is not None
    assert [entry.id for entry in past.entries] == ["a", "b"]
    assert past.comparison is not None
    assert past.comparison.old.id == "a"
    assert past.entries[-1].figures
    assert past_for([first]) is None, "there was none before it"


def test_the_page_speaks_chinese(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "_chosen", "zh")
    seen = Seen(re.sub(r"<(style|script)\b.*?</\1>", "", remembered(home, 3), flags=re.DOTALL))
    assert ("html", {"lang": "zh-CN"}) in seen.tags
    assert "训练" in seen.text
    for text in ("支持矩阵", "时间线", "最近的运行", "与以前的一次运行对比", "各阶段延迟", "未认证", "损失"):
        assert text in seen.text, text
    english = ("Support matrix", "Results", "Timeline", "passed", "not certified", "Latency", "learning rate")
    assert [text for text in english if text in seen.text] == []


def test_the_ground_truth_of_a_picture_is_what_a_list_beside_it_says(tmp_path: Path) -> None:
    data = tmp_path / "data"
    for folder in ("images", "masks"):
        (data / folder).mkdir(parents=True)
    for name in ("images/a.jpg", "images/b.jpg", "images/c.jpg", "masks/a.png"):
        (data / name).write_bytes(b"")
    (tmp_path / "outside.png").write_bytes(b"")
    (data / "val.txt").write_text("images/a.jpg masks/a.png\nimages/b.jpg 3\nimages/c.jpg ../outside.png\n")
    assert truth_of(data, data / "images" / "a.jpg") == Truth(data / "masks" / "a.png")
    assert truth_of(data, data / "images" / "b.jpg") == Truth(label="3")
    assert truth_of(data, data / "images" / "c.jpg") == Truth(), "nothing from outside of the repository"
    assert truth_of(data, data / "images" / "d.jpg") == Truth()


def test_a_mask_of_class_numbers_is_coloured_and_a_photograph_is_not(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    mask, photograph = tmp_path / "mask.png", tmp_path / "photograph.png"
    image.new("L", (8, 8), 1).save(mask)
    image.new("L", (8, 8), 130).save(photograph)
    black = tmp_path / "black.png"
    image.new("L", (8, 8), 0).save(black)
    assert data_uri(mask) != data_uri(black)
    grey = image.new("RGB", (8, 8), (130, 130, 130))
    grey.save(tmp_path / "grey.png")
    assert data_uri(photograph) == data_uri(tmp_path / "grey.png")
