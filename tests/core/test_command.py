"""An argv as a value: interpreter, launcher, script, options."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipc.command import Command, is_python

TRAIN = Command(
    ("python3.7", "-X", "faulthandler", "tools/train.py", "-c", "a.yml", "--iters=20", "--device", "gpu")
)
LAUNCH = Command(
    (
        *("python", "-m", "paddle.distributed.launch", "--gpus=0,1", "--log_dir", "x"),
        *("t/train.py", "-o", "Global.use_gpu=True"),
    )
)


@pytest.mark.parametrize("name", ["python", "python3", "python3.7", "/opt/env/bin/python3.11", "pypy3"])
def test_an_interpreter_is_known_by_its_name(name: str) -> None:
    assert is_python(name)


@pytest.mark.parametrize("name", ["", "pythonw.sh", "ipython", "python3.7-config", "bash", "/opt/python/run"])
def test_other_programs_are_no_interpreters(name: str) -> None:
    assert not is_python(name)


def test_the_script_stands_behind_the_options_of_the_interpreter() -> None:
    assert TRAIN.script == "tools/train.py"
    assert TRAIN.arguments == ("-c", "a.yml", "--iters=20", "--device", "gpu")


def test_the_script_of_a_launch_stands_behind_the_options_of_the_launcher() -> None:
    assert LAUNCH.launcher == "paddle.distributed.launch"
    assert LAUNCH.launch_options == ("--gpus=0,1", "--log_dir", "x")
    assert LAUNCH.script == "t/train.py"


@pytest.mark.parametrize(
    ("line", "launcher", "entry"),
    [
        (
            "python -m paddle.distributed.launch --ips=a,b --devices 0,1 t.py --x",
            "paddle.distributed.launch",
            "t.py",
        ),
        ("python -X dev -m paddle.distributed.launch t.py", "paddle.distributed.launch", "t.py"),
        ("python -m torch.distributed.run --standalone t.py", "torch.distributed.run", "t.py"),
        (
            "python -m paddle.distributed.fleet.launch --gpus 0 -m a.b --x",
            "paddle.distributed.fleet.launch",
            "-m a.b",
        ),
        ("fleetrun --gpus=0,1 t.py --x", "fleetrun", "t.py"),
        ("mpirun -np 2 python t.py", "mpirun", "t.py"),
        ("python -m pip install x", "", "-m pip"),
        ("python3 -W ignore t.py", "", "t.py"),
        ("paddle2onnx --model_dir=x", "", "paddle2onnx"),
    ],
)
def test_what_does_the_work_is_known_by_itself_or_behind_a_launcher(
    line: str, launcher: str, entry: str
) -> None:
    command = Command(tuple(line.split()))
    assert (command.launcher, command.entry) == (launcher, entry)


@pytest.mark.parametrize("line", ["python -c pass", "python", "python --version", "python3 -", "python -m"])
def test_a_question_to_the_interpreter_runs_nothing(line: str) -> None:
    assert Command(tuple(line.split())).entry == ""


def test_an_option_of_the_launcher_is_found_in_both_ways_of_writing() -> None:
    assert LAUNCH.launch_option("--gpus") == "0,1"
    assert LAUNCH.launch_option("--log_dir") == "x"
    assert LAUNCH.launch_option("--ips") == ""
    assert LAUNCH.launch_options_without(("--log_dir",)) == ("--gpus=0,1",)


def test_arguments_are_read_in_every_spelling() -> None:
    words = ("--a=1", "--b", "2", "-o", "X.y=3", "--flag", "--n", "-5", "bare")
    assert dict(Command(("python", "t.py", *words)).values()) == {
        "a": "1",
        "b": "2",
        "o": "",
        "X.y": "3",
        "flag": "",
        "n": "-5",
        "": "bare",
    }


def test_a_key_finds_an_option_in_any_spelling() -> None:
    command = Command(("python", "-m", "a.b", "--Save-Dir", "x", "-o", "Global.save_dir=y"))
    assert command.value_of({"save_dir"}) == "y"
    assert command.value_of({"other"}) is None


@pytest.mark.parametrize(
    "argv", [("python", "-c", "print(1)"), ("python", "-m", "pip", "list"), ("bash", "a.sh"), ()]
)
def test_some_commands_have_no_script(argv: tuple[str, ...]) -> None:
    assert Command(argv).script == ""


def test_an_option_is_found_in_every_way_of_writing() -> None:
    assert TRAIN.option("--iters") == "20"
    assert TRAIN.option("device") == "gpu"
    assert LAUNCH.option("use_gpu") == "True"
    assert TRAIN.option("--batch_size") is None


def test_the_options_of_a_launcher_are_not_those_of_the_script() -> None:
    assert LAUNCH.option("--gpus") is None


def test_an_option_gets_another_value_where_it_stands() -> None:
    assert TRAIN.with_option("device", "cpu").argv[-1] == "cpu"
    assert LAUNCH.with_option("use_gpu", "False").argv[-1] == "Global.use_gpu=False"


def test_an_option_that_is_not_given_is_added() -> None:
    assert TRAIN.with_option("--seed", "1").argv[-1] == "--seed=1"


def test_the_launcher_can_be_told_something_else() -> None:
    other = LAUNCH.with_launch_options(("--nproc_per_node=2",))
    assert other.launch_options == ("--nproc_per_node=2",)
    assert other.script == LAUNCH.script
    assert other.arguments == LAUNCH.arguments


def test_words_can_be_put_before_the_script() -> None:
    assert LAUNCH.with_before_script("watch.py").argv[-4:] == (
        "watch.py",
        "t/train.py",
        "-o",
        "Global.use_gpu=True",
    )


def test_only_an_interpreter_is_exchanged() -> None:
    assert TRAIN.with_interpreter("/x/python").program == "/x/python"
    assert Command(("bash", "a.sh")).with_interpreter("/x/python").program == "bash"


def test_a_line_for_a_shell_sets_and_unsets_variables() -> None:
    line = Command(("python", "a b.py")).shell_line({"X": "1 2", "CUDA_VISIBLE_DEVICES": None})
    assert line == "env -u CUDA_VISIBLE_DEVICES X='1 2' python 'a b.py'"


def test_a_line_for_a_shell_leaves_the_shell_a_pattern_to_fill_in() -> None:
    line = Command(("python", "a b*/[01].py", "*")).shell_line(patterns=("a b*/[01].py",))
    assert line == "python 'a b'*/[01].py '*'"


@given(st.lists(st.text(min_size=1).filter(lambda text: "\0" not in text), min_size=1))
def test_a_shell_reads_the_same_words_back(words: list[str]) -> None:
    assert tuple(shlex.split(Command(tuple(words)).shell_line())) == tuple(words)


@given(
    st.lists(st.sampled_from(["-o", "--a=1", "--b", "c", "x.y=2", "-m", "-c", "--gpus", "t.py"]), max_size=8)
)
def test_every_word_belongs_somewhere(words: list[str]) -> None:
    command = Command(("python", *words))
    if command.script:
        assert (*command.before_script, command.script, *command.arguments) == command.argv


@pytest.mark.parametrize(
    ("line", "before"),
    [
        ("python -u t.py --x", "python -u W t.py --x"),
        ("python -X dev -m a.b --x", "python -X dev W -m a.b --x"),
        (
            "python -m paddle.distributed.launch --gpus=0 t.py",
            "python -m paddle.distributed.launch --gpus=0 W t.py",
        ),
        ("python -m paddle.distributed.launch -m a.b", "python -m paddle.distributed.launch -m a.b"),
        ("python -c 1", "python -c 1"),
        ("bash t.sh", "bash t.sh"),
    ],
)
def test_a_program_is_put_before_a_script_or_a_module(line: str, before: str) -> None:
    assert Command(tuple(line.split())).with_before_script("W").argv == tuple(before.split())
