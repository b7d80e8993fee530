"""What a step takes of the machine, and what is left. Claims are counted, never measured."""

from __future__ import annotations

from dataclasses import dataclass

from tipc.plan.model import Step


@dataclass(frozen=True)
class Claim:
    """What one step needs while it runs."""

    cores: int = 1  # 0: it works on other devices, and its share of the cores is not counted
    gpus: frozenset[str] = frozenset()
    alone: bool = False  # it measures: no other step may run on this machine meanwhile

    def hinders(self, other: Claim) -> bool:
        """Whether a step with this claim can keep one with the other from starting."""
        return other.alone or self.alone or bool(self.cores and other.cores) or bool(self.gpus & other.gpus)


ANYTHING = Claim(cores=0)  # of a step whose executor has a queue of its own


def cores_of(step: Step, cores: int) -> int:
    """The cores that a step takes of a machine that has so many: all of them if it asks for more."""
    return min(max(1, step.threads, step.processes), cores)


def claim_of(step: Step, cores: int) -> Claim:
    """A GPU is one step's at a time; a step that measures on the CPU has the whole machine."""
    if step.gpus:
        return Claim(cores=0, gpus=frozenset(f"{step.device}:{gpu}" for gpu in step.gpus))
    wanted = cores_of(step, cores)
    # Processes of a distributed launch wait for each other, and at its end for a launcher that sleeps: half
    # of its cores are left to others, rather than idle. Threads would spin for the core that they lack.
    if step.processes > 1 and step.threads <= step.processes:
        wanted = (wanted + 1) // 2
    return Claim(cores=wanted, alone=step.measures)


class Resources:
    """The cores and devices that are free, how many steps run, and how many tasks of others beside them.

    A task beside the steps takes one core that no step has. It is nice to steps by itself, and none but
    one that measures ever waits for it. Beside such a step there may be one, where the machine has a whole
    core for it (``whole_cores``): a predictor on another core was measured to change a latency by less than
    this machine's own noise. Where it has none, a step that measures has the machine for itself.
    """

    def __init__(self, cores: int, jobs: int | None = None, whole_cores: int = 0) -> None:
        self.cores = max(1, cores)
        self._whole_cores = whole_cores
        self._jobs = jobs or 0
        self._free = self.cores
        self._held: set[str] = set()
        self._running = 0
        self._beside = 0
        self._alone: Claim | None = None  # of the step that measures

    @property
    def idle(self) -> bool:
        """No step runs."""
        return self._running == 0

    def fits(self, claim: Claim) -> bool:
        """Whether a step with this claim may start now. An idle machine takes any claim."""
        if claim.alone and self._beside > self._beside_a_measurement(claim):
            return False
        if self.idle:
            return True
        if self._alone or claim.alone or (self._jobs and self._running >= self._jobs):
            return False
        return (not claim.cores or claim.cores <= self._free) and not claim.gpus & self._held

    def take(self, claim: Claim) -> None:
        """A step with this claim has started."""
        self._running += 1
        self._free -= claim.cores
        self._held |= claim.gpus
        if claim.alone:
            self._alone = claim

    def give(self, claim: Claim) -> None:
        """A step with this claim has ended."""
        self._running -= 1
        self._free += claim.cores
        self._held -= claim.gpus
        self._alone = None

    def has_room_beside(self) -> bool:
        """Whether one more task may start beside the steps."""
        if self._jobs and self._running + self._beside >= self._jobs:
            return False
        if self._alone:
            return self._beside < self._beside_a_measurement(self._alone)
        return self._beside < self._free

    def take_beside(self) -> None:
        """A task beside the steps has started."""
        self._beside += 1

    def give_beside(self) -> None:
        """A task beside the steps has ended."""
        self._beside -= 1

    def _beside_a_measurement(self, claim: Claim) -> int:
        """How many tasks of others may run while a step with this claim measures."""
        return int(claim.cores < self._whole_cores)
