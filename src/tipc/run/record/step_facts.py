"""What the witness saw a step do, as data; ``facts`` has the files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from pydantic import TypeAdapter

NO_SCRIPT = "the command is not a Python script"
NEVER_CONNECTED = "the script ended before the witness could begin"
Kind = TypeVar("Kind")


@dataclass(frozen=True)
class Weights:
    """A set of named tensors at one moment."""

    digest: str  # of all names, shapes, types and bytes, independent of the order
    count: int  # tensors
    norm: float  # of all values together
    tensors: Mapping[str, str] = field(default_factory=dict)  # name → digest of shape, type and bytes
    finite: bool = True  # no NaN and no infinity in it

    def holds(self, other: Weights) -> bool:
        """Every tensor of another set is in this one, under whatever name.

        An optimiser knows its parameters by other names than the state of a network does, and the state has
        running statistics besides.
        """
        return bool(other.tensors) and set(other.tensors.values()) <= set(self.tensors.values())


@dataclass(frozen=True)
class WeightsFile:
    """Weights that were read from or written to a file."""

    path: str  # absolute
    weights: Weights
    at_step: int  # optimiser steps taken so far
    trained: int = -1  # written: how many of the tensors that are optimised are in it as they were then
    apart: float = -1.0  # written: how far off the way that training has gone, in shares of it; -1: unknown
    gone: float = (
        1.0  # written: how far from the start those that are not as trained are, in shares of the way
    )
    changed: str = ""  # written: a tensor that is not as trained, where others are
    judged: int = 0  # written: tensors that are not as trained and were looked at one by one
    strayed: tuple[str, ...] = ()  # written: those of them that lie off their own way


@dataclass(frozen=True)
class TrainingFacts:
    """What a training did in one process."""

    steps: int  # calls of an optimiser's step
    skipped_steps: int  # that a loss scaler left out
    backwards: int  # calls of backward
    losses: tuple[float, ...]  # on which backward was called: the first thousand and the last thousand
    before: Weights | None  # the optimised parameters before the first step
    after: Weights | None  # and as the last step left them, told at the end of the process
    change: float  # norm of the difference, relative to the norm before
    learning_rates: tuple[float, ...]  # at the first steps and at the last one
    batch_sizes: tuple[int, ...]  # first side of what the network was fed in training mode: the distinct ones
    samples: int  # that it was fed in all in training mode
    forwards: int  # outermost calls of a network in training mode
    seconds: float  # from the first forward to the last step
    step_seconds: tuple[float, ...]  # of the first thousand steps, each from the end of the one before
    work_seconds: tuple[float, ...] = ()  # of the same steps, each from the first call of the network for it
    input_digests: tuple[str, ...] = ()  # of the first inputs of the first 64 calls: how many batches differ
    own_seconds: float = 0.0  # what watching cost
    given: tuple[str, ...] = ()  # names of the tensors that an optimiser had, as in ``before`` and ``after``
    gradients_seen: int = 0  # steps before which gradients were looked at, the first few
    with_gradient: tuple[str, ...] = ()  # of ``given``: which had one then that must have moved them
    without_gradient: tuple[str, ...] = ()  # and which had none at all
    zero_gradient: tuple[str, ...] = ()  # and which had only ones that are 0 throughout
    unused: int = 0  # calls of backward after the last step, and
    gathered: int = 0  # the most that came before a step
    standing: int = 0  # steps at a learning rate of 0
    carried: int = 0  # steps that began with the gradients of the step before, which nobody had cleared,
    carried_of: int = 0  # of so many that were looked at, the first few
    batches_looked_at: int = 0  # batches of several samples, of the first calls,
    batches_of_one: int = 0  # in which all samples are the same
    kernels: int = 0  # tensors with two sides or more, frozen ones included
    kernels_moved: int = 0  # and how many are others at the end
    frozen: tuple[str, ...] = ()  # tensors of the network that were not to be trained and stayed, the first
    frozen_numbers: int = 0  # how many numbers they have,
    trainable_numbers: int = 0  # how many the others
    states_set: int = 0  # files that were loaded and states that were set before the first backward
    early: tuple[str, ...] = ()  # digests of the weights after the first steps, where there are several ranks
    # level, dtype, whether a scaler was enabled, and how many forwards were made inside auto_cast
    amp: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class NetworkCall:
    """One outermost call of a network in eval mode: what went in and what came out."""

    network: str  # the class
    inputs: Mapping[str, str]  # path of the argument ("0", "1.image") → key of its array
    outputs: Mapping[str, str]


@dataclass(frozen=True)
class EvaluationFacts:
    """What an evaluation fed to the network."""

    calls: int  # in all
    samples: int  # first sides added up
    weights: Weights | None  # of the network at its first call
    at_step: int  # optimiser steps taken so far: 0 in an evaluation of its own
    kept: tuple[NetworkCall, ...]  # the first ones
    image_statistics: Mapping[str, tuple[float, ...]] = field(default_factory=dict)  # mean, std by channel
    different_inputs: int = 0  # distinct first inputs among all calls (by digest)
    different_samples: int = 0  # and distinct rows of them, among the first ten thousand; 0: unknown


@dataclass(frozen=True)
class ExportFacts:
    """A network that was handed to ``jit.save`` or ``save_inference_model``."""

    path: str  # absolute prefix
    weights: Weights | None
    files: Mapping[str, str]  # file that was written → digest
    inputs: Mapping[str, str]  # name in the InputSpec → key of the seeded array
    outputs: Mapping[str, str]  # index → key of the network's own answer, in eval mode and as dynamic graph
    problem: str = ""  # why there is no answer


@dataclass(frozen=True)
class PredictorRun:
    """One call of a predictor or of a loaded static model."""

    inputs: Mapping[str, str]  # name → key of the array; the first runs only
    outputs: Mapping[str, str]
    batch: int  # first side of the first input
    seconds: float


@dataclass(frozen=True)
class PredictorFacts:
    """A predictor of ``paddle.inference``, a model of ``paddle.jit.load`` or of ``load_inference_model``."""

    model: str  # absolute path of the program file
    params: str
    digests: Mapping[str, str]  # of both files as they were opened
    engine: str  # "paddle", "onednn", "openvino", "tensorrt", "onnxruntime", "jit", "executor"
    device: str
    precision: str  # "fp32", "fp16", "bf16", "int8"
    threads: int
    runs: int
    seconds: float  # in all runs together
    run_seconds: tuple[float, ...]  # of the first thousand
    batch_sizes: tuple[int, ...]  # distinct ones, in order
    samples: int
    kept: tuple[PredictorRun, ...]
    different_samples: int = 0  # among those of the first thousand runs (by digest)
    int8_operators: int | None = None  # that give int8; None: nobody could look
    settings: Mapping[str, str] = field(default_factory=dict)  # what else the config said


@dataclass(frozen=True, slots=True)
class ProcessFacts:
    """What one process of a step did. A step that launches several has one for each rank; processes that a
    script starts have one each, too."""

    rank: int
    pid: int
    paddle: str  # its version; empty: it was never imported, and that is a fact, too
    doors: Mapping[str, str]  # door → "" if it is watched, else why it is not
    device: str = ""
    training: TrainingFacts | None = None
    evaluations: tuple[EvaluationFacts, ...] = ()
    training_calls: int = 0  # outermost calls of a network in training mode, whether or not it was trained
    loads: tuple[WeightsFile, ...] = ()
    saves: tuple[WeightsFile, ...] = ()
    exports: tuple[ExportFacts, ...] = ()
    predictors: tuple[PredictorFacts, ...] = ()
    collectives: Mapping[str, int] = field(default_factory=dict)  # all_reduce, … → calls; DataParallel: 1
    operators: Mapping[str, Mapping[str, int]] = field(
        default_factory=dict
    )  # operator → type of number → calls
    # operator → calls inside the first, second, fourth, … call of a network in training mode
    operators_in_training: Mapping[str, int] = field(default_factory=dict)
    images: tuple[str, ...] = ()  # image files that it opened, in order, the first thousand
    pictures: tuple[str, ...] = ()  # image files that it wrote, likewise
    written: int = 0  # other files that it wrote, or renamed to their place
    lists: tuple[str, ...] = ()  # files that it read and that may name images, the first few
    forks: int = 0  # copies of itself that it made: workers of a loader, whose files are not seen
    started: tuple[str, ...] = ()  # commands that it started and that nobody watched
    dropped: int = 0  # messages beyond the limits

    @property
    def work(self) -> int:
        """How much it did with paddle: steps, calls of networks, runs of predictors, exports."""
        work = len(self.exports)
        if self.training is not None:
            work += self.training.steps
        for evaluation in self.evaluations:
            work += evaluation.calls
        for predictor in self.predictors:
            work += predictor.runs
        return work


@dataclass(frozen=True, slots=True)
class StepFacts:
    """What all processes of a step did. ``arrays`` is the file that the keys lead into; empty: none."""

    processes: tuple[ProcessFacts, ...]
    arrays: str = ""
    problem: str = ""  # why nothing could be seen: no Python script, …

    @property
    def main(self) -> ProcessFacts | None:
        """Rank 0; of several such, as where a script starts another, the one that did most with paddle."""
        return min(
            self.processes,
            key=lambda process: (not process.paddle, process.rank, -process.work),
            default=None,
        )


@cache
def _reader(kind: type[Kind]) -> TypeAdapter[Kind]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def facts_from_json(content: object) -> StepFacts:
    """What a file says; ValueError for something else."""
    facts: StepFacts = _reader(StepFacts).validate_python(content)
    return facts


def facts_from_told(told: Mapping[str, Any] | None, keys: frozenset[str]) -> StepFacts:
    """What a keeper has heard (``Hearing.told()``; None: nobody listened). ``keys`` are the arrays that have
    arrived."""
    if told is None:
        return StepFacts((), problem=NO_SCRIPT)
    processes = []
    for process in told["processes"]:
        processes.append(_with_digests(_process(process, keys), told["digests"]))
    if not processes:
        return StepFacts((), problem=NEVER_CONNECTED)
    return StepFacts(tuple(sorted(processes, key=lambda process: process.rank)))


def _process(told: Mapping[str, Any], keys: frozenset[str]) -> ProcessFacts:
    """What one process told. The pid is the kernel's word, not its own."""
    nothing = ProcessFacts(rank=0, pid=told["pid"], paddle="", doors={})
    if told["facts"] is None:
        return replace(nothing, doors={"witness": "the process ended before it reported anything"})
    try:
        facts = _reader(ProcessFacts).validate_python(told["facts"])
    except ValueError as error:
        return replace(nothing, doors={"witness": f"its report is malformed: {error}"[:500]})
    doors = dict(facts.doors)
    if not told["final"]:
        doors["end"] = "the process was ended before its last word"
    known = replace(facts, pid=told["pid"], doors=doors, dropped=facts.dropped + told["dropped"])
    return _without_lost_arrays(known, keys)


