"""The text of the scripts that a step runs: what they can do at all."""

from __future__ import annotations

from pathlib import Path

from tipc.certify.precision_flag import modules
from tipc.certify.scene import StepScene

TEXT_LIMIT = 2**20


def mentions(scene: StepScene, words: tuple[str, ...]) -> str:
    """Where the step's script, or a module of the repository that it imports, has one of the words:
    "infer.py:31".

    "" if none has; "?" if the script is not python, or imports a library that may well have it.
    """
    script = next((word for word in scene.step.argv if word.endswith(".py")), "")
    if not script:
        return "?"
    seen = False
    for path, _ in modules(scene.path(script, scene.step)):
        seen = True
        for number, text in enumerate(read(path).splitlines(), 1):
            code = text.partition("#")[0]
            if any(word in code for word in words) and "add_argument" not in code and "choices" not in code:
                return f"{path.name}:{number}"
    return "" if seen else "?"


def read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")[:TEXT_LIMIT]
    except OSError:
        return ""
