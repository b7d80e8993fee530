"""Going on with a run: which results of its earlier calls still hold, and what runs again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tipc.kinds import FAILED, PREPARE, TIMEOUT
from tipc.message import wording
from tipc.plan.model import Key, Plan
from tipc.reasons import Reason, because
from tipc.run.artefacts import digest
from tipc.run.inputs import changed
from tipc.run.record.replay import Replay
from tipc.run.record.results import StepResult
from tipc.run.schedule.graph import Node


@dataclass(frozen=True)
class RerunRules:
    """What runs again though it has finished. What was not reached, or was broken off, always runs."""

    failed: bool = False  # what failed
    outdated: bool = True  # what passed with other scripts, another config, command or environment
    prepare: bool = False  # preparing: it may delete and fetch data, so it is repeated only when asked for


@dataclass(frozen=True)
class KeptResult:
    """A step that need not run: its earlier result, and why that is outdated, if it is."""

    result: StepResult
    outdated: Reason | None = None


class Earlier:
    """The steps that finished in earlier calls, with the inputs that they had."""

    def __init__(
        self,
        replay: Replay | None = None,
        rules: RerunRules | None = None,
        tell: Callable[[str], None] = lambda text: None,
    ) -> None:
        known = replay or Replay()
        self.results: dict[Key, StepResult] = dict(known.results)
        self._inputs = dict(known.inputs)
        self._rules = rules or RerunRules()
        self._tell = tell

    def reuse(self, node: Node, inputs: Mapping[str, str]) -> KeptResult | None:
        """The earlier result of a step, if it is not to run again."""
        result = self.results.get(node.key)
        if result is None or not (result.ok or result.state in (FAILED, TIMEOUT)):
            return None
        if node.step.kind == PREPARE:
            if self._rules.prepare:
                return None
            return KeptResult(result)
        if not result.ok and self._rules.failed:
            return None
        why = self.outdated(node, inputs)
        if why is None:
            return KeptResult(result)
        if result.ok and not self._rules.outdated and not self._lost(node, inputs):
            return KeptResult(result, why)
        self._tell(str(wording("{step} runs again, {why}", step=node.step.id, why=why)))
        return None

    def outdated(self, node: Node, inputs: Mapping[str, str]) -> Reason | None:
        """Why the earlier result of a step says nothing about how things are now; None: it still holds."""
        names = self._changed(node, inputs)
        if names:
            return because("outdated", inputs=", ".join(names))
        lost = _touched(node.plan, self.results[node.key])
        if not lost:
            return None
        return because("outdated-artefact", path=lost)

    def _changed(self, node: Node, inputs: Mapping[str, str]) -> list[str]:
        return changed(dict(self._inputs.get(node.key, ())), inputs)

    def _lost(self, node: Node, inputs: Mapping[str, str]) -> bool:
        """What it read was made anew, or what it made is gone: then others cannot go on from it."""
        return "artefacts" in self._changed(node, inputs) or bool(_touched(node.plan, self.results[node.key]))


def _touched(plan: Plan, result: StepResult) -> str:
    """The first artefact that is gone or changed."""
    for name, before in result.artefacts.items():
        path = Path(plan.repo) / name
        if not path.exists() or digest(path) != before:
            return name
    return ""
