"""The words of the domain, once: chains, steps, devices, precisions, states; with their order and signs.

Every stage takes them from here. To add a device, a precision or a chain, add its row; columns of tables,
options of commands and signs in reports follow.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

LANGUAGES = ("en", "zh")  # of messages

# ---------------------------------------------------------------------------------------------- chains
TRAIN_CHAIN = "train"
PTQ_CHAIN = "ptq"
ONNX_CHAIN = "paddle2onnx"
DY2STATIC_CHAIN = "dy2static"
INFER_CHAIN = "infer"
BENCHMARK_CHAIN = "benchmark_train"
SERVING_PYTHON_CHAIN = "serving_python"
SERVING_CPP_CHAIN = "serving_cpp"
INFER_CPP_CHAIN = "infer_cpp"
LITE_CHAIN = "lite"
JS_CHAIN = "js"
PIPELINE_CHAIN = "pipeline"


class Chain(NamedTuple):
    """What a config file is for."""

    name: str
    title: str
    mode: str = ""  # the one that its documentation gives to its script; empty: the usual one
    headers: tuple[str, ...] = ()  # the words in the ``===word===`` line that its files begin with
    # The file of ``tipc.config.dialects`` with a table for each family, by its name in capitals: ``SEG``.
    # Empty: it has none of its own.
    tables: str = ""
    families: tuple[str, ...] = ()  # that have a table there; empty: all


CHAINS = {
    chain.name: chain
    for chain in (
        Chain(TRAIN_CHAIN, "training and inference", headers=("train_params",)),
        Chain(
            PTQ_CHAIN,
            "post-training quantisation",
            mode="whole_infer",
            headers=("ptq_params", "kl_quant_params"),
            tables="ptq",
        ),
        Chain(
            ONNX_CHAIN,
            "conversion to ONNX",
            mode="paddle2onnx_infer",
            headers=("paddle2onnx_params",),
            tables="onnx",
        ),
        Chain(
            DY2STATIC_CHAIN,
            "dynamic against static graph",
            mode="lite_train_lite_infer",
            headers=("base_train", "amp_train"),
        ),
        Chain(
            INFER_CHAIN,
            "inference of a published model",
            mode="whole_infer",
            headers=("infer_params",),
            tables="infer",
            families=("ocr",),
        ),
        Chain(BENCHMARK_CHAIN, "training benchmark", headers=("train_benchmark_params",)),
        # Planned only by tracing the repository's own script.
        Chain(
            SERVING_PYTHON_CHAIN,
            "serving by a Python service",
            mode="serving_infer",
            headers=("serving_infer_python_params",),
        ),
        Chain(
            SERVING_CPP_CHAIN,
            "serving by a C++ service",
            mode="serving_infer",
            headers=("serving_infer_cpp_params",),
        ),
        Chain(
            INFER_CPP_CHAIN,
            "inference by a C++ program",
            mode="cpp_infer",
            headers=("cpp_infer_params",),
        ),
        Chain(LITE_CHAIN, "inference by Paddle Lite on a phone", headers=("lite_params",)),
        Chain(JS_CHAIN, "inference in a browser"),
        Chain(PIPELINE_CHAIN, "a pipeline of several models", headers=("pipeline_infer_python_params",)),
    )
}

# ----------------------------------------------------------------------------------------------- steps
PREPARE = "prepare"
TRAIN = "train"
EVAL = "eval"
EXPORT = "export"
QUANTISE = "quantise"
CONVERT = "convert"
INFER = "infer"
# In the order in which a chain goes through them.
STEP_KINDS = (PREPARE, TRAIN, EVAL, QUANTISE, EXPORT, CONVERT, INFER)

# --------------------------------------------------------------------------------------------- devices
CPU = "cpu"
GPU = "gpu"


class Device(NamedTuple):
    """A kind of device that a config can ask for."""

    name: str
    title: str
    files: str = ""  # its device files are /dev/<files><number>; empty: it cannot be counted that way


def tipc_devices() -> list[Device]:
    """The kinds that come with tipc, by the names that paddle has for them."""
    return [
        Device(CPU, "CPU"),
        Device(GPU, "GPU", files="nvidia"),
        Device("npu", "NPU", files="davinci"),
        Device("xpu", "XPU", files="xpu"),
        Device("dcu", "DCU"),
        Device("mlu", "MLU", files="cambricon_dev"),
        Device("gcu", "GCU", files="gcu"),
        Device("mps", "MPS"),
        Device("sdaa", "SDAA"),
        Device("iluvatar_gpu", "Iluvatar GPU"),
        Device("intel_hpu", "Intel HPU"),
    ]


DEVICES = {device.name: device for device in tipc_devices()}
ACCELERATORS = tuple(name for name in DEVICES if name != CPU)


def find_device(name: str) -> Device | None:
    """A device by its name; plug-ins are asked for names that are not built in, and theirs are kept."""
    if name not in DEVICES:
        _keep_devices_of_plugins()
    return DEVICES.get(name)


@cache
def _keep_devices_of_plugins() -> None:
    from tipc import hooks

    DEVICES.update(hooks.collect("tipc_devices", Device, lambda device: device.name, taken=tuple(DEVICES)))


# --------------------------------------------------------------------------------------- exported models
class ModelFormat(NamedTuple):
    """A format of exported models that paddle's inference opens: two files, known by their endings."""

    name: str
    structure: str  # of the file with the network
    parameters: str  # of the file with its weights

    @property
    def legacy(self) -> bool:
        """In paddle's older form: the newer one is told by its ending, here and in paddle itself."""
        return self.structure != ".json"

    @property
    def files(self) -> tuple[tuple[str, ...], ...]:
        """What an export in this format alone leaves, for ``Rules.model_files`` of a dialect."""
        return (f"*{self.structure}",), (f"*{self.parameters}",)


