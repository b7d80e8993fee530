"""The steps that are ready, and which of them goes next. Deterministic, and nobody waits for ever.

In the order of the plans, but a step that fits may overtake one that does not, so that no core idles: at
most ``OVERTAKES`` times, then the waiting step has the right of way. Steps that need the machine for
themselves come last (``ALONE_OVERTAKES``): to empty the machine for each of them would cost the most.
"""

from __future__ import annotations

from heapq import heappop, heappush

from tipc.run.schedule.resources import Claim, Resources

OVERTAKES = 16
ALONE_OVERTAKES = 1024


class ReadyQueue:
    """Positions of steps that may start, by what they claim; only the first of each is looked at."""

    def __init__(self) -> None:
        self._waiting: dict[Claim, list[int]] = {}
        self._overtaken: dict[int, int] = {}

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    def add(self, position: int, claim: Claim) -> None:
        """A step may start as soon as its claim fits."""
        heappush(self._waiting.setdefault(claim, []), position)

    def take(self, resources: Resources) -> int | None:
        """The next step to start, taken off the queue; None if none fits now."""
        heads = [(waiting[0], claim) for claim, waiting in self._waiting.items() if waiting]
        heads.sort(key=lambda head: (head[1].alone, head[0]))
        urgent = [head for head in heads if self._overtaken.get(head[0], 0) >= _patience(head[1])]
        for position, claim in heads:
            if not resources.fits(claim):
                continue
            if any(other < position and claim.hinders(waiting) for other, waiting in urgent):
                continue
            for other, waiting in heads:
                if other < position and claim.hinders(waiting):
                    self._overtaken[other] = self._overtaken.get(other, 0) + 1
            heappop(self._waiting[claim])
            self._overtaken.pop(position, None)
            return position
        return None


def _patience(claim: Claim) -> int:
    return ALONE_OVERTAKES if claim.alone else OVERTAKES
