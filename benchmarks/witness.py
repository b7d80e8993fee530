"""What the witness costs.

Bounds: a training step of mobilenet_v3_small takes at most 3 % more with it, an inference command 5 %. With
and without are taken in turn: two trainings that wait for each other make four steps each time, and inference
commands alternate, cold and warm. Compared is the processor time of the undisturbed ones, the first quartile
of each; medians and the clock's are printed beside it. Any broken: exit 1.

The processor time of a command is that of its own processes. What goes on beside it (the keeper digests the
files of a model, ``tipc`` takes the facts) shows in the clock where the command waits for it. All of it is in
what the whole machine worked meanwhile, on average: that is printed, too, and true only if nothing else runs.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from pathlib import Path

from tipc.run.executors.executor import Task, TaskOutcome
from tipc.run.executors.local import LocalExecutor
from tipc.run.guest.usage import machine_busy
from tipc.run.record.facts import load_facts

GUEST = Path(__file__).parent / "_witness_guest.py"
TURNS, STEPS = 15, 4
COLD, WARM = 16, 60  # commands of each; a warm one takes a third of the time, and is as noisy
TRAINING = 0.03
INFERENCE = 0.05


def task(directory: Path, name: str, *arguments: str, seen: bool, warm: bool = False) -> Task:
    """The guest as a step, with or without the witness."""
    return Task(
        name,
        (sys.executable, str(GUEST), *arguments),
        directory,
        dict(os.environ),
        directory / "logs" / f"{name}.log",
        timeout=None,
        warm=warm,
        facts=directory / "evidence" / "0" / name if seen else None,
    )


def run(executor: LocalExecutor, wanted: Task) -> TaskOutcome:
    """Run what must not fail: there is nothing to measure if it does."""
    executor.start(wanted)
    ended: list[tuple[int, TaskOutcome]] = []
    while not ended:
        ended = executor.wait(1.0)
    outcome = ended[0][1]
    if outcome.exit_code != 0:
        sys.exit(f"{wanted.name} failed: {outcome}\n{wanted.log.read_text(errors='replace')[-2000:]}")
    return outcome


Times = list[tuple[float, ...]]  # of the clock, of the processor, and of the whole machine, in seconds


def ratio(name: str, plain: Times, seen: Times, bound: float) -> bool:
    """Print what a thing takes with the witness over what it takes without; whether the bound is kept."""

    def more(place: int, quartile: int) -> float:
        with_it, without = (
            statistics.quantiles([times[place] for times in those], n=4)[quartile] for those in (seen, plain)
        )
        return with_it / without - 1

    cost = more(1, 0)
    machine = ""
    if len(plain[0]) > 2:
        whole = statistics.fmean(times[2] for times in seen) / statistics.fmean(times[2] for times in plain)
        machine = f"; whole machine {whole - 1:+.1%}"
    print(
        f"{name}: {cost:+.1%} of processor time (median {more(1, 1):+.1%}; clock {more(0, 0):+.1%},"
        f" median {more(0, 1):+.1%}{machine}), bound {bound:.0%}, {len(plain)} of each",
        flush=True,
    )
    return cost <= bound


class Training:
    """A training that makes a turn of steps when it is asked to."""

    def __init__(self, directory: Path, executor: LocalExecutor, *, seen: bool) -> None:
        self.name = "seen" if seen else "plain"
        self.turns, self.answers = directory / f"{self.name}.turns", directory / f"{self.name}.answers"
        os.mkfifo(self.turns)
        os.mkfifo(self.answers)
        wanted = task(directory, self.name, "train", str(self.turns), str(self.answers), seen=seen)
        self.ticket = executor.start(wanted)
        self.asking = self.turns.open("w")
        self.told = self.answers.open()

    def turn(self) -> Times:
        """The steps of one turn."""
        print("go", file=self.asking, flush=True)
        lines = [self.told.readline().split() for _ in range(STEPS)]
        return [(float(clock), float(processor)) for clock, processor in lines]


def training(directory: Path) -> bool:
    """Both trainings, a turn each, until all turns are made."""
    executor = LocalExecutor(warm=False)
    both = [Training(directory, executor, seen=seen) for seen in (False, True)]
    took: dict[str, Times] = {one.name: [] for one in both}
    for number in range(TURNS + 1):
        for one in both if number % 2 else both[::-1]:
            times = one.turn()
            if number:  # the first turn warms up
                took[one.name] += times
    for one in both:
        one.asking.close()
    left = len(both)
    while left:
        left -= len(executor.wait(1.0))
    executor.close()
    facts = load_facts(directory, 0, "seen").main
    if facts is None or facts.training is None or facts.training.steps != STEPS * (TURNS + 1):
        sys.exit(f"the training was not seen: {facts}")
    seconds = sum(facts.training.step_seconds)
    print(f"by its own account: {facts.training.own_seconds:.2f} s in {seconds:.1f} s of training")
    return ratio("training step", took["plain"], took["seen"], TRAINING)


def inference(directory: Path, *, warm: bool) -> bool:
    """Inference commands with and without the witness in turn."""
    executor = LocalExecutor(warm=warm)
    name = "warm" if warm else "cold"
    if warm:
        executor.warm_up(task(directory, name, "infer", "model", seen=False, warm=True))
        while not run(executor, task(directory, name, "infer", "model", seen=False, warm=True)).warm:
            pass
    took: dict[bool, Times] = {False: [], True: []}
    for number in range(WARM if warm else COLD):
        for seen in (True, False) if number % 2 else (False, True):
            busy = machine_busy()
            outcome = run(executor, task(directory, name, "infer", "model", seen=seen, warm=warm))
            took[seen].append((outcome.wall, outcome.cpu, machine_busy() - busy))
    executor.close()
    facts = load_facts(directory, 0, name).main
    if facts is None or [predictor.runs for predictor in facts.predictors] != [32]:
        sys.exit(f"the inference was not seen: {facts}")
    return ratio(f"inference command, {name}", took[False], took[True], INFERENCE)


def main() -> int:
    """All of it; 1 if a bound was broken."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        kept = [training(directory)]
        executor = LocalExecutor(warm=False)
        run(executor, task(directory, "export", "export", "model", seen=False))
        executor.close()
        kept += [inference(directory, warm=warm) for warm in (False, True)]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
