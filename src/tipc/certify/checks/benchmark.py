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
from tipc.kinds import CPU, GPU, find_precision
from tipc.message import Message, wording
from tipc.run.record.step_facts import PredictorFacts

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
NOTHING = ("", "null", "None")  # in the place of a setting
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
    "end(stamp=True), then report()",
)
def complete(scene: StepScene) -> Iterator[Outcome]:
    """`--benchmark=True` promises the Env, Paddle, Conf, Model, Data and Perf blocks, which the tables of the
    documents are made from."""
    if not measured(scene):
        return
    block = autolog_block(scene.step_log)
    if block is None:
        told = wording("--benchmark was asked for, but {log} has no benchmark block", log=scene.step.log)
        yield failed(told)
        return
    stages = latency_stages(block)
    evidence = {"log": str(scene.step_log), "line": block["line"], "block": block, "stages": stages}
    absent = absent_fields(block)
    if absent:
        told = wording(
            "the block has no {fields} ({place})", fields=", ".join(absent[:4]), place=place_of(scene, block)
        )
        yield failed(told, evidence=evidence)
    else:
        means = []
        for name, row in stages.items():
            means.append(wording("{stage} {mean:.2f} ms", stage=name, mean=row["mean"]))
        yield passed(wording("{means}", means=tuple(means)), evidence=evidence)


def absent_fields(block: dict[str, Any]) -> list[str]:
    """The sections and the fields that a block lacks."""
    absent = []
    for section in FIELDS:
        if section not in block:
            absent.append(f"{section} info")
    for section, names in FIELDS.items():
        if section not in block:
            continue
        for name in names:
            if block[section].keys().isdisjoint(name.split("|")):
                absent.append(name)
    return absent


def place_of(scene: StepScene, block: dict[str, Any]) -> str:
    """Where the block stands, for people."""
    return f"{scene.step.log}:{block['line']}"


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
    block = block_of(scene)
    if block is None or "perf" not in block:
        return
    evidence = {"log": str(scene.step_log), "line": block["line"]}
    place = place_of(scene, block)
    means = {}
    for name, row in latency_stages(block).items():
        if "mean" in row:
            means[name] = row["mean"]
    total = block["perf"].get("total time spent(s)", math.nan)
    wrong = impossible_time({**means, "total time spent(s)": total}, place)
    if wrong is not None:
        yield failed(wrong, evidence=evidence)
        return
    try:
        runs, batch = float(block["data"]["data_num"]), float(block["data"]["batch_size"])
    except (KeyError, ValueError):
        told = wording("data_num or batch_size is not a number ({place})", place=place)
        yield failed(told, evidence=evidence)
        return
    wrong = wrong_total(scene, means, total, runs, batch)
    if wrong is not None:
        yield failed(wording("{problem} ({place})", problem=wrong, place=place), evidence=evidence)
    else:
        yield passed(wording("{runs:g} runs, {total:g} s", runs=runs, total=total), evidence=evidence)


def block_of(scene: StepScene) -> dict[str, Any] | None:
    """The benchmark block of a step that was asked for one."""
    if not measured(scene):
        return None
    return autolog_block(scene.step_log)


def impossible_time(times: dict[str, Any], place: str) -> Message | None:
    """A time that cannot be one; None: all can."""
    for name, value in times.items():
        if not isinstance(value, float) or not math.isfinite(value) or value < 0:
            return wording("{name} is {value} ({place})", name=name, value=value, place=place)
    if times.get("inference", 1.0) == 0:
        return wording("inference takes 0 ms: nothing was run between its stamps ({place})", place=place)
    return None


