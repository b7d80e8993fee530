"""A wrong call is told in plain words, with what was meant."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest
from rich.cells import cell_len

from tipc.cli.main import COMMANDS, main
from tipc.cli.options import Parser
from tipc.errors import UsageError, deduplicated
from tipc.language import choose
from tipc.suggestions import one_of, path_meant

ZOO = Path(__file__).parents[2] / "zoo" / "classification"
CONFIG = "test_tipc/configs/mobilenet_v3_small/train_infer_python.txt"


@pytest.fixture(autouse=True)
def _in_the_zoo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ZOO)


def called(argv: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What a wrong call is told; its exit code is 2."""
    try:
        code = main(argv)
    except SystemExit as stopped:
        code = int(stopped.code or 0)
    assert code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["history", "-n", "-4"], "must be 1, 2, 3, …, not `-4`"),
        (["trend", "ips", "-n", "0"], "must be 1, 2, 3, …, not `0`"),
        (["plan", CONFIG, "lite_train_lite_infr"], "did you mean `lite_train_lite_infer`?"),
        (["plan", CONFIG, "--mode", "whole_infr"], "did you mean `whole_infer`?"),
        (["run", CONFIG.replace("small", "smal")], f"did you mean `{CONFIG}`?"),
        (["lint", "test_tipc/confgs"], "did you mean `test_tipc/configs`?"),
        (["plan", CONFIG, "--dialect", "modls"], "did you mean `models`?"),
        (["plan", CONFIG, "--device", "gpuu"], "did you mean `gpu`?"),
        (["run", CONFIG, "--executor", "rey", "--dry-run"], "did you mean `ray`?"),
        (["run", CONFIG, "--only", "trian", "--dry-run"], "did you mean `train`?"),
        (["run", CONFIG, "--fail-fst"], "there is no option `--fail-fst`; did you mean `--fail-fast`?"),
        (["run", CONFIG, "--jobs", "x"], "--jobs: must be 1, 2, 3, …, not `x`"),
        (["run", CONFIG, "--retries", "-1"], "--retries: must be 0, 1, 2, …, not `-1`"),
        (["run", CONFIG, "--timeout", "soon"], "--timeout: must be a number of seconds above 0, not `soon`"),
        (["run", CONFIG, "--shard", "7/5"], "--shard: must be like 2/5 (part 2 of 5), not `7/5`"),
        (["history", "-n", "x"], "must be 1, 2, 3, …, not `x`"),
        (["check", "--level", "bas"], "there is no `bas`, only base, amp, pact, all; did you mean `base`?"),
        (["plan"], "CONFIG is missing"),
        (["plan", CONFIG, "--mode"], "--mode needs a value"),
        (["plan", CONFIG, "--json", "--commands"], "--commands and --json cannot be given together"),
        (["plan", CONFIG, "--json=3"], "--json takes no value"),
        (["run", CONFIG, "--re"], "`--re` could be --resume, --rerun-failed, --retries, --repo"),
        (["lint", "--ignore", "TC999"], "there is no lint code `TC999`"),
        (["pln"], "Did you mean `tipc plan`?"),
        (["plan", "--lang", "zh"], "缺少 CONFIG"),
    ],
)
def test_a_wrong_call(argv: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = called(argv, capsys)
    choose("")
    assert words in told
    # Python's own words.
    for word in ("argument ", "invalid", "choose from", "Traceback", "NoneType"):
        assert word not in told


def test_a_text_of_argparse_that_is_not_known_is_shown_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        Parser(prog="tipc x").error("something new")
    assert "tipc x: something new" in capsys.readouterr().err


def test_every_message_of_this_python_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    """Argparse may word its messages anew; those that calls meet are made here by argparse itself."""
    parser = Parser(prog="tipc x")
    parser.add_argument("file")
    parser.add_argument("--number", type=float)
    parser.add_argument("--two", nargs=2)
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--one", action="store_true")
    only.add_argument("--other", choices=("a", "b"))
    for argv in (
        [],
        ["f", "--number", "x"],
        ["f", "--two", "1"],
        ["f", "--one", "--other", "a"],
        ["f", "--other", "c"],
        ["f", "--nonsense"],
    ):
        with pytest.raises(SystemExit):
            parser.parse_args(argv)
        assert "argument" not in capsys.readouterr().err, argv
    assert issubclass(Parser, argparse.ArgumentParser)


def test_a_path_is_mended_part_by_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "configs" / "model").mkdir(parents=True)
    (tmp_path / "configs" / "model" / "train.txt").write_text("")
    monkeypatch.chdir(tmp_path)
    assert str(path_meant("confgs/modl/trian.txt")) == "did you mean `configs/model/train.txt`?"
    assert str(path_meant(f"{tmp_path}/confgs")) == f"did you mean `{tmp_path}/configs`?"
    assert str(path_meant("quite/another")) == ""
    assert str(path_meant("")) == ""
    assert str(one_of("zzz", ["a", "b"])) == "one of a, b"


def test_what_is_wrong_with_many_configs_in_the_same_way_is_told_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = called(["run", "test_tipc/configs", "lite_train_lite_infr"], capsys)
    assert told.count("did you mean `lite_train_lite_infer`?") == 1
    assert "\n  also: " in told
    assert "tipc lint" not in told
    told = called(["run", "test_tipc/configs", "--dialect", "modls"], capsys)
    assert told.count("there is no dialect `modls`") == 1


def test_files_with_the_same_problem_are_named_up_to_a_number() -> None:
    problems = [UsageError("unknown mode", path=f"{number}.txt", remedy="another") for number in range(9)]
    other = UsageError("not UTF-8", path="9.txt", line=3)
    assert deduplicated([*problems, other]) == [
        "0.txt: unknown mode\n  try: another",
        "  also: 1.txt, 2.txt, 3.txt, 4.txt, 5.txt, and 3 more",
        "9.txt:3: not UTF-8",
    ]


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["run", "nope.txt"], "nope.txt: 没有这个配置文件"),
        (["plan", CONFIG, "--device", "gpuu"], "没有设备 `gpuu`\n  建议：是否应为 `gpu`？可用的有 cpu, gpu"),
        (["report", "nope"], "里没有运行 `nope`"),
        (["explain", "TX999"], "没有编号、检查或修正 `TX999`"),
        (["pln"], "tipc：没有命令 `pln`。是否应为 `tipc plan`？"),
    ],
)
def test_an_error_is_in_chinese_where_that_is_wished(
    capsys: pytest.CaptureFixture[str], argv: list[str], words: str
) -> None:
    try:
        assert words in called([*argv, "--lang", "zh"], capsys)
    finally:
        choose("")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_of_help_of_every_command_is_in_chinese_and_fits(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TIPC_LANG", "zh")
    try:
        with pytest.raises(SystemExit) as stopped:
            main([name, "--help"])
    finally:
        monkeypatch.undo()
        choose("")
    assert stopped.value.code == 0
    page = capsys.readouterr().out
    assert page.startswith("用法：")
    assert "显示此帮助并退出" in page
    assert max(map(cell_len, page.splitlines())) <= 80
