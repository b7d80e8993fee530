"""TL1xx: the training log that the spec asks for, and the evaluation's result."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tipc.certify.arguments import argument_number
from tipc.certify.logs import FIELDS, evaluation_series, lines, training_series
from tipc.certify.registry import Outcome, check, failed, passed, unchecked
from tipc.certify.scene import StepScene

SERIES_LIMIT = 500
CLOCK = 1.0  # seconds that rounding and another clock may make
NEAR = 0.06  # of a metric between 0 and 1: one image of a lite split
SERIES_KEYS = (
    "line",
    "epoch",
    "iter",
    "loss",
    "lr",
    "avg_reader_cost",
    "avg_batch_cost",
    "avg_samples",
    "avg_ips",
)
SECONDS = re.compile(r"sec(?:ond)?s?|s", re.IGNORECASE)
RATE = re.compile(r"(?!s/)[a-z]+/s(?:ec(?:ond)?)?", re.IGNORECASE)
# Families whose log was in use before the spec: their own names, and costs without a unit, count there.
FAMILY_NAMES = {
    "seg": {"avg_reader_cost": "reader_cost", "avg_batch_cost": "batch_cost", "avg_ips": "ips"},
    "ocr": {"avg_ips": "ips"},
    "clas": {"avg_reader_cost": "reader_cost", "avg_batch_cost": "batch_cost", "avg_ips": "ips"},
    "det": {"avg_reader_cost": "data_cost", "avg_batch_cost": "batch_cost", "avg_ips": "ips"},
}


def training_log(scene: StepScene) -> tuple[Path, list[dict[str, Any]]]:
    """The log that has the training lines: the step's own, else the newest that it wrote beside its
    weights."""
    own = scene.step_log
    rows = training_series(own)
    if rows or not scene.step.weights:
        return own, rows
    folder = scene.path(scene.step.weights).parent
    started = scene.outcome.started
    others = [path for path in folder.glob("*.log") if path.is_file() and path.stat().st_mtime >= started - 2]
    for path in sorted(others):
        if rows := training_series(path):
            return path, rows
    return own, []


def where(scene: StepScene, path: Path, line: int) -> str:
    """A place in a log for people: the step's own under the name that its family has for it."""
    if path == scene.step_log:
        return f"{scene.step.log.removeprefix('./')}:{line}"
    try:
        return f"{path.relative_to(scene.repo)}:{line}"
    except ValueError:
        return f"{path.name}:{line}"


@check(
    "TL101",
    "The training log has loss, avg_reader_cost, avg_batch_cost and avg_ips",
    scope="train",
    reads="the training log",
    remedy="print them every few iterations: `[Epoch 1, iter: 10] …, loss: 2.31, avg_reader_cost: 0.01 sec, "
    "avg_batch_cost: 0.27 sec, avg_samples: 4.0, avg_ips: 14.8 images/sec`",
)
def required_fields(scene: StepScene) -> Iterator[Outcome]:
    """The spec asks for these four fields in each training line: without them nobody can tell how fast a
    model trains or whether its data come in time."""
    path, rows = training_log(scene)
    family = FAMILY_NAMES.get(scene.plan.dialect, {})
    counts: dict[str, int] = {}
    for name in FIELDS:
        accepted = (name, family.get(name, name))
        counts[name] = sum(row["names"].get(name, "").lower() in accepted for row in rows)
    evidence = {"log": str(path), "rows": len(rows), "fields": counts}
    absent = [name for name, count in counts.items() if count < len(rows) or not rows]
    if not rows:
        wrote = "is empty" if not any(True for _ in lines(path)) else "has no line with a loss or a speed"
        yield failed(
            f"the training log {wrote}: nothing shows that it trained ({path.name})", evidence=evidence
        )
    elif absent:
        row = next(row for row in rows if any(row["names"].get(name) is None for name in absent) or absent)
        told = ", ".join(f"{name} in {counts[name]} of {len(rows)}" for name in absent)
        yield failed(f"training lines without {told} ({where(scene, path, row['line'])})", evidence=evidence)
    else:
        yield passed(f"all four in each of {len(rows)} training lines", evidence=evidence)


