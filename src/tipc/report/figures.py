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
    if step.kind == "train":
        told = next((one.evidence["series"] for one in findings if "series" in one.evidence), None)
        series = tuple(told if isinstance(told, (list, tuple)) else chart_rows(read_log(path).training))
        return Figures(training=series, metrics=(*_training(series), *_used(result)))
    if step.kind == "eval":
        rows = read_log(path).evaluations
        last = {name: value for row in rows for name, value in row.metrics.items()}
        return Figures(evaluation=last, metrics=(*_accuracy(last), *_used(result)))
    if step.kind == "infer":
        benchmarks = tuple(_benchmarks(autolog_blocks(path)))
        latency = (metric for benchmark in benchmarks for metric in _latency(benchmark))
        return Figures(benchmarks=benchmarks, metrics=(*latency, *_used(result)))
    return Figures(metrics=tuple(_used(result)))


def curve(series: Iterable[Mapping[str, Any]], name: str) -> tuple[float, ...]:
    """One field of a training log over its lines; lines without it, and NaN or infinity, are left out."""
    return tuple(value for value, _row in curve_rows(series, name))


def curve_rows(series: Iterable[Mapping[str, Any]], name: str) -> list[tuple[float, Mapping[str, Any]]]:
    """As ``curve``, each value with the line that it is of."""
    found = []
    for row in series:
        value = row.get(name)
        if isinstance(value, (int, float)) and math.isfinite(value):
            found.append((float(value), row))
    return found


def _training(series: Sequence[Mapping[str, Any]]) -> Iterable[Metric]:
    speed = curve(series, "avg_ips")
    # The first interval pays for the start (kernels, caches, workers): it is no sample of the speed.
    steady = speed[1:] if len(speed) > 1 else speed
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
        if math.isfinite(value):
            falls = any(word in name.lower() for word in FALLS)
            yield Metric(name, LOSS if falls else ACCURACY, value, better=LOWER if falls else HIGHER)


def _benchmarks(blocks: Sequence[Mapping[str, Any]]) -> Iterable[Benchmark]:
    for number, block in enumerate(blocks, 1):
        perf = block.get("perf", {})
        # A script that measures several engines says which after each block; else the settings may tell.
        engine = perf.get("engine") or (
            "mkldnn" if block.get("conf", {}).get("enable_mkldnn") == "True" else ""
        )
        precision = str(block.get("model", {}).get("precision", ""))
        name = f"{engine or f'#{number}'} {precision}".strip()
        rss = perf.get("cpu_rss(MB)")
        try:
            count = max(1, int(block.get("data", {}).get("data_num", 1)))
        except ValueError:
            count = 1
        yield Benchmark(
            name if len(blocks) > 1 else "",
            precision,
            latency_stages(dict(block)),
            rss if isinstance(rss, float) else None,
            count,
        )


def _latency(benchmark: Benchmark) -> Iterable[Metric]:
    for stage, values in benchmark.stages.items():
        value = values.get("p50", values.get("mean"))
        if value is None or not math.isfinite(value) or value < SHORTEST:
            continue
        # The 95th percentile lies 1.645 standard deviations above the middle of a normal distribution.
        spread = max(0.0, values.get("p95", value) - value) / 1.645
        name = f"{stage}_ms" + (f" {benchmark.name}" if benchmark.name else "")
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
