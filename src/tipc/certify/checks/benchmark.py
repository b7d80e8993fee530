"""TB6xx: the benchmark log (AutoLog's block) is complete, consistent, and about what was asked for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

from tipc.certify.evidence.benchmark_block import autolog_block, latency_stages
from tipc.certify.evidence.exported import predictors_seen
from tipc.certify.evidence.input_images import input_images
from tipc.certify.evidence.option_values import argument, flag_true
from tipc.certify.registry import Outcome, check, failed, passed, unchecked
from tipc.certify.scene import StepScene
from tipc.kinds import CPU, PRECISIONS
from tipc.run.record.facts import PredictorFacts

FIELDS = {
    "env": ("OS_version", "CUDA_version", "CUDNN_version", "drivier_version|driver_version"),
    "paddle": ("paddle_version", "paddle_commit", "log_api_version"),
    "conf": ("runtime_device", "ir_optim", "enable_memory_optim", "enable_tensorrt", "enable_mkldnn",
             "cpu_math_library_num_threads"),
    "model": ("model_name", "precision"),
    "data": ("batch_size", "input_shape", "data_num"),
    "perf": ("cpu_rss(MB)", "gpu_rss(MB)", "gpu_util", "total time spent(s)", "preprocess_time(ms)",
             "inference_time(ms)", "postprocess_time(ms)"),
}  # fmt: skip
CLOCK = 1.0  # seconds that another clock may make
SLACK = 0.15  # of the whole time: what lies between the stages


def measured(scene: StepScene) -> bool:
    """A benchmark was asked for."""
    return scene.step.measures or flag_true(argument(scene.step.argv, ("benchmark",)))


@check(
    "TB601",
    "The benchmark block is complete",
    scope="infer",
    reads="the inference log",
    remedy="use auto_log.AutoLogger (it comes with tipc): times.start(), stamp() after each stage, "
    "end(stamp=True), "
    "then report()",
)
def complete(scene: StepScene) -> Iterator[Outcome]:
    """`--benchmark=True` promises the Env, Paddle, Conf, Model, Data and Perf blocks, which the tables of the
    documents are made from."""
    if not measured(scene):
        return
    block = autolog_block(scene.step_log)
    if block is None:
        yield failed(f"--benchmark was asked for, but {scene.step.log} has no benchmark block")
        return
    evidence = {
        "log": str(scene.step_log),
        "line": block["line"],
        "block": block,
        "stages": latency_stages(block),
    }
    absent = [f"{section} info" for section in FIELDS if section not in block]
    for section, names in FIELDS.items():
        has = block.get(section, {})
        absent += [
            name for name in names if section in block and not any(one in has for one in name.split("|"))
        ]
    if absent:
        yield failed(
            f"the block has no {', '.join(absent[:4])} ({scene.step.log}:{block['line']})", evidence=evidence
        )
    else:
        stages = ", ".join(f"{name} {row['mean']:.2f} ms" for name, row in latency_stages(block).items())
        yield passed(stages, evidence=evidence)


@check(
    "TB602",
    "The benchmark's figures are consistent",
    scope="infer",
    reads="the inference log",
    remedy="stamp every stage of every batch, and none twice; data_num is how many were timed",
)
def consistent(scene: StepScene) -> Iterator[Outcome]:
    """The whole time is the sum of the stages times the number of runs. Where it is not, a stage was left out
    or stamped at the wrong place, and the latency that people read is not the model's."""
    block = autolog_block(scene.step_log) if measured(scene) else None
    if block is None or "perf" not in block:
        return
    evidence = {"log": str(scene.step_log), "line": block["line"]}
    place = f"({scene.step.log}:{block['line']})"
    perf: dict[str, Any] = block["perf"]
    means = {name: row["mean"] for name, row in latency_stages(block).items() if "mean" in row}
    for name, value in [*means.items(), ("total time spent(s)", perf.get("total time spent(s)", math.nan))]:
        if not isinstance(value, float) or not math.isfinite(value) or value < 0:
            yield failed(f"{name} is {value} {place}", evidence=evidence)
            return
    if means.get("inference", 1.0) == 0:
        yield failed(f"inference takes 0 ms: nothing was run between its stamps {place}", evidence=evidence)
        return
    try:
        runs, batch = float(block["data"]["data_num"]), float(block["data"]["batch_size"])
    except (KeyError, ValueError):
        yield failed(f"data_num or batch_size is not a number {place}", evidence=evidence)
        return
    total = perf["total time spent(s)"]
    # data_num is the number of timed runs or, in some scripts, of images.
    possible = [count * sum(means.values()) / 1000 for count in {runs, math.ceil(runs / max(batch, 1.0))}]
    wall = scene.outcome.wall
    if total > wall * 1.1 + CLOCK:
        yield failed(
            f"the benchmark tells of {total:g} s, but the step took {wall:.1f} s in all: the figures are "
            "not of "
            f"this run {place}",
            evidence=evidence,
        )
    elif runs <= 0:
        yield failed(f"data_num is {runs:g}: nothing was timed {place}", evidence=evidence)
    elif any(abs(total - expected) <= SLACK * max(total, expected) + 2e-3 for expected in possible):
        yield passed(f"{runs:g} runs, {total:g} s", evidence=evidence)
    else:
        yield failed(
            f"the total is {total:g} s, but {runs:g} × the stages are {possible[0]:.4g} s {place}",
            evidence=evidence,
        )


