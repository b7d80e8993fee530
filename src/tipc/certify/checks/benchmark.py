"""TB6xx: the benchmark log (AutoLog's block) is complete, consistent, and about what was asked for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from tipc.certify.arguments import argument, flag_true
from tipc.certify.logs import autolog_block, latency_stages
from tipc.certify.registry import Outcome, check, failed, passed, unchecked
from tipc.certify.scene import StepScene

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
    if scene.step.device != "cpu":
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
