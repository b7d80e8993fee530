"""Why something is skipped, blocked, not certified or failed: a code with parameters, never a sentence.

Stages compare codes. A sentence is made from them where people read (``tipc.language``), so that no wording
and no translation can change what a later stage concludes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# Every code and the parameters that it has. ``tipc.language`` has a sentence for each, in each language.
CODES: dict[str, tuple[str, ...]] = {
    # Why a plan leaves something out.
    "no-device": ("device",),  # this machine has none
    "planned-for": ("device",),  # another device was asked for
    "few-devices": ("device", "asked", "here"),
    "same-command": ("step",),
    "same-commands": (),  # several of them, told as one
    "script-elsewhere": ("path",),  # outside the repository, and not there
    "reads-own-logs": (),  # logs that only the repository's script writes
    "other-machine": ("address",),  # of a training on several
    "same-combination": (),
    "unknown-trainer": ("trainer",),
    "says-null": ("line",),
    "no-script": ("line", "kind"),
    "no-line": ("kind",),  # the file ends before it
    "unknown-device-word": ("word",),
    "not-in-mode": ("mode",),
    "only-kl-quantised": (),
    "commented-out": (),
    "bash-no-interpreter": ("line",),
    "bash-crlf": ("line",),
    "bash-other-program": ("name", "line"),
    "bash-no-log": ("words",),
    "bash-open-quote": (),
    "no-kind-of-model": ("item",),
    "needs-left-out": ("step",),
    "sets-up-environment": (),
    "needs-trace": ("chain",),  # of a config below a directory
    "no-script-for-chain": ("chain",),
    "not-in-mode-of-chain": ("chain", "mode"),
    "no-benchmark-block": ("chain",),
    "asks-only": (),
    "no-step": (),
    "placeholder": ("text",),  # a command of a document that has to be filled in first
    "only-installs": (),  # a block of a document whose every command installs something
    # Why an interpreter was taken.
    "python-option": (),
    "python-named": (),
    "python-active": ("variable",),
    "python-on-path": (),
    "python-usual": ("usual",),
    "python-of-tipc": (),
    # The skip rules of dialects.
    "fp16-needs-onednn": (),
    "int8-needs-onednn": (),
    "quantised-runs-int8": (),
    "unquantised-runs-fp32": (),
    "int8-needs-quantised": (),
    "fp16-needs-tensorrt": (),
    "int8-needs-tensorrt": (),
    "quantised-needs-tensorrt": (),
    "script-never-runs-int8": (),
    "precision-needs-tensorrt": (),
    "mode-needs-quantised": (),
    "quantised-needs-trt-int8": (),
    # Why a cell proves nothing about what was asked for.
    "other-device": ("device", "asked"),
    "one-machine": ("asked",),
    # What an environment lacks, found out before anything starts.
    "no-paddle": ("interpreter",),
    "paddle-beside-tipc": ("interpreter", "own"),
    "old-paddle": ("version",),
    "other-paddle": ("interpreter",),
    "no-auto-log": ("interpreter", "source"),
    "not-asked": ("interpreter",),
    "missing-packages": ("names", "file", "interpreter"),
    "weak-gpu": ("name", "capability"),
    # How a step ended.
    "exit": ("status",),
    "signal": ("name",),
    "no-end-in": ("seconds",),
    "not-started": ("error",),
    "no-artefact": ("path",),
    "old-artefact": ("path",),
    "passed-at-attempt": ("attempt",),
    "left-processes": ("count",),
    "needs": ("step",),
    "needs-not-selected": ("step", "path"),
    "needs-outdated": ("step",),
    "not-selected": (),
    "outdated": ("inputs",),  # of ``run/inputs.py``, with commas between them
    "outdated-artefact": ("path",),
    "steps-not-selected": ("count", "steps"),
    "steps-outdated": ("count", "steps"),
    "stopped": (),
    "killed-with-tipc": (),
    "running": (),
    "fail-fast": ("step",),
    # What happened to the record of a run while its steps ran.
    "file-rewritten": ("path",),
    "result-rewritten": ("path", "step"),
    # Why a step failed, as far as its log tells, and what to try.
    "cause-no-file": ("path",),
    "cause-no-file-named": ("path", "config", "line"),
    "cause-no-module": ("python", "module"),
    "cause-no-network": ("host",),
    "cause-no-download": ("url",),
    "cause-new-protobuf": (),
    "cause-other-paddle": ("python",),
    "cause-own-module": ("python", "module"),
    "cause-new-format": ("wanted", "found"),
    "cause-no-room": (),
    "cause-no-memory": (),
    "cause-bad-option": ("word",),
    "cause-bad-option-named": ("word", "config", "line"),
    "cause-no-end": (),
    "cause-illegal-instruction": (),
    "cause-killed": (),
    "cause-nothing-left": (),
    "cause-elsewhere": ("wanted", "found"),
    "cause-script-reads": ("wanted", "found", "script"),
    "try-prepare": ("config", "mode"),
    "try-prepare-removes": ("config", "mode", "paths"),
    "try-other-data": ("script", "path"),
    "try-restore-data": ("path", "removed", "hosts"),
    "try-put-back": ("path", "removed"),
    "try-fetch": ("path", "hosts"),
    "try-provide": ("script",),
    "try-script-path": ("config",),
    "try-paddle": ("python",),
    "try-install": ("python", "package"),
    "try-install-repository": ("python", "path", "module"),
    "try-legacy-format": (),
    "try-room": (),
    "try-python": (),
    "try-network": (),
    "try-fewer-at-once": (),
    "try-fewer-instructions": (),
    "try-more-time": (),
    "try-compare-line": ("line",),
    "try-compare": (),
    "try-other-folder": ("folder",),
    "try-save-below": ("folder", "script"),
    "try-name-it": ("config", "path"),
    # What lint says within a message: what follows, what to write, why a change is not made.
    "lint-shift-all": (),
    "lint-shift-export": (),
    "lint-shift-inference": (),
    "lint-write": ("text",),
    "lint-one-of": ("words",),
    "lint-add-line": ("text",),
    "lint-did-you-mean": ("text",),
    "lint-relative-to": ("folder",),
    "lint-correct-path": (),
    "lint-as-many-remain": (),
    "lint-plan-loses": ("steps",),
}

Parameter = str | int | float


@dataclass(frozen=True)
class Reason:
    """A code of ``CODES`` with its parameters."""

    code: str
    params: tuple[tuple[str, Parameter], ...] = ()

    def __getitem__(self, name: str) -> Parameter:
        """A parameter by its name."""
        return dict(self.params)[name]

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: object, handler: object) -> dict[str, Any]:
        """The same for ``tipc schema``."""
        return {
            "title": "Reason",
            "description": "A code with its parameters.",
            "type": "object",
            "properties": {"code": {"type": "string"}},
            "required": ["code"],
            "additionalProperties": {"type": ["string", "number"]},
        }

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> Any:
        """In a file, a reason stands as ``reason_to_json`` has it. Only pydantic asks for this."""
        from pydantic_core import core_schema

        value = core_schema.union_schema(
            [core_schema.str_schema(), core_schema.int_schema(), core_schema.float_schema()]
        )
        return core_schema.no_info_after_validator_function(
            reason_from_json,
            core_schema.dict_schema(core_schema.str_schema(), value),
            serialization=core_schema.plain_serializer_function_ser_schema(reason_to_json),
        )


def because(code: str, **params: Parameter) -> Reason:
    """A reason; one with the wrong parameters is a mistake in the program."""
    assert set(params) == set(CODES[code]), f"{code} has the parameters {CODES[code]}, not {tuple(params)}"
    return Reason(code, tuple((name, params[name]) for name in CODES[code]))


def reason_from_json(data: Mapping[str, Parameter]) -> Reason:
    """The reason of ``reason_to_json``; one of a newer tipc keeps its code and parameters as they are."""
    if "code" not in data:
        raise ValueError("a reason has a code")
    params = {}
    for name, value in data.items():
        if name != "code":
            params[name] = value
    return Reason(str(data["code"]), tuple(params.items()))


def reason_to_json(reason: Reason) -> dict[str, Parameter]:
    """The code and the parameters side by side: ``{"code": "exit", "status": 1}``."""
    return {"code": reason.code, **dict(reason.params)}
