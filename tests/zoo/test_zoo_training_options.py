"""``--opts``, ``--use_vdl`` and ``--keep_checkpoint_max``, which both training scripts share."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import pytest

from paddlezoo import checkpoint, overrides, scalars
from paddlezoo.cls.recipe import Recipe, read_recipe
from paddlezoo.errors import ZooError
from paddlezoo.seg import config


class TestOpts:
    def test_a_path_goes_through_mappings_and_lists_and_values_are_read_as_yaml(self) -> None:
        content = {"loss": {"coef": [1, 1]}, "optimizer": {"type": "SGD"}}
        opts = ["loss.coef.1=0.4", "optimizer.weight_decay=1.0e-4", "optimizer.type=AdamW", "new.key=[1, 2]"]
        assert overrides.apply(content, opts) == {
            "loss": {"coef": [1, 0.4]},
            "optimizer": {"type": "AdamW", "weight_decay": 1e-4},
            "new": {"key": [1, 2]},
        }

    @pytest.mark.parametrize(
        ("opt", "told"),
        [
            ("iters", "expected key=value"),
            ("=3", "expected key=value"),
            ("coef.2=1", "coef.2: this is a list of 2"),
            ("coef.x=1", "coef.x: this is a list of 2"),
            ("iters.x=1", "there is nothing below a single value"),
            ("iters=[1", "is no value in YAML"),
        ],
    )
    def test_what_cannot_be_set_is_named(self, opt: str, told: str) -> None:
        with pytest.raises(ZooError, match=told):
            overrides.apply({"coef": [1, 2], "iters": 3}, [opt])

    def test_the_config_is_validated_after_the_changes(self) -> None:
        path = Path(__file__).parents[2] / "zoo/segmentation/configs/pphumanseg_lite.yml"
        assert config.read(path, ["lr_scheduler.power=1.0", "iters=7"]).lr_scheduler.power == 1.0
        with pytest.raises(ZooError, match=r"optimizer.momentun: Extra inputs"):
            config.read(path, ["optimizer.momentun=0.5"])

    def test_the_recipe_of_classification_names_what_it_knows(self) -> None:
        assert read_recipe([]) == Recipe()
        assert read_recipe(["label_smoothing=0"]).label_smoothing == 0
        with pytest.raises(ZooError, match=r"--opts smoothing: .*known are label_smoothing, weight_decay"):
            read_recipe(["smoothing=0"])


class TestVisualDL:
    def test_without_the_option_nothing_is_written_nor_imported(self, tmp_path: Path) -> None:
        writer = scalars.open_scalars(False, tmp_path / "vdl")
        writer.add("Train", {"loss": 1.0}, 1)
        writer.close()
        assert not (tmp_path / "vdl").exists()

    def test_where_it_is_missing_the_remedy_is_told(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "visualdl", None)
        with pytest.raises(ZooError, match="pip install visualdl"):
            scalars.open_scalars(True, tmp_path)
        assert type(scalars.open_scalars(True, tmp_path, enabled=False)) is scalars.Scalars

    def test_scalars_get_the_group_the_name_and_the_step(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        said: list[Any] = []

        class LogWriter:
            def __init__(self, logdir: str) -> None:
                said.append(logdir)

            def add_scalar(self, tag: str, value: float, step: int) -> None:
                said.append((tag, value, step))

            def close(self) -> None:
                said.append("closed")

        module = types.ModuleType("visualdl")
        module.LogWriter = LogWriter  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "visualdl", module)
        writer = scalars.open_scalars(True, tmp_path)
        writer.add("Train", {"loss": 1.5, "lr": 0.1}, 3)
        writer.close()
        assert said == [str(tmp_path), ("Train/loss", 1.5, 3), ("Train/lr", 0.1, 3), "closed"]


def test_only_the_newest_checkpoints_are_kept(tmp_path: Path) -> None:
    kept = checkpoint.Kept(2)
    for number in range(4):
        folder, card = tmp_path / f"iter_{number}", tmp_path / f"{number}.yml"
        folder.mkdir()
        card.touch()
        kept.add(folder, card)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2.yml", "3.yml", "iter_2", "iter_3"]
