"""TA2xx: mixed precision really ran, shown by what the operators ran in; what a log says of itself is no
proof."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tipc.certify.checks.training_happened import seen_process
from tipc.certify.evidence.operator_counts import Counts, operator_counts
from tipc.certify.registry import Outcome, check, failed, not_certified, passed, unchecked
from tipc.certify.scene import StepScene
from tipc.kinds import ACCELERATORS, AMP, CPU
from tipc.message import Message, wording
from tipc.run.record.step_facts import TrainingFacts

CAPABILITY = (7, 0)
LOW_SHARE = 0.25  # evaluation between the epochs runs in fp32, and rightly so
LEAST_INSIDE = 0.5  # of the network's calls in training mode
LEAST_CAST = 0.5  # of the convolutions and matrix products: casts that emulate low precision
# In what a script wrote for ``enable``: it asks for a device.
DEVICE_WORDS = re.compile("|".join((*ACCELERATORS, "cuda", "device", "place")), re.IGNORECASE)
GPU_REMEDY = "Run on a GPU of compute capability ≥ 7.0 to certify it."


@check(
    "TA201",
    "conv2d and matmul ran in fp16 or bf16",
    scope="train",
    reads="the operators by type of number that the witness counted in the training step",
    remedy="wrap forward and loss in paddle.amp.auto_cast(level=…), scale the loss with "
    "paddle.amp.GradScaler and, for O2, decorate model and optimiser",
)
def low_precision_ran(scene: StepScene) -> Iterator[Outcome]:
    """The spec wants proof that mixed precision is on: the kernels of conv2d and matmul in FP16. On a CPU
    paddle's AMP switches itself off with one warning and trains in fp32; that is not certified, whatever the
    log says."""
    if scene.cell.precision != AMP:
        return
    counts = operator_counts(scene.facts(scene.step))
    evidence = {"device": scene.step.device, "source": counts.source, "operators": counts.by_type}
    capability = compute_capability(scene)
    if ran_low(counts):
        yield passed(counts.text(), evidence=evidence)
    elif scene.step.device == CPU:
        yield not_certified(
            on_this_cpu(counts), remedy=GPU_REMEDY, emulated=bool(counts.low_casts), evidence=evidence
        )
    elif capability is not None and capability < CAPABILITY:
        told = wording(
            "{counts}; this GPU has compute capability {major}.{minor}, below 7.0",
            counts=counts.text(),
            major=capability[0],
            minor=capability[1],
        )
        yield not_certified(told, remedy=GPU_REMEDY, evidence=evidence)
    elif not counts.heavy:
        yield unchecked(
            wording("no operator counts of this training: {why}", why=counts.why),
            remedy="run the step with `tipc run`: the witness counts them",
            evidence=evidence,
        )
    else:
        told = wording("mixed precision was asked for, but {counts}", counts=counts.text())
        yield failed(told, evidence=evidence)


def ran_low(counts: Counts) -> bool:
    """Enough convolutions and matrix products, of each that were called, were in low precision."""
    return bool(counts.low_total) and all(low >= LOW_SHARE * total for low, total in counts.heavy.values())


def on_this_cpu(counts: Counts) -> Message:
    """What there was of low precision where it cannot be real."""
    how = wording("paddle stays in fp32 there")
    if counts.low_casts:
        how = wording("precision was emulated")
    if counts.heavy:
        return wording("{counts} on this CPU; {how}.", counts=counts.text(), how=how)
    return wording("no operator counts ({why}); {how}.", why=counts.why, how=how)


@check(
    "TA202",
    "The script does something with the precision it was given",
    scope="train",
    reads="the calls of auto_cast, decorate and the loss scaler, and the operators, as the witness saw them",
    remedy="let the training loop read the option: call the network in paddle.amp.auto_cast, enabled, and "
    "scale its loss",
)
def flag_is_read(scene: StepScene) -> Iterator[Outcome]:
    """An option `--amp_level=O2` that argparse takes and nothing reads trains in fp32 and reports success. On
    a CPU, where low precision cannot be shown, there is still a trace of a script that tried: the network is
    called in an auto_cast that is enabled, or something is cast to low precision. A loss scaler alone trains
    in fp32. Its own words never pass. A script that switches auto_cast by the device shows nothing on a CPU:
    that is not certified."""
    if scene.cell.precision != AMP:
        return
    process, problem = seen_process(scene)
    if process is None:
        yield problem or unchecked("nothing was seen")
        return
    counts = operator_counts(scene.facts(scene.step))
    asked = amp_calls(process.training)
    traces = trace(asked, counts)
    evidence = {"traces": [one.in_english() for one in traces], "amp": asked}
    if traces and not counts.low_total and mostly_outside(process.training, asked):
        told = wording(
            "mixed precision was asked for, but {inside} of {calls} calls of the network were in an enabled "
            "auto_cast",
            inside=int(asked["forwards"]),
            calls=process.training.forwards if process.training else 0,
        )
        yield failed(told, evidence=evidence)
    elif traces and not counts.low_total and keeps_all_in_fp32(asked, counts):
        told = wording(
            "mixed precision was asked for, but every auto_cast keeps {operators} in fp32: nothing is left "
            "of it",
            operators=", ".join(counts.heavy_names),
        )
        yield failed(told, evidence=evidence)
    elif traces:
        yield passed(wording("it tried: {trace}", trace=traces[0]), evidence=evidence)
    elif scene.step.device == CPU and DEVICE_WORDS.search(asked.get("off", "")):
        told = wording(
            "auto_cast was called and, on this CPU, switched off by the script: enable={value}",
            value=asked["off"],
        )
        yield not_certified(told, remedy=GPU_REMEDY, evidence=evidence)
    else:
        yield failed(
            "mixed precision was asked for, but the network was never called in an enabled auto_cast, and no "
            "operator ran in low precision",
            evidence=evidence,
        )


def amp_calls(training: TrainingFacts | None) -> dict[str, str]:
    """What the script asked auto_cast for, as the witness saw it."""
    if training is None:
        return {}
    asked = dict(training.amp)
    if not training.forwards:
        asked.pop("forwards", "")  # calls of networks were not seen at all
    return asked


def mostly_outside(training: TrainingFacts | None, asked: dict[str, str]) -> bool:
    """Some calls of the network were in an enabled auto_cast, and most were not."""
    if training is None:
        return False
    inside = int(asked.get("forwards", "-1"))
    return 0 < inside < LEAST_INSIDE * training.forwards


def keeps_all_in_fp32(asked: dict[str, str], counts: Counts) -> bool:
    """All convolutions and matrix products that were called are on the lists of what stays in fp32."""
    kept = set()
    for name in asked.get("black", "").split():
        kept.add(name.removesuffix("_v2"))
    called = counts.heavy_names
    return bool(called) and all(name.removesuffix("_v2") in kept for name in called)


def trace(asked: dict[str, str], counts: Counts) -> list[Message]:
    """What shows that a script tried."""
    found = []
    casts = counts.low_casts
    # Who emulates low precision casts what goes into each operator, and not the images alone.
    if casts < LEAST_CAST * sum(total for _, total in counts.heavy.values()):
        casts = 0
    low = counts.low_total + casts
    if low:
        found.append(wording("{count} calls of conv2d, matmul or cast in fp16/bf16", count=low))
    if asked.get("level", "O0") not in ("", "O0") and asked.get("forwards") != "0":
        setting = f"{asked['level']}, {asked.get('dtype', '')}".rstrip(", ")
        found.append(wording("auto_cast at level {setting}", setting=setting))
    return found


def compute_capability(scene: StepScene) -> tuple[int, int] | None:
    """Of the first GPU in the run's environment; None if it is not told."""
    gpus = scene.run.environment.get("gpus") or []
    try:
        major, _, minor = str(gpus[0]["compute_cap"]).partition(".")
        return int(major), int(minor or 0)
    except (KeyError, IndexError, TypeError, ValueError):
        return None
