"""How many samples were evaluated: rows of one batch are told apart, and each image is fed once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from certify_facts import IMAGES, Honest

from tipc.certify.checks.evaluation import trained_weights_evaluated
from tipc.certify.compare.picture_pairs import same_pictures
from tipc.certify.evidence.images_left import different_pictures, images_instead
from tipc.certify.registry import Outcome
from tipc.certify.scene import PlanScene
from tipc.certify.verdict import FAIL, PASS, UNCHECKED
from tipc.run.guest.witness.tensors import are_one_sample, row_prints
from tipc.run.record.results import Run

RANDOM = np.random.default_rng(3)
Edit = Callable[[Honest], None]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Eight files that differ, as if they were images."""
    paths = [tmp_path / f"{number}.png" for number in range(8)]
    for path in paths:
        path.write_text(path.name)
    return [str(path) for path in paths]


def judged(run: Run, edit: Edit, pixels: dict[str, Any] | None = None) -> Outcome:
    honest = Honest(run)
    edit(honest)
    plan = run.plans[0]
    scene = PlanScene(run, plan, 0, {}, honest.witnessed(), images=pixels or {})
    step = next(step for step in plan.steps if step.kind == "eval")
    [outcome] = trained_weights_evaluated.function(scene.of_step(plan.cells[0], step))
    return outcome


def evaluated(images: list[str], **fields: Any) -> Edit:
    def edit(honest: Honest) -> None:
        [facts] = honest.processes["cell/eval"].evaluations
        honest.change("eval", evaluations=(replace(facts, **fields),), images=tuple(images))

    return edit


def test_rows_are_told_apart_by_their_numbers_and_where_they_stand() -> None:
    images = RANDOM.standard_normal((4, 3, 5, 5)).astype("float32")
    assert len(set(row_prints(images))) == 4
    assert len(set(row_prints(images[[0, 1, 1, 0]]))) == 2
    assert len(set(row_prints(np.eye(9, dtype="uint8")))) == 9
    assert row_prints(images[2:3]) == row_prints(images)[2:3]
    assert row_prints(np.zeros((2, 0), "float32")) == []


def test_a_batch_is_of_one_sample_only_where_each_input_is() -> None:
    images = np.random.default_rng(1).random((4, 3, 8, 8)).astype("float32")
    empty = np.zeros((4, 3, 32, 32), "float32")  # a detector's targets, larger than its images
    size = np.zeros(2, "int64")  # of no sample
    assert not are_one_sample([("target", empty), ("image", images)], 4)
    assert are_one_sample([("target", empty), ("image", images[[2, 2, 2, 2]]), ("size", size)], 4)


def test_one_image_in_place_of_all_that_were_opened_is_no_evaluation(run: Run, files: list[str]) -> None:
    outcome = judged(run, evaluated(files, different_samples=1))
    assert outcome.status == FAIL
    assert "all 8 samples" in str(outcome.message)


def test_a_few_images_in_place_of_all_are_unchecked(run: Run, files: list[str]) -> None:
    outcome = judged(run, evaluated(files, different_samples=3))
    assert (outcome.status, outcome.required) == (UNCHECKED, True)
    assert "3 of them different" in str(outcome.message)


def test_one_image_that_is_moved_each_time_is_unchecked(run: Run, files: list[str]) -> None:
    def edit(honest: Honest) -> None:
        evaluated(files, different_samples=8)(honest)
        honest.arrays["x"] = np.stack([np.roll(IMAGES[0], by, 1) for by in range(8)])

    outcome = judged(run, edit, dict(zip(files, IMAGES, strict=True)))
    assert (outcome.status, outcome.required) == (UNCHECKED, True)
    assert "moved or turned" in str(outcome.message)
    # Files that are themselves one picture moved are evaluated as they are.
    moved = [np.roll(IMAGES[0], by, 2) for by in range(8)]
    assert judged(run, edit, dict(zip(files, moved, strict=True))).status == PASS


def test_images_that_are_there_twice_are_evaluated_twice(run: Run, files: list[str]) -> None:
    for path in files[1:]:
        Path(path).write_text(Path(files[0]).read_text())
    assert judged(run, evaluated(files, different_samples=1)).status == PASS


@pytest.mark.parametrize(
    ("different", "samples", "opened"),
    [
        (8, 8, 8),
        (5, 8, 5),  # the last one again and again, to fill the batch
        (8, 8, 16),  # an image and its mask
        (8, 16, 8),  # twice
        (8, 24, 16),  # three times, with masks
        (1, 4, 1),
        (0, 8, 8),  # nobody looked
    ],
)
def test_honest_evaluations_feed_what_they_open(
    tmp_path: Path, different: int, samples: int, opened: int
) -> None:
    paths = []
    for number in range(opened):
        path = tmp_path / f"{number}.png"
        path.write_text(str(number))
        paths.append(str(path))
    assert images_instead(paths, different, samples) == 0


def test_a_picture_is_of_one_pair_at_most() -> None:
    pictures = RANDOM.standard_normal((8, 3, 16, 16)).astype("float32")
    assert same_pictures(pictures, pictures).pairs == 8
    assert same_pictures(pictures[[0] * 8], pictures).pairs == 1
    assert same_pictures(pictures, pictures[:3]).pairs == 3
    assert same_pictures(pictures[[0, 1, 2, 2]], pictures[[2, 1, 0]]).pairs == 3


def test_pictures_that_a_warm_up_feeds_alike_do_not_hide_the_others() -> None:
    pictures = np.random.default_rng(1).standard_normal((8, 3, 16, 16))
    fed = pictures[:, ::-1].copy()
    fed[:2] = pictures[:2]
    found = same_pictures(pictures, fed)
    assert found.certain
    assert "RGB and BGR" in str(found.note)


def test_a_picture_that_is_moved_or_turned_is_the_same_picture() -> None:
    one, other = RANDOM.normal(size=(2, 3, 8, 8)).astype("float32")
    assert different_pictures([one, other]) == 2
    assert different_pictures([one, one[:, ::-1], np.roll(one, 3, axis=2), one.transpose(0, 2, 1)]) == 1
    # The same bytes in sum, and other numbers.
    swapped = np.array([0x0100, 0x0002], dtype=np.uint16)
    assert different_pictures([swapped, np.array([0x0001, 0x0200], dtype=np.uint16)]) == 2