def tipc_model_formats() -> list[ModelFormat]:
    """paddle's own formats, the older one first."""
    return [
        ModelFormat("pdmodel", ".pdmodel", ".pdiparams"),
        ModelFormat("json", ".json", ".pdiparams"),
    ]


MODEL_FORMATS = {one.name: one for one in tipc_model_formats()}


@cache
def model_formats() -> tuple[ModelFormat, ...]:
    """The built-in formats and those of plug-ins, for stages that read what an export left."""
    from tipc import hooks

    added = hooks.collect("tipc_model_formats", ModelFormat, lambda one: one.name, taken=tuple(MODEL_FORMATS))
    return (*MODEL_FORMATS.values(), *added.values())


# ------------------------------------------------------------------------------------------ precisions
FP32 = "fp32"
FP16 = "fp16"
BF16 = "bf16"
INT8 = "int8"
LOW_PRECISIONS = (FP16, BF16)


class Precision(NamedTuple):
    """A precision of numbers, and what an engine that computes in it may differ from the trained network."""

    name: str
    noise: float  # in a column of answers, as a share of its spread
    decisions: float  # the share of arg-max decisions that must be the same


def tipc_precisions() -> list[Precision]:
    """The precisions that come with tipc, the finest first."""
    return [
        # A share of 1e-3 is 60 dB: no decision of weight hangs on it.
        Precision(FP32, noise=1e-3, decisions=0.999),
        Precision(FP16, noise=0.03, decisions=0.98),  # 11 bits in place of 24
        Precision(BF16, noise=0.1, decisions=0.95),  # 8 bits
        # The simulation of int8 in training against int8 itself: sums are exact, each layer rounds again to
        # 8 bits, and one float's last bit decides between two steps.
        Precision(INT8, noise=0.25, decisions=0.9),
    ]


PRECISIONS = {precision.name: precision for precision in tipc_precisions()}


