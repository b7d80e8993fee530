"""Settings of a repository: found upwards, checked, outdone by options."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from tipc.cli.main import main
from tipc.cli.options import Parser, parse
from tipc.errors import UsageError
from tipc.language import choose
from tipc.settings import SETTINGS, Chosen, find_settings


def test_the_nearest_file_counts(tmp_path: Path) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    (tmp_path / "tipc.toml").write_text("retries = 1\n")
    assert find_settings(str(below)).get("retries") == 1
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.tipc]\nretries = 2\n")
    assert find_settings(str(below)).get("retries") == 2
    (tmp_path / "a" / "tipc.toml").write_text("retries = 3\n")
    assert find_settings(str(below)).get("retries") == 3


def test_a_pyproject_without_a_word_about_tipc_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "tipc.toml").write_text("jobs = 2\n")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert find_settings(str(tmp_path / "a")).path == str(tmp_path / "tipc.toml")


def test_without_a_file_there_are_no_settings(tmp_path: Path) -> None:
    assert find_settings(str(tmp_path)) == Chosen()


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("retrys = 1\n", 1, "did you mean `retries`"),
        ("jobs = 2\nretries = 'x'\n", 2, "must be a whole number"),
        ("retries = true\n", 1, "must be a whole number"),
        ("strict = 1\n", 1, "must be true or false"),
        ("jobs = \n", 1, "not valid TOML"),
    ],
)
def test_a_wrong_file_is_told_with_its_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    (tmp_path / "tipc.toml").write_text(text)
    with pytest.raises(UsageError) as error:
        find_settings(str(tmp_path))
    assert words in str(error.value)
    assert error.value.line == line


def test_an_option_outdoes_a_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tipc.toml").write_text("retries = 3\ntimeout = 60\nmode = 'whole_infer'\nlevel = 'base'\n")
    monkeypatch.chdir(tmp_path)

    def options(*words: str) -> argparse.Namespace:
        parser = argparse.ArgumentParser()
        parser.add_argument("config", nargs="*")
        parser.add_argument("--mode")
        parser.add_argument("--retries", type=int, default=0)
        parser.add_argument("--timeout", type=float)
        return parse(parser, list(words), "run")

    assert options("c.txt").retries == 3
    assert options("c.txt").timeout == 60.0
    assert options("c.txt", "--retries", "1").retries == 1
    assert options("c.txt").mode == "whole_infer"
    assert options("c.txt", "lite_train_lite_infer").mode is None
    assert not hasattr(options("c.txt"), "level")


def test_every_setting_is_an_option_of_its_commands() -> None:
    from importlib import import_module

    for setting in SETTINGS.values():
        for command in setting.commands:
            module = import_module(f"tipc.cli.{command}")
            if hasattr(module, "parser"):
                known = {action.dest for action in module.parser()._actions}
                assert setting.name in known, f"{command} --{setting.name}"


def test_settings_shows_where_values_come_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tipc.toml").write_text("jobs = 2\n")
    monkeypatch.chdir(tmp_path)
    assert main(["settings"]) == 0
    text = capsys.readouterr().out
    assert f"file: {tmp_path / 'tipc.toml'}" in text
    assert "jobs" in text
    (tmp_path / "tipc.toml").write_text("job = 2\n")
    assert main(["settings"]) == 2
    assert "did you mean `jobs`?" in capsys.readouterr().err


def test_an_unknown_option_is_told_in_plain_words(capsys: pytest.CaptureFixture[str]) -> None:
    parser = Parser(prog="tipc x")
    parser.add_argument("--retries")
    with pytest.raises(SystemExit) as end:
        parser.parse_args(["--retrys", "1"])
    assert end.value.code == 2
    assert "there is no option `--retrys`; did you mean `--retries`?" in capsys.readouterr().err


def test_the_language_is_an_option_of_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fixes", "--lang", "xx"]) == 2
    assert "there is no language `xx`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('level = "bas"', "did you mean `base`?"),
        ('lang = "fr"', "one of en, zh"),
        ("timeout = -3", "at least 1"),
        ("retries = -1", "at least 0"),
        ("jobs = 0", "at least 1"),
        ("ignore = [1]", "a list of texts"),
        ("retires = 1", "did you mean `retries`?"),
    ],
)
def test_a_value_that_cannot_be_is_an_error_of_the_file(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "tipc.toml").write_text(f"# settings\n{text}\n")
    with pytest.raises(UsageError) as told:
        find_settings(str(tmp_path))
    assert words in str(told.value)
    assert "tipc.toml:2" in str(told.value)


def test_the_language_of_a_repository_is_spoken_unless_another_is_wished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tipc.toml").write_text('lang = "zh"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TIPC_LANG", raising=False)
    assert main(["explain", "TC012"]) == 0
    assert "缺少一行" in capsys.readouterr().out
    assert main(["explain", "TC012", "--lang", "en"]) == 0
    assert "a line is missing" in capsys.readouterr().out
    monkeypatch.setenv("TIPC_LANG", "en")
    assert main(["explain", "TC012"]) == 0
    assert "a line is missing" in capsys.readouterr().out


def test_a_lint_code_to_ignore_must_be_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tipc.toml").write_text('ignore = ["TC99"]\n')
    (tmp_path / "a.txt").write_text("model_name:x\n")
    monkeypatch.chdir(tmp_path)
    assert main(["lint", "a.txt"]) == 2
    assert "there is no lint code `TC99`" in capsys.readouterr().err


def test_in_a_directory_that_was_removed_there_is_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(UsageError, match="has been removed"):
        find_settings()


def test_an_error_of_the_settings_is_told_in_the_language_of_the_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tipc.toml").write_text("timeuot = 3\n")
    monkeypatch.chdir(tmp_path)
    try:
        assert main(["settings", "--lang", "zh"]) == 2
    finally:
        choose("")
    assert "没有设置 `timeuot`" in capsys.readouterr().err
