"""What is read in a script before it runs: the variables that it sets until it imports paddle."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipc.run.executors import foretold
from tipc.run.executors.foretold import variables_before_paddle

FLAG = "import os\nos.environ['FLAGS_a'] = '1'\n"


def told(folder: Path, text: str, **modules: str) -> dict[str, str] | None:
    """What the script ``tools/run.py`` of a repository with these modules tells."""
    for name, content in {"tools/run": text, **modules}.items():
        file = folder / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    return variables_before_paddle(folder / "tools/run.py", folder)


@pytest.mark.parametrize(
    "text",
    [
        "import paddle",
        "from paddle.io import Dataset",
        "import os\nprint(os.environ['HOME'], os.environ.get('A'))\nimport paddle",
        "# the environment of a launched run\nimport paddle",
        "import paddle, os\nos.environ['FLAGS_a'] = '1'",
        "def main():\n    import paddle",
        "try:\n    import paddle\nexcept ImportError:\n    paddle = None",
        "import os\ndef seed():\n    os.environ['A'] = '1'\nimport paddle",
        "import paddleslim",
    ],
)
def test_a_script_that_imports_paddle_and_sets_nothing_before(tmp_path: Path, text: str) -> None:
    assert told(tmp_path, text) == {}


def test_constants_that_are_set_before_the_import_are_told_and_those_after_are_not(tmp_path: Path) -> None:
    text = f"{FLAG}from os import environ\nenviron['B'] = '2'\nimport paddle\nos.environ['C'] = '3'\n"
    assert told(tmp_path, text) == {"FLAGS_a": "1", "B": "2"}


@pytest.mark.parametrize(
    "text",
    [
        "print('nothing of it')",
        "import os\nos.environ['A'] = str(1)\nimport paddle",
        "import os\nos.environ.setdefault('A', '1')\nimport paddle",
        "import os\nos.environ.update(A='1')\nimport paddle",
        "import os\ndel os.environ['A']\nimport paddle",
        "import os\nos.putenv('A', '1')\nimport paddle",
        "import os, sys\nif sys.argv:\n    os.environ['A'] = '1'\nimport paddle",
        "import os\nfor name in 'AB':\n    os.environ[name] = '1'\nimport paddle",
        "import os\ndef main():\n    os.environ['A'] = '1'\n    import paddle",
        "import paddle\n  broken",
        "import paddle\x00",
        "if a:\n    b\n" + "elif a:\n    b\n" * 5000 + "import paddle",
        "if a:\n    b\n" + "elif a:\n    b\n" * 600 + "import paddle",
        "a = " + "(" * 500 + ")" * 500 + "\nimport paddle",
        "a = " + "-" * 50000 + "1\nimport paddle",
        "",
    ],
)
def test_what_is_not_plain_is_not_told(tmp_path: Path, text: str) -> None:
    assert told(tmp_path, text) is None


@pytest.mark.filterwarnings("error")
def test_what_python_says_of_a_scripts_strings_is_not_said_here(tmp_path: Path) -> None:
    assert told(tmp_path, "NUMBER = '\\d+'\nimport paddle") == {}


def test_the_repositorys_own_modules_are_followed_in_their_order(tmp_path: Path) -> None:
    text = "import sys\nfrom net.engine import Engine\nimport later\n"
    modules = {
        "net/__init__": "from . import settings",
        "net/settings": FLAG,
        "net/engine": "from .. import nothing\nfrom .parts import layer",
        "net/parts/layer": "import paddle",
        "later": "import os\nos.environ.clear()",
    }
    assert told(tmp_path, text, **modules) == {"FLAGS_a": "1"}


def test_a_module_of_the_repository_is_not_taken_for_paddle_by_its_name(tmp_path: Path) -> None:
    assert told(tmp_path, "import paddle_free", paddle_free="import json") is None
    assert told(tmp_path, "import paddle_like", paddle_like="import paddle") == {}


def test_modules_that_import_each_other_and_scripts_that_are_not_there_end(tmp_path: Path) -> None:
    assert told(tmp_path, "import a", a="import b", b="import a") is None
    assert variables_before_paddle(tmp_path / "missing.py", tmp_path) is None


def test_no_more_files_are_read_than_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chain = {f"m{number}": f"import m{number + 1}" for number in range(5)} | {"m5": "import paddle"}
    assert told(tmp_path, "import m0", **chain) == {}
    monkeypatch.setattr(foretold, "MOST_FILES", 4)
    assert told(tmp_path, "import m0", **chain) is None


@given(st.text(max_size=200))
def test_any_text_is_read_without_an_error(text: str) -> None:
    reading = foretold._Reading((Path("nowhere"),))
    try:
        tree = foretold.ast.parse(text)
    except (SyntaxError, ValueError):
        return
    try:
        reading._follow(tree.body, Path("script.py"), surely=True)
    except foretold._NotPlainError:
        assert "environ" in text or "env" in text
