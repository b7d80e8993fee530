"""Names of the places on a page: made from what is there, so that an address says where it leads."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from tipc.report.support_matrix import Place

UNFIT = re.compile(r"[^A-Za-z0-9_.,+/-]+")
LONGEST = 100


class Anchors:
    """Gives out names, no name twice, and knows where each cell and step is."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self.cells: dict[Place, str] = {}
        self.plans: dict[tuple[str, str], str] = {}  # run and plan
        self.steps: dict[tuple[str, str, str], str] = {}  # run, plan and step

    def plan(self, run: str, plan: str, model: str, config: str) -> str:
        """``pp_liteseg_stdc1/train_infer_python``."""
        found = self._unique(_fit(model), PurePosixPath(config).stem)
        self.plans[run, plan] = found
        return found

    def cell(self, place: Place) -> str:
        """``pp_liteseg_stdc1/train_infer_python/norm_train-gpu0-null``, below its plan."""
        run, plan, cell = place
        found = self._unique(self.plans[run, plan], cell)
        self.cells[place] = found
        return found

    def step(self, place: Place, step: str) -> str:
        """``…/norm_train-gpu0-null/train``, below its cell."""
        run, plan, _cell = place
        found = self._unique(self.cells[place], step.rpartition("/")[2])
        self.steps[run, plan, step] = found
        return found

    def _unique(self, above: str, name: str) -> str:
        wanted = found = f"{above}/{_fit(name)}"
        number = 1
        while found in self._taken:
            number += 1
            found = f"{wanted}~{number}"
        self._taken.add(found)
        return found


def _fit(name: str) -> str:
    return UNFIT.sub("-", name[:LONGEST]).strip("/-") or "-"
