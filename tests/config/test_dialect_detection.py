"""Which dialect a config is told to be, and that a dialect is a small table."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tipc.config.detect import by_text, detect, find_repo
from tipc.config.dialects import NAMES, load
from tipc.config.text import read_source, source_of
from tipc.errors import UsageError

sys.path.insert(0, str(Path(__file__).parents[1] / "plan"))
from plan_samples import SAMPLES, write

ENGINE = Path(__file__).parents[2] / "src" / "tipc"


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_told_by_its_lines_even_with_one_missing_or_added(name: str) -> None:
    lines = SAMPLES[name].split("\n")
    variants = [lines, lines[:2] + lines[3:], [*lines[:5], "##", *lines[5:]], lines[:20] + lines[21:]]
    for variant in variants:
        found = by_text(source_of("\n".join(variant).encode(), "x.txt"))
        assert found is not None
        assert found.name == name


def test_a_file_of_another_kind_is_no_dialect(tmp_path: Path) -> None:
    path = write(tmp_path, "numpy\nopencv-python\n", "requirements.txt")
    assert detect(read_source(path), tmp_path) is None


@pytest.mark.parametrize(
    ("name", "directory"),
    [("seg", "paddleseg"), ("ocr", "ppocr"), ("clas", "ppcls"), ("det", "ppdet")],
)
def test_the_repositorys_package_decides_for_a_broken_file(tmp_path: Path, name: str, directory: str) -> None:
    path = write(tmp_path, "title\nmodel_name:x\n")
    (tmp_path / directory).mkdir()
    found = detect(read_source(path), tmp_path)
    assert found is not None
    assert found.name == name


def test_a_script_that_no_dialect_fits_has_to_be_traced(tmp_path: Path) -> None:
    path = write(tmp_path, SAMPLES["models"])
    (tmp_path / "test_tipc" / "test_train_inference_python.sh").write_text("echo my own script\n")
    assert detect(read_source(path), tmp_path) is None


def test_a_known_script_decides_only_for_files_of_its_own_family(tmp_path: Path) -> None:
    script = tmp_path / "test_tipc" / "test_train_inference_python.sh"
    path = write(tmp_path, SAMPLES["seg"])
    script.write_text('deploy.yaml "${lines[51]}"\n')
    assert detect(read_source(path), tmp_path) is load("seg")
    assert detect(read_source(write(tmp_path, SAMPLES["ocr"])), tmp_path) is None
    (tmp_path / "paddleseg").mkdir()
    assert detect(read_source(write(tmp_path, "title\nbroken\n")), tmp_path) is load("seg")


def test_a_script_that_only_calls_tipc_says_nothing(tmp_path: Path) -> None:
    path = write(tmp_path, SAMPLES["models"])
    (tmp_path / "test_tipc" / "test_train_inference_python.sh").write_text('tipc run "$1" "$2"\n')
    found = detect(read_source(path), tmp_path)
    assert found is not None
    assert found.name == "models"


def test_the_repository_is_the_directory_that_holds_test_tipc(tmp_path: Path, monkeypatch) -> None:
    path = write(tmp_path, "x")
    assert find_repo(path) == tmp_path
    monkeypatch.chdir(path.parent)
    assert find_repo(Path(path.name)).resolve() == tmp_path.resolve()


def test_an_unknown_dialect_is_an_error_that_lists_the_known() -> None:
    with pytest.raises(UsageError, match="there is no dialect `yolo`") as caught:
        load("yolo")
    assert "models" in caught.value.remedy


@pytest.mark.parametrize("name", NAMES)
def test_a_dialect_file_has_at_most_150_lines(name: str) -> None:
    path = ENGINE / "config" / "dialects" / f"{name}.py"
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 150


def test_nothing_asks_which_dialect_it_has() -> None:
    asks = re.compile(r"(dialect|\.name)\s*(==|!=|in)\s*\(?[\"'](" + "|".join(NAMES) + ")[\"']")
    for folder in ("config", "plan"):
        for path in (ENGINE / folder).rglob("*.py"):
            assert not asks.search(path.read_text(encoding="utf-8")), path
