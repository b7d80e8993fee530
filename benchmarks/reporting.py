"""Reports over a thousand cells, and comparisons of noisy runs.

Bounds: a page over 1,000 cells (5,000 steps with their logs) takes at most 5 s of processor time, one over 50
configs has at most 600 KB; twenty equal runs raise no alarm at any noise level, and a slow-down of a tenth is
found every time where two runs differ by about 2 %.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "report"))

from fabric import Recipe, fabricate

from tipc.report.comparison import compare
from tipc.report.history import Entry, entry_of
from tipc.report.junit import junit
from tipc.report.page import page
from tipc.report.view import view_of

SECONDS = 5.0
KILOBYTES = 600
SURE = 0.01  # at this noise every slow-down must be found
NOISES = (0.005, 0.01, 0.015, 0.02, 0.03)


def sizes(folder: Path) -> bool:
    """Time and size of reports over many configs."""
    print("configs  cells  steps   view s  page s  junit s      KB   (processor time)")
    kept = True
    for configs in (1, 50, 500):
        recipe = Recipe(models=[f"model_{number}" for number in range(configs)], name=f"size{configs}")
        run, verdict = fabricate(folder, recipe)
        page([view_of(run, verdict)], folder / "warm.html")  # compiles the template
        marks = [time.process_time()]
        view = view_of(run, verdict)
        marks.append(time.process_time())
        text = page([view], run.directory / "report.html").encode()
        marks.append(time.process_time())
        junit([view])
        marks.append(time.process_time())
        spent = [after - before for before, after in pairwise(marks)]
        cells = sum(len(plan.cells) for plan in run.plans)
        print(
            f"{configs:>7}  {cells:>5}  {len(view.steps):>5}  {spent[0]:>7.2f} {spent[1]:>7.2f} "
            f"{spent[2]:>8.2f} {len(text) / 1024:>7.0f}"
        )
        kept &= spent[0] + spent[1] <= SECONDS
        kept &= configs != 50 or len(text) <= KILOBYTES * 1024
    return kept


def made(folder: Path, seed: int, noise: float, slower: float = 1.0) -> Entry:
    """The figures of one made-up run."""
    recipe = Recipe(
        seed=seed, noise=noise, started=1000.0 * seed, name=f"run{seed}", slower=slower, checks=False
    )
    return entry_of(view_of(*fabricate(folder, recipe)))


def comparisons(folder: Path) -> bool:
    """False alarms among equal runs, and how often a slow-down of a tenth is found."""
    print("\nnoise: standard deviation of a run's speed, and of each step's; of a log's intervals twice that")
    print("noise   alarms in equal runs   10 % slower found   5 % slower found   20 % slower found")
    kept = True
    for noise in NOISES:
        alarms = tried = 0
        found = dict.fromkeys((1.10, 1.05, 1.20), 0)
        rounds = 5
        for number in range(rounds):
            runs = [made(folder, 1000 * number + seed, noise) for seed in range(1, 21)]
            for place in range(1, 20):
                for old in (runs[place - 1], runs[0]):
                    alarms += compare(old, runs[place], runs[:place]).regression
                    tried += 1
            for slower in found:
                slow = replace(made(folder, 1000 * number + 99, noise, slower), id="slow")
                found[slower] += sum(compare(old, slow, runs).regression for old in runs)
        shares = {slower: count / (20 * rounds) for slower, count in found.items()}
        print(
            f"{noise:>5.3f}   {alarms:>6} of {tried:<12}   {shares[1.10]:>17.0%}   {shares[1.05]:>16.0%}   "
            f"{shares[1.20]:>17.0%}"
        )
        kept &= alarms == 0
        kept &= noise > SURE or shares[1.10] == 1.0
    return kept


def main() -> int:
    """1 if a bound is broken."""
    with tempfile.TemporaryDirectory() as name:
        kept = [sizes(Path(name)), comparisons(Path(name))]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