ONEDNN_IS_ON = (
    "paddle 3 has oneDNN on unless it is switched off: config.disable_mkldnn() where it is not asked for"
)


@check(
    "TB603",
    "The benchmark is of the setting that was asked for",
    scope="infer",
    reads="the inference log and the step's settings",
    remedy="let the script read the option, and give AutoLogger the inference config that really is used",
)
def as_asked(scene: StepScene) -> Iterator[Outcome]:
    """A script that ignores `--batch_size=4` or `--enable_mkldnn=False` measures something else, under the
    name of what was asked for."""
    block = autolog_block(scene.step_log) if measured(scene) else None
    if block is None:
        return
    conf, settings = block.get("conf", {}), scene.step.settings
    told = {
        "batch_size": block.get("data", {}).get("batch_size"),
        "precision": block.get("model", {}).get("precision"),
        "mkldnn": conf.get("enable_mkldnn"),
        "threads": conf.get("cpu_math_library_num_threads"),
        "device": conf.get("runtime_device"),
    }
    asked = {**{key: settings[key] for key in told if key in settings}, "device": scene.step.device}
    if scene.step.device != CPU:
        asked.pop("mkldnn", None)
        asked.pop("threads", None)
    evidence = {"log": str(scene.step_log), "line": block["line"], "asked": asked, "told": told}
    compared = 0
    for key, wanted in asked.items():
        has = told[key]
        if has is None or wanted in ("", "null", "None"):
            continue
        compared += 1
        if not same(str(wanted), str(has)):
            yield failed(
                f"{key}: asked for {wanted}, the benchmark says {has} ({scene.step.log}:{block['line']})",
                remedy=ONEDNN_IS_ON if key == "mkldnn" and same("false", str(wanted)) else "",
                evidence=evidence,
            )
            return
    if compared:
        yield passed(", ".join(f"{key} {value}" for key, value in asked.items()), evidence=evidence)
    else:
        yield unchecked("the block tells none of the settings", evidence=evidence)


def same(wanted: str, has: str) -> bool:
    low = wanted.strip().lower(), has.strip().lower()
    truth = {"true": True, "1": True, "false": False, "0": False}
    if low[0] in ("true", "false"):
        return truth.get(low[1]) == truth[low[0]]
    return low[0] == low[1] or (low[0] == "gpu" and low[1].startswith("gpu"))


