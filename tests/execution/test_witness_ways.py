"""The witness follows a script on unusual ways: into the processes that it starts, and into static graphs."""

from __future__ import annotations

import sys
from unittest.mock import Mock

import numpy as np
import pytest
from execution_bench import Bench
from test_witness import WAYS, Stage, facts_of, unnoticed

from tipc.run.executors.local import LocalExecutor
from tipc.run.guest.witness.files import _is_half_of
from tipc.run.guest.witness.frozen import Frozen
from tipc.run.record.facts import read_arrays

# One script for all ways in which it may start the process that trains.
STARTER = """
import multiprocessing, os, subprocess, sys

def train():
    import numpy as np
    import paddle
    net = paddle.nn.Linear(4, 3)
    optimiser = paddle.optimizer.SGD(0.1, parameters=net.parameters())
    for _ in range(5):
        net(paddle.rand([2, 4])).mean().backward()
        optimiser.step()
    net.eval()
    net(paddle.to_tensor(np.eye(4, dtype='float32')))
    paddle.save(net.state_dict(), 'out/net.pdparams')

if __name__ == '__main__':
    way = sys.argv[1]
    if way == 'train':
        train()
    elif way == 'script':
        done = subprocess.run([sys.executable, '-u', 'starter.py', 'train'], check=True)
        print(done.args[1:], 'TIPC_WITNESS' in os.environ)
    elif way == 'shell':
        os.system(f'{sys.executable} starter.py train')
    else:
        process = multiprocessing.get_context(way).Process(target=train)
        process.start()
        process.join()
        print(process.exitcode)
"""


@pytest.mark.paddle
@WAYS
@pytest.mark.parametrize("way", ["script", "spawn", "fork"])
def test_a_process_that_the_script_starts_is_seen(paddle_stage: Stage, way: str, warm: bool) -> None:
    bench, executor = paddle_stage
    bench.script(STARTER, "starter.py")
    facts = facts_of(bench, executor, f"{way}-{warm}", sys.executable, "starter.py", way, warm=warm)
    assert b"TIPC" not in bench.log(f"{way}-{warm}")
    assert len(facts.processes) == 2
    main = facts.main
    assert main is not None
    assert main.training is not None
    assert (main.training.steps, main.evaluations[-1].samples, len(main.saves)) == (5, 4, 1)
    assert not main.started
    (call,) = main.evaluations[-1].kept
    assert read_arrays(facts)[call.inputs["0"]].shape == (4, 4)


def test_a_program_that_cannot_be_followed_is_told(bench: Bench, local: LocalExecutor) -> None:
    text = "import os, subprocess\nos.system('true')\nsubprocess.call(['sh', '-c', 'exit 0'])"
    facts = unnoticed(bench, local, text)
    assert facts.started == ("true", "sh -c exit 0")


@pytest.mark.parametrize("warm", [False, True])
def test_a_script_that_begins_again_with_other_variables_is_seen(paddle_stage: Stage, warm: bool) -> None:
    bench, executor = paddle_stage
    again = (
        "import os, sys\nif 'SET' not in os.environ:\n    os.environ['SET'] = '1'\n"
        "    os.execv(sys.executable, [sys.executable] + sys.argv)\n"
    )
    bench.script(again + STARTER, "again.py")
    facts = facts_of(bench, executor, f"again-{warm}", sys.executable, "again.py", "train", warm=warm)
    assert facts.main is not None
    assert facts.main.training is not None
    assert (facts.main.training.steps, len(facts.main.saves)) == (5, 1)
    assert "end" not in facts.main.doors


def test_a_script_that_cannot_begin_again_goes_on(bench: Bench, local: LocalExecutor) -> None:
    text = (
        "import os\ntry:\n    os.execv('/nowhere/python3', ['python3', 'x.py'])\n"
        "except OSError as error:\n    print(error)\nos.system('true')"
    )
    assert unnoticed(bench, local, text).started == ("true",)


MODULE = """
import sys
print(sys.argv[1:], __name__, __package__, __spec__.name, sys.path[0], __file__)
1 / 0
"""


def test_a_module_is_seen_and_runs_the_same(bench: Bench, local: LocalExecutor) -> None:
    (bench.directory / "pkg").mkdir()
    (bench.directory / "pkg/__init__.py").touch()
    bench.script(MODULE, "pkg/train.py")
    argv = (sys.executable, "-m", "pkg.train", "--a=1")
    bench.run(local, bench.task(*argv, name="plain"))
    facts = facts_of(bench, local, "seen", *argv)
    assert bench.log("seen") == bench.log("plain")
    assert b"['--a=1'] __main__ pkg pkg.train" in bench.log("plain")
    assert len(facts.processes) == 1


def test_processes_that_do_nothing_with_paddle_tell_nothing(bench: Bench, local: LocalExecutor) -> None:
    bench.script("print('idle')", "idle.py")
    text = "import subprocess, sys\nprint(subprocess.check_output([sys.executable, 'idle.py']))"
    assert unnoticed(bench, local, text).started == ()


