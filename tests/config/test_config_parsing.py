"""The text of a config, and the scripts' parsing rules: compared with bash itself where that says more."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tipc.config.bash import for_mode, items, key, option, rest_of_line, second_field, split
from tipc.config.dialects.layouts import FULL, SLIM
from tipc.config.layout import parse
from tipc.config.source import Value, read_source, source_of
from tipc.errors import UsageError

LINE = st.text(alphabet="ab=:|, -", max_size=14)
needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="no bash to compare with")


def at(text: str) -> Value:
    return Value(text, 1, 1)


def bash(script: str, lines: list[str]) -> list[str]:
    """Run a loop body on each line (``$1``); its output, a line each. No pathname expansion."""
    program = f'set -f; f() {{ {script}; }}; for line in "$@"; do (f "$line"); printf \'\\1\'; done'
    done = subprocess.run(["bash", "-c", program, "-", *lines], capture_output=True, check=True)
    return [part.rstrip("\n") for part in done.stdout.decode().split("\1")[:-1]]


@pytest.mark.parametrize(
    ("line", "first", "second", "rest"),
    [
        ("a:b", "a", "b", "b"),
        ("a:b:c", "a", "b", "b:c"),
        ("a", "a", "", "a"),
        ("a:", "a", "", ""),
        (":b", "", "b", "b"),
        ("", "", "", ""),
        ("--x y: b ", "--x y", " b ", " b "),
        ("-n:-e", "", "", ""),
    ],
)
def test_key_and_value(line: str, first: str, second: str, rest: str) -> None:
    assert key(at(line)).text == first
    assert second_field(at(line)).text == second
    assert rest_of_line(at(line)).text == rest


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("a", ["a"]),
        ("a|b", ["a", "b"]),
        ("a||b|", ["a", "", "b"]),
        ("|", [""]),
        (" a |b ", [" a ", "b "]),
    ],
)
def test_a_list_keeps_inner_empty_items_and_drops_a_trailing_one(text: str, found: list[str]) -> None:
    assert split(text, "|") == found


@pytest.mark.parametrize(
    ("line", "mode", "value"),
    [
        ("e:lite=5|whole=9", "whole", "9"),
        ("e:lite=5|whole=9", "other", ""),
        ("e:5", "lite", ""),
        ("e:lite=5=6", "lite", "5"),
        ("e:lite=", "lite", ""),
        ("e:lite", "lite", ""),
        ("e:=5", "", "5"),
        ("e: lite=5", "lite", ""),
    ],
)
def test_the_value_for_a_mode(line: str, mode: str, value: str) -> None:
    assert for_mode(at(line), mode).text == value


@pytest.mark.parametrize("value", ["null", "", " "])
def test_an_option_without_a_value_leaves_one_blank(value: str) -> None:
    assert option("--x", value) == " "
    assert option("null", "5") == " "
    assert option("", "5") == "=5"
    assert option("--x", " null") == "--x= null"


@needs_bash
@settings(deadline=None, max_examples=40)
@given(st.lists(LINE, min_size=1, max_size=40))
def test_the_rules_are_bashs_own(lines: list[str]) -> None:
    assert bash('s=$1; IFS=":"; a=($s); t=${a[0]}; echo $t', lines) == [key(at(line)).text for line in lines]
    assert bash('s=$1; IFS=":"; a=($s); t=${a[1]}; echo $t', lines) == [
        second_field(at(line)).text for line in lines
    ]
    assert bash("s=$1; IFS='|'; for x in $s; do echo \"<$x>\"; done", lines) == [
        "\n".join(f"<{item}>" for item in split(line, "|")) for line in lines
    ]


def test_a_value_knows_where_it_stands() -> None:
    source = source_of(b"title\n\npython:a|bc:d\n", "x.txt")
    line = parse(source, SLIM).lines[1]
    value = Value(line.text, line.number, 1)
    assert [(item.text, item.line, item.column) for item in items(second_field(value))] == [
        ("a", 3, 8),
        ("bc", 3, 10),
    ]


def test_blank_lines_are_dropped_but_keep_their_numbers_and_count_for_the_limit() -> None:
    source = source_of(b"a\n\nb\n \nc", "x.txt")
    assert [(line.number, line.text) for line in source.seen()] == [(1, "a"), (3, "b"), (4, " "), (5, "c")]
    assert [line.text for line in source.seen(3)] == ["a", "b"]


def test_a_carriage_return_stays_visible() -> None:
    source = source_of(b"a:b\r\nc\n", "x.txt")
    assert source.lines[0].crlf
    assert not source.lines[1].crlf
    assert second_field(Value(source.lines[0].text, 1, 1)).text == "b\r"


def test_the_field_after_a_header_is_found_by_its_word() -> None:
    word = "to_static_train_benchmark_params"
    from tipc.config.dialects.layouts import changed

    layout = changed(FULL, after=(("to_static", word),))
    text = f"title\nx\n==={word}===\nto_static_train:--fast\n"
    assert parse(source_of(text.encode(), "x"), layout).value("to_static").text == "--fast"
    assert parse(source_of(b"title:t\nx\n", "x"), layout).value("to_static").text == "t"
    assert parse(source_of(f"a\ndisable_{word}\nb:c\n".encode(), "x"), layout).value("to_static").text == ""


@given(st.binary(max_size=300))
def test_any_bytes_can_be_read_and_are_all_kept(data: bytes) -> None:
    source = source_of(data, "x.txt")
    text = "\n".join(line.text for line in source.lines)
    assert text.encode("utf-8", "surrogateescape") == (data[:-1] if data.endswith(b"\n") else data)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: None, "no such config file"),
        (lambda path: path.mkdir(), "a directory"),
        (lambda path: path.write_bytes(b""), "empty"),
        (lambda path: path.write_bytes(b"\n\n"), "empty"),
        (lambda path: path.write_bytes(b"\x7fELF\0\1"), "binary"),
    ],
)
def test_what_is_no_config_file_is_told_in_one_message(tmp_path: Path, make, message: str) -> None:
    path = tmp_path / "config.txt"
    make(path)
    with pytest.raises(UsageError, match=message) as caught:
        read_source(path)
    assert caught.value.exit_code == 2
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("layout", [SLIM, FULL])
def test_a_layout_has_every_line_once_and_every_field_one_name(layout) -> None:
    assert [row.index for row in layout.rows] == list(range(layout.length))
    names = [row.name for row in layout.rows if row.reads]
    assert len(names) == len(set(names))