def wrong_total(
    scene: StepScene, means: dict[str, float], total: float, runs: float, batch: float
) -> Message | None:
    """A whole time that is not that of the stages; None: it is."""
    wall = scene.outcome.wall
    if total > wall * 1.1 + CLOCK:
        return wording(
            "the benchmark says {total:g} s, but the step took {wall:.1f} s in all: the figures are not "
            "of this run",
            total=total,
            wall=wall,
        )
    if runs <= 0:
        return wording("data_num is {runs:g}: nothing was timed", runs=runs)
    # data_num is the number of timed runs or, in some scripts, of images.
    seconds = sum(means.values()) / 1000
    for count in (runs, math.ceil(runs / max(batch, 1.0))):
        expected = count * seconds
        if abs(total - expected) <= SLACK * max(total, expected) + 2e-3:
            return None
    return wording(
        "the total is {total:g} s, but {runs:g} × the stages are {expected:.4g} s",
        total=total,
        runs=runs,
        expected=runs * seconds,
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
    block = block_of(scene)
    if block is None:
        return
    told = claimed_settings(block)
    asked = settings_asked(scene, told)
    evidence = {"log": str(scene.step_log), "line": block["line"], "asked": asked, "told": told}
    compared = []
    for key, wanted in asked.items():
        has = told[key]
        # AutoLogger writes None where it was given no inference config: nothing is told then.
        if str(has) in NOTHING or wanted in NOTHING:
            continue
        compared.append(f"{key} {wanted}")
        if same(str(wanted), str(has)):
            continue
        message = wording(
            "{name}: asked for {wanted}, the benchmark says {told} ({place})",
            name=key,
            wanted=wanted,
            told=has,
            place=place_of(scene, block),
        )
        remedy = ""
        if key == "mkldnn" and same("false", str(wanted)):
            remedy = ONEDNN_IS_ON
        yield failed(message, remedy=remedy, evidence=evidence)
        return
    if compared:
        yield passed(wording("{settings}", settings=", ".join(compared)), evidence=evidence)
    else:
        yield unchecked("the block has none of the settings", evidence=evidence)


def claimed_settings(block: dict[str, Any]) -> dict[str, Any]:
    """The settings that a block tells, by the names of a step's."""
    conf = block.get("conf", {})
    return {
        "batch_size": block.get("data", {}).get("batch_size"),
        "precision": block.get("model", {}).get("precision"),
        "mkldnn": conf.get("enable_mkldnn"),
        "threads": conf.get("cpu_math_library_num_threads"),
        "device": conf.get("runtime_device"),
    }


def settings_asked(scene: StepScene, told: dict[str, Any]) -> dict[str, str]:
    """Those of the step's settings that a block can tell."""
    asked = {}
    for key in told:
        if key in scene.step.settings:
            asked[key] = scene.step.settings[key]
    asked["device"] = scene.step.device
    if scene.step.device != CPU:
        asked.pop("mkldnn", None)
        asked.pop("threads", None)
    return asked


def same(wanted: str, has: str) -> bool:
    low = wanted.strip().lower(), has.strip().lower()
    truth = {"true": True, "1": True, "false": False, "0": False}
    if low[0] in ("true", "false"):
        return truth.get(low[1]) == truth[low[0]]
    return low[0] == low[1] or (low[0] == GPU and low[1].startswith(GPU))


@check(
    "TB604",
    "The benchmark is of what the predictor did",
    scope="infer",
    reads="the benchmark block, and the predictor's engine, precision, threads, batches and times, "
    "as the witness saw them",
    remedy="let AutoLogger stamp around the predictor's run, and give it the config that the "
    "predictor was made with",
)
def as_seen(scene: StepScene) -> Iterator[Outcome]:
    """A block that is written by hand, an answer from a cache, a clock around nothing. Bounds: the inference
    stage takes at least nine tenths of as many of the quickest runs as were timed and, beyond preparing and
    fetching, not four times as much as runs do (on a GPU, ten times as much as the slowest); batches,
    threads, engine and precision are those of the predictor."""
    block = block_of(scene)
    ran = predictors_seen(scene.facts(scene.step))
    if block is None or not ran:
        return
    wrong = wrong_setting(block, ran) or wrong_batch(scene, block, ran)
    wrong = wrong or wrong_time(block, ran, scene.outcome.waited)
    evidence = {
        "engine": ran[0].engine,
        "precision": ran[0].precision,
        "threads": ran[0].threads,
        "batch_sizes": list(ran[0].batch_sizes),
        "runs": sum(one.runs for one in ran),
        "run_ms": 1000 * median(run_times(ran) or [0.0]),
    }
    if wrong is not None:
        told = wording("{problem} ({place})", problem=wrong, place=place_of(scene, block))
        yield failed(told, evidence=evidence)
    else:
        told = wording(
            "{runs} runs of {milliseconds:.2f} ms in {engine}",
            runs=evidence["runs"],
            milliseconds=evidence["run_ms"],
            engine=ran[0].engine,
        )
        yield passed(told, evidence=evidence)


def run_times(ran: Sequence[PredictorFacts]) -> list[float]:
    """The seconds of every run that was seen."""
    seconds: list[float] = []
    for one in ran:
        seconds += one.run_seconds
    return seconds


def wrong_setting(block: dict[str, Any], ran: Sequence[PredictorFacts]) -> Message | None:
    """A setting of the block that no predictor had; None if there is none."""
    conf = block.get("conf", {})
    told = str(conf.get("enable_mkldnn", ""))
    engines = {one.engine for one in ran}
    if same("true", told) and "onednn" not in engines:
        return wording(
            "the block says that oneDNN is on; the predictor ran in {engine}", engine=ran[0].engine
        )
    if same("false", told) and engines == {"onednn"}:
        return wording("the block says that oneDNN is off; the predictor ran in it")
    threads = str(conf.get("cpu_math_library_num_threads", ""))
    if threads.isdigit() and {one.threads for one in ran}.isdisjoint((0, int(threads))):
        return wording(
            "the block says {told} threads; the predictor had {seen}", told=threads, seen=ran[0].threads
        )
    precision = str(block.get("model", {}).get("precision", "")).lower()
    if find_precision(precision) and precision not in {one.precision for one in ran}:
        return wording(
            "the block says {told}; the predictor computed in {seen}", told=precision, seen=ran[0].precision
        )
    return None


def wrong_batch(scene: StepScene, block: dict[str, Any], ran: Sequence[PredictorFacts]) -> Message | None:
    """A batch size of the block, or a number of data, that the predictor was not fed; None if it was."""
    data = block.get("data", {})
    sizes: set[int] = set()
    for one in ran:
        sizes.update(one.batch_sizes)
    largest = max(sizes, default=0)
    size = str(data.get("batch_size", ""))
    if size.isdigit() and largest < int(size):
        images = len(input_images(scene))
        if not images or min(images, int(size)) > largest:
            return wording(
                "the block says batches of {size}; the predictor was fed {sizes}",
                size=size,
                sizes=sorted(sizes),
            )
    if size.isdigit() and sizes and min(sizes) > int(size) and of_images_alone(scene, ran):
        return wording(
            "the block says batches of {size}; the predictor was fed {sizes}", size=size, sizes=sorted(sizes)
        )
    count = str(data.get("data_num", ""))
    seen = max(sum(one.runs for one in ran), sum(one.samples for one in ran))
    if count.isdigit() and int(count) > seen:
        return wording(
            "the block says {count} data; the predictor was run {seen} times", count=count, seen=seen
        )
    return None


def of_images_alone(scene: StepScene, ran: Sequence[PredictorFacts]) -> bool:
    """Every sample is an image of the list: no crop of one, and no frame of a film."""
    different = max((one.different_samples for one in ran), default=0)
    return 0 < different <= len(input_images(scene))


def of_the_block(block: dict[str, Any], ran: Sequence[PredictorFacts]) -> Sequence[PredictorFacts]:
    """The predictors that a block can be about: a script may measure several engines, one block each."""
    onednn = str(block.get("conf", {}).get("enable_mkldnn", ""))
    precision = str(block.get("model", {}).get("precision", "")).lower()
    fitting = []
    for one in ran:
        # OpenVINO has no line in a block: those of oneDNN and of the precision are what the config says.
        if one.engine == "openvino":
            fitting.append(one)
            continue
        engine_fits = not onednn or same(str(one.engine == "onednn"), onednn)
        precision_fits = not find_precision(precision) or one.precision == precision
        if engine_fits and precision_fits:
            fitting.append(one)
    return fitting or ran


def timed_runs(block: dict[str, Any], ran: Sequence[PredictorFacts]) -> int:
    """How many of the runs whose seconds are known the block's mean is of, at least.

    Scripts leave warm-up runs out of the mean. Whichever they leave out, it is not below that of as many of
    the quickest. ``data_num`` is the number of timed runs or, in some scripts, of images.
    """
    known = sum(len(one.run_seconds) for one in ran)
    data = block.get("data", {})
    count, size = str(data.get("data_num", "")), str(data.get("batch_size", ""))
    timed = known // 4
    if count.isdigit():
        timed = int(count)
        if size.isdigit() and int(size) > 0:
            timed = math.ceil(timed / int(size))
        # Of a long series only the first runs are known: the timed ones among them may be as few as this.
        timed -= sum(one.runs for one in ran) - known
    return min(max(timed, 1), known)


def wrong_time(block: dict[str, Any], ran: Sequence[PredictorFacts], waited: float = 0.0) -> Message | None:
    """An inference time that cannot be of the runs that were seen; None if it can.

    A script that waits for a processor that others have does so between the runs, too."""
    mean = latency_stages(block).get("inference", {}).get("mean")
    ran = of_the_block(block, ran)
    seconds = run_times(ran)
    if mean is None or not seconds:
        return None
    timed = timed_runs(block, ran)
    quick = 1000 * sum(sorted(seconds)[:timed]) / timed
    slow = 1000 * max(seconds)
    if mean < 0.9 * quick - 0.01:
        return wording(
            "the block says {mean:g} ms; the quickest {timed} runs took {quick:.3g} ms each",
            mean=mean,
            timed=timed,
            quick=quick,
        )
    usual = 1000 * sum(seconds) / len(seconds)
    most = 4 * usual + 10  # on a CPU, the rest of the stage is copying
    if {one.device for one in ran} != {CPU}:
        most = 10 * slow + 50  # on a GPU, a run returns before it has ended
    if mean > most + 1000 * waited / len(seconds):
        return wording(
            "the block says {mean:g} ms; runs took {usual:.3g} ms, {slow:.3g} ms at most",
            mean=mean,
            usual=usual,
            slow=slow,
        )
    return None
