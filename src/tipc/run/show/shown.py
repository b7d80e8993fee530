"""How paths are shown to people: from where they are, if that is shorter."""

from __future__ import annotations

import os
from pathlib import Path

from tipc.plan.model import Plan


def shown_path(path: str | Path) -> str:
    """A path from here if it is below here, else whole."""
    here, whole = Path.cwd(), Path(os.path.abspath(path))
    if whole.is_relative_to(here):
        whole = whole.relative_to(here)
    return str(whole)


def shown_config(plan: Plan) -> str:
    """The config file, as it can be named on a command line here."""
    return shown_path(Path(plan.repo, plan.config))