@check(
    "TL102",
    "Costs are in seconds and the speed in samples per second",
    scope="train",
    reads="the training log",
    remedy="write the unit after the figure: `avg_batch_cost: 0.27 sec`, `avg_ips: 14.8 images/sec`",
)
def units(scene: StepScene) -> Iterator[Outcome]:
    """A figure without its unit cannot be compared: some scripts print milliseconds, or batches per
    second."""
    path, rows = training_log(scene)
    family = FAMILY_NAMES.get(scene.plan.dialect, {})
    for row in rows:
        for name in FIELDS[1:]:
            if name not in row:
                continue
            unit = row["units"].get(name, "")
            wanted, pattern = ("images/sec", RATE) if name == "avg_ips" else ("sec", SECONDS)
            if not unit and row["names"][name] == family.get(name):
                continue
            if not pattern.fullmatch(unit) or unit.lower().startswith(("batch", "iter", "step")):
                told = f"`{unit}`" if unit else "no unit"
                yield failed(
                    f"{row['names'][name]} has {told}, not `{wanted}` ({where(scene, path, row['line'])})",
                    log=str(path),
                    line=row["line"],
                )
                return
    if rows:
        yield passed("units as the spec has them", log=str(path))


@check(
    "TL103",
    "Loss and speeds are finite numbers",
    scope="train",
    reads="the training log",
    remedy="look for a division by zero, a too large learning rate, or an overflow in fp16 without loss "
    "scaling",
)
def finite(scene: StepScene) -> Iterator[Outcome]:
    """A training whose loss is NaN runs to its end, writes a model and exports it: all green, and
    worthless."""
    path, rows = training_log(scene)
    evidence = {"log": str(path), "series": series(rows)}
    for row in rows:
        bad = [name for name in (*FIELDS, "lr") if name in row and not math.isfinite(row[name])]
        bad += [name for name in FIELDS[1:3] if row.get(name, 0.0) < 0]
        bad += ["avg_ips"] if row.get("avg_ips", 1.0) <= 0 else []
        if bad:
            name = bad[0]
            yield failed(f"{name} is {row[name]} ({where(scene, path, row['line'])})", evidence=evidence)
            return
    losses = [row["loss"] for row in rows if "loss" in row]
    if losses:
        speeds = [row["avg_ips"] for row in rows if "avg_ips" in row]
        speed = f", ips {sum(speeds) / len(speeds):.1f}" if speeds else ""
        yield passed(f"loss {losses[0]:.4g} → {losses[-1]:.4g}{speed}", evidence=evidence)


