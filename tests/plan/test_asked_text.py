"""What a cell asked for, as people read it."""

from __future__ import annotations

import pytest

from tipc.plan.model import Cell
from tipc.plan.plan_text import asked_text


@pytest.mark.parametrize(("asked", "told"), [("0", "gpu:0"), ("0,1", "gpu:0,1"), ("npu", "npu"), ("", "gpu")])
def test_the_number_of_a_card_is_told_with_its_device(asked: str, told: str) -> None:
    assert asked_text(Cell("c", trainer="norm_train", asked=asked, runs_on="cpu")) == told
