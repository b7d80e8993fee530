"""The records of ``plan.model`` as plain tuples: what the engine makes, and what ``tipc plan`` prints.

Importing dataclasses costs more than starting Python, and a command that only shows a plan can do without.
To everyone else ``build_plan`` gives the real ones; a test holds the two together.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tipc.plan.model import AppliedFix, Cell, Plan, Skip, Step
else:
    from collections import namedtuple

    Step = namedtuple(
        "Step",
        "id kind cell argv env cwd log needs produces status_line device gpus threads processes measures"
        " settings weights model_dir line shell",
    )
    Cell = namedtuple("Cell", "id trainer asked runs_on autocast precision amp_level not_certified")
    Skip = namedtuple("Skip", "cell kind what reason")
    AppliedFix = namedtuple("AppliedFix", "id reason")
    Plan = namedtuple(
        "Plan",
        "config mode dialect model repo as_upstream cells steps skipped fixes notes results_log traced",
        defaults=(False,),
    )

__all__ = ["AppliedFix", "Cell", "Plan", "Skip", "Step", "completed", "fields_of"]


def fields_of(record: object) -> dict[str, object]:
    """The fields of a record of either kind, in order."""
    return record._asdict() if isinstance(record, tuple) else vars(record)  # type: ignore[attr-defined]


def completed(draft: Plan) -> Plan:
    """The plan of a draft."""
    from tipc.plan import model

    kinds = {"cells": model.Cell, "steps": model.Step, "skipped": model.Skip, "fixes": model.AppliedFix}
    values = fields_of(draft)
    for name, kind in kinds.items():
        values[name] = tuple(_made(kind, item) for item in values[name])  # type: ignore
    return model.Plan(**values)  # type: ignore[arg-type]


def _made(kind: type[object], draft: object) -> object:
    """A record with a draft's fields: as its ``__init__`` makes it, without setting field by field."""
    record: object = object.__new__(kind)
    record.__dict__.update(fields_of(draft))
    return record
