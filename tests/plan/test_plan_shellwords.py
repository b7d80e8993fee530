"""Words as bash makes them, compared with bash."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tipc.config.bash import split
from tipc.errors import UsageError
from tipc.plan.bash_tests import bare, bracket
from tipc.plan.shell_words import Pattern, ShellNeeded, echoed, matching, split_words

needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="no bash to compare with")
VARIABLES = {"HOME": "/home/x", "A": "value", "B": "two words"}
# Left out, since no config asks for it: bash expands `~=~` not `~=a`; a `$` that braces put before a name.
TEXT = st.text(alphabet="ab$A{}B,\"'\\ ~/=#-", max_size=16).filter(
    lambda text: not any(odd in text for odd in ("~=", "$}", "$,"))
)
WORD = st.sampled_from(["", "a", "null", "!", "=", "!=", "-n", "-z", "x y", "-1", "True"])


def lookup(name: str) -> str:
    return VARIABLES.get(name, "")


def bash_words(text: str) -> list[str] | None:
    """What ``eval`` hands to a program; None where bash complains."""
    program = 'IFS=\'|\'; set -f; f() { for w in "$@"; do printf \'%s\\0\' "$w"; done; }; eval "f $TEXT"'
    env = {**VARIABLES, "TEXT": text, "PATH": os.environ["PATH"]}
    done = subprocess.run(["bash", "-c", program], capture_output=True, env=env, check=False)
    return None if done.returncode or done.stderr else done.stdout.decode().split("\0")[:-1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a  b", ["a", "b"]),
        ("a 'b c' \"d e\"", ["a", "b c", "d e"]),
        ("--shape=\"3,48,320\"", ["--shape=3,48,320"]),
        ("a\\ b", ["a b"]),
        ("$A/x '$A' \"$A\"", ["value/x", "$A", "value"]),
        ("${A}x $nothing end", ["valuex", "end"]),
        ("$B", ["two words"]),
        ("x{a,b}y", ["xay", "xby"]),
        ("{a,{b,c}}", ["a", "b", "c"]),
        ("{a} {}", ["{a}", "{}"]),
        ("'{a,b}'", ["{a,b}"]),
        ("~/x a~ k=~/y --k=~/z", ["/home/x/x", "a~", "k=/home/x/y", "--k=~/z"]),
        ("a # b", ["a"]),
        ("a#b", ["a#b"]),
        ("'' \"\"", ["", ""]),
        ("", []),
        ("a$", ["a$"]),
    ],
)  # fmt: skip
def test_words(text: str, words: list[str]) -> None:
    assert split_words(text, lookup, "/nowhere") == words


@pytest.mark.parametrize(
    "text", ["a;b", "a&b", "a|b", "a>b", "a<b", "(a)", "a $(b)", "a `b`", '"`b`"', "${A:-b}"]
)
def test_what_needs_a_shell_is_named(text: str) -> None:
    with pytest.raises(ShellNeeded) as caught:
        split_words(text, lookup)
    assert caught.value.token in text
    assert caught.value.runs


@pytest.mark.parametrize("text", ["'a", '"a', 'b "a\\"'])
def test_an_open_quote_can_be_run_by_no_shell(text: str) -> None:
    with pytest.raises(ShellNeeded) as caught:
        split_words(text, lookup)
    assert not caught.value.runs


def test_a_redirection_of_the_script_is_taken_off_and_what_follows_a_blank_is_an_argument() -> None:
    targets: list[str] = []
    assert split_words("a b > out/x y.log 2>&1 ", lookup, ".", targets) == ["a", "b", "y.log"]
    assert targets == ["out/x"]


def test_a_pattern_stays_one_and_a_quoted_sign_is_only_a_character(tmp_path) -> None:
    words = split_words("x *.jpg '*.jpg' a[*", lookup, str(tmp_path))
    assert words == ["x", "*.jpg", "*.jpg", "a[*"]
    assert [isinstance(word, Pattern) for word in words] == [False, True, False, True]


def test_a_pattern_means_the_files_that_it_names_from_a_directory(tmp_path) -> None:
    for name in ("a.jpg", "b.jpg", "c.png"):
        (tmp_path / name).touch()
    assert matching("*.jpg", str(tmp_path)) == ["a.jpg", "b.jpg"]
    assert matching(f"{tmp_path}/*.png", "/") == [f"{tmp_path}/c.png"]
    assert matching("*.gif", str(tmp_path)) == []
    assert split_words("'*'*.jpg", lookup, str(tmp_path)) == ["**.jpg"]


@needs_bash
@settings(deadline=None, max_examples=150)
@given(TEXT)
def test_the_words_are_bashs_own(text: str) -> None:
    try:
        words = split_words(text, lookup, "/nowhere")
    except ShellNeeded:
        return
    expected = bash_words(text)
    if expected is not None:
        assert words == expected


@needs_bash
def test_every_short_word_of_braces_is_expanded_as_in_bash() -> None:
    texts = []
    for length in range(1, 6):
        for characters in itertools.product("{},a", repeat=length):
            texts.append("".join(characters))
    program = "\n".join(f"printf '[%s]' {text}; echo" for text in texts)
    done = subprocess.run(["bash", "-c", program], capture_output=True, check=True, text=True)
    for text, expected in zip(texts, done.stdout.splitlines(), strict=True):
        words = split_words(text, lookup, "/nowhere") or [""]
        assert "".join(f"[{word}]" for word in words) == expected, text


@needs_bash
@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(WORD, st.sampled_from(["=", "!="]), WORD), min_size=1, max_size=20))
def test_a_test_of_unquoted_words_is_bashs_own(cases: list[tuple[str, str, str]]) -> None:
    test = 'if [ $1 $2 "$3" ] 2>/dev/null; then echo 1; else echo 0; fi'
    program = f"IFS='|'; while (($#)); do {test}; shift 3; done"
    values = [("|".join(value.split()), operator, text) for value, operator, text in cases]
    words = [word for case in values for word in case]
    done = subprocess.run(["bash", "-c", program, "-", *words], capture_output=True, check=True, text=True)
    assert [line == "1" for line in done.stdout.split()] == [bare(*case) for case in values]


def test_an_empty_value_is_neither_equal_nor_unequal() -> None:
    assert not bare("", "=", "null")
    assert not bare("", "!=", "null")
    assert not bare("a|b", "!=", "null")
    assert bracket(*split("", "|"), "=", *split("", "|"))


@needs_bash
@pytest.mark.parametrize(
    "text", [r"a\\b", r"a\nb", r"a\ b", r"x\0101y", r"x\x41y", r"q\q", r"a\cb", r"a\\\cb", r"a\\cb", "end\\"]
)
def test_a_status_line_is_echoed_as_bash_does(text: str) -> None:
    done = subprocess.run(
        ["bash", "-c", 'echo -e "$1"', "-", text], capture_output=True, text=True, check=True
    )
    assert echoed(text) == done.stdout.removesuffix("\n")


def test_a_quoted_blank_does_not_end_a_redirection() -> None:
    targets: list[str] = []
    words = split_words('python infer.py > out/threads_"a b".log 2>&1', lambda _: "", ".", targets)
    assert words == ["python", "infer.py"]
    assert split_words(targets[0], lambda _: "") == ["out/threads_a b.log"]


def test_the_home_of_another_user_is_filled_in() -> None:
    home = os.path.expanduser("~root")
    assert split_words("x ~root/data ~nobody-at-all/x '~root'", str) == [
        "x",
        f"{home}/data",
        "~nobody-at-all/x",
        "~root",
    ]


def test_a_limit_of_ours_is_not_called_a_failure_of_bash(upstream) -> None:
    script = "norm_train:train.py " + "{a,b}" * 20
    with pytest.raises(UsageError, match="more than 1000 words"):
        upstream("models", {14: script})


def test_braces_that_make_a_million_words_are_refused_at_once() -> None:
    with pytest.raises(ShellNeeded, match="more than 1000 words"):
        split_words("x " + "{a,b}" * 20, str)
