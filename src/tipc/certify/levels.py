"""How far a repository goes: the specification's base documents, and what mixed precision and PACT add.

004 alone is the base specification; 003 and 000 add mixed precision to it, 002 adds PACT.
"""

from __future__ import annotations

from dataclasses import dataclass

from tipc.kinds import AMP, FP32, PACT

# Both names of the document for PACT are the specification's: in 002, line 311 and line 338 differ.
DOCUMENTS = {
    FP32: ("test_train_inference_python.md",),
    AMP: ("test_train_amp_inference_python.md",),
    PACT: ("test_train_pact_inference_python.md", "test_pact_train_infer_python.md"),
}
LAYOUT = ("README.md", "test_train_inference_python.sh", "common_func.sh", "configs", "docs")
PREPARE = "prepare.sh"  # 000 and 002 list it, 003 and 004 do not


@dataclass(frozen=True)
class Level:
    """The chains that each model must have."""

    name: str
    kinds: tuple[str, ...]

    @property
    def layout(self) -> tuple[str, ...]:
        """What must be in test_tipc/."""
        if PACT not in self.kinds:
            return LAYOUT
        return (*LAYOUT, PREPARE)


LEVELS = {
    "base": Level("base", (FP32,)),
    "amp": Level("base + AMP", (FP32, AMP)),
    "pact": Level("base + PACT", (FP32, PACT)),
    "all": Level("base + AMP + PACT", (FP32, AMP, PACT)),
}


def highest(complete: set[str]) -> Level:
    """The highest level whose chains are all in ``complete``; base where not even that is."""
    for level in sorted(LEVELS.values(), key=lambda level: -len(level.kinds)):
        if set(level.kinds) <= complete:
            return level
    return LEVELS["base"]
