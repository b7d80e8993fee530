"""TL101, TL102, TL104: the form of the training log that the specification asks for.

The form is the specification's. A family whose log is older has one of its own, and a repository of it breaks
no promise with it: there, what the specification would want is a remark.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

from tipc.certify.evidence.log_records import BATCH_COST, FIELDS, IPS, READER_COST, SAMPLES, TrainingLine
from tipc.certify.evidence.option_values import argument_number
from tipc.certify.evidence.training_log_file import TrainingLog, place, training_log
from tipc.certify.registry import Outcome, check, failed, passed, unchecked
from tipc.certify.scene import StepScene
from tipc.message import Message, wording

SPECIFIED = "models"  # the dialect of the specification's own reference repository
CLOCK = 1.0  # seconds that rounding and another clock may make
SECONDS = re.compile(r"sec(?:ond)?s?|s", re.IGNORECASE)
RATE = re.compile(r"(?!s/)[a-z]+/s(?:ec(?:ond)?)?", re.IGNORECASE)
BATCH_SIZE_OPTIONS = ("batch-size", "batch_size", "batchsize", "bs", "batch_size_per_card")


def follows_specification(scene: StepScene, rows: Sequence[TrainingLine]) -> bool:
    """Whether this repository says that its log is the specification's: by its dialect, or by the names."""
    if scene.plan.dialect == SPECIFIED:
        return True
    return any(row.names.get(BATCH_COST) == BATCH_COST and row.names.get(IPS) == IPS for row in rows)


def wrong_form(scene: StepScene, log: TrainingLog, message: Message, evidence: dict[str, Any]) -> Outcome:
    """A failure where the specification's form is promised, else a remark."""
    if follows_specification(scene, log.rows):
        return failed(message, evidence=evidence)
    remark = wording("other than in the specification: {message}", message=message)
    return unchecked(remark, required=False, evidence=evidence)


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
    log = training_log(scene)
    counts = dict.fromkeys(FIELDS, 0)
    for row in log.rows:
        for name in FIELDS:
            counts[name] += row.names.get(name) == name
    evidence = {"log": str(log.path), "rows": len(log.rows), "fields": counts}
    absent = [name for name, count in counts.items() if count < len(log.rows)]
    if not log.rows and log.lines:
        told = wording("the training log has no line with a loss or a speed ({log})", log=log.path.name)
        yield wrong_form(scene, log, told, evidence)
    elif not log.rows:
        yield wrong_form(
            scene, log, wording("the training log is empty ({log})", log=log.path.name), evidence
        )
    elif absent:
        yield wrong_form(scene, log, lines_without(scene, log, counts, absent), evidence)
    else:
        told = wording("all four in each of {count} training lines", count=len(log.rows))
        yield passed(told, evidence=evidence)


def lines_without(
    scene: StepScene, log: TrainingLog, counts: dict[str, int], absent: Sequence[str]
) -> Message:
    """How many lines have a field that every line should have, and the first that does not."""
    fields = []
    lines = []  # the first line without each field
    for name in absent:
        fields.append(
            wording("{name} in {count} of {total}", name=name, count=counts[name], total=len(log.rows))
        )
        for row in log.rows:
            if row.names.get(name) != name:
                lines.append(row.line)
                break
    return wording(
        "not on every training line: {fields} ({place})",
        fields=tuple(fields),
        place=place(scene, log.path, min(lines)),
    )


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
    log = training_log(scene)
    for row in log.rows:
        for name in FIELDS[1:]:
            wrong = wrong_unit(row, name)
            if wrong is not None:
                where = place(scene, log.path, row.line)
                evidence = {"log": str(log.path), "line": row.line}
                told = wording("{problem} ({place})", problem=wrong, place=where)
                yield wrong_form(scene, log, told, evidence)
                return
    if log.rows:
        yield passed("units as the spec has them", log=str(log.path))