def series(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows for a chart, thinned where they are very many."""
    stride = max(1, math.ceil(len(rows) / SERIES_LIMIT))
    return [{key: row[key] for key in SERIES_KEYS if key in row} for row in rows[::stride]]


@check(
    "TL104",
    "The speed agrees with samples and time",
    scope="train",
    reads="the training log",
    remedy="avg_ips = samples of the interval / its whole time; avg_batch_cost contains avg_reader_cost",
)
def consistent_speed(scene: StepScene) -> Iterator[Outcome]:
    """avg_ips, avg_batch_cost and the number of samples say one thing three times. Where they differ, the
    figure that people compare is wrong: the wait for data left out, or only one of several processes
    counted."""
    path, rows = training_log(scene)
    rows = [row for row in rows if row.get("avg_batch_cost", 0) > 0 and row.get("avg_ips", 0) > 0]
    rows = [row for row in rows if math.isfinite(row["avg_batch_cost"] * row["avg_ips"])]
    given = argument_number(scene.step.argv, ("batch-size", "batch_size", "batchsize", "bs"))
    seconds, wall = sum(row["avg_batch_cost"] for row in rows), scene.outcome.wall
    evidence: dict[str, Any] = {"log": str(path), "rows": len(rows), "batch_size": given}
    evidence.update(told=seconds, wall=wall)
    if not rows:
        return  # TL101 and TL103 have said it
    # Each line is about one batch at least; what it tells of must fit into the time that the step took.
    if seconds > wall * 1.1 + CLOCK:
        yield failed(
            f"the log tells of {seconds:.1f} s of training, but the step took {wall:.1f} s in all: the "
            "figures "
            f"are not of this run ({where(scene, path, rows[0]['line'])})",
            evidence=evidence,
        )
        return
    known = [row for row in rows if row.get("avg_samples", given)]
    for row in rows:
        if row.get("avg_reader_cost", 0.0) > row["avg_batch_cost"] * 1.05 + 2e-4:
            yield failed(
                f"avg_reader_cost {row['avg_reader_cost']} is more than avg_batch_cost "
                f"{row['avg_batch_cost']}, "
                f"which must contain it ({where(scene, path, row['line'])})",
                evidence=evidence,
            )
            return
    if not known:
        yield unchecked(
            "the log tells no avg_samples, and no batch size was given", required=False, evidence=evidence
        )
        return
    wrong = [row for row in known if not agrees(row, given, scene.step.processes)]
    # One line may be off where an interval has a short last batch; most may not.
    if len(wrong) > max(1 if given and "avg_samples" not in known[0] else 0, len(known) // 5):
        row = wrong[0]
        samples = row.get("avg_samples", given)
        yield failed(
            f"avg_ips {row['avg_ips']:.4g}, but {samples:g} samples in {row['avg_batch_cost']:.4g} s are "
            f"{samples / row['avg_batch_cost']:.4g} per second ({where(scene, path, row['line'])})",
            evidence=evidence,
        )
    else:
        yield passed(
            f"avg_ips = samples / avg_batch_cost in {len(known) - len(wrong)} of {len(known)} lines",
            evidence=evidence,
        )


def agrees(row: Mapping[str, Any], given: float | None, processes: int) -> bool:
    """The speed is that of one process or of all, within 10 % and what printing rounded away."""
    samples = row.get("avg_samples") or given or 0.0
    rounding = min(0.5, 6e-4 / row["avg_batch_cost"])
    for count in {1, processes}:
        expected = samples * count / row["avg_batch_cost"]
        if abs(row["avg_ips"] - expected) <= expected * (0.1 + rounding) + 0.01:
            return True
    return False


@check(
    "TL105",
    "The loss moves",
    scope="train",
    reads="the training log",
    remedy="see that the optimiser gets the network's parameters, that backward() and step() are called, "
    "that the "
    "learning rate is not 0; log often enough that a lite run prints several lines",
)
def moving_loss(scene: StepScene) -> Iterator[Outcome]:
    """A loss that is the same in every line was not trained: a frozen network, a learning rate of 0, a log of
    one constant."""
    path, rows = training_log(scene)
    losses = [row["loss"] for row in rows if math.isfinite(row.get("loss", math.nan))]
    if not losses:
        return  # TL101 or TL103
    evidence = {"log": str(path), "first": losses[0], "last": losses[-1], "lines": len(losses)}
    if len(losses) == 1:
        yield unchecked("a single training line: it cannot be told whether the loss moves", evidence=evidence)
    elif len(set(losses)) == 1:
        yield failed(f"the loss is {losses[0]} in all {len(losses)} training lines", evidence=evidence)
    else:
        yield passed(f"{len(set(losses))} values in {len(losses)} lines", evidence=evidence)


@check(
    "TL106",
    "The evaluation tells its metrics",
    scope="eval",
    reads="the evaluation's log",
    remedy="print the result as `acc: 0.84`, `mIoU: 0.71`, …, and fail if the data are not there",
)
def evaluation(scene: StepScene) -> Iterator[Outcome]:
    """An evaluation that printed no metric evaluated nothing, whatever its exit status."""
    path = scene.step_log
    rows = evaluation_series(path)
    if not rows:
        yield failed(f"no metric (accuracy, mIoU, …) in the evaluation's log ({path.name})", log=str(path))
        return
    last = rows[-1]
    bad = [name for name, value in last["metrics"].items() if not math.isfinite(value)]
    evidence = {"log": str(path), "line": last["line"], "metrics": last["metrics"]}
    if bad:
        yield failed(
            f"{bad[0]} is {last['metrics'][bad[0]]} ({where(scene, path, last['line'])})", evidence=evidence
        )
    else:
        told = ", ".join(f"{name} {value:g}" for name, value in last["metrics"].items())
        yield passed(told, evidence=evidence)


@check(
    "TL107",
    "It trained as long as it was told to",
    scope="train",
    reads="the training log and the command",
    remedy="end with a status other than 0 when training stops early; pass the option on to the training "
    "loop",
)
def trained_to_the_end(scene: StepScene) -> Iterator[Outcome]:
    """A loop that ends early (no data, a swallowed error, an option that nothing reads) still leaves a
    model."""
    path, rows = training_log(scene)
    text = max((row.get("epoch", -1) for row in rows), default=-1)
    for row in evaluation_series(path):
        text = max(text, row.get("epoch", -1))
    told = {
        "epoch": (argument_number(scene.step.argv, ("epochs", "epoch", "num_epochs", "epoch_num")), text),
        "iter": (
            argument_number(scene.step.argv, ("iters", "max_iters", "iterations")),
            max((row.get("iter", -1) for row in rows), default=-1),
        ),
    }
    for unit, (asked, seen) in told.items():
        if asked is None or seen < 0:
            continue
        evidence = {"log": str(path), "unit": unit, "asked": asked, "seen": seen}
        if unit == "epoch":
            enough = seen >= asked - 1  # some count from zero
        else:
            stride = max(
                (b["iter"] - a["iter"] for a, b in itertools.pairwise(rows) if "iter" in a and "iter" in b),
                default=seen,
            )
            enough = seen > asked - max(stride, 1) - 1
        if enough:
            yield passed(f"{unit} {seen} of {asked:g}", evidence=evidence)
        else:
            yield failed(
                f"asked for {asked:g} {unit}s, the log ends at {unit} {seen} ({path.name})", evidence=evidence
            )
        return
    if rows:
        yield unchecked("neither the command nor the log tells epochs or iterations", required=False)


@check(
    "TL108",
    "The evaluation finds what training left",
    scope="eval",
    reads="the training log's own evaluations, and the evaluation's log",
    remedy="save the weights after the last step, load them in the evaluation, and use the same data and "
    "transforms",
)
def same_evaluation(scene: StepScene) -> Iterator[Outcome]:
    """Training evaluates its network as it goes; the evaluation step reads the weights that it left. If it
    finds nothing near any of training's own results, other weights were saved, or they are not loaded."""
    rows = evaluation_series(scene.step_log)
    trainings = scene.steps("train", scene.cell.id)
    if not rows or not trainings:
        return
    own = {name.lower(): value for name, value in rows[-1]["metrics"].items()}
    told: dict[str, list[float]] = {}
    for row in evaluation_series(scene.log(trainings[0])):
        for name, value in row["metrics"].items():
            told.setdefault(name.lower(), []).append(value)
    common = [name for name in own if name in told and math.isfinite(own[name])]
    if not common:
        return  # training did not evaluate, or it calls its metric by another name
    name = common[0]
    nearest = min(told[name], key=lambda value: abs(value - own[name]))
    evidence = {"metric": name, "evaluation": own[name], "training": told[name][-20:]}
    if abs(nearest - own[name]) > NEAR * max(1.0, abs(nearest)):
        yield failed(
            f"{name} is {own[name]:g}, but training's own evaluations found {told[name][-1]:g} at the "
            "end, and never "
            f"anything nearer than {nearest:g}",
            evidence=evidence,
        )
    else:
        yield passed(f"{name} {own[name]:g}, as training found", evidence=evidence)
