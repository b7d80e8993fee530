"""The one engine: every command that a script would run for a config in a mode, in the script's order."""

from __future__ import annotations

from collections.abc import Iterator

from tipc.plan.inference import whole_modes
from tipc.plan.matrix import Left, ScriptCommand, ScriptState, bounded
from tipc.plan.training import train_modes
from tipc.plan.variables import Variables


def commands(variables: Variables) -> Iterator[ScriptCommand | Left]:
    """Every command and every omission."""
    state = ScriptState(variables)
    if variables.values["mode"] in variables.rules.whole.modes:
        found = whole_modes(state)
    else:
        found = train_modes(state)
    yield from bounded(found, variables.config.source.path)