@check(
    "TB604",
    "The benchmark is of what the predictor did",
    scope="infer",
    reads="the benchmark block, and the predictor's engine, precision, threads, batches and times, "
    "as the witness saw "
    "them",
    remedy="let AutoLogger stamp around the predictor's run, and give it the config that the "
    "predictor was made with",
)
def as_seen(scene: StepScene) -> Iterator[Outcome]:
    """A block that is written by hand, an answer from a cache, a clock around nothing. Bounds: the inference
    stage takes at least nine tenths of a run that was seen and, beyond preparing and fetching, not four times
    as much as they do (on a GPU, ten times as much as the slowest); batches, threads, engine and precision
    are those of the predictor."""
    block = autolog_block(scene.step_log) if measured(scene) else None
    ran = predictors_seen(scene.facts(scene.step))
    if block is None or not ran:
        return
    place = f"({scene.step.log}:{block['line']})"
    told = wrong_setting(block, ran) or wrong_batch(scene, block, ran) or wrong_time(block, ran)
    evidence = {
        "engine": ran[0].engine,
        "precision": ran[0].precision,
        "threads": ran[0].threads,
        "batch_sizes": list(ran[0].batch_sizes),
        "runs": sum(one.runs for one in ran),
        "run_ms": 1000 * typical(ran),
    }
    if told:
        yield failed(f"{told} {place}", evidence=evidence)
    else:
        yield passed(
            f"{evidence['runs']} runs of {evidence['run_ms']:.2f} ms in {ran[0].engine}", evidence=evidence
        )


def typical(ran: Sequence[PredictorFacts]) -> float:
    """Seconds of a usual run."""
    return median([seconds for one in ran for seconds in one.run_seconds] or [0.0])


def wrong_setting(block: dict[str, Any], ran: Sequence[PredictorFacts]) -> str:
    """A setting of the block that no predictor had; empty if there is none."""
    conf = block.get("conf", {})
    onednn = any(one.engine == "onednn" for one in ran)
    if same("true", str(conf.get("enable_mkldnn", ""))) and not onednn:
        return f"the block says that oneDNN is on; the predictor ran in {ran[0].engine}"
    if same("false", str(conf.get("enable_mkldnn", ""))) and all(one.engine == "onednn" for one in ran):
        return "the block says that oneDNN is off; the predictor ran in it"
    threads = str(conf.get("cpu_math_library_num_threads", ""))
    if threads.isdigit() and all(one.threads not in (0, int(threads)) for one in ran):
        return f"the block says {threads} threads; the predictor had {ran[0].threads}"
    precision = str(block.get("model", {}).get("precision", "")).lower()
    if precision in PRECISIONS and all(one.precision != precision for one in ran):
        return f"the block says {precision}; the predictor computed in {ran[0].precision}"
    return ""


def wrong_batch(scene: StepScene, block: dict[str, Any], ran: Sequence[PredictorFacts]) -> str:
    """A batch size of the block, or a number of data, that the predictor was not fed; empty if it was."""
    data = block.get("data", {})
    sizes = {size for one in ran for size in one.batch_sizes}
    size = str(data.get("batch_size", ""))
    if size.isdigit() and int(size) not in sizes and max(sizes, default=0) < int(size):
        images = len(input_images(scene))
        if not images or min(images, int(size)) > max(sizes, default=0):
            return f"the block says batches of {size}; the predictor was fed {sorted(sizes)}"
    count = str(data.get("data_num", ""))
    seen = max(sum(one.runs for one in ran), sum(one.samples for one in ran))
    if count.isdigit() and int(count) > seen:
        return f"the block says {count} data; the predictor was run {seen} times"
    return ""


def wrong_time(block: dict[str, Any], ran: Sequence[PredictorFacts]) -> str:
    """An inference time that cannot be of the runs that were seen; empty if it can."""
    mean = latency_stages(block).get("inference", {}).get("mean")
    seconds = [seconds for one in ran for seconds in one.run_seconds]
    if mean is None or not seconds:
        return ""
    # Scripts leave warm-up runs out of the mean: the quickest quarter is a bound that holds for any choice.
    quick = 1000 * sorted(seconds)[len(seconds) // 4]
    slow = 1000 * max(seconds)
    if mean < 0.9 * quick - 0.01:
        return f"the block says {mean:g} ms; a run took {quick:.3g} ms and more"
    # On a GPU a run returns before it has ended; on a CPU the rest of the stage is copying.
    usual = 1000 * sum(seconds) / len(seconds)
    most = 10 * slow + 50 if any(one.device != CPU for one in ran) else 4 * usual + 10
    if mean > most:
        return f"the block says {mean:g} ms; runs took {usual:.3g} ms, {slow:.3g} ms at most"
    return ""