STATIC_TRAINING = """
import os
os.environ['FLAGS_enable_pir_api'] = '0'
import numpy as np
import paddle

paddle.enable_static()
paddle.seed(7)
main, start = paddle.static.Program(), paddle.static.Program()
with paddle.static.program_guard(main, start):
    x = paddle.static.data('x', [None, 4], 'float32')
    answer = paddle.nn.Linear(4, 3)(x)
    loss = (answer ** 2).mean()
    test = main.clone(for_test=True)
    paddle.optimizer.Momentum(0.1).minimize(loss)
executor = paddle.static.Executor(paddle.CPUPlace())
executor.run(start)
numbers = np.random.default_rng(0)
for _ in range(6):
    print(executor.run(main, feed={'x': numbers.random((2, 4), 'float32')}, fetch_list=[loss])[0])
print(executor.run(test, feed={'x': numbers.random((5, 4), 'float32')}, fetch_list=[answer])[0])
paddle.save(main.state_dict(), 'out/net.pdparams')
paddle.static.save_inference_model('out/model', [x], [answer], executor, program=main)
program, names, answers = paddle.static.load_inference_model('out/model', executor)
for _ in range(2):
    print(executor.run(program, feed={names[0]: numbers.random((3, 4), 'float32')}, fetch_list=answers)[0])
"""


@pytest.mark.paddle
def test_a_static_graph_is_seen_to_train_to_evaluate_and_to_predict(paddle_stage: Stage) -> None:
    bench, executor = paddle_stage
    facts = unnoticed(bench, executor, STATIC_TRAINING)
    assert not any(facts.doors.values()), facts.doors
    told = [float(line) for line in bench.log("seen").splitlines() if line.replace(b".", b"").isdigit()]

    training = facts.training
    assert training is not None
    assert training.before is not None
    assert training.after is not None
    assert (training.steps, training.backwards, training.forwards, training.samples) == (6, 6, 6, 12)
    assert training.losses == pytest.approx(told[:6], rel=1e-5)
    assert training.before.digest != training.after.digest
    assert training.change > 0.001

    (evaluation,), (save,), (export,) = facts.evaluations, facts.saves, facts.exports
    assert (evaluation.at_step, evaluation.samples) == (6, 5)
    assert evaluation.weights is not None
    assert evaluation.weights.holds(training.after)
    assert save.weights.holds(training.after)
    assert save.trained == training.after.count == 2
    assert export.weights is not None
    assert export.weights.holds(training.after)
    (predictor,) = facts.predictors
    assert predictor.digests == export.files
    assert (predictor.engine, predictor.runs, predictor.samples) == ("executor", 2, 6)


OVERWRITTEN = """
import paddle

paddle.seed(7)
net = paddle.nn.Sequential(paddle.nn.Linear(4, 3), paddle.nn.Linear(3, 2))
optimiser = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for _ in range(5):
    net(paddle.rand([2, 4])).sum().backward()
    optimiser.step()
    optimiser.clear_grad()
paddle.save(net.state_dict(), 'out/trained.pdparams')
net[0].weight.set_value(paddle.rand([4, 3]) * 9)
paddle.save(net.state_dict(), 'out/changed.pdparams')
"""


@pytest.mark.paddle
def test_a_tensor_that_is_overwritten_after_the_last_step_is_not_what_was_trained(
    paddle_stage: Stage,
) -> None:
    facts = unnoticed(*paddle_stage, OVERWRITTEN)
    trained, changed = facts.saves
    assert facts.training is not None
    assert facts.training.after is not None
    assert trained.weights.holds(facts.training.after)
    assert not changed.weights.holds(facts.training.after)
    assert (trained.trained, trained.changed) == (4, "")
    assert (changed.trained, changed.changed) == (3, "0.weight")
    assert changed.apart > 3


FROZEN = """
import paddle
net = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.BatchNorm1D(8), paddle.nn.Linear(8, 2))
teacher = paddle.nn.Linear(2, 2)
net.add_sublayer('teacher', teacher)
for parameter in [*net[0].parameters(), *teacher.parameters()]:
    parameter.stop_gradient = True
sgd = paddle.optimizer.SGD(0.1, parameters=[*net[1].parameters(), *net[2].parameters()])
for step in range(3):
    loss = net(paddle.rand([6, 4])).mean()
    loss.backward()
    sgd.step()
    sgd.set_lr(0.0)
    if step == 0:
        teacher.weight.set_value(teacher.weight * 0.9)
"""


@pytest.mark.paddle
def test_what_is_frozen_and_steps_at_a_rate_of_0_are_told(paddle_stage: Stage) -> None:
    facts = unnoticed(*paddle_stage, FROZEN)
    training = facts.training
    assert training is not None
    assert (training.steps, training.standing) == (3, 2)
    assert training.frozen_numbers == 4 * 8 + 8 + 2, "what follows the network, or is a statistic, is not"
    assert training.trainable_numbers == 2 * 8 + 8 * 2 + 2
    assert len(training.frozen) == 3


@pytest.mark.filterwarnings("error")
def test_weights_that_do_not_fit_into_16_bits_are_compared_without_a_word() -> None:
    # numpy would warn, in the script's own output.
    here = np.array([1e6, 1.0], dtype="float32")
    assert _is_half_of(np.array([np.inf, 1.0], dtype="float16"), here)
    assert not _is_half_of(np.array([1.0, 1.0], dtype="float16"), here)


def test_a_network_that_is_all_frozen_is_looked_at_once() -> None:
    tensor = Mock(stop_gradient=True, shape=[2], name="weight")
    tensor.numpy.return_value = np.zeros(2)
    network = Mock()
    network.parameters.return_value = [tensor]
    frozen = Frozen()
    for _ in range(3):
        frozen.look(network, 0)
    assert frozen.facts()["frozen_numbers"] == 2
