"""The witness: what a script did is known, warm, cold and launched, and the script does not notice."""

from __future__ import annotations

import re
import shutil
import sys
import threading
import time
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from execution_bench import Bench
from warm_scripts import POOL
from witness_scripts import (
    AMP,
    AMP_BY_DEVICE,
    CHAIN,
    ERRORS,
    FOR_SHOW,
    LEGACY,
    ONE_CLASS,
    OWN_STATISTICS,
    OWN_STEPS,
    RANKS,
    RUN_THREE_TIMES,
    SAVED_IN_STATIC_MODE,
    SAVED_TWICE,
    SAVES_BETWEEN,
    STATIC,
    TWO_OPTIMISERS,
    WARMED_UP,
)

from tipc.run.executors.local import LocalExecutor
from tipc.run.guest.witness.door import Door
from tipc.run.record.facts import facts_base, load_facts, read_arrays
from tipc.run.record.step_facts import ProcessFacts, StepFacts

Stage = tuple[Bench, LocalExecutor]
WAYS = pytest.mark.parametrize("warm", [False, True], ids=["cold", "warm"])


def facts_of(
    bench: Bench, executor: LocalExecutor, task_name: str, *argv: str, **fields: object
) -> StepFacts:
    """Run a command under the witness; what it saw."""
    base = facts_base(bench.directory, 0, task_name)
    task = bench.task(*argv, name=task_name, facts=base, **{"timeout": 300.0, **fields})  # type: ignore[arg-type]
    outcome = bench.run(executor, task)
    assert outcome.facts, bench.log(task_name)
    return load_facts(bench.directory, 0, task_name, outcome.facts)


def untimed(log: bytes) -> bytes:
    """A log without what differs from run to run: the time and the thread in lines of paddle's C++ code."""
    return re.sub(rb"(?m)^[IWE]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ ", b"", log)


def unnoticed(
    bench: Bench, executor: LocalExecutor, text: str, *arguments: str, warm: bool = False
) -> ProcessFacts:
    """Run a script with and without the witness: it must print the same. What the witness saw."""
    bench.script(text, "seen.py")
    argv = (sys.executable, "seen.py", *arguments)
    shutil.rmtree(bench.directory / "out", ignore_errors=True)
    plain = bench.run(executor, bench.task(*argv, name="plain", timeout=300.0))
    shutil.rmtree(bench.directory / "out", ignore_errors=True)
    base = facts_base(bench.directory, 0, "seen")
    seen = bench.run(executor, bench.task(*argv, name="seen", facts=base, warm=warm, timeout=300.0))
    assert seen.warm == warm
    assert (seen.exit_code, seen.signal) == (plain.exit_code, plain.signal), bench.log("seen")
    assert untimed(bench.log("seen")) == untimed(bench.log("plain"))
    facts = load_facts(bench.directory, 0, "seen", seen.facts)
    assert len(facts.processes) == 1, facts
    return facts.processes[0]


@pytest.mark.parametrize(
    "text",
    [
        "import os, sys\nprint(sys.argv, sys.orig_argv, sys.path, __file__, 'TIPC_WITNESS' in os.environ)",
        "1 / 0",
        "import sys\nsys.exit('x')",
        "import os\nos._exit(3)",
        POOL.format(method="spawn"),
        POOL.format(method="fork"),
    ],
)
def test_a_script_without_paddle_runs_the_same_and_that_is_a_fact(
    bench: Bench, local: LocalExecutor, text: str
) -> None:
    facts = unnoticed(bench, local, text, "a", "--b=1")
    assert (facts.paddle, facts.training, facts.doors) == ("", None, {})


def test_a_script_that_is_none_says_what_python_says(bench: Bench, local: LocalExecutor) -> None:
    bench.script("print(", "broken.py")
    facts = facts_of(bench, local, "step", sys.executable, "broken.py")
    assert b"SyntaxError" in bench.log()
    assert b"guest" not in bench.log()
    assert facts.processes[0].paddle == ""