def _with_digests(facts: ProcessFacts, known: Mapping[str, str]) -> ProcessFacts:
    """Put the keeper's digests of the files that predictors opened in the place of their keys. Where it could
    not read one of them there are none: the other alone does not say which model it was."""
    predictors = []
    for predictor in facts.predictors:
        digests = {}
        if known.keys() >= set(predictor.digests.values()):
            digests = {path: known[key] for path, key in predictor.digests.items()}
        predictors.append(replace(predictor, digests=digests))
    return replace(facts, predictors=tuple(predictors))


def _without_lost_arrays(facts: ProcessFacts, keys: frozenset[str]) -> ProcessFacts:
    """Leave out calls and runs whose arrays did not all arrive."""
    evaluations = []
    for evaluation in facts.evaluations:
        calls = [call for call in evaluation.kept if _arrived(call, keys)]
        evaluations.append(replace(evaluation, kept=tuple(calls)))
    predictors = []
    for predictor in facts.predictors:
        runs = [run for run in predictor.kept if _arrived(run, keys)]
        predictors.append(replace(predictor, kept=tuple(runs)))
    exports = []
    for export in facts.exports:
        if not _arrived(export, keys):
            export = replace(export, inputs={}, outputs={}, problem="its arrays were beyond the limit")
        exports.append(export)
    return replace(
        facts, evaluations=tuple(evaluations), predictors=tuple(predictors), exports=tuple(exports)
    )


def _arrived(seen: NetworkCall | PredictorRun | ExportFacts, keys: frozenset[str]) -> bool:
    return keys.issuperset([*seen.inputs.values(), *seen.outputs.values()])
