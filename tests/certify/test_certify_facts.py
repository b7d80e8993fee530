"""The suite of lies, second part: logs and files are as they should be, and the witness saw something
else."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from certify_answers import alarms, honest_answers
from certify_facts import (
    ANSWERS,
    DEPLOYED,
    EVALUATION,
    ONE_BY_ONE,
    OWN,
    RANDOM,
    SEEDED,
    Honest,
    training_facts,
    weights_of,
)

from tipc.certify.checks.benchmark import wrong_time
from tipc.certify.checks.evaluated_weights import left_out_of_file, left_unquantised
from tipc.certify.checks.evaluation_log import has_no_box
from tipc.certify.checks.files_written import learnt_clips_left_out
from tipc.certify.checks.printed import wrong_probability
from tipc.certify.checks.quant import trained_clips
from tipc.certify.checks.training_claims import epoch_untold, loss_of_no_step, wrong_cost
from tipc.certify.evidence.images_left import images_not_opened
from tipc.certify.evidence.weights_file import Clip, WeightsInFile, digest
from tipc.certify.verdict import FAIL, PASS, UNCHECKED, Finding
from tipc.run.record.results import Run
from tipc.run.record.step_facts import PredictorFacts, ProcessFacts, Weights, WeightsFile

Judge = Callable[..., list[Finding]]


def trained(**fields: Any) -> Callable[[Honest], None]:
    return lambda honest: honest.change_training(**fields)


def seen(step: str, **fields: Any) -> Callable[[Honest], None]:
    return lambda honest: honest.change(step, **fields)


def evaluated(**fields: Any) -> Callable[[Honest], None]:
    def edit(honest: Honest) -> None:
        [facts] = honest.processes["cell/eval"].evaluations
        honest.change("eval", evaluations=(replace(facts, **fields),))

    return edit


def predicted(**fields: Any) -> Callable[[Honest], None]:
    return lambda honest: honest.change_predictors(lambda facts: replace(facts, **fields))


def answers(source: str, value: Any) -> Callable[[Honest], None]:
    def edit(honest: Honest) -> None:
        honest.answers[source] = value

    return edit


def no_images(honest: Honest) -> None:
    def first_only(facts: PredictorFacts) -> PredictorFacts:
        return replace(facts, runs=1, samples=1, kept=facts.kept[:1], batch_sizes=(1,))

    honest.change_predictors(first_only)


def upside_down(honest: Honest) -> None:
    for name in list(honest.arrays):
        if name.endswith("out"):
            honest.arrays[name] = np.roll(honest.arrays[name], 1, axis=1)


def other_colours(honest: Honest) -> None:
    for name in list(honest.arrays):
        if name.endswith("in"):
            honest.arrays[name] = honest.arrays[name][:, ::-1].copy()


def other_scale(honest: Honest) -> None:
    for name in list(honest.arrays):
        if name.endswith("in"):
            honest.arrays[name] = honest.arrays[name] * np.float32(0.8) + np.float32(0.1)


def noisy(values: Any, share: float) -> Any:
    random = np.random.default_rng(1).standard_normal(values.shape)
    return (values + share * values.std(0) * random).astype("float32")


def saved(**fields: Any) -> Callable[[Honest], None]:
    """The file holds what was saved, and the optimiser ended with something else."""

    def edit(honest: Honest) -> None:
        [file] = honest.processes["cell/train"].saves
        honest.change("train", saves=(replace(file, **fields),))
        honest.change_training(after=weights_of(2.0))

    return edit


def one_other_tensor(honest: Honest) -> None:
    [facts] = honest.processes["cell/eval"].evaluations
    tensors = dict(facts.weights.tensors)  # type: ignore[union-attr]
    tensors[next(iter(tensors))] = "another"
    honest.change("eval", evaluations=(replace(facts, weights=replace(facts.weights, tensors=tensors)),))


def beside_a_dummy(honest: Honest) -> None:
    """The exported model runs once, for show; another one predicts."""

    def split(facts: PredictorFacts) -> PredictorFacts:
        return replace(facts, runs=1, samples=1, different_samples=1, kept=facts.kept[:1])

    for name, process in honest.processes.items():
        if process.predictors:
            [facts] = process.predictors
            both = (split(facts), replace(facts, digests={"a": "b"}))
            honest.processes[name] = replace(process, predictors=both)


def one_image_for_ever(honest: Honest) -> None:
    evaluated(calls=8, different_inputs=1)(honest)
    honest.change("eval", images=("a.png", "b.png"))


def no_image_opened(honest: Honest) -> None:
    honest.change("train", images=("a.png", "b.png"))


NAN = np.full_like(OWN, np.nan)
# what the witness saw instead → the check that must say so, and its words
LIES: dict[str, tuple[Callable[[Honest], None], str, str]] = {
    "paddle is never imported": (seen("train", paddle="", training=None), "TT901", "never imported paddle"),
    "the optimiser never steps": (trained(steps=0), "TT901", "0 steps of an optimiser"),
    "weights of another network, saved at the end": (
        saved(at_step=6, trained=0, apart=40.0), "TT902", "another network's weights",
    ),
    "weights of another network, saved on the way": (
        saved(at_step=2, trained=0, apart=12.0), "TT902", "another network's weights",
    ),
    "a tensor is overwritten before it is saved": (
        saved(at_step=6, trained=1, apart=40.0, changed="head.weight"), "TT902", "head.weight lies off",
    ),
    "the loop goes on and the optimiser does not": (
        trained(steps=1, unused=5, gathered=1), "TT901", "5 times more",
    ),
    "another network is trained than the one that is saved": (
        lambda honest: honest.change_training(
            before=Weights("a", 9, 1.0, {**weights_of().tensors, "other": "1"}),
            after=Weights("b", 9, 1.0, {**weights_of().tensors, "other": "2"}),
        ),
        "TT902", "none of the tensors in the file",
    ),
    "one image in every call of the evaluation": (one_image_for_ever, "TT905", "the same in all of its 8"),
    "half of the iterations that are told": (trained(forwards=3, backwards=3), "TT904", "6 iterations"),
    "the network is fed to the end, and trained no longer": (
        trained(forwards=6, backwards=2, steps=2), "TT904", "backward was called 2 times",
    ),
    "a line a step, and a loss of its own": (
        trained(losses=(2.0, 1.4, 2.1, 1.5, 2.2, 1.3)), "TT904", "those that were minimised",
    ),
    "the loss falls without end": (trained(losses=(-0.2, -9.0, -4e5, -6e9)), "TL109", "the loss grew"),
    "one tensor was not loaded": (one_other_tensor, "TT905", "not the trained one"),
    "another model predicts, the exported one is for show": (beside_a_dummy, "TP310", "1 different samples"),
    "one image eight times": (predicted(different_samples=1), "TP310", "1 different samples"),
    "a latency that no run took": (predicted(run_seconds=(0.0005,)), "TB604", "0.5 ms at most"),
    "backward is never called": (trained(backwards=0, losses=()), "TT901", "0 calls of backward"),
    "a learning rate of 0": (
        trained(after=weights_of(0.5), learning_rates=(0.0,)), "TT901", "no weight has changed",
    ),
    "a loss that is not finite": (trained(losses=(1.0, float("nan"))), "TT901", "not finite"),
    "one batch for ever": (trained(input_digests=("a",) * 6), "TT901", "the same batch"),
    "the loss explodes": (trained(losses=(2.0, 1.9, 5e4, 6e4)), "TL109", "the loss grew"),
    "the file holds the weights of the start": (
        trained(before=weights_of(), after=weights_of(2.0)), "TT902", "began with",
    ),
    "the file was copied from elsewhere": (
        lambda honest: honest.change("train", saves=(), training=replace(
            honest.processes["cell/train"].training, after=weights_of(2.0))),
        "TT902", "no call of paddle.save",
    ),
    "a loss by a formula": (trained(losses=(900.0, 880.0, 860.0)), "TT904", "the log gives a loss"),
    "samples that were never fed": (trained(batch_sizes=(1,)), "TT904", "samples a batch"),
    "half of the samples, in the time of all": (
        trained(batch_sizes=(8,), step_seconds=(0.1,) * 6), "TT904", "samples a batch",
    ),
    "a speed a hundred times too high": (trained(step_seconds=(10.0,) * 6), "TT904", "s a batch"),
    "an evaluation that opens nothing": (seen("eval", evaluations=()), "TT905", "nothing was evaluated"),
    "an evaluation of random weights": (evaluated(weights=weights_of(3.0)), "TT905", "not the trained one"),
    "a metric that no count gives": (evaluated(samples=7), "TT906", "of 7 samples"),
    "the export drops a layer": (answers(EVALUATION, ANSWERS[:, ::-1].copy()), "TP301", "other answers"),
    "the export scales its answers": (answers(EVALUATION, ANSWERS * np.float32(1.3)), "TP301", "other"),
    "three per cent of noise": (answers(EVALUATION, noisy(ANSWERS, 0.03)), "TP301", "other answers"),
    "answers that are not finite": (answers(SEEDED, NAN), "TP302", "not finite"),
    "an engine that answers otherwise": (answers(f"{SEEDED}/onednn", OWN[::-1].copy()), "TP302", "onednn"),
    "answers depend on the batch": (answers(ONE_BY_ONE, ANSWERS[4:].copy()), "TP303", "depend on the batch"),
    "the deployment opens no model": (seen("infer-bs1", predictors=()), "TP308", "opened no model"),
    "the deployment opens another model": (predicted(digests={"a": "b"}), "TP308", "not what this chain"),
    "answers from a cache": (answers(DEPLOYED, ANSWERS[::-1].copy()), "TP309", "is another"),
    "only the first image is predicted": (no_images, "TP310", "the list has 8 images"),
    "other images than those of the list are predicted": (
        seen("infer-bs1", images=("/elsewhere/a.png",)), "TP310", "never opened",
    ),
    "prints what was not predicted": (upside_down, "TP307", "it printed class"),
    "images are fed as BGR": (other_colours, "TP304", "RGB and BGR"),
    "another mean and scale": (other_scale, "TP304", "another mean or scale"),
    "batches of 1, whatever was asked for": (predicted(batch_sizes=(1,)), "TB604", "batches of 4"),
    "batches of 8, whatever was asked for": (
        predicted(batch_sizes=(8,), different_samples=8), "TB604", "batches of 1; the predictor was fed [8]",
    ),
    "oneDNN is not on": (predicted(engine="paddle"), "TB604", "oneDNN is on"),
    "other threads": (predicted(threads=7), "TB604", "7"),
    "a benchmark written by hand": (predicted(run_seconds=(0.5,)), "TB604", "runs took"),
    "more data than runs": (predicted(runs=1, samples=1), "TB604", "the predictor was run"),
}  # fmt: skip


@pytest.mark.parametrize("name", LIES)
def test_what_was_seen_outweighs_what_was_said(name: str, run: Run, judge: Judge) -> None:
    edit, check, words = LIES[name]
    found = judge(run, edit)
    told = [one.message for one in found if one.check == check and one.status == FAIL]
    assert any(words in message for message in told), [(one.check, one.message) for one in alarms(found)]


@pytest.mark.parametrize("lines", [(4, 5, 6, 1, 2, 3), (2, 1, 5, 6, 4, 3)])
def test_losses_of_processes_that_the_script_started_stand_in_one_log_as_they_came(
    lines: tuple[int, ...], run: Run, judge: Judge
) -> None:
    assert two_that_train(run, judge, [2.31 * 0.9**line for line in lines]) == PASS


def test_losses_of_none_of_several_processes_are_found(run: Run, judge: Judge) -> None:
    assert two_that_train(run, judge, [0.9, 1.0, 1.3, 1.35, 1.37, 1.38]) == FAIL


def two_that_train(run: Run, judge: Judge, losses: list[float]) -> str:
    """What TT904 says where half of the losses are those of another process."""

    def edit(honest: Honest) -> None:
        honest.change_training(losses=tuple(losses[:3]))
        training = replace(training_facts(), losses=tuple(losses[3:]))
        honest.beside["cell/train"] = (replace(honest.processes["cell/train"], rank=1, training=training),)

    return next(one.status for one in judge(run, edit) if one.check == "TT904")


def test_an_evaluation_in_training_mode_is_not_certified(run: Run, judge: Judge) -> None:
    found = judge(run, seen("eval", evaluations=(), training_calls=2))
    [told] = [one for one in found if one.check == "TT905"]
    assert (told.status, told.required) == (UNCHECKED, True)
    assert "2 times in training mode" in told.message
    assert "model.eval()" in told.remedy


def test_the_honest_chain_raises_no_alarm_and_all_that_was_seen_counts(run: Run, judge: Judge) -> None:
    found = judge(run)
    assert not alarms(found), alarms(found)
    told = {one.check for one in found if one.status == PASS}
    assert {"TT901", "TT902", "TT904", "TT905", "TT906", "TP301", "TP302", "TP303"} <= told
    assert {"TP304", "TP307", "TP308", "TP309", "TP310", "TB604", "TS005"} <= told


def test_averages_over_an_interval_that_an_epoch_cut_short_contradict_nothing(run: Run, judge: Judge) -> None:
    # Four samples in 0.1 s, says the log: half an interval, divided by the length of a whole one.
    found = judge(run, trained(batch_sizes=(8,), step_seconds=(0.2,) * 6))
    assert [one.status for one in found if one.check == "TT904"] == [PASS]


@pytest.mark.parametrize(
    ("told", "step", "wrong"),
    [
        (0.0000880, 0.0076, True),  # a hundred times too quick
        (0.0071, 0.0076, False),
        (0.0, 0.0076, False),  # 0.00 of a log with two digits
        (0.0, 0.5, True),
        (0.001, 0.0011, False),  # rounded to a thousandth
    ],
)
def test_the_cost_of_a_short_batch_is_held_against_the_steps(told: float, step: float, wrong: bool) -> None:
    training = replace(training_facts(), step_seconds=(step,) * 8)
    assert bool(wrong_cost(training, [told] * 4)) is wrong


def test_what_a_loop_does_between_two_steps_is_no_part_of_a_batch() -> None:
    # One step an epoch, and a second and a half of saving after each.
    training = replace(training_facts(), step_seconds=(1.6,) * 6, work_seconds=(0.1,) * 6)
    assert wrong_cost(training, [0.09] * 6) is None
    assert wrong_cost(training, [0.001] * 6) is not None


def predictor(engine: str, run_seconds: tuple[float, ...], more: int = 0) -> PredictorFacts:
    """That was run so often, and ``more`` times whose seconds nobody kept."""
    runs = len(run_seconds) + more
    return PredictorFacts(
        *("m.pdmodel", "m.pdiparams", {}, engine, "cpu", "fp32", 1),
        *(runs, sum(run_seconds), run_seconds, (1,), runs, ()),
    )


@pytest.mark.parametrize(
    ("data", "mean", "wrong"),
    [
        ({"data_num": "4"}, 97.0, False),  # the four quick ones of nine: five were for warming up
        ({"data_num": "4"}, 80.0, True),
        ({"data_num": "9"}, 97.0, True),  # nine that were timed cannot all be the quick ones
        ({"data_num": "8", "batch_size": "2"}, 97.0, False),  # eight images in four runs
        ({}, 97.0, False),
        ({}, 80.0, True),
    ],
)
def test_a_mean_is_held_against_as_many_of_the_quickest_runs(
    data: dict[str, str], mean: float, wrong: bool
) -> None:
    ran = [predictor("onednn", (0.126,) * 5 + (0.095,) * 4)]
    assert bool(wrong_time({"data": data, "perf": {"inference_time(ms)": mean}}, ran)) is wrong


def test_what_others_took_of_the_processor_is_allowed_for_in_the_mean() -> None:
    ran = [predictor("onednn", (0.01,) * 4)]
    block = {"data": {"data_num": "4"}, "perf": {"inference_time(ms)": 120.0}}
    assert "runs took 10 ms" in str(wrong_time(block, ran, waited=0.0))
    assert wrong_time(block, ran, waited=0.5) is None  # an eighth of a second a run
    assert wrong_time(block, ran, waited=0.1) is not None


def test_of_a_long_series_the_timed_runs_may_be_those_that_were_not_kept() -> None:
    ran = [predictor("onednn", (0.02,) * 10 + (0.01,) * 10, more=100)]
    block = {"data": {"data_num": "105"}, "perf": {"inference_time(ms)": 9.5}}
    assert not wrong_time(block, ran)
    assert wrong_time({**block, "perf": {"inference_time(ms)": 5.0}}, ran)


def test_a_block_is_held_against_the_engine_that_it_is_about() -> None:
    """A quick engine beside a slow one: the quickest quarter of all runs is half of the quick ones."""
    slow = predictor("paddle", (0.025,) * 25)
    quick = predictor("onednn", (0.006,) * 7 + (0.009,) * 18)
    conf = {"enable_mkldnn": "True"}
    block = {"conf": conf, "perf": {"inference_time(ms)": 7.0}}
    assert not wrong_time(block, [slow, quick])
    assert "runs took 6 ms" in str(wrong_time({**block, "perf": {"inference_time(ms)": 4.0}}, [slow, quick]))
    conf["enable_mkldnn"] = "False"
    assert "runs took 25 ms" in str(wrong_time(block, [slow, quick]))


def test_a_block_of_openvino_is_not_held_against_the_slower_onednn() -> None:
    """Its block says that oneDNN is on, as the config does."""
    ran = [predictor("onednn", (0.005,) * 25), predictor("openvino", (0.0018,) * 25)]
    block = {
        "conf": {"enable_mkldnn": "True"},
        "data": {"data_num": "20"},
        "perf": {"inference_time(ms)": 2.03},
    }
    assert not wrong_time(block, ran)
    assert wrong_time({**block, "perf": {"inference_time(ms)": 1.0}}, ran)


UNSEEN: dict[str, tuple[Callable[[Honest], None], str, str]] = {
    "the training is another program's": (
        seen("train", paddle="", training=None, started=("bash run.sh",)), "TT901", "bash run.sh",
    ),
    "the evaluation is another program's": (
        seen("eval", evaluations=(), started=("bash run.sh",)), "TT905", "bash run.sh",
    ),
    "the deployment is another program's": (
        seen("infer-bs1", predictors=(), started=("./infer",)), "TP308", "./infer",
    ),
    "most tensors were given to no optimiser": (
        trained(
            before=Weights("a", 4, 1.0, {**weights_of(0.5).tensors, "x": "1", "y": "2", "z": "3", "u": "4"}),
            after=Weights("b", 4, 1.0, {**weights_of().tensors, "x": "1", "y": "2", "z": "3", "u": "4"}),
            given=tuple(weights_of().tensors),
        ),
        "TT901", "given to no optimiser",
    ),
    "every gradient was 0": (
        trained(gradients_seen=3, zero_gradient=("a", "b")), "TT901", "every gradient was 0",
    ),
    "the evaluation opens no image": (no_image_opened, "TT907", "opened no image file; training opened 2"),
    "the evaluation feeds a part of its images": (
        seen("eval", images=tuple(f"{n}.png" for n in range(40))), "TT905", "40 images were opened",
    ),
    "the model comes out of memory": (predicted(digests={}, model=""), "TP308", "out of memory"),
    "the model was rewritten while it was read": (predicted(digests={}), "TP308", "written to before it"),
    "a tensor was changed a little after training": (
        saved(at_step=6, trained=1, apart=0.5, changed="head.weight"), "TT902", "head.weight is not",
    ),
    "trained weights were scaled before they were saved": (
        saved(at_step=6, trained=0, apart=1.0, judged=4, strayed=("conv.weight",)),
        "TT902", "1 of 4 tensors, conv.weight for one",
    ),
    "averages that hardly left the start": (
        saved(at_step=6, trained=0, apart=0.0, gone=0.001, judged=4), "TT902", "hardly began",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNSEEN)
def test_what_could_not_be_seen_is_unchecked_and_no_failure(name: str, run: Run, judge: Judge) -> None:
    edit, check, words = UNSEEN[name]
    found = [one for one in judge(run, edit) if one.check == check and one.status != PASS]
    assert {(one.status, one.required) for one in found} == {(UNCHECKED, True)}
    assert all(words in one.message for one in found)


def saved_elsewhere(honest: Honest) -> None:
    """The export wrote into a folder for a while, and moved its files."""
    [export] = honest.processes["cell/export"].exports
    files = {path.replace("inference.", "scratch/inference."): value for path, value in export.files.items()}
    assert files.keys() != export.files.keys()
    path = export.path.replace("inference", "scratch/inference")
    honest.change("export", exports=(replace(export, path=path, files=files),))


def test_a_model_that_was_moved_is_known_by_its_bytes(run: Run, judge: Judge) -> None:
    def compared(found: list[Finding]) -> set[str]:
        [engines] = [one for one in found if one.check == "TP302"]
        return {row["source"] for row in engines.evidence["table"]}

    assert compared(judge(run, saved_elsewhere)) == {EVALUATION, SEEDED}

    def of_another_model(honest: Honest) -> None:
        saved_elsewhere(honest)
        [export] = honest.processes["cell/export"].exports
        honest.change("export", exports=(replace(export, files=dict.fromkeys(export.files, "other")),))

    assert compared(judge(run, of_another_model)) == {EVALUATION}


def folder_of_images(folder: Path, count: int) -> list[str]:
    for number in range(count):
        (folder / f"{number}.png").write_bytes(b"")
    return [str(folder / f"{number}.png") for number in range(count)]


def test_images_that_lie_beside_those_of_an_evaluation_are_counted(tmp_path: Path) -> None:
    paths = folder_of_images(tmp_path, 8)
    process = ProcessFacts(0, 1, "3.1.1", {}, images=tuple(paths[:2]))
    assert images_not_opened(process, (), ["train.py"]) == 6
    assert images_not_opened(process, paths[2:], ["train.py"]) == 0  # those are for training
    assert images_not_opened(process, (), ["train.py", "--samples=2"]) == 0
    most = replace(process, images=tuple(paths[:6]))
    assert images_not_opened(most, (), ["train.py"]) == 0
    assert images_not_opened(most, (), ["train.py"], 3) == 2, "a last batch that is not whole was dropped"
    assert images_not_opened(most, (), ["train.py"], 2) == 0, "it would have been whole"
    unknown = ({"lists": ("val.txt",)}, {"forks": 2}, {"started": ("bash",)}, {"images": tuple(paths[:5])})
    for fields in unknown:
        assert images_not_opened(replace(process, **fields), (), ["train.py"]) == 0  # type: ignore[arg-type]


SEEN_LOSSES = [2.5, 1.7, 1.9, 1.2, 1.4, 0.9, 1.1, 0.8]


@pytest.mark.parametrize(
    "told",
    [
        SEEN_LOSSES,
        [sum(SEEN_LOSSES[: n + 1]) / (n + 1) for n in range(8)],  # the mean so far
        [loss - 0.3 for loss in SEEN_LOSSES],  # a part of a sum
        [loss * 2 + 3 for loss in SEEN_LOSSES],  # another one, which goes with it
    ],
)
def test_losses_that_follow_from_the_minimised_ones_are_believed(told: list[float]) -> None:
    assert loss_of_no_step(told, SEEN_LOSSES) is None


@pytest.mark.parametrize(
    ("told", "seen_losses"),
    [
        ([3.5 * 0.7**n for n in range(8)], SEEN_LOSSES),
        # It falls less and less, as the losses do, and within their range from the third step on.
        (
            [1.863 * 0.9**n for n in range(12)],
            [2.533, 2.041, 1.055, 1.086, 0.953, 0.896, 0.869, 0.705, 0.752, 0.619, 0.733, 0.615],
        ),
    ],
)
def test_a_formula_follows_from_no_loss(told: list[float], seen_losses: list[float]) -> None:
    assert loss_of_no_step(told, seen_losses) is not None


def test_epochs_without_a_line_were_not_trained_where_each_batch_has_one() -> None:
    assert epoch_untold({2, 4, 6}, resumed=True) == 3
    assert epoch_untold({3, 4, 5}, resumed=True) is None
    assert epoch_untold({3, 4, 5}, resumed=False) == 1
    assert epoch_untold({0, 1, 2}, resumed=False) is None
    assert epoch_untold({1, 2, 3}, resumed=False) is None
    assert epoch_untold(set(), resumed=False) is None
    assert epoch_untold({0, 10**18}, resumed=False) == 1  # whatever a log calls an epoch, at once


def test_weights_that_the_command_names_must_be_loaded(run: Run, judge: Judge) -> None:
    step = next(step for step in run.plans[0].steps if step.kind == "train")
    other = Path(run.plans[0].repo) / "other.pdparams"
    other.write_bytes((Path(run.plans[0].repo) / step.weights).read_bytes())
    named = replace(step, argv=(*step.argv, "--pretrained=other.pdparams"))
    steps = tuple(named if one is step else one for one in run.plans[0].steps)
    asking = replace(run, plans=(replace(run.plans[0], steps=steps),))
    found = [one for one in judge(asking) if one.check == "TT901"]
    assert [(one.status, one.required) for one in found] == [(UNCHECKED, True)]
    assert "no weights were loaded" in found[0].message
    loaded = WeightsFile(str(other), weights_of(0.5), 0)
    found = [one for one in judge(asking, seen("train", loads=(loaded,))) if one.check == "TT901"]
    assert [one.status for one in found] == [PASS]
    untaken = seen("train", loads=(replace(loaded, weights=weights_of(9.0)),))
    found = [one for one in judge(asking, untaken) if one.check == "TT901"]
    assert [(one.status, one.required) for one in found] == [(UNCHECKED, True)]
    assert "no network had a tensor of it" in found[0].message
    rounded = replace(training_facts(), amp={"level": "O2"})  # to half precision: no tensor is equal
    untaken = seen("train", loads=(replace(loaded, weights=weights_of(9.0)),), training=rounded)
    found = [one for one in judge(asking, untaken) if one.check == "TT901"]
    assert [one.status for one in found] == [PASS]


def test_weights_of_sixteen_bits_are_those_that_a_network_of_float32_begins_with(
    run: Run, judge: Judge
) -> None:
    step = next(step for step in run.plans[0].steps if step.kind == "train")
    half = np.array([0.5, 2.5, -1.0, 0.125], "float16")
    other = Path(run.plans[0].repo) / "other.pdparams"
    other.write_bytes(pickle.dumps({"w": half}))
    named = replace(step, argv=(*step.argv, "--pretrained=other.pdparams"))
    steps = tuple(named if one is step else one for one in run.plans[0].steps)
    asking = replace(run, plans=(replace(run.plans[0], steps=steps),))
    loaded = WeightsFile(str(other), Weights("half", 1, 1.0, {"w": digest(half)}), 0)
    before = Weights("whole", 1, 1.0, {"param_0": digest(half.astype("float32"))})
    begun = seen("train", loads=(loaded,), training=replace(training_facts(), before=before))
    found = [one for one in judge(asking, begun) if one.check == "TT901"]
    assert [one.status for one in found] == [PASS]


@pytest.mark.parametrize(
    ("opened", "fields", "status"),
    [
        ("data", {}, PASS),
        ("other", {}, UNCHECKED),
        ("other", {"lists": ("a.txt",)}, PASS),
        ("other", {"forks": 1}, PASS),
    ],
)
@pytest.mark.parametrize(("kind", "check"), [("train", "TT901"), ("eval", "TT905")])
def test_data_that_a_command_names_must_be_opened(
    run: Run,
    judge: Judge,
    tmp_path: Path,
    kind: str,
    check: str,
    opened: str,
    fields: dict[str, Any],
    status: str,
) -> None:
    for folder in ("data", "other"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.png").touch()
    steps = []
    for step in run.plans[0].steps:
        if step.kind == kind:
            argv = [word for word in step.argv if "data" not in word]
            step = replace(step, argv=(*argv, f"--data-path={tmp_path}/data"))
        steps.append(step)
    naming = replace(run, plans=(replace(run.plans[0], steps=tuple(steps)),))
    images = (str(tmp_path / opened / "a.png"),)
    found = [one for one in judge(naming, seen(kind, images=images, **fields)) if one.check == check]
    assert [(one.status, one.required) for one in found] == [(status, True)]


def test_int8_counts_as_asked_for_where_the_scripts_own_line_asks(run: Run, judge: Judge) -> None:
    steps = []
    for step in run.plans[0].steps:
        asked = step
        if step.kind == "infer":
            settings = {**step.settings, "precision": ""}
            asked = replace(step, argv=(*step.argv, "--precision=int8"), settings=settings)
        steps.append(asked)
    asking = replace(run, plans=(replace(run.plans[0], steps=tuple(steps)),))
    found = [one for one in judge(asking) if one.check == "TQ404"]
    assert {one.status for one in found} == {FAIL}
    assert "int8 was asked for" in found[0].message


def test_a_probability_must_be_that_of_its_own_image() -> None:
    classes = [{"prob": float(row.max())} for row in ANSWERS]
    assert wrong_probability(classes, ANSWERS, in_order=True) is None
    per_cent = [{"prob": 100 * one["prob"]} for one in classes]
    assert wrong_probability(per_cent, ANSWERS, in_order=True) is None
    always = [{"prob": 0.86}] * 8
    assert wrong_probability(always, ANSWERS, in_order=False) is None, "one of the outputs gives it"
    assert "image by image" in str(wrong_probability(always, ANSWERS, in_order=True))
    assert "of 0.2," in str(wrong_probability([{"prob": 0.2}], ANSWERS, in_order=False))


def test_predictors_may_share_the_images(run: Run, judge: Judge) -> None:
    def share(honest: Honest) -> None:
        for name, process in honest.processes.items():
            if process.predictors:
                half = replace(process.predictors[0], samples=4, different_samples=4)
                honest.processes[name] = replace(process, predictors=(half, half))

    assert {one.status for one in judge(run, share) if one.check == "TP310"} == {PASS}


def test_of_two_networks_that_were_trained_together_one_may_be_saved_alone(run: Run, judge: Judge) -> None:
    def edit(honest: Honest) -> None:
        saved(trained=1)(honest)
        both = {**weights_of(2.0).tensors, **{f"other{number}": f"{number}" for number in range(9)}}
        honest.change_training(after=Weights("both", len(both), 1.0, both))

    [finding] = [one for one in judge(run, edit) if one.check == "TT902"]
    assert finding.status == PASS, finding.message


def test_averages_of_which_few_tensors_came_back_to_where_they_began_pass(run: Run, judge: Judge) -> None:
    edit = saved(at_step=6, trained=0, apart=0.1, judged=40, strayed=("stem.weight",))
    [finding] = [one for one in judge(run, edit) if one.check == "TT902"]
    assert finding.status == PASS
    assert finding.message.startswith("averages")


def test_without_a_witness_nothing_is_certified(run: Run, judge: Judge) -> None:
    found = judge(run, lambda honest: honest.processes.clear())
    open_ones = {one.check for one in alarms(found)}
    assert {"TT901", "TT905", "TP301", "TP308"} <= open_ones
    assert not [one for one in found if one.status == FAIL and one.check.startswith("TT")]


def constant(honest: Honest) -> None:
    value = np.tile(np.array([1.0, 0.0, -1.0], "float32"), (8, 1)) + ANSWERS * np.float32(1e-7)
    honest.arrays["y"] = value
    honest.answers[EVALUATION] = value
    honest.arrays["own"] = value[:2]
    honest.answers[SEEDED] = value[:2]


def test_a_network_that_answers_the_same_to_everything_shows_nothing_and_fails_nothing(
    run: Run, judge: Judge
) -> None:
    [finding] = [one for one in judge(run, constant) if one.check == "TP301"]
    assert (finding.status, finding.required) == (UNCHECKED, True)
    assert "answers the same to every image" in finding.message
    assert "train until" in finding.remedy


def saturated(inner: Any) -> Callable[[Honest], None]:
    """The trained logits are so large that the exported soft-max says the same of every image."""
    logits = (RANDOM.standard_normal((8, 3)) + np.array([20.0, 0.0, 0.0])).astype("float32") * np.float32(1e6)

    def edit(honest: Honest) -> None:
        honest.arrays["y"] = logits
        honest.answers[EVALUATION] = softmax_of(logits)
        honest.arrays["own"] = honest.answers[SEEDED] = softmax_of(logits[:2])
        honest.inner = {"linear_0": inner(logits)}

    return edit


@pytest.mark.parametrize(
    ("inner", "status"),
    [
        (lambda logits: logits * np.float32(1 + 1e-7), PASS),
        (lambda logits: logits[::-1].copy(), UNCHECKED),
        (lambda logits: logits * np.float32(1.3), UNCHECKED),
        (lambda logits: np.full_like(logits, 7.0), UNCHECKED),
    ],
    ids=["the trained logits", "those of other images", "scaled ones", "constant ones"],
)
def test_behind_a_saturated_head_the_values_inside_the_model_show_parity(
    inner: Callable[[Any], Any], status: str, run: Run, judge: Judge
) -> None:
    [finding] = [one for one in judge(run, saturated(inner)) if one.check == "TP301"]
    assert (finding.status, finding.required) == (status, True), finding.message


def softmax_of(values: Any) -> Any:
    raised = np.exp(values - values.max(1, keepdims=True))
    return (raised / raised.sum(1, keepdims=True)).astype("float32")


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("soft-max", softmax_of),
        ("sigmoid", lambda values: (1 / (1 + np.exp(-values))).astype("float32")),
        ("arg-max", lambda values: values.argmax(1)),
    ],
)
def test_a_head_that_the_export_added_is_recognised_and_said(
    name: str, head: Callable[[Any], Any], run: Run, judge: Judge
) -> None:
    [finding] = [one for one in judge(run, answers(EVALUATION, head(ANSWERS))) if one.check == "TP301"]
    assert finding.status == PASS, finding.message
    assert name in finding.message


def test_a_masked_value_buys_no_tolerance_for_the_others(run: Run, judge: Judge) -> None:
    masked = np.concatenate([ANSWERS, np.full((8, 1), -1e9, "float32")], 1)
    scaled = np.concatenate([ANSWERS * np.float32(1.3), np.full((8, 1), -1e9, "float32")], 1)

    def edit(honest: Honest, exported: Any) -> None:
        honest.arrays["y"] = masked
        honest.answers[EVALUATION] = exported

    same = [one for one in judge(run, lambda honest: edit(honest, masked)) if one.check == "TP301"]
    other = [one for one in judge(run, lambda honest: edit(honest, scaled)) if one.check == "TP301"]
    assert [one.status for one in same + other] == [PASS, FAIL]


def test_ranks_that_train_apart_are_found(run: Run, judge: Judge, tmp_path: Path) -> None:
    from tipc.certify.certifier import findings_of
    from tipc.certify.registry import all_checks
    from tipc.certify.scene import PlanScene
    from tipc.run.record.step_facts import StepFacts

    honest = Honest(run)
    plan = run.plans[0]
    step = replace(plan.steps[0], processes=2)
    first = honest.processes["cell/train"]
    training = first.training
    assert training is not None

    def found(*ranks: Any) -> Finding:
        facts = {(plan.key, step.id): StepFacts(ranks)}
        scene = PlanScene(run, plan, 0, {}, facts).of_step(plan.cells[0], step)
        [finding] = [
            one for one in findings_of(all_checks().values(), "train", scene) if one.check == "TT903"
        ]
        return finding

    def outcome(*ranks: Any) -> str:
        return found(*ranks).status

    apart = replace(first, rank=1, training=replace(training, after=weights_of(9.0)))
    assert outcome(first, apart) == FAIL
    assert outcome(first, replace(first, rank=1)) == FAIL, "each did the same by itself"
    shared = replace(first, rank=1, training=replace(training, input_digests=("c", "d")))
    assert outcome(first, shared) == PASS, "other data, and equal weights in the end"
    early = replace(first, training=replace(training, early=("a", "b")))
    late = replace(shared, training=replace(training, input_digests=("c", "d"), early=("a", "c")))
    metric = {"all_reduce": 1}
    assert outcome(early, late) == FAIL, "made equal at the end"
    assert outcome(replace(early, collectives=metric), replace(late, collectives=metric)) == FAIL
    made = {"DataParallel": 1, "all_reduce": 6}
    assert outcome(replace(first, collectives=made), replace(apart, collectives=made)) == FAIL, "gone around"
    joined = {"DataParallel": 1, "DataParallel.forward": 6}
    assert outcome(replace(first, collectives=joined), replace(apart, collectives=joined)) == UNCHECKED
    assert outcome(replace(first, collectives=joined), replace(shared, collectives=joined)) == PASS
    alike = found(replace(first, collectives=joined), replace(first, rank=1, collectives=joined))
    assert (alike.status, alike.required) == (UNCHECKED, False), "a waste, and no lie"
    assert outcome(first) == FAIL, "a rank that was never seen"


def test_a_chain_whose_inference_is_all_left_out_says_why(run: Run) -> None:
    from tipc.certify.certifier import findings_of
    from tipc.certify.registry import all_checks
    from tipc.certify.scene import PlanScene
    from tipc.plan.model import Skip
    from tipc.reasons import because

    plan = run.plans[0]
    steps = tuple(step for step in plan.steps if step.kind != "infer")
    skip = Skip(plan.cells[0].id, "infer", because("quantised-runs-int8"))
    scene = PlanScene(run, replace(plan, steps=steps, skipped=(skip,)), 0, {}, {})
    [finding] = [one for one in findings_of(all_checks().values(), "plan", scene) if one.check == "TS005"]
    assert finding.status == UNCHECKED
    assert "a quantised model runs in int8" in finding.message
    assert "not left out" in finding.remedy


@pytest.mark.parametrize(
    ("inputs", "sizes", "status"),
    [
        ({"x": [-1, 3, 16, 16], "scale": [1, 2]}, None, PASS),
        ({"x": [-1, 3, 16, 16], "scale": [1, 2]}, (1,), FAIL),
        ({"x": [1, 3, 16, 16]}, None, FAIL),
    ],
)
def test_a_fixed_batch_of_one_input_is_no_fault_where_larger_ones_were_seen_to_run(
    run: Run, inputs: dict[str, list[int]], sizes: tuple[int, ...] | None, status: str
) -> None:
    from tipc.certify.certifier import plan_findings
    from tipc.certify.scene import PlanScene

    honest = Honest(run)
    if sizes is not None:
        predicted(batch_sizes=sizes)(honest)
    answers = honest_answers(run)
    key = ("model", run.plans[0].key, "cell/export")
    answers[key] = answers[key].model_copy(update={"inputs": inputs})
    scene = PlanScene(run, run.plans[0], 0, answers, honest.witnessed(), honest.tried())
    assert [one.status for one in plan_findings(scene) if one.check == "TX702"] == [status]


def part_of(weights: Weights) -> Weights:
    """Without the first tensor."""
    return replace(weights, tensors=dict(list(weights.tensors.items())[1:]))


@pytest.mark.parametrize(
    ("weights", "status"),
    [(weights_of(), PASS), (part_of(weights_of()), PASS), (weights_of(3.0), UNCHECKED)],
)
def test_an_evaluation_that_the_export_makes_counts_if_it_has_the_trained_weights(
    run: Run, judge: Judge, weights: Weights, status: str
) -> None:
    def edit(honest: Honest) -> None:
        [facts] = honest.processes["cell/eval"].evaluations
        honest.change("eval", evaluations=())
        honest.change("export", evaluations=(replace(facts, weights=weights),))
        honest.answers[SEEDED] = honest.answers[SEEDED][:0]

    [finding] = [one for one in judge(run, edit) if one.check == "TP301"]
    assert finding.status == status, finding.message


def test_clips_that_only_a_file_beside_the_averages_has_were_learnt() -> None:
    at_first, at_the_end = (Weights("", 1, 1.0, {"pact_0.pact": digest}) for digest in ("first", "end"))
    file = WeightsInFile(
        Path("model.pdparams"), digests={"conv.alpha": "average"}, clips=(Clip("conv.alpha", 100.8),)
    )
    averages = WeightsFile("model.pdparams", Weights("", 1, 1.0, {"conv.alpha": "average"}), at_step=6)
    beside = WeightsFile("model.pdema", Weights("", 1, 1.0, {"conv.alpha": "end"}), at_step=6)
    earlier = replace(beside, at_step=3)
    training = replace(training_facts(), before=at_first, after=at_the_end, given=("pact_0.pact",))
    for saves, learnt in (((averages,), 0), ((averages, earlier), 0), ((averages, beside), 1)):
        process = ProcessFacts(0, 1, "3.1.1", {}, training=training, saves=saves)
        assert trained_clips(process, file) == learnt


def test_an_evaluation_that_finds_no_box_has_no_metric_to_tell() -> None:
    none, some = np.zeros((0, 6), "float32"), np.ones((3, 6), "float32")
    assert has_no_box({"bbox": none, "bbox_num": np.zeros(4, "int32")}, 4)
    assert not has_no_box({"bbox": some, "bbox_num": np.ones(4, "int32")}, 4)
    assert not has_no_box({"logits": np.zeros((4, 1000), "float32")}, 4)


def test_a_plain_network_that_gets_a_quantised_file_is_told_by_its_names() -> None:
    trained = {"conv._layer.weight": "a", "bn.weight": "b", "fc.weight": "c"}
    assert left_unquantised({"conv.weight": "random", "bn.weight": "b"}, trained) == ["conv.weight"]
    assert left_unquantised({"conv.weight": "a", "bn.weight": "b"}, trained) == [], "loaded by another way"
    assert left_unquantised({"conv._layer.weight": "a", "head.weight": "x"}, trained) == []


def test_a_state_that_is_saved_in_part_lacks_tensors_of_layers_that_it_has() -> None:
    saved = {"bn.weight": "a", "bn.bias": "b", "conv.weight": "c"}
    assert left_out_of_file({**saved, "bn._mean": "made"}, saved) == ["bn._mean"]
    assert left_out_of_file({**saved, "bn._mean": "a"}, saved) == [], "under another name"
    assert left_out_of_file({**saved, "folded.weight": "x"}, saved) == [], "of no layer of the file"
    assert left_out_of_file({"bn.weight": "other", "bn._mean": "made"}, saved) == [], "another precision"


def test_clips_that_are_exported_as_they_were_at_the_start_are_unchecked() -> None:
    trained = WeightsInFile(Path("w.pdparams"), clips=(Clip("a.alpha", 2.5, 3.0), Clip("b.alpha", 2.0, 3.0)))

    def found(*scales: float) -> list[str]:
        exported = [np.array([scale], "float32") for scale in scales]
        return [outcome.status for outcome in learnt_clips_left_out(trained, exported)]

    assert found(3.0, 3.0) == [UNCHECKED]
    assert found(2.5, 2.0) == []
    assert found(2.5, 2.0, 3.0) == [], "a third one never moved"
    assert found(0.02, 0.03) == [], "in another form"
