"""The live picture on a terminal: what runs now, where, for how long, and what is left. Imports rich."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TextIO

from rich.cells import cell_len, set_cell_size
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from tipc.language import say
from tipc.plan.model import Plan, Step
from tipc.run.record.results import StepResult
from tipc.run.show.colour import coloured
from tipc.run.show.fold import folded
from tipc.run.show.log_tail import tail
from tipc.run.show.progress import Progress, place, printable
from tipc.run.show.results_log import PLAIN, YELLOW
from tipc.run.show.training_line import training_line
from tipc.visible import styled

REFRESH = 0.5  # seconds
REFRESH_MEASURING = 2.0  # while a step's figures count, tipc keeps still


@dataclass(frozen=True)
class _Now:
    name: str  # with the model, where several configs run
    step: Step
    log: Path
    since: float = 0.0  # by the monotonic clock; 0: its program has not begun


class LiveProgress(Progress):
    """As ``Progress``, with some lines at the bottom that are drawn anew, in ``pulse``: no thread."""

    def __init__(self, stream: TextIO, total: int, verbosity: int = 0) -> None:
        super().__init__(stream, total, verbosity)
        self._console = Console(
            file=styled(stream), highlight=False, soft_wrap=True, no_color=not coloured(stream)
        )
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._now: dict[tuple[str, str], _Now] = {}
        self._drawn = 0.0
        self._began = time.monotonic()
        self._live.start()

    def started(self, plan: Plan, step: Step, attempt: int, log: Path) -> None:
        """A line at the bottom instead of one that stays."""
        self._now[plan.key, step.id] = _Now(self.name(plan, step), step, log)
        self._draw()

    def begun(self, plan: Plan, step: Step, at: float) -> None:
        """Its time runs from now on, as in its result: the wait for a warm server is none of the step's."""
        self._now[plan.key, step.id] = replace(self._now[plan.key, step.id], since=at)

    def ended(self, plan: Plan, step: Step, result: StepResult) -> None:
        """Its line at the bottom goes, its result stays."""
        self._now.pop((plan.key, step.id), None)
        super().ended(plan, step, result)

    def pulse(self) -> None:
        """Draw anew if it is time."""
        measuring = any(now.step.measures for now in self._now.values())
        if time.monotonic() - self._drawn >= (REFRESH_MEASURING if measuring else REFRESH):
            self._draw()

    def close(self) -> None:
        """Take the picture away; what was written stays."""
        self._live.stop()
        super().close()

    def write(self, text: str, style: str = "") -> None:
        """Write above the picture; what does not fit is broken between words, and goes on below its start."""
        for line in printable(self.stream, text).split("\n"):
            for row in folded(line, self._console.width):
                self._console.print(Text(row, style=style))

    def write_status(self, line: str) -> None:
        """In yellow, like upstream."""
        self._console.print(Text.from_ansi(f"{YELLOW}{printable(self.stream, line)}{PLAIN}"))

    def _draw(self) -> None:
        now = self._drawn = time.monotonic()
        lines = []
        for running in self._now.values():
            lines.append(Text(self._line(running, now), style="cyan"))
        left = self.total - self.done - len(self._now)
        counts = say("{done} of {total} done, {left} to come", done=self.done, total=self.total, left=left)
        lines.append(Text(f"  {counts} · {clock(now - self._began)}", style="dim"))
        self._live.update(Group(*lines), refresh=True)

    def _line(self, running: _Now, now: float) -> str:
        """What a step does now, in one row: a longer one would leave its end behind when it is drawn anew."""
        start = f"  ● {running.name}  {place(running.step)}  "
        width = self._console.width - 1
        if not running.since:
            line = printable(self.stream, start + say("waiting to start"))
            return set_cell_size(line, min(width, cell_len(line)))
        elapsed = now - running.since
        start += clock(elapsed)
        said = training_line(tail(running.log, 20, 8192), elapsed, width - cell_len(start) - 2)
        line = printable(self.stream, f"{start}  {said}")
        return set_cell_size(line, min(width, cell_len(line))).rstrip()


def clock(seconds: float) -> str:
    """Minutes and seconds."""
    return f"{int(seconds) // 60:02d}:{int(seconds) % 60:02d}"
