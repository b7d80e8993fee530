"""How a fresh interpreter becomes a script whose operators are counted."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

from tipc.run.warm.opcount import OperatorCounts
from tipc.run.warm.script import become


class AfterImport(MetaPathFinder):
    """Calls a function once, when a module has been imported."""

    def __init__(self, name: str, then: Callable[[], None]) -> None:
        self.name = name
        self.then = then

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's own spec, with a loader that tells."""
        if fullname != self.name:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Telling(spec.loader, self.then)
        return spec


class _Telling(Loader):
    def __init__(self, loader: Loader, then: Callable[[], None]) -> None:
        self.loader = loader
        self.then = then

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader
        module.__loader__ = self.loader
        self.loader.exec_module(module)
        self.then()


def prepare(argv: list[str]) -> Callable[[], object]:
    """From ``observe.py --out FILE script arguments…`` to the script, ready to be called."""
    program, option, out = argv[:3]
    if option != "--out" or len(argv) < 4:
        sys.exit(f"usage: {program} --out FILE script.py arguments…")
    if hasattr(sys, "orig_argv"):
        place = sys.orig_argv.index(program)
        sys.orig_argv[place : place + 3] = []
    try:
        run = become(argv[3:], program)
    except (OSError, SyntaxError, ValueError):  # what Python itself says about it is the right thing
        os.execv(sys.executable, [sys.executable, *argv[3:]])
    counts = OperatorCounts(out)
    sys.meta_path.insert(0, AfterImport("paddle", counts.attach))
    return run