def test_a_command_that_is_no_script_has_no_facts(bench: Bench, local: LocalExecutor) -> None:
    facts = facts_of(bench, local, "step", "true")
    assert (facts.processes, facts.problem) == ((), "the command is not a Python script")


def test_image_files_are_told_in_the_order_of_their_opening(bench: Bench, local: LocalExecutor) -> None:
    for name in ("b.png", "a.jpg", "c.txt"):
        (bench.directory / name).write_bytes(b"x")
    text = "for n in ('b.png', 'a.jpg', 'c.txt', 'b.png'):\n    open(n, 'rb').read()\nopen('new.png', 'w')"
    facts = unnoticed(bench, local, text)
    assert facts.images == (str(bench.directory / "b.png"), str(bench.directory / "a.jpg"))


@pytest.mark.paddle
@WAYS
def test_a_whole_chain_is_seen_and_computes_the_same_bytes(paddle_stage: Stage, warm: bool) -> None:
    bench, executor = paddle_stage
    facts = unnoticed(bench, executor, CHAIN, warm=warm)
    assert not any(facts.doors.values()), facts.doors
    losses = [float(line.split()[1]) for line in bench.log("seen").splitlines() if line.startswith(b"loss")]

    training = facts.training
    assert training is not None
    assert training.before is not None
    assert training.after is not None
    assert (training.steps, training.backwards, training.forwards, training.samples) == (10, 10, 10, 40)
    assert list(training.losses) == losses
    assert training.batch_sizes == (4,)
    assert len(set(training.input_digests)) == 10
    assert training.before.digest != training.after.digest
    assert 0.01 < training.change < 1
    assert training.learning_rates[0] == 0.01

    assert [(item.at_step, item.calls, item.samples) for item in facts.evaluations] == [(5, 3, 6), (10, 3, 6)]
    last = facts.evaluations[1]
    assert last.weights is not None
    assert last.weights.holds(training.after)
    assert not last.weights.holds(training.before)

    (save,), (load,), (export,) = facts.saves, facts.loads, facts.exports
    assert save.path == str(bench.directory / "out" / "net.pdparams")
    assert (save.at_step, save.trained, training.after.count) == (10, 6, 6)
    assert save.weights.digest == load.weights.digest == last.weights.digest
    assert export.weights is not None
    assert export.weights.digest == save.weights.digest

    predictor, loaded = facts.predictors
    assert (predictor.engine, predictor.precision, predictor.threads) == ("onednn", "fp32", 2)
    assert predictor.digests == export.files
    assert (predictor.runs, predictor.batch_sizes, predictor.samples) == (10, (1, 2), 15)
    assert [bool(run.inputs) for run in predictor.kept] == [True] * 8 + [False] * 2
    assert all(run.outputs for run in predictor.kept)
    assert predictor.different_samples == 15
    assert len(predictor.run_seconds) == 10
    assert (loaded.engine, loaded.runs) == ("jit", 1)
    assert facts.operators["conv2d"]["fp32"] >= 16


@pytest.mark.paddle
def test_the_arrays_of_a_chain_belong_to_each_other(paddle_stage: Stage) -> None:
    bench, executor = paddle_stage
    bench.script(CHAIN, "chain.py")
    facts = facts_of(bench, executor, "arrays", sys.executable, "chain.py")
    arrays = read_arrays(facts)
    process = facts.main
    assert process is not None
    (call, *_others) = process.evaluations[1].kept
    assert arrays[call.inputs["0"]].shape == (2, 3, 16, 16)
    assert arrays[call.outputs["0"]].shape == (2, 5)
    (export,) = process.exports
    assert arrays[export.inputs["image"]].shape == (2, 3, 64, 64)
    # The exported model, asked here with what the witness kept, answers what the network did.
    paddle = pytest.importorskip("paddle")
    model = paddle.jit.load(export.path)
    model.eval()
    for inputs, outputs in (
        (export.inputs["image"], export.outputs["0"]),
        (call.inputs["0"], call.outputs["0"]),
    ):
        again = model(paddle.to_tensor(arrays[inputs])).numpy()
        np.testing.assert_allclose(again, arrays[outputs], atol=1e-5)
    for run in process.predictors[0].kept[:8]:
        again = model(paddle.to_tensor(arrays[run.inputs["image"]])).numpy()
        np.testing.assert_allclose(again, next(arrays[key] for key in run.outputs.values()), atol=1e-5)