def find_precision(name: str) -> Precision | None:
    """A precision by its name; plug-ins are asked for names that are not built in, and theirs are kept."""
    if name not in PRECISIONS:
        _keep_precisions_of_plugins()
    return PRECISIONS.get(name)


@cache
def _keep_precisions_of_plugins() -> None:
    from tipc import hooks

    added = hooks.collect("tipc_precisions", Precision, lambda one: one.name, taken=tuple(PRECISIONS))
    PRECISIONS.update(added)


def precision_word(value: str) -> str:
    """A precision by its name; a switch for half precision (``use_fp16:False``) has none of its own."""
    return {"true": FP16, "false": FP32}.get(value.lower(), value)


AMP = "amp"
PACT = "pact"
# How a training computes → the level of the specification.
TRAININGS = {FP32: "base", AMP: "AMP", PACT: "PACT"}
AMP_LEVELS = ("O1", "O2", "O3")

# ---------------------------------------------------------------------------------------------- states
PASSED = "passed"
FLAKY = "flaky"  # passed, but not at the first attempt
FAILED = "failed"
TIMEOUT = "timeout"
BLOCKED = "blocked"  # something that it needs did not pass
INTERRUPTED = "interrupted"
PENDING = "pending"  # in the plan, not yet run (a crash, --only, -k, --fail-fast)
STATES = (PASSED, FLAKY, FAILED, TIMEOUT, BLOCKED, INTERRUPTED, PENDING)  # of a step
GOOD = (PASSED, FLAKY)

# What a report adds: states that follow from findings and from the plan.
REFUTED = "check failed"  # it ran, and a check found it wrong
UNPROVEN = "unchecked"  # it ran, and something required is unchecked
UNCERTIFIED = "not certified"  # it ran, on a machine that cannot show it
SKIPPED = "skipped"  # left out by the plan
# The worst first: what a cell of several steps is said to be.
WORST_FIRST = (
    *(FAILED, TIMEOUT, REFUTED, INTERRUPTED, UNPROVEN, BLOCKED, PENDING),
    *(UNCERTIFIED, FLAKY, PASSED, SKIPPED),
)
BAD = (FAILED, TIMEOUT, REFUTED, INTERRUPTED, UNPROVEN, BLOCKED)
OUTDATED = "outdated"  # pending, because what it depends on has changed since it passed
NOT_SELECTED = "not selected"  # pending, because -k or --only left it out


class Sign(NamedTuple):
    """How a state is shown: a sign, and a word where the terminal cannot show signs."""

    mark: str
    word: str


SIGNS = {
    PASSED: Sign("✔", "ok"),
    FLAKY: Sign("≈", "flaky"),
    FAILED: Sign("✘", "FAILED"),
    TIMEOUT: Sign("✘", "TIMEOUT"),
    REFUTED: Sign("✘", "REFUTED"),
    INTERRUPTED: Sign("!", "STOPPED"),
    UNPROVEN: Sign("?", "?"),
    UNCERTIFIED: Sign("◇", "nc"),
    BLOCKED: Sign("▫", "blocked"),
    PENDING: Sign("○", "-"),
    SKIPPED: Sign("–", "skip"),
}


def mark_of(good: bool) -> str:
    """The sign of something that is as it should be, or is not."""
    if good:
        return SIGNS[PASSED].mark
    return SIGNS[FAILED].mark


# -------------------------------------------------------------------------------------------- findings
PASS = "pass"
FAIL = "fail"
UNCHECKED = "unchecked"  # the repository should have shown it and did not make it checkable
NOT_CERTIFIED = "not_certified"  # this machine cannot show it (no GPU, AMP on a CPU)
STATUSES = (PASS, FAIL, UNCHECKED, NOT_CERTIFIED)  # of a finding
# A finding's status in the words of a report, and so its sign.
STATE_OF_STATUS = {PASS: PASSED, FAIL: REFUTED, UNCHECKED: UNPROVEN, NOT_CERTIFIED: UNCERTIFIED}
