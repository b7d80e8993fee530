"""Text from anywhere, made fit to be shown."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipc.report.plain_text import clean, command, cut, duration, figure, log_end, one_line, short_paths, size

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@given(ANY_TEXT)
def test_clean_text_can_be_encoded_and_holds_no_control_character(text: str) -> None:
    shown = clean(text)
    shown.encode("utf-8")
    assert not [sign for sign in shown if (ord(sign) < 32 and sign not in "\t\n\r") or 127 <= ord(sign) < 160]


@given(ANY_TEXT, st.integers(30, 200))
def test_one_line_is_one_line_and_no_longer_than_asked(text: str, width: int) -> None:
    line = one_line(text, width)
    assert "\n" not in line
    assert len(line) <= width + 12  # the count of what is left out


def test_what_was_cut_off_is_told() -> None:
    assert cut("x" * 10_000_000, 100).endswith("(+9,999,924 characters)")


@given(st.lists(st.text(st.characters(min_codepoint=32, max_codepoint=126)), min_size=1))
def test_a_command_can_be_pasted_into_a_shell(argv: list[str]) -> None:
    assert shlex.split(command(argv, {})) == argv


def test_a_command_brings_its_environment_and_its_directory() -> None:
    line = command(["python", "a b.py"], {"X": "1 2", "EMPTY": "", "GONE": None}, "deploy")
    assert line == "cd deploy && env -u GONE EMPTY= X='1 2' python 'a b.py'"
    assert command([], {}, shell="a | b") == "bash -c 'a | b'"


def test_the_end_of_a_log_with_one_giant_line_is_short(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"\xff" * 10_000_000)
    (line,) = log_end(str(log), 40)
    assert len(line) < 500
    assert log_end(str(tmp_path / "none"), 40) == []


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.94, "0.9s"), (59.9, "59.9s"), (59.96, "1m 00s"), (125, "2m 05s"), (7800, "2h 10m")],
)
def test_durations_read_well(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_figures_and_sizes_read_well() -> None:
    assert [figure(value) for value in (3.1e-06, 12.345678, 7.0, float("nan"))] == [
        "3.1e-06",
        "12.35",
        "7",
        "nan",
    ]
    assert [size(value) for value in (12, 5_000, 587_202_560, 3 * 2**30)] == [
        "12 B",
        "4.9 KB",
        "560 MB",
        "3.0 GB",
    ]


def test_a_long_path_is_shown_by_its_end() -> None:
    folder = "test_tipc/output/mobilenet_v3_small/lite_train_lite_infer"
    assert short_paths(f"{folder}/norm_train/inference.pdmodel, 50 samples") == (
        "…/norm_train/inference.pdmodel, 50 samples"
    )
    assert short_paths(f"{folder}/{'n' * 60}/a.pdmodel") == "…/a.pdmodel"
    for whole in ("8/8 decisions equal", "lite_data/val_list.txt", "x" * 90):
        assert short_paths(whole) == whole
