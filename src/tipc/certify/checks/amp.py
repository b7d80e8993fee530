"""TA2xx: mixed precision really ran, shown by what the operators ran in; what a log says of itself is no
proof."""

from __future__ import annotations

from collections.abc import Iterator

from tipc.certify.operators import operator_counts
from tipc.certify.precision_flag import FlagUse, flag_use
from tipc.certify.registry import Outcome, check, failed, not_certified, passed, unchecked
from tipc.certify.scene import StepScene

CAPABILITY = (7, 0)
LOW_SHARE = 0.25  # evaluation between the epochs runs in fp32, and rightly so
GPU_REMEDY = "Run on a GPU of compute capability ≥ 7.0 to certify it."


@check(
    "TA201",
    "conv2d and matmul ran in fp16 or bf16",
    scope="train",
    reads="paddle's operator counts of the training step, or its GLOG_v lines",
    remedy="wrap forward and loss in paddle.amp.auto_cast(level=…), scale the loss with "
    "paddle.amp.GradScaler and, for "
    "O2, decorate model and optimiser",
)
def low_precision_ran(scene: StepScene) -> Iterator[Outcome]:
    """The spec wants proof that mixed precision is on: the kernels of conv2d and matmul in FP16. On a CPU
    paddle's AMP switches itself off with one warning and trains in fp32; that is not certified, whatever the
    log says."""
    if scene.cell.precision != "amp":
        return
    counts = operator_counts(scene.ops_file(scene.step), scene.step_log)
    evidence = {"device": scene.step.device, "source": counts.source, "operators": counts.by_type}
    if counts.low_total and all(low >= LOW_SHARE * total for low, total in counts.heavy.values()):
        yield passed(counts.text(), evidence=evidence)
    elif scene.step.device == "cpu":
        emulated = flag_use(scene).emulated
        how = "precision was emulated" if emulated else "paddle stays in fp32 there"
        told = f"{counts.text()} on this CPU" if counts.heavy else f"no operator counts ({counts.why})"
        yield not_certified(f"{told}; {how}.", remedy=GPU_REMEDY, emulated=emulated, evidence=evidence)
    elif (capability := compute_capability(scene)) and capability < CAPABILITY:
        yield not_certified(
            f"{counts.text()}; this GPU has compute capability {capability[0]}.{capability[1]}, below 7.0",
            remedy=GPU_REMEDY,
            evidence=evidence,
        )
    elif not counts.heavy:
        yield unchecked(
            f"no operator counts of this training: {counts.why}",
            remedy="run the step with `tipc run` (it counts them), or with GLOG_v=4 in its environment",
            evidence=evidence,
        )
    else:
        yield failed(f"mixed precision was asked for, but {counts.text()}", evidence=evidence)


@check(
    "TA202",
    "The script does something with the precision it was given",
    scope="train",
    reads="the operator counts, the training log, the training script's source",
    remedy="let the training loop read the option: paddle.amp.auto_cast and GradScaler, and a line in "
    "the log that says so",
)
def flag_is_read(scene: StepScene) -> Iterator[Outcome]:
    """An option `--amp_level=O2` that argparse takes and nothing reads trains in fp32 and reports success. On
    a CPU, where low precision cannot be shown, there is still a trace of a script that tried: low-precision
    casts, paddle's own warning that AMP has no effect here, or a loss scaler. Source code alone, or no trace
    at all, never passes."""
    if scene.cell.precision != "amp":
        return
    use: FlagUse = flag_use(scene)
    evidence = {"traces": list(use.traces), "source": list(use.source)}
    if use.traces:
        yield passed(f"it tried: {use.traces[0]}", evidence=evidence)
    elif use.unread:
        yield failed(f"nothing reads the precision option: {use.unread}", evidence=evidence)
    elif use.source:
        yield unchecked(
            f"the source has {use.source[0]}, but nothing in the run shows that it was reached",
            evidence=evidence,
        )
    else:
        yield failed(
            "mixed precision was asked for, but no operator ran in low precision, paddle gave no warning "
            "of AMP on "
            "this device, and the script's source has neither auto_cast nor a loss scaler",
            evidence=evidence,
        )


def compute_capability(scene: StepScene) -> tuple[int, int] | None:
    """Of the first GPU in the run's environment; None if it is not told."""
    gpus = scene.run.environment.get("gpus") or []
    try:
        major, _, minor = str(gpus[0]["compute_cap"]).partition(".")
        return int(major), int(minor or 0)
    except (KeyError, IndexError, TypeError, ValueError):
        return None