def wrong_unit(row: TrainingLine, name: str) -> Message | None:
    """What is wrong with the unit of one field; None if nothing is."""
    if name not in row.values:
        return None
    unit = row.units.get(name, "")
    wanted, pattern = "sec", SECONDS
    if name == IPS:
        wanted, pattern = "images/sec", RATE
    if pattern.fullmatch(unit) and not unit.lower().startswith(("batch", "iter", "step")):
        return None
    if not unit:
        return wording("{name} has no unit, not `{wanted}`", name=row.names[name], wanted=wanted)
    return wording("{name} has `{unit}`, not `{wanted}`", name=row.names[name], unit=unit, wanted=wanted)


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
    log = training_log(scene)
    rows = [row for row in log.rows if tells_speed(row)]
    if not rows:
        return  # TL101 and TL103 have said it
    given = argument_number(scene.step.argv, BATCH_SIZE_OPTIONS)
    seconds, wall = sum(row.get(BATCH_COST) for row in rows), scene.outcome.wall
    evidence: dict[str, Any] = {"log": str(log.path), "rows": len(rows), "batch_size": given}
    evidence.update(told=seconds, wall=wall)
    # Each line is about one batch at least; what it tells of must fit into the time that the step took.
    if seconds > wall * 1.1 + CLOCK:
        told = wording(
            "the log says {told:.1f} s of training, but the step took {wall:.1f} s in all: the figures "
            "are not of this run ({place})",
            told=seconds,
            wall=wall,
            place=place(scene, log.path, rows[0].line),
        )
        yield failed(told, evidence=evidence)
        return
    for row in rows:
        if waits_longer(row):
            yield wrong_form(scene, log, longer_wait(scene, log, row), evidence)
            return
    yield from speed_of_samples(scene, log, rows, given, evidence)


def tells_speed(row: TrainingLine) -> bool:
    """A line has a cost and a speed, and both can be."""
    cost, speed = row.get(BATCH_COST, 0), row.get(IPS, 0)
    return cost > 0 and speed > 0 and math.isfinite(cost * speed)


def longer_wait(scene: StepScene, log: TrainingLog, row: TrainingLine) -> Message:
    """What is said of a line in which the part is more than the whole."""
    return wording(
        "{part} {waited} is more than {whole} {cost}, which must contain it ({place})",
        part=READER_COST,
        waited=row.get(READER_COST),
        whole=BATCH_COST,
        cost=row.get(BATCH_COST),
        place=place(scene, log.path, row.line),
    )


def waits_longer(row: TrainingLine) -> bool:
    """The wait for data is told as longer than the whole that contains it."""
    return row.get(READER_COST, 0.0) > row.get(BATCH_COST) * 1.05 + 2e-4


def speed_of_samples(
    scene: StepScene,
    log: TrainingLog,
    rows: Sequence[TrainingLine],
    given: float | None,
    evidence: dict[str, Any],
) -> Iterator[Outcome]:
    """Whether the speed is that of the samples in the time, line by line."""
    known = [row for row in rows if row.get(SAMPLES, given or 0.0)]
    if not known:
        yield unchecked(
            "the log has no avg_samples, and no batch size was given", required=False, evidence=evidence
        )
        return
    wrong = [row for row in known if not speed_agrees(scene, log, row, given)]
    # One line may be off where an interval has a short last batch; most may not.
    spared = 0
    if given and SAMPLES not in known[0].values:
        spared = 1
    if len(wrong) <= max(spared, len(known) // 5):
        told = wording(
            "avg_ips = samples / avg_batch_cost in {right} of {all} lines",
            right=len(known) - len(wrong),
            all=len(known),
        )
        yield passed(told, evidence=evidence)
        return
    row = wrong[0]
    samples, cost = row.get(SAMPLES, given or 0.0), row.get(BATCH_COST)
    told = wording(
        "avg_ips {told:.4g}, but {samples:g} samples in {seconds:.4g} s are {speed:.4g} per second ({place})",
        told=row.get(IPS),
        samples=samples,
        seconds=cost,
        speed=samples / cost,
        place=place(scene, log.path, row.line),
    )
    yield failed(told, evidence=evidence)  # in every dialect: no form makes it true


def speed_agrees(scene: StepScene, log: TrainingLog, row: TrainingLine, given: float | None) -> bool:
    """The speed is that of one process or of all, within 10 % and what printing rounded away."""
    cost = row.get(BATCH_COST)
    seconds = {cost}
    if not follows_specification(scene, log.rows):
        seconds.add(cost + row.get(READER_COST, 0.0))  # older families may tell them apart
    rounding = min(0.5, 6e-4 / cost)
    for samples in samples_of_line(scene, row, given):
        for whole in seconds:
            expected = samples / whole
            if abs(row.get(IPS) - expected) <= expected * (0.1 + rounding) + 0.01:
                return True
    return False


def samples_of_line(scene: StepScene, row: TrainingLine, given: float | None) -> set[float]:
    """How many samples a line may be about: those that it tells; else the batch that was asked for, or one
    that the network was fed, such as the short one at the end of an epoch. Of one process or of all."""
    sizes = {row.get(SAMPLES, 0.0)}
    main = scene.main_process(scene.step)
    if not row.get(SAMPLES, 0.0):
        sizes = {given or 0.0}
        if main is not None and main.training is not None:
            sizes.update(main.training.batch_sizes)
    every = max(scene.step.processes, 1)
    return sizes | {size * every for size in sizes}
