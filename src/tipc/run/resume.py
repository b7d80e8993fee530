"""Going on with an earlier run: which of its results still hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tipc.plan.model import Plan
from tipc.run.artefacts import digest
from tipc.run.graph import Key, Node
from tipc.run.inputs import changed
from tipc.run.journal import result_from_json
from tipc.run.record import FAILED, TIMEOUT, StepResult


class Earlier:
    """The finished steps of a run, with the inputs that they had."""

    def __init__(
        self,
        events: Sequence[Mapping[str, Any]],
        *,
        rerun_failed: bool,
        tell: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.results: dict[Key, StepResult] = {}
        self._inputs: dict[Key, Mapping[str, str]] = {}
        self._rerun_failed = rerun_failed
        self._tell = tell
        for event in events:
            key = (event.get("plan", ""), event.get("step", ""))
            if event["event"] == "start":
                self._inputs[key] = event["inputs"]
                self.results.pop(key, None)
            elif event["event"] == "end":
                self.results[key] = result_from_json(event)

    def reuse(self, node: Node, inputs: Mapping[str, str]) -> StepResult | None:
        """The earlier result, if the step finished with these very inputs and what it made is untouched."""
        result = self.results.get(node.key)
        if result is None or not (result.ok or result.state in (FAILED, TIMEOUT)):
            return None
        if not result.ok and self._rerun_failed:
            return None
        why = self.outdated(node, inputs)
        if why:
            self._tell(f"{node.step.id} runs again: {why}")
            return None
        return result

    def outdated(self, node: Node, inputs: Mapping[str, str]) -> str:
        """Why the earlier result of a step says nothing about how things are now; empty: it still holds."""
        why = changed(self._inputs.get(node.key, {}), inputs)
        if why:
            return f"{why} changed"
        lost = _touched(node.plan, self.results[node.key])
        return f"{lost} is not what it left" if lost else ""


def _touched(plan: Plan, result: StepResult) -> str:
    """The first artefact that is gone or changed."""
    for name, before in result.artefacts.items():
        path = Path(plan.repo) / name
        if not path.exists() or digest(path) != before:
            return name
    return ""
