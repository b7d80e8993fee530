"""``tipc plan`` looks at each config and its scripts once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from plan_samples import MODELS

from tipc.cli.plan import main
from tipc.config import identify as module
from tipc.config.scripts import Script


def test_one_plan_command_identifies_each_config_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "test_tipc" / "configs"
    for name in ("a", "b"):
        (folder / name).mkdir(parents=True)
        (folder / name / "train_infer_python.txt").write_text(MODELS)
    looked: Counter[str] = Counter()
    really = module.reading_script

    def counted(config: str, repo: str, chain: str) -> Script:
        looked[config] += 1
        return really(config, repo, chain)

    monkeypatch.setattr(module, "reading_script", counted)
    for times in (1, 2):  # a second command looks again
        assert main(["--json", str(folder)]) == 0
        assert len(capsys.readouterr().out.splitlines()) == 2
        assert sorted(looked.values()) == [times, times]
