"""The figures of a step: what its log and its process tell, with the samples that they rest on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from tipc.certify.evidence.benchmark_block import autolog_blocks, latency_stages
from tipc.certify.evidence.logs import chart_rows, read_log
from tipc.certify.verdict import Finding
from tipc.kinds import EVAL, INFER, TRAIN
from tipc.plan.model import Step
from tipc.run.record.results import StepResult

HIGHER, LOWER = "higher", "lower"
SPEED, LATENCY, MEMORY, LOSS, ACCURACY, TIME = "speed", "latency", "memory", "loss", "accuracy", "time"
# What a machine decides; figures of unlike machines are not compared.
OF_THE_MACHINE = (SPEED, LATENCY, MEMORY, TIME)
FALLS = ("loss", "err", "error", "rmse", "mae", "mse", "fid", "perplexity")
FASTEST = 0.1  # the share of a training's intervals that are faster than its peak speed
SHORTEST = 0.01  # ms; benchmark blocks have four decimals, so of less they hardly tell a percent
MEGABYTE = 1024 * 1024


@dataclass(frozen=True)
class Metric:
    """One figure of one step."""

    name: str  # "ips", "inference_ms", "peak_rss_mb", "loss", "acc1"
    kind: str  # SPEED, LATENCY, MEMORY, LOSS, ACCURACY or TIME
    value: float
    unit: str = ""
    better: str = LOWER
    samples: tuple[float, ...] = ()  # of the same run, in order; where there are any
    spread: float = 0.0  # standard deviation where only that is known, not the samples
    count: int = 1  # how many measurements the value rests on


@dataclass(frozen=True)
class Benchmark:
    """One benchmark block of an inference log."""

    name: str  # what sets it apart in its log: "onednn int8"; empty where it is the only one
    precision: str  # as the script says; may be empty
    stages: Mapping[str, Mapping[str, float]]  # stage → mean, p50, p95 in ms
    rss: float | None  # MB, as the script itself saw it
    count: int  # iterations that were timed

    @property
    def total(self) -> float:
        """Mean milliseconds of all stages."""
        return sum(values.get("mean", 0.0) for values in self.stages.values())


@dataclass(frozen=True)
class Figures:
    """All that is known about a step in numbers."""

    training: Sequence[Mapping[str, Any]] = ()  # see ``certify.evidence.logs.chart_rows``
    evaluation: Mapping[str, float] = field(default_factory=dict)
    benchmarks: tuple[Benchmark, ...] = ()
    metrics: tuple[Metric, ...] = ()


def figures_of(step: Step, result: StepResult, findings: Iterable[Finding]) -> Figures:
    """What is known in numbers about a step that passed: the evidence of the checks, else its log.

    What did not pass has no figures: they would mislead.
    """
    if not result.ok:
        return Figures()
    path = Path(result.log)
    used = _used(result)
    if step.kind == TRAIN:
        series = _series(path, findings)
        return Figures(training=series, metrics=(*_training(series), *used))
    if step.kind == EVAL:
        last: dict[str, float] = {}
        for row in read_log(path).evaluations:
            last.update(row.metrics)
        return Figures(evaluation=last, metrics=(*_accuracy(last), *used))
    if step.kind == INFER:
        benchmarks = _benchmarks(autolog_blocks(path))
        return Figures(benchmarks=benchmarks, metrics=(*_latencies(benchmarks), *used))
    return Figures(metrics=tuple(used))


def _series(path: Path, findings: Iterable[Finding]) -> Sequence[Mapping[str, Any]]:
    """The lines of a training: as a check has put them down, else as the log has them."""
    for finding in findings:
        told = finding.evidence.get("series")
        if isinstance(told, (list, tuple)):
            return tuple(told)
    return tuple(chart_rows(read_log(path).training))


def curve(series: Iterable[Mapping[str, Any]], name: str) -> tuple[float, ...]:
    """One field of a training log over its lines; lines without it, and NaN or infinity, are left out."""
    return tuple([value for value, _row in curve_rows(series, name)])


def curve_rows(series: Iterable[Mapping[str, Any]], name: str) -> list[tuple[float, Mapping[str, Any]]]:
    """As ``curve``, each value with the line that it is of."""
    found = []
    for row in series:
        value = row.get(name)
        if isinstance(value, (int, float)) and math.isfinite(value):
            found.append((float(value), row))
    return found


def _training(series: Sequence[Mapping[str, Any]]) -> Iterable[Metric]:
    steady = curve(series, "avg_ips")
    if len(steady) > 1:
        # The first interval pays for the start (kernels, caches, workers): it is no sample of the speed.
        steady = steady[1:]
    if steady:
        yield Metric("ips", SPEED, median(steady), "images/s", HIGHER, steady, count=len(steady))
        # What else the machine does slows some intervals down; what slows down these is the training itself.
        best = sorted(steady, reverse=True)[int(FASTEST * len(steady))]
        yield Metric("peak_ips", SPEED, best, "images/s", HIGHER)
    loss = curve(series, "loss")
    if loss:
        yield Metric("loss", LOSS, loss[-1], count=1)


def _accuracy(last: Mapping[str, float]) -> Iterable[Metric]:
    for name, value in last.items():
        if not math.isfinite(value):
            continue
        if any(word in name.lower() for word in FALLS):
            yield Metric(name, LOSS, value, better=LOWER)
        else:
            yield Metric(name, ACCURACY, value, better=HIGHER)


def _benchmarks(blocks: Sequence[Mapping[str, Any]]) -> tuple[Benchmark, ...]:
    found = []
    for number, block in enumerate(blocks, 1):
        precision = str(block.get("model", {}).get("precision", ""))
        name = ""
        if len(blocks) > 1:
            name = f"{_engine(block) or f'#{number}'} {precision}".strip()
        rss = block.get("perf", {}).get("cpu_rss(MB)")
        if not isinstance(rss, float):
            rss = None
        try:
            count = max(1, int(block.get("data", {}).get("data_num", 1)))
        except ValueError:
            count = 1
        found.append(Benchmark(name, precision, latency_stages(dict(block)), rss, count))
    return tuple(found)


def _engine(block: Mapping[str, Any]) -> str:
    """A script that measures several engines says which after each block; else the settings may tell."""
    told = block.get("perf", {}).get("engine")
    if told:
        return str(told)
    if block.get("conf", {}).get("enable_mkldnn") == "True":
        return "mkldnn"
    return ""


def _latencies(benchmarks: Iterable[Benchmark]) -> Iterable[Metric]:
    for benchmark in benchmarks:
        yield from _latency(benchmark)


def _latency(benchmark: Benchmark) -> Iterable[Metric]:
    for stage, values in benchmark.stages.items():
        value = values.get("p50", values.get("mean"))
        if value is None or not math.isfinite(value) or value < SHORTEST:
            continue
        # The 95th percentile lies 1.645 standard deviations above the middle of a normal distribution.
        spread = max(0.0, values.get("p95", value) - value) / 1.645
        name = f"{stage}_ms {benchmark.name}".rstrip()
        yield Metric(name, LATENCY, value, "ms", spread=spread, count=benchmark.count)


def _used(result: StepResult) -> Iterable[Metric]:
    if result.wall > 0:
        yield Metric("wall_s", TIME, result.wall, "s")
    if result.cpu > 0:
        # On a machine that others use too, this tells more than the time on the clock.
        yield Metric("cpu_s", TIME, result.cpu, "s")
    if result.peak_rss:
        yield Metric("peak_rss_mb", MEMORY, result.peak_rss / MEGABYTE, "MB")
    if result.peak_gpu:
        yield Metric("peak_gpu_mb", MEMORY, result.peak_gpu / MEGABYTE, "MB")