IN_TRAINING_MODE = """
import paddle
x = paddle.rand([4, 6])
plain = paddle.nn.Sequential(paddle.nn.Linear(6, 3), paddle.nn.ReLU(), paddle.nn.Linear(3, 2))
dropping = paddle.nn.Sequential(paddle.nn.Linear(6, 2), paddle.nn.Dropout(0.5))
with paddle.no_grad():
    plain(x)
    dropping(x)
plain(x).sum().backward()
with paddle.no_grad():
    plain(x)
"""


@pytest.mark.paddle
def test_an_evaluation_may_leave_eval_out_where_no_layer_answers_otherwise(paddle_stage: Stage) -> None:
    facts = unnoticed(*paddle_stage, IN_TRAINING_MODE)
    [evaluation] = facts.evaluations
    assert (evaluation.calls, evaluation.samples, len(evaluation.kept)) == (1, 4, 1)
    assert facts.training_calls == 2, "with a gradient, and after the first backward"


@pytest.mark.paddle
def test_what_is_done_for_show_is_told_apart(paddle_stage: Stage) -> None:
    facts = unnoticed(*paddle_stage, FOR_SHOW)
    training = facts.training
    assert training is not None
    assert training.after is not None
    assert (training.forwards, training.amp["forwards"]) == (4, "0")
    assert (len(training.given), training.after.count) == (2, 4)
    # The network's own look at itself is no evaluation; other weights make another one.
    assert [(one.at_step, one.samples) for one in facts.evaluations] == [(0, 2), (4, 3)]
    first, second = (one.weights for one in facts.evaluations)
    assert first is not None
    assert second is not None
    assert first.digest != second.digest
    saves = {Path(one.path).name: one for one in facts.saves}
    assert saves["net.pdparams"].trained == 4
    assert saves["average.pdparams"].trained < 4
    assert 0 <= saves["average.pdparams"].apart < 1
    for name in ("average.pdparams", "uncorrected.pdparams"):  # one began with zeros, say
        assert (saves[name].judged, saves[name].strayed) == (2, ()), name
    # A bias that began at 0 lies on its way when it is halved.
    assert (saves["scaled.pdparams"].judged, saves["scaled.pdparams"].strayed) == (2, ("0.weight",))
    assert saves["float16.pdparams"].trained == saves["bfloat16.pdparams"].trained == 4
    assert saves["noise.pdparams"].trained < 4
    assert saves["other.pdparams"].trained < 4
    assert saves["other.pdparams"].apart > 3
    assert [Path(path).name for path in facts.pictures] == ["drawn.png"]


@pytest.mark.paddle
@WAYS
def test_mixed_precision_is_told_as_it_was_asked_for(paddle_stage: Stage, warm: bool) -> None:
    facts = unnoticed(*paddle_stage, AMP, warm=warm)
    training = facts.training
    assert training is not None
    assert (training.steps, training.skipped_steps) == (3, 0)
    assert training.amp["level"] == "O2"
    assert training.amp["dtype"] == "bfloat16"
    assert training.amp["black"] == "mean softmax"
    losses = [float(line) for line in paddle_stage[0].log("seen").split()[-3:]]
    assert list(training.losses) == pytest.approx(losses)


