"""The source of the scripts that a step runs: what they can do at all. It is parsed, and never imported."""

from __future__ import annotations

import ast
import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

from tipc.certify.scene import StepScene
from tipc.plan.interpreter import resolve

FILES_LIMIT = 80
PATIENCE = 60.0
WHERE = (
    "import importlib.util, sys; spec = importlib.util.find_spec(sys.argv[1])\n"
    "print(spec.origin if spec and spec.origin and spec.submodule_search_locations else '')"
)
# Their source says nothing about what a script asks of them.
FRAMEWORKS = frozenset(
    ("paddle", "numpy", "cv2", "PIL", "yaml", "auto_log", "tqdm", "scipy", "matplotlib", "visualdl")
)


def mentions(scene: StepScene, words: tuple[str, ...]) -> str:
    """Where the step's script, or a module that it imports, has one of the words: "infer.py:31".

    "" if none has; "?" where that cannot be told: no python script, or a library that is not to be found.
    """
    script = next((word for word in scene.step.argv if word.endswith(".py")), "")
    if not script:
        return "?"
    seen = hidden = False

    def find(name: str) -> Path | None:
        nonlocal hidden
        try:
            return library_root(name, scene.step.argv[0])
        except (OSError, subprocess.SubprocessError):
            hidden = True
            return None

    for path, tree in modules(scene.path(script, scene.step), find):
        seen = True
        for node in ast.walk(tree):
            found = isinstance(node, ast.Attribute) and node.attr in words
            found = found or (
                isinstance(node, ast.Constant) and node.value in words and not is_choice(tree, node)
            )
            if found:
                return f"{path.name}:{getattr(node, 'lineno', 0)}"
    return "?" if hidden or not seen else ""


def is_choice(tree: ast.Module, wanted: ast.Constant) -> bool:
    """It only stands among the choices, or is the default, of an option."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "add_argument"
        ):
            inner = (child for keyword in node.keywords for child in ast.walk(keyword.value))
            if any(child is wanted for child in inner):
                return True
    return False


def is_library(name: str) -> bool:
    top = name.partition(".")[0]
    return top not in FRAMEWORKS and top not in sys.stdlib_module_names


def modules(
    script: Path, library: Callable[[str], Path | None] = lambda name: None
) -> Iterator[tuple[Path, ast.Module]]:
    """The script and, through its imports, the repository's own modules, and those of the libraries that
    ``library`` finds the folder of.

    What cannot be read or parsed is left out.
    """
    roots = [script.parent, *script.parents[1:3]]
    queue, seen = [script], {script}
    while queue and len(seen) < FILES_LIMIT:
        path = queue.pop(0)
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (OSError, SyntaxError, ValueError):
            continue
        yield path, tree
        for name in imported(tree):
            found = [file for root in roots for file in files_of(root, name)]
            if not found and is_library(name) and (root := library(name.partition(".")[0])):
                found = files_of(root, name)
            queue += [file for file in dict.fromkeys(found) if file not in seen]
            seen.update(found)


def files_of(root: Path, name: str) -> list[Path]:
    stem = root.joinpath(*name.split("."))
    return [file for file in (stem.with_suffix(".py"), stem / "__init__.py") if file.is_file()]


@lru_cache(maxsize=256)
def library_root(name: str, python: str) -> Path | None:
    """The folder that a package lies in by the word of an interpreter, which does not import it; None if
    there is none. OSError, SubprocessError: the interpreter cannot be asked."""
    if Path(python).parent == Path(sys.executable).parent:
        spec = importlib.util.find_spec(name)
        package = spec and spec.submodule_search_locations
        return Path(spec.origin).parents[1] if spec and spec.origin and package else None
    program = python if os.sep in python else resolve(python, None)[0]
    answer = subprocess.run(
        [program, "-c", WHERE, name],
        cwd="/",
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=PATIENCE,
        check=True,
    )
    origin = os.fsdecode(answer.stdout).strip()
    return Path(origin).parents[1] if origin else None


def imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
