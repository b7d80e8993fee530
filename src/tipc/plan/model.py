"""What a Plan is made of. Plain frozen data; ``plan.plan_json`` turns it into JSON and back.

Paths are relative to ``Plan.repo`` unless they are absolute. Nothing here knows a dialect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from tipc.config.chains import Evidence
from tipc.kinds import CPU, FP32, TRAIN_CHAIN
from tipc.reasons import Reason

Key = tuple[str, str]  # Plan.key, Step.id


@dataclass(frozen=True, slots=True)
class Step:
    """One command: what runs, where, what it needs and what it must leave behind."""

    id: str  # unique in its plan, stable from run to run: "norm_train-gpu0-null/train"
    kind: str  # one of STEP_KINDS
    cell: str  # Cell.id
    argv: tuple[str, ...]
    env: Mapping[str, str | None]  # on top of the caller's; None: unset. CUDA_VISIBLE_DEVICES is always named
    cwd: str  # "." is the repository's root
    log: str  # where stdout and stderr go
    needs: tuple[str, ...]  # ids of steps that must have passed
    produces: tuple[
        str, ...
    ]  # files that must be there and new afterwards; "a|b": one of them, "*": any match
    status_line: str  # the dialect's line for a success, with no colour; see ``failed_line``
    device: str = CPU  # where it runs: "cpu", "gpu", "npu", "xpu", …
    gpus: tuple[str, ...] = ()  # the device ids that it holds; empty on a CPU
    threads: int = 1  # cores it asks for
    processes: int = 1  # of a distributed launch
    measures: bool = False  # its figures are kept: it runs alone on its device
    settings: Mapping[str, str] = field(
        default_factory=dict
    )  # infer: batch_size, precision, mkldnn, threads, …
    weights: str = ""  # eval/export: the trained weights it reads; train: those it leaves
    model_dir: str = ""  # export: where the static model goes; infer: where it is read
    line: int = 0  # the line of the config file that named the script
    globs: tuple[str, ...] = ()  # words of ``argv`` that name files by a pattern, filled in when it starts
    shell: str = ""  # only with --allow-shell: the command as bash has to run it

    @property
    def failed_line(self) -> str:
        """The dialect's status line for a failure."""
        return self.status_line.replace("Run successfully", "Run failed", 1)


@dataclass(frozen=True)
class Cell:
    """One combination (device × trainer × autocast), and on what it really runs here."""

    id: str
    trainer: str  # "norm_train", "amp_train", "pact_train", …; "whole_infer" where nothing is trained
    asked: str  # the config's gpu item: "0", "0,1", "10.0.0.1,10.0.0.2;0,1"
    runs_on: str  # "gpu:0", "gpu:0,1", "cpu", "2 × cpu (gloo)"
    autocast: str = ""
    precision: str = FP32  # of training: "fp32", "amp" (with amp_level), "pact"
    amp_level: str = ""  # "O1", "O2" or ""
    not_certified: tuple[Reason, ...] = ()  # why it proves nothing about the device that was asked for


@dataclass(frozen=True)
class Skip:
    """A combination that is left out, and why."""

    cell: str
    kind: str
    reason: Reason
    device: str = ""  # infer: "cpu", "gpu", …, or the config's word where that names no device
    settings: Mapping[str, str] = field(default_factory=dict)  # infer: as a step's
    argv: tuple[str, ...] = ()  # the command, where nothing else tells what it is

    @property
    def label(self) -> str:
        """What is left out, in a few words: ``infer gpu use_trt=False precision=int8 batch_size=1``."""
        settings = [f"{name}={value}" for name, value in self.settings.items()]
        words = [self.kind, self.device, *settings, *self.argv]
        return " ".join(word for word in words if word)


@dataclass(frozen=True)
class Interpreter:
    """What runs for the interpreter that a config names."""

    asked: str  # "python3.7"
    program: str
    reason: Reason  # why this one


@dataclass(frozen=True)
class AppliedFix:
    """A named difference from the upstream script that changed this plan."""

    id: str  # see ``plan.fixes``
    reason: str


@dataclass(frozen=True)
class Plan:
    """What one config runs in one mode on one machine."""

    config: str  # as given, relative to ``repo`` where it is inside
    mode: str
    dialect: str
    model: str
    repo: str  # absolute
    as_upstream: bool
    cells: tuple[Cell, ...]
    steps: tuple[Step, ...]  # in order of execution
    skipped: tuple[Skip, ...] = ()
    fixes: tuple[AppliedFix, ...] = ()
    notes: tuple[str, ...] = ()  # what the user should know: another interpreter, no GPU here, …
    results_log: str = ""  # where the status lines are appended
    traced: bool = False
    interpreter: Interpreter | None = None  # None: as upstream, or no step is Python
    chain: str = TRAIN_CHAIN  # what the config is for: a name of ``kinds.CHAINS``
    evidence: tuple[Evidence, ...] = ()  # by what the chain and the dialect are known

    @cached_property
    def key(self) -> str:
        """Names the plan inside a run; one text for all that keep it."""
        return f"{self.config}:{self.mode}"

    @cached_property
    def steps_by_cell(self) -> Mapping[str, Sequence[Step]]:
        """The steps of each cell, in order of execution."""
        found: dict[str, list[Step]] = {}
        for step in self.steps:
            found.setdefault(step.cell, []).append(step)
        return found