@pytest.mark.paddle
def test_steps_without_an_optimiser_are_counted_where_weights_go_against_their_gradients(
    paddle_stage: Stage,
) -> None:
    training = unnoticed(*paddle_stage, OWN_STEPS).training
    assert training is not None
    assert (training.steps, training.backwards) == (3, 3)
    losses = [float(line.split()[0]) for line in paddle_stage[0].log("seen").splitlines()[-4:-1]]
    assert list(training.losses) == pytest.approx(losses)
    assert len(training.with_gradient) == 2


@pytest.mark.paddle
def test_what_each_of_two_optimisers_had_is_told_and_which_gradients_were_0(paddle_stage: Stage) -> None:
    training = unnoticed(*paddle_stage, TWO_OPTIMISERS).training
    assert training is not None
    assert (len(training.given), len(training.zero_gradient), len(training.with_gradient)) == (4, 2, 2)


@pytest.mark.paddle
def test_what_a_loop_does_after_a_step_is_no_work_of_the_next_one(paddle_stage: Stage) -> None:
    training = unnoticed(*paddle_stage, SAVES_BETWEEN).training
    assert training is not None
    assert len(training.work_seconds) == len(training.step_seconds) == 4
    for work, whole in zip(training.work_seconds[1:], training.step_seconds[1:], strict=True):
        assert 0 < work <= whole - 0.19


@pytest.mark.paddle
def test_outputs_of_a_run_that_comes_three_times_are_kept_once_fetched(paddle_stage: Stage) -> None:
    [predictor] = unnoticed(*paddle_stage, RUN_THREE_TIMES).predictors
    assert (predictor.runs, predictor.different_samples) == (14, 10)
    assert [len(run.outputs) for run in predictor.kept] == [1] * 10


