"""The classes that a deployment prints, in every usual form, are held against its predictor's outputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from certify_answers import alarms
from certify_chain import plan_of, run_chain
from certify_facts import Honest
from certify_plain_repo import edit, make_plain_repo

from tipc.certify.checks.printed import are_classes, by_threshold
from tipc.certify.verdict import FAIL, PASS, UNCHECKED, Finding
from tipc.run.record.step_facts import PredictorFacts

INFER = "deploy/inference_python/infer.py"
OLD = 'print(f"image_name: {image}, class_id: {index % 3}, prob: {0.9 - index / 100:.4f}")'
LATER = "runs = -(-len(images) // size)"
NAME = "os.path.basename(image)"
# What is printed of an image; {0} is the class.
FORMS = {
    "PaddleClas": f'print(f"{{{NAME}}}:\\tclass id(s): [{{%s}}], score(s): [{{0.9 - index / 100:.2f}}], '
    'label_name(s): []")',
    "JSON line": 'import json; print(json.dumps({"image": os.path.basename(image), "label": %s, '
    '"score": 0.9 - index / 100}))',
    "class": f'print(f"image: {{{NAME}}} class: {{%s}} score: {{0.9 - index / 100:.4f}}")',
    "class without a sign": f'print(f"{{{NAME}}}: class {{%s}} ({{0.9 - index / 100:.3f}})")',
    "dictionary of Python": f'print({{"file_name": {NAME}, "class_ids": [%s]}})',
    "one list": f'ROWS.append({{"file": {NAME}, "label": %s}})',
}
Judge = Callable[..., list[Finding]]


def printed(form: str, number: str, tmp_path: Path, judge: Judge) -> list[Finding]:
    """The findings on a chain that prints its results in a form."""
    repo = make_plain_repo(tmp_path)
    edit(repo, INFER, OLD, form % number)
    if "ROWS" in form:
        edit(repo, INFER, "size = int(args.batch_size)", "ROWS = []; size = int(args.batch_size)")
        edit(repo, INFER, LATER, LATER + "\nimport json; print(json.dumps(ROWS))")
    return judge(run_chain(repo, plan_of(repo)))


def by_tp307(found: list[Finding]) -> set[str]:
    return {one.status for one in found if one.check == "TP307"}


@pytest.mark.parametrize("form", FORMS)
def test_a_class_that_was_not_predicted_is_found_in_every_form(
    form: str, tmp_path: Path, judge: Judge
) -> None:
    found = printed(FORMS[form], "(index + 1) % 3", tmp_path, judge)
    assert by_tp307(found) == {FAIL}


@pytest.mark.parametrize("form", FORMS)
def test_the_class_that_was_predicted_passes_in_every_form(form: str, tmp_path: Path, judge: Judge) -> None:
    found = printed(FORMS[form], "index % 3", tmp_path, judge)
    assert not alarms(found), alarms(found)
    assert by_tp307(found) == {PASS}


@pytest.mark.parametrize(
    "number",
    [
        '["cat", "dog", "cow"][index % 3]',
        "[30, 50, 80][index % 3]",  # a name that is a number
    ],
)
def test_a_label_that_is_no_index_is_left_open(number: str, tmp_path: Path, judge: Judge) -> None:
    found = printed(FORMS["JSON line"], number, tmp_path, judge)
    assert not alarms(found), alarms(found)
    assert by_tp307(found) == {UNCHECKED}


def test_labels_that_are_counted_from_one_are_not_certified(tmp_path: Path, judge: Judge) -> None:
    def only_two_of_three(honest: Honest) -> None:
        for name in list(honest.arrays):
            if name.endswith("out"):
                honest.arrays[name] = np.roll(np.sort(honest.arrays[name], 1), 2, axis=1)  # all of class 1

    repo = make_plain_repo(tmp_path)
    edit(repo, INFER, OLD, FORMS["JSON line"] % "2")
    found = judge(run_chain(repo, plan_of(repo)), only_two_of_three)
    assert {(one.status, one.required) for one in found if one.check == "TP307"} == {(UNCHECKED, True)}


@pytest.mark.parametrize(("number", "status"), [("index % 3", PASS), ("(index + 1) % 3", FAIL)])
def test_results_may_be_listed_best_first(number: str, status: str, tmp_path: Path, judge: Judge) -> None:
    repo = make_plain_repo(tmp_path)
    row = f"ROWS.append((0.9 - (index * 3 %% 8) / 100, {NAME}, %s))" % number
    edit(repo, INFER, OLD, row)
    edit(repo, INFER, "size = int(args.batch_size)", "ROWS = []; size = int(args.batch_size)")
    listed = "\nfor p, name, c in sorted(ROWS, reverse=True):\n"
    listed += '    print(f"image_name: {name}, class_id: {c}, prob: {p:.4f}")'
    edit(repo, INFER, LATER, LATER + listed)
    assert by_tp307(judge(run_chain(repo, plan_of(repo)))) == {status}


def test_a_class_id_counts_from_nought(tmp_path: Path, judge: Judge) -> None:
    assert by_tp307(printed(FORMS["PaddleClas"], "index % 3 + 1", tmp_path, judge)) == {FAIL}


def test_two_classes_may_be_told_apart_by_a_threshold_and_no_other_way() -> None:
    second = np.array([0.1, 0.6, 0.95, 0.7], "float32")
    rows = np.stack([1 - second, second], 1)
    assert by_threshold([0, 0, 1, 0], rows), "a threshold of 0.9"
    assert not by_threshold([1, 0, 0, 0], rows)
    assert not by_threshold([1, 1, 1, 1], rows), "always the same"
    assert by_threshold([1, 1, 0, 0], rows[:, :1]), "a single output is held against a threshold"


def test_the_classes_of_a_top_k_stand_in_an_output_of_their_own(tmp_path: Path, judge: Judge) -> None:
    def top_two(honest: Honest) -> None:
        best = {}
        for name, scores in list(honest.arrays.items()):
            if name.endswith("out"):
                best[name] = np.argsort(-scores, 1)[:, :2]
                honest.arrays[name] = np.take_along_axis(scores, best[name], 1)
        for name, classes in best.items():
            honest.arrays[f"{name} classes"] = classes

        def with_classes(predictor: PredictorFacts) -> PredictorFacts:
            runs = []
            for run in predictor.kept:
                outputs = {**run.outputs, "classes": run.outputs["out"] + " classes"}
                runs.append(replace(run, outputs=outputs))
            return replace(predictor, kept=tuple(runs))

        honest.change_predictors(with_classes)

    for number, status in (("index % 3", PASS), ("(index + 1) % 3", FAIL)):
        folder = tmp_path / status
        folder.mkdir()
        repo = make_plain_repo(folder)
        edit(repo, INFER, "class_id: {index % 3}", "class_id: {" + number + "}")
        assert by_tp307(judge(run_chain(repo, plan_of(repo)), top_two)) == {status}


def test_other_whole_numbers_beside_the_scores_are_no_classes_of_a_top_k() -> None:
    assert are_classes(np.array([[4, 1], [0, 2]]))
    assert not are_classes(np.array([[0, 0], [1, 0]])), "a mask"
    assert not are_classes(np.array([[3], [1]])), "of one a row nothing shows"
    assert not are_classes(np.array([[4, -1]])), "what fills a row up"
    assert not are_classes(np.array([[0.5, 1.5]]))
