"""Reports over a thousand cells, and comparisons of runs: made up with known noise, and real ones.

Bounds: a log of a gigabyte is read in at most 20 s of processor time. ``tipc report`` of 10,000 steps takes
at most 5 s of it and 120 MB in each of its forms. A page over 1,000 cells (5,000 steps with their logs) takes
at most 5 s, one over 50 configs has at most 600 KB, also if every cell fails; equal runs raise no alarm, made
up or real; a slow-down of a tenth is found in every made-up run where two runs differ by about 2 %, and in
every real one where the comparison says that it sees 7 %.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "report"))

import _small_repo
from fabric import Recipe, fabricate, stored

from tipc.certify.evidence.logs import read_log
from tipc.report.history.comparison import compare
from tipc.report.history.history_store import PastRun, entry_of, newest
from tipc.report.html.page import page
from tipc.report.junit import junit
from tipc.report.view import view_of

SECONDS = 5.0
KILOBYTES = {"": 600, "train": 600, "infer": 600}  # of a page over 50 configs, by what fails in each cell
SURE = 0.01  # at this noise every slow-down must be found
GIANT_SECONDS = 20.0  # of processor time, for a log of a gigabyte
GIANTS = {
    "one line": b"x" * 64,
    "many lines": b"x" * 63 + b"\n",
    "training lines": b"epoch: 1 iter: 7/99 loss: 0.25 ips: 3.25 images/sec\n",
}
MEGABYTES = 120  # of tipc itself, for a report of ten thousand steps
SHAPES = {  # of ten thousand steps
    "1,000 configs": Recipe(models=[f"model_{number}" for number in range(1000)]),
    "one cell": Recipe(gpus=("0",), batch_sizes=[str(number) for number in range(4999)]),
}
FORMS = {
    "terminal": [],
    "html": ["--html", "a.html"],
    "junit": ["--junit", "a.xml"],
    "json": ["--json", "a.json"],
    "markdown": ["--markdown", "a.md"],
}
NOISES = (0.005, 0.01, 0.015, 0.02, 0.03)
SEEN = 0.07  # of real runs: where the comparison claims to see this, it must find a tenth


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
    for failing, most in KILOBYTES.items():
        recipe = Recipe(models=[f"model_{number}" for number in range(50)], name=f"fifty-{failing}")
        recipe.states = {failing: "failed"} if failing else {}
        view = view_of(*fabricate(folder, recipe))
        size = len(page([view], view.run.directory / "report.html").encode()) / 1024
        print(f"     50 configs, {f'every {failing} failed' if failing else 'all passed'}: {size:.0f} KB")
        kept &= size <= most
    return kept


def ten_thousand_steps(folder: Path) -> bool:
    """Time and memory of the command about many configs of ten steps each, or one with a cell of them all,
    with logs and findings."""
    kept = True
    for shape, recipe in SHAPES.items():
        run, verdict = fabricate(folder / shape / ".tipc", recipe)
        stored(run, verdict)
        for form, words in FORMS.items():
            argv = [sys.executable, "-m", "tipc", "report", *words]
            process = subprocess.Popen(argv, cwd=folder / shape, stdout=subprocess.DEVNULL)
            _pid, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            seconds, megabytes = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
            told = f"a report of {len(run.results)} steps, {shape}, {form}"
            print(f"{told}: {seconds:.1f} s, {megabytes:.0f} MB")
            kept &= process.returncode == 0 and seconds <= SECONDS and megabytes <= MEGABYTES
    return kept


def giant_logs(folder: Path) -> bool:
    """The processor time of reading a log of a gigabyte, beside that of its bytes alone."""
    kept = True
    for name, line in GIANTS.items():
        path = folder / "giant.log"
        with path.open("wb") as file:
            for _ in range(1024):
                file.write(line * (2**20 // len(line)))
        marks = [time.process_time()]
        with path.open("rb") as file:
            while file.read(2**20):
                pass
        marks.append(time.process_time())
        read_log(path)
        marks.append(time.process_time())
        bytes_alone, log = (after - before for before, after in pairwise(marks))
        print(f"a log of 1 GB, {name}: {log:.1f} s, its bytes alone {bytes_alone:.1f} s")
        kept &= log <= GIANT_SECONDS
        path.unlink()
    return kept


def made(folder: Path, seed: int, noise: float, slower: float = 1.0) -> PastRun:
    """The figures of one made-up run."""
    recipe = Recipe(
        seed=seed, noise=noise, started=1000.0 * seed, name=f"run{seed}", slower=slower, checks=False
    )
    return entry_of(view_of(*fabricate(folder, recipe)))


def alarms_among(runs: list[PastRun]) -> int:
    """False alarms when each run is compared with each before it, the history being what was there then."""
    return sum(
        compare(old, new, runs[:place]).regression for place, new in enumerate(runs) for old in runs[:place]
    )


def found_in(equal: list[PastRun], slower: list[PastRun], repeats: int) -> tuple[int, int]:
    """In how many of how many trials a slow-down is found from so many runs of the slower version."""
    trials = [slower[place : place + repeats] for place in range(len(slower) - repeats + 1)]
    found = sum(compare(equal[-1], news[-1], [*equal, *news[:-1]]).regression for news in trials)
    return found, len(trials)


def comparisons(folder: Path) -> bool:
    """False alarms among equal runs, and how often a slow-down is found from one run, and from three."""
    print("\nmade up: noise is the standard deviation of a run's speed, and again of each step's")
    print("noise   alarms in equal pairs   10 % slower: 1 run, 3 runs   5 %: 1, 3 runs   20 %: 1, 3 runs")
    kept = True
    for noise in NOISES:
        alarms = pairs = 0
        found: dict[tuple[float, int], list[int]] = {}
        for number in range(4):
            runs = [made(folder, 1000 * number + seed, noise) for seed in range(1, 21)]
            alarms += alarms_among(runs)
            pairs += 190
            for slower in (1.10, 1.05, 1.20):
                slow = [made(folder, 1000 * number + seed, noise, slower) for seed in range(30, 38)]
                slow = [replace(run, id=f"slow-{run.id}", build="slower") for run in slow]
                for repeats in (1, 3):
                    counts = found.setdefault((slower, repeats), [0, 0])
                    for place, count in enumerate(found_in(runs, slow, repeats)):
                        counts[place] += count
        shares = {key: hits / trials for key, (hits, trials) in found.items()}
        print(
            f"{noise:.3f}   {alarms:>6} of {pairs:<14}"
            + "".join(
                f"   {shares[slower, 1]:>11.0%}, {shares[slower, 3]:>4.0%}" for slower in (1.10, 1.05, 1.20)
            )
        )
        kept &= alarms == 0
        kept &= noise > SURE or shares[1.10, 1] == 1.0
    return kept


def real(folder: Path) -> bool:
    """Twenty equal runs of a small repository, and six with a tenth more work among the later ones."""
    repo, home = folder / "repo", folder / "home"
    _small_repo.write(repo)
    order = ["equal"] * 8 + ["slower", "equal", "equal"] * 6
    environment = {**os.environ, "TIPC_HOME": str(home), "OPENBLAS_NUM_THREADS": "1"}
    for version in order:
        _small_repo.switch(repo, version)
        argv = [sys.executable, "-m", "tipc", "run", _small_repo.NAME, "--no-checks"]
        subprocess.run(argv, cwd=repo, env=environment, check=True, stdout=subprocess.DEVNULL)
    runs = newest(home, limit=len(order), figures=True)
    equal = [run for run, version in zip(runs, order, strict=True) if version == "equal"]
    slower = [run for run, version in zip(runs, order, strict=True) if version == "slower"]
    alarms = alarms_among(equal)
    print(f"\nreal runs: {alarms} alarms in {len(equal) * (len(equal) - 1) // 2} pairs of equal ones")
    kept = alarms == 0
    for repeats in (1, 3):
        found, trials = found_in(equal, slower, repeats)
        seen = compare(equal[-1], slower[repeats - 1], [*equal, *slower[: repeats - 1]]).seen_from or 0.0
        print(
            f"a tenth more work, {repeats} run{'s' * (repeats > 1)} of it: found in {found} of {trials}; "
            f"the comparison sees {seen:.1%}"
        )
        kept &= seen > SEEN or found == trials
    return kept


def main() -> int:
    """1 if a bound is broken."""
    with tempfile.TemporaryDirectory() as name:
        kept = [measure(Path(name)) for measure in (giant_logs, ten_thousand_steps, sizes, comparisons, real)]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
