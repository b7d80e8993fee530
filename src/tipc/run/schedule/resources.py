"""What a step takes of the machine, and what is left. Claims are counted, never measured."""

from __future__ import annotations

from dataclasses import dataclass

from tipc.plan.model import Step


@dataclass(frozen=True)
class Claim:
    """What one step needs while it runs."""

    cores: int = 1  # 0: it works on other devices, and its share of the cores is not counted
    gpus: frozenset[str] = frozenset()
    alone: bool = False  # nothing else may run on this machine meanwhile

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
    """The cores and devices that are free, and how many steps run."""

    def __init__(self, cores: int, jobs: int | None = None) -> None:
        self.cores = max(1, cores)
        self._jobs = jobs or 0
        self._free = self.cores
        self._held: set[str] = set()
        self._running = 0
        self._alone = False

    @property
    def idle(self) -> bool:
        """Nothing runs."""
        return self._running == 0

    def fits(self, claim: Claim) -> bool:
        """Whether a step with this claim may start now. An idle machine takes any claim."""
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
        self._alone = claim.alone

    def give(self, claim: Claim) -> None:
        """A step with this claim has ended."""
        self._running -= 1
        self._free += claim.cores
        self._held -= claim.gpus
        self._alone = False
