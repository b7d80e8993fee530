"""TT901 doubts a training on one batch of several, of a few tensors, or at a learning rate of 0."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from certify_facts import Honest, training_facts, weights_of

from tipc.certify.evidence.images_left import images_in, images_never_opened
from tipc.certify.verdict import PASS, UNCHECKED, Finding
from tipc.run.guest.witness.carried import Carried
from tipc.run.record.results import Run
from tipc.run.record.step_facts import EvaluationFacts, ProcessFacts, TrainingFacts, WeightsFile

Judge = Callable[..., list[Finding]]
ONE_BATCH = replace(training_facts(), input_digests=("a", "a"), forwards=2, steps=2, batch_sizes=(4,))
LOADED = (WeightsFile("/w.pdparams", weights_of(), 0),)


@pytest.fixture
def images(tmp_path: Path) -> list[str]:
    """Eight images for training, in two folders, and as many for evaluation."""
    paths = []
    for name in ("train/cat", "train/dog", "val/cat"):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        for number in range(4):
            paths.append(str(folder / f"{number}.png"))
            Path(paths[-1]).touch()
    return paths


def judged(judge: Judge, run: Run, training: TrainingFacts, **fields: Any) -> Finding:
    def edit(honest: Honest) -> None:
        honest.change("train", training=training, **fields)

    [finding] = [one for one in judge(without_data(run), edit) if one.check == "TT901"]
    return finding


def without_data(run: Run) -> Run:
    """The same run, whose commands name no folder of images."""
    steps = []
    for step in run.plans[0].steps:
        argv = tuple(word for word in step.argv if "data" not in word)
        steps.append(replace(step, argv=argv))
    return replace(run, plans=(replace(run.plans[0], steps=tuple(steps)),))


def test_one_batch_where_there_are_images_for_another_is_unchecked(
    run: Run, judge: Judge, images: list[str]
) -> None:
    finding = judged(judge, run, ONE_BATCH, images=tuple(images[:4]))
    assert (finding.status, finding.required) == (UNCHECKED, True)
    assert "4 images for training were never opened" in finding.message


def test_what_the_other_ranks_opened_was_not_left_out(run: Run, judge: Judge, images: list[str]) -> None:
    def ranks(trains: bool) -> Finding:
        def edit(honest: Honest) -> None:
            honest.change("train", training=ONE_BATCH, images=tuple(images[:4]))
            training = ONE_BATCH if trains else None
            other = ProcessFacts(1, 2, "3.1.1", {}, training=training, images=tuple(images[4:8]))
            honest.beside["cell/train"] = (other,)

        [finding] = [one for one in judge(without_data(run), edit) if one.check == "TT901"]
        return finding

    assert ranks(trains=True).status == PASS
    assert ranks(trains=False).status == UNCHECKED, "who opens and does not train has fed nothing"


def test_one_batch_that_is_the_whole_set_is_a_training(run: Run, judge: Judge, images: list[str]) -> None:
    assert judged(judge, run, ONE_BATCH, images=tuple(images[:8])).status == PASS
    # What is less than a batch is dropped.
    assert judged(judge, run, ONE_BATCH, images=tuple(images[:5])).status == PASS


def test_two_batches_are_a_training_whatever_lies_beside_them(
    run: Run, judge: Judge, images: list[str]
) -> None:
    several = replace(ONE_BATCH, input_digests=("a", "b"))
    assert judged(judge, run, several, images=tuple(images[:4])).status == PASS


@pytest.mark.parametrize(
    ("argv", "fields", "left"),
    [
        (["train.py", "--batch-size=4"], {}, 4),
        (["train.py", "--batch-size", "4", "--epochs", "4"], {}, 4),
        (["train.py", "--max-samples=4"], {}, 0),
        (["train.py", "--max-samples", "4"], {}, 0),
        (["train.py"], {"lists": ("/train.txt",)}, 0),
        (["train.py"], {"forks": 2}, 0),
        (["train.py"], {"started": ("convert",)}, 0),
    ],
)
def test_images_that_were_left_out_on_purpose_or_may_have_been_opened_are_not_counted(
    images: list[str], argv: list[str], fields: dict[str, Any], left: int
) -> None:
    process = ProcessFacts(0, 1, "3.1.1", {}, images=tuple(images[:4]), **fields)
    assert images_never_opened(process, argv) == left


def test_a_folder_that_is_gone_holds_no_image(images: list[str], tmp_path: Path) -> None:
    gone = tmp_path / "unpacked" / "train"
    assert images_in(gone) == images_in(gone, below=True) == []
    assert len(images_in(Path(images[0]).parent)) == 4


def test_a_network_that_is_mostly_frozen_and_was_not_loaded_is_a_remark(run: Run, judge: Judge) -> None:
    frozen = replace(training_facts(), frozen=("conv.weight",), frozen_numbers=900, trainable_numbers=100)
    found = judge(run, lambda honest: honest.change("train", training=frozen))
    passes, remark = [finding for finding in found if finding.check == "TT901"]
    assert (passes.status, remark.status, remark.required) == (PASS, UNCHECKED, False)
    assert "900 of 1000 numbers" in remark.message
    assert judged(judge, run, frozen, loads=LOADED).status == PASS
    assert judged(judge, run, replace(frozen, states_set=1)).status == PASS
    assert judged(judge, run, replace(frozen, frozen_numbers=90)).status == PASS


@pytest.mark.parametrize(("standing", "status"), [(4, UNCHECKED), (3, PASS), (1, PASS)])
def test_most_steps_at_a_rate_of_0_are_unchecked(run: Run, judge: Judge, standing: int, status: str) -> None:
    finding = judged(judge, run, replace(training_facts(), standing=standing))
    assert (finding.status, finding.required) == (status, True)


@pytest.mark.parametrize(
    ("kernels", "moved", "fields", "status"),
    [
        (4, 0, {}, UNCHECKED),
        (4, 1, {}, PASS),
        (0, 0, {}, PASS),
        (4, 0, {"loads": LOADED}, PASS),
    ],
)
def test_a_training_of_biases_alone_is_unchecked_where_nothing_was_loaded(
    run: Run, judge: Judge, kernels: int, moved: int, fields: dict[str, Any], status: str
) -> None:
    training = replace(training_facts(), kernels=kernels, kernels_moved=moved)
    finding = judged(judge, run, training, **fields)
    assert (finding.status, finding.required) == (status, True)


@pytest.mark.parametrize(
    ("carried", "of", "status"), [(3, 3, UNCHECKED), (2, 3, PASS), (1, 1, PASS), (0, 0, PASS)]
)
def test_gradients_that_nobody_ever_clears_are_unchecked(
    run: Run, judge: Judge, carried: int, of: int, status: str
) -> None:
    finding = judged(judge, run, replace(training_facts(), carried=carried, carried_of=of))
    assert (finding.status, finding.required) == (status, True)


@pytest.mark.parametrize(("of_one", "looked", "status"), [(6, 6, UNCHECKED), (5, 6, PASS), (1, 1, PASS)])
def test_batches_that_are_one_sample_several_times_are_unchecked(
    run: Run, judge: Judge, of_one: int, looked: int, status: str
) -> None:
    training = replace(training_facts(), batches_of_one=of_one, batches_looked_at=looked)
    assert judged(judge, run, training).status == status


def test_a_network_that_is_trained_in_evaluation_mode_is_unchecked(run: Run, judge: Judge) -> None:
    calls = tuple(EvaluationFacts(1, 4, weights_of(0.5), step, ()) for step in range(6))
    unseen = replace(training_facts(), forwards=0, batch_sizes=())
    finding = judged(judge, run, unseen, evaluations=calls)
    assert (finding.status, finding.required) == (UNCHECKED, True)
    assert "in evaluation mode was, before 6 of the 6 steps" in finding.message
    assert judged(judge, run, unseen, evaluations=calls[-1:]).status == PASS, "a static graph, say"
    assert judged(judge, run, unseen, evaluations=calls, loads=LOADED).status == PASS, "fine-tuning"
    assert judged(judge, run, training_facts(), evaluations=calls).status == PASS


class Parameter:
    """As much of one as the witness looks at."""

    def __init__(self) -> None:
        self.shape = [2]
        self.grad: Any = None


class Gradient:
    def __init__(self, value: float) -> None:
        self.value = value

    def numpy(self) -> Any:
        return np.full(2, self.value)


@pytest.mark.parametrize(
    ("clears", "carried"), [("never", 4), ("after each step", 0), ("to None, before backward", 0)]
)
def test_gradients_are_carried_where_no_call_of_backward_finds_them_cleared(
    clears: str, carried: int
) -> None:
    seen, weight, optimiser = Carried(), Parameter(), object()
    for _step in range(6):
        if clears.startswith("to None"):
            weight.grad = None
        seen.before_backward()
        weight.grad = Gradient(0.5)
        seen.before_backward()  # of a second batch, whose gradients are gathered
        seen.before_step(optimiser, [weight])
        if clears == "after each step":
            weight.grad = Gradient(0.0)
    assert (seen.carried, seen.looked) == (carried, 4)


def test_two_optimisers_that_take_turns_clear_each_their_own_gradients() -> None:
    """As of two networks against each other: backward for one leaves gradients in the other, too."""
    seen, weights, optimisers = Carried(), (Parameter(), Parameter()), (object(), object())
    for step in range(8):
        mine = step % 2
        weights[mine].grad = None
        seen.before_backward()
        for weight in weights:
            weight.grad = Gradient(0.5)
        seen.before_step(optimisers[mine], [weights[mine]])
    assert (seen.carried, seen.looked) == (0, 4)


def test_weights_that_nobody_saw_at_the_end_are_unchecked(run: Run, judge: Judge) -> None:
    unknown = replace(training_facts(), after=None, change=0.0)
    finding = judged(judge, run, unknown, doors={"end": "the process was ended before its last word"})
    assert (finding.status, finding.required) == (UNCHECKED, True)
    assert "before its last word" in finding.message
