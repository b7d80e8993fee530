"""Predictions in the forms that scripts print, and what counts as the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipc.certify.evidence.predictions import class_of, compare_predictions, parse_line, read_predictions


@pytest.mark.parametrize(
    ("line", "image", "value"),
    [
        ("image_name: ./a/x.jpg, class_id: 8, prob: 0.91", "./a/x.jpg", {"class_id": 8.0, "prob": 0.91}),
        ("[2026-01-01] image: x.png class_id=3 score=0.5", "x.png", {"class_id": 3.0, "score": 0.5}),
        ('x.jpg\t[{"box": [1, 2]}]', "x.jpg", [{"box": [1, 2]}]),
        ('{"image": "b/x.png", "class_id": 1, "time": 3.2}', "b/x.png", {"class_id": 1}),
        (
            "x.png:\tclass id(s): [8, 7], score(s): [0.91, 0.05], label_name(s): ['cat', 'dog']",
            "x.png",
            {"class_id": [8.0, 7.0], "score": [0.91, 0.05]},
        ),
        ("x.png: class 2 (0.913)", "x.png", {"class": 2.0}),
        ("{'file_name': 'x.png', 'class_ids': [8], 'seen': None}", "x.png", {"class_ids": [8]}),
        ("[10:00:00] d/x.jpg: classes {0: 75.0%, 1: 25.0%}", "d/x.jpg", {"shares": {"0": 0.75, "1": 0.25}}),
    ],
)
def test_the_forms_that_scripts_print(line: str, image: str, value: object) -> None:
    assert list(parse_line(line)) == [(image, value)]


@pytest.mark.parametrize("line", ["saved to out/x.jpg", "x.jpg took 3.2 ms", "loss: 0.3", "epoch: 1", ""])
def test_other_lines_are_no_predictions(line: str) -> None:
    assert not list(parse_line(line))


@pytest.mark.parametrize(
    ("one", "other", "difference"),
    [
        ({"class_id": 1, "prob": 0.9}, {"class_id": 1, "prob": 0.9005}, ""),
        ({"class_id": 1, "prob": 0.9}, {"class_id": 2, "prob": 0.9}, "class_id 1 against 2"),
        ({"class_id": 1, "prob": 0.9}, {"class_id": 1, "prob": 0.8}, "prob 0.9 against 0.8"),
        ([1.0, 2.0], [1.0], "2 values against 1"),
        ({"text": "cat"}, {"text": "dog"}, "text 'cat' against 'dog'"),
        ({"shares": {"0": 1.0}}, {"shares": {"0": 0.998, "1": 0.002}}, ""),
        ({"shares": {"0": 1.0}}, {"shares": {"0": 0.9, "1": 0.1}}, "class 0 covers 100.0% against 90.0%"),
    ],
)
def test_a_class_is_the_same_or_not_and_scores_have_a_tolerance(
    one: object, other: object, difference: str
) -> None:
    result = compare_predictions({"x.jpg": one}, {"x.jpg": other})
    assert [str(text).removeprefix("x.jpg: ") for text in result.differences] == (
        [difference] if difference else []
    )


def test_an_image_that_only_one_of_them_has_is_a_difference_where_all_are_wanted() -> None:
    assert not compare_predictions({"a": 1, "b": 2}, {"a": 1}).differences
    found = compare_predictions({"a": 1, "b": 2}, {"a": 1}, all_images=True).differences
    assert [str(one) for one in found] == ["b has no prediction"]


@given(st.text(max_size=300))
def test_any_text_is_survived(text: str) -> None:
    list(parse_line(text))
    list(parse_line("x.jpg\t" + text))


def test_the_last_word_on_an_image_counts(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text("image: a.jpg class_id: 1\nimage: b/a.jpg class_id: 2\n")
    assert read_predictions(path) == {"a.jpg": {"class_id": 2.0}}


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ({"class_id": 8.0}, 8),
        ({"label": 3, "score": 0.9}, 3),
        ({"class": 1.0}, 1),
        ({"class_ids": [8, 7]}, 8),
        ({"class_id": [1.0, 4.0], "score": [0.6, 0.9]}, 4),  # of several labels, in the order of classes
        ({"result": [{"category": 2}]}, 2),
        ({"label": "cat"}, None),
        ({"label": "3"}, None),
        ({"label": ["cat"], "class_id": 2}, 2),
        ({"class": 0.5}, None),
        ({"label": True}, None),
        ({"class_id": float("inf")}, None),
        ({"score": 0.9}, None),
        ({"class_ids": []}, None),
        ([1, 2], None),
    ],
)
def test_the_class_is_read_under_any_of_its_names_and_a_word_is_none(
    value: object, number: int | None
) -> None:
    assert class_of(value) == number


@pytest.mark.parametrize("count", [3, 400])
@pytest.mark.parametrize("python", [False, True])
def test_results_in_one_list_are_read_however_long_its_line_is(
    count: int, python: bool, tmp_path: Path
) -> None:
    rows = [{"file": f"{number}.png", "label": number % 5, "score": 0.75} for number in range(count)]
    path = tmp_path / "a.log"
    path.write_text(f"begins\n{rows if python else json.dumps(rows)}\nends\n")
    found = read_predictions(path)
    assert len(found) == count
    assert found["2.png"] == {"label": 2, "score": 0.75}
