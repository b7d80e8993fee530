"""The one engine: every command that a script would run for a config in a mode, in the script's order."""

from __future__ import annotations

from collections.abc import Iterator

from tipc.plan.inference import whole_modes
from tipc.plan.matrix import Left, ScriptCommand, Walk
from tipc.plan.training import train_modes
from tipc.plan.variables import Scope


def commands(scope: Scope) -> Iterator[ScriptCommand | Left]:
    """Every command and every omission."""
    walk = Walk(scope)
    if scope.values["mode"] in scope.rules.whole.modes:
        yield from whole_modes(walk)
    else:
        yield from train_modes(walk)
