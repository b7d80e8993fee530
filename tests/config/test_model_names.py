"""``test_tipc/models.json``: what people call a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from tipc.cli.main import main
from tipc.config.model_names import FILE, ModelName, by_any_name, read_model_names
from tipc.errors import UsageError
from tipc.report.markdown import with_aliases

ZOO = Path(__file__).parents[2] / "zoo"


def written(repo: Path, text: str) -> Path:
    (repo / FILE).parent.mkdir(parents=True)
    (repo / FILE).write_text(text)
    return repo


def test_a_repository_without_the_file_has_no_other_names(tmp_path: Path) -> None:
    assert read_model_names(tmp_path) == {}


def test_algorithm_and_aliases_are_read_and_shown(tmp_path: Path) -> None:
    repo = written(tmp_path, '{"a_net": {"algorithm": "A", "aliases": ["a-net"]}, "b": {}}')
    names = read_model_names(repo)
    assert names == {"a_net": ModelName("A", ("a-net",)), "b": ModelName()}
    aliases = {model: name.aliases for model, name in names.items()}
    assert [with_aliases(model, aliases) for model in ("a_net", "b", "c")] == ["a_net (a-net)", "b", "c"]


@pytest.mark.parametrize("text", ["[1]", "{", '{"a": {"algorithm": 3}}', '{"a": 1}'])
def test_what_is_wrong_is_one_error_with_the_file(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_model_names(written(tmp_path, text))
    assert caught.value.path == str(tmp_path / FILE)
    assert caught.value.remedy


def test_the_zoo_uses_the_names_of_the_specification() -> None:
    repo = Path(__file__).parents[2] / "zoo" / "segmentation"
    found = {alias: model for model, name in read_model_names(repo).items() for alias in name.aliases}
    pytest.importorskip("paddlezoo.seg.names")
    from paddlezoo.seg.names import ALIASES

    assert found == ALIASES
    assert set(read_model_names(repo)) == {path.name for path in (repo / "test_tipc" / "configs").iterdir()}


def test_a_config_is_found_below_any_name_of_its_model() -> None:
    folder = ZOO / "segmentation" / "test_tipc" / "configs"
    wanted = str(folder / "pphumanseg_lite" / "train_infer_python.txt")
    assert by_any_name(str(folder / "pp_humanseg_lite" / "train_infer_python.txt")) == wanted
    assert by_any_name(str(folder / "pp_humanseg_lite")) == str(folder / "pphumanseg_lite")
    assert by_any_name(str(folder / "nothing" / "train_infer_python.txt")).endswith(
        "nothing/train_infer_python.txt"
    )


def test_a_plan_of_the_other_name_is_the_plan_of_the_model(capsys: pytest.CaptureFixture[str]) -> None:
    folder = ZOO / "segmentation" / "test_tipc" / "configs"
    plans = []
    for name in ("pphumanseg_lite", "pp_humanseg_lite"):
        assert main(["plan", str(folder / name / "train_infer_python.txt")]) == 0
        plans.append(capsys.readouterr().out)
    assert plans[0] == plans[1]
    assert "pphumanseg_lite" in plans[0]


def test_a_config_is_linted_by_any_name_of_its_model(capsys: pytest.CaptureFixture[str]) -> None:
    folder = ZOO / "segmentation" / "test_tipc" / "configs"
    assert main(["lint", str(folder / "pp_humanseg_lite")]) == 0
    assert main(["lint", str(folder / "no_such_model")]) == 2