def test_threads_look_one_after_the_other() -> None:
    inside: list[int] = []
    most = []

    class Slow(Door):
        def look(self) -> None:
            inside.append(1)
            most.append(len(inside))
            time.sleep(0.01)
            inside.pop()

    door = Slow(Mock(one_at_a_time=threading.RLock(), own_seconds=0.0))
    threads = [threading.Thread(target=door.safely, args=(door.look,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 4


@pytest.mark.paddle
def test_a_warm_up_does_not_take_the_place_of_the_run_whose_outputs_are_fetched(paddle_stage: Stage) -> None:
    [predictor] = unnoticed(*paddle_stage, WARMED_UP).predictors
    assert predictor.runs == 4
    assert [len(run.outputs) for run in predictor.kept] == [1]


@pytest.mark.paddle
def test_a_program_that_is_written_once_more_has_the_answers_of_its_network(paddle_stage: Stage) -> None:
    facts = unnoticed(*paddle_stage, SAVED_TWICE)
    assert facts.doors["paddle.jit.save"] == ""
    network, program = facts.exports
    assert network.path == program.path
    assert (program.inputs, program.outputs) == (network.inputs, network.outputs)
    assert set(program.inputs) == {"x"}
    assert not program.problem


@pytest.mark.paddle
@WAYS
def test_a_network_that_is_saved_in_static_mode_has_answered_all_the_same(
    paddle_stage: Stage, warm: bool
) -> None:
    (export,) = unnoticed(*paddle_stage, SAVED_IN_STATIC_MODE, warm=warm).exports
    assert not export.problem
    assert (set(export.inputs), set(export.outputs)) == ({"x"}, {"0"})


@pytest.mark.paddle
def test_a_network_that_gives_one_class_to_noise_is_asked_with_coarser_pictures(paddle_stage: Stage) -> None:
    bench, executor = paddle_stage
    bench.script(ONE_CLASS, "one_class.py")
    facts = facts_of(bench, executor, "one_class", sys.executable, "one_class.py")
    assert facts.main is not None
    (export,) = facts.main.exports
    arrays = read_arrays(facts)
    picture, classes = arrays[export.inputs["image"]], arrays[export.outputs["0"]]
    assert set(classes.ravel()) == {0, 1}
    assert (picture[:, :, :8, :8] == picture[:, :, :1, :1]).all()


@pytest.mark.paddle
@WAYS
def test_what_the_script_wrote_to_switch_mixed_precision_off_is_told(paddle_stage: Stage, warm: bool) -> None:
    training = unnoticed(*paddle_stage, AMP_BY_DEVICE, warm=warm).training
    assert training is not None
    assert "level" not in training.amp
    assert training.amp["off"] == "paddle.device.is_compiled_with_cuda()"


@pytest.mark.paddle
def test_a_script_that_counts_operators_itself_gets_its_own_numbers(paddle_stage: Stage) -> None:
    facts = unnoticed(*paddle_stage, OWN_STATISTICS, warm=True)
    assert facts.operators["conv2d"]["fp32"] == 3


@pytest.mark.paddle
@WAYS
def test_a_traceback_through_a_door_has_no_frame_of_ours(paddle_stage: Stage, warm: bool) -> None:
    bench, executor = paddle_stage
    unnoticed(bench, executor, ERRORS, warm=warm)
    assert b"Traceback" in bench.log("seen")
    assert b"guest" not in bench.log("seen")


@pytest.mark.paddle
def test_nobody_who_asks_for_the_stack_sees_us(paddle_stage: Stage) -> None:
    facts = unnoticed(*paddle_stage, LEGACY)
    assert [export.problem for export in facts.exports] == [""]


@pytest.mark.paddle
@pytest.mark.parametrize("full", [True, False], ids=["whole graph", "by opcode"])
def test_a_network_that_paddle_translates_computes_the_same(paddle_stage: Stage, full: bool) -> None:
    facts = unnoticed(*paddle_stage, STATIC.replace("{full}", str(full)), warm=True)
    assert facts.training is not None
    assert (facts.training.steps, facts.training.forwards, facts.training.samples) == (3, 3, 9)
    assert [evaluation.calls for evaluation in facts.evaluations] == [1]


@pytest.mark.paddle
def test_every_rank_of_a_launch_is_seen_and_computes_the_same(paddle_stage: Stage) -> None:
    bench, executor = paddle_stage
    bench.script(RANKS, "ranks.py")
    launch = (sys.executable, "-m", "paddle.distributed.launch", "--nproc_per_node=2", "--log_dir", "ranks")
    env = {**bench.env, "OMP_NUM_THREADS": "1"}
    argv = (*launch, "ranks.py", "a")
    plain = bench.run(executor, bench.task(*argv, name="plain", env=env, timeout=240.0))
    assert plain.exit_code == 0, bench.log("plain")
    printed = [(bench.directory / f"rank{rank}.txt").read_text() for rank in (0, 1)]
    facts = facts_of(bench, executor, "launched", *argv, env=env, timeout=240.0)
    assert [(bench.directory / f"rank{rank}.txt").read_text() for rank in (0, 1)] == printed
    first, second = facts.processes
    assert (first.rank, second.rank) == (0, 1)
    assert first.pid != second.pid
    assert first.training is not None
    assert second.training is not None
    assert first.training.steps == second.training.steps == 4
    assert first.training.after == second.training.after  # they have exchanged gradients
    assert first.training.losses != second.training.losses
    assert first.collectives["DataParallel"] == 1
    assert first.collectives["all_reduce"] >= 1


def test_facts_of_an_earlier_attempt_do_not_count(bench: Bench, local: LocalExecutor) -> None:
    base = facts_base(bench.directory, 0, "step")
    base.parent.mkdir(parents=True)
    for suffix in (".facts.json", ".arrays.npz"):
        Path(f"{base}{suffix}").write_text("old")
    outcome = bench.run(local, bench.task(str(bench.directory / "nowhere"), facts=base))
    assert outcome.error
    assert not Path(f"{base}.arrays.npz").exists()
    assert load_facts(bench.directory, 0, "step").processes == ()
