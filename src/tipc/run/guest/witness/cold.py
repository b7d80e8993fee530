"""How a fresh interpreter becomes a script that is watched."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from tipc.run.guest import rendezvous
from tipc.run.guest.preload import changed_before_import, find_as_others
from tipc.run.guest.script import become, become_module, forget_ourselves, hide_callers
from tipc.run.guest.witness.telling import Telling, connect, take_address
from tipc.run.guest.witness.witness import Witness


class AfterImport(MetaPathFinder):
    """Calls a function once, when a module has been imported, and another before that."""

    def __init__(self, name: str, then: Callable[[], None], first: Callable[[], None] | None = None) -> None:
        self.name = name
        self.then = then
        self.first = first

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's own spec, with a loader that tells."""
        if fullname != self.name:
            return None
        if self.first is not None:
            self.first()
        spec = find_as_others(self, fullname, path, target)
        sys.meta_path.remove(self)
        if spec is not None and spec.loader is not None:
            spec.loader = _Announcing(spec.loader, self.then)
        return spec


class _Announcing(Loader):
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
    """From ``witnessed.py script arguments…``, or ``witnessed.py -m module arguments…``, to the script, ready
    to be called."""
    program = argv[0]
    if len(argv) < 2:
        sys.exit(f"usage: {program} script.py arguments…")
    if hasattr(sys, "orig_argv") and program in sys.orig_argv:
        sys.orig_argv.remove(program)
    address = take_address()
    telling = connect(address) if address else None
    try:
        if argv[1] == "-m" and len(argv) > 2:
            run = become_module(argv[2:], program)
        else:
            run = become(argv[1:], program)
    except (OSError, SyntaxError, ValueError):  # what Python itself says about it is the right thing
        options = sys.orig_argv[1 : -len(argv[1:])] if hasattr(sys, "orig_argv") else []
        os.execv(sys.executable, [sys.executable, *options, *argv[1:]])
    hide_callers(program)
    if telling is not None:
        watch(telling)
    return run


def watch(telling: Telling) -> None:
    """Watch this process, and paddle from the moment that the script imports it."""
    witness = Witness(telling)
    witness.begin()
    before = dict(os.environ)

    def about_to_import() -> None:
        telling.imports(changed_before_import(before))
        witness.children.importing = True

    def imported() -> None:
        witness.attach()
        rendezvous.attach(sys.modules["paddle"])

    sys.meta_path.insert(0, AfterImport("paddle", imported, about_to_import))
    sys.meta_path.insert(0, AfterImport("cv2", witness.images.attach_cv2))
    watch_children(witness)


def watch_children(witness: Witness) -> None:
    """Watch the processes that the script starts, from the moment that it can start any."""
    children = witness.children
    children.attach_system()
    for name, attach in (
        ("subprocess", children.attach_subprocess),
        ("multiprocessing.spawn", children.attach_spawn),
    ):
        if name in sys.modules:
            attach()
        else:
            sys.meta_path.insert(0, AfterImport(name, attach))


def join(address: str) -> None:
    """Watch a process that multiprocessing has started, from its first line on."""
    telling = connect(address)
    if telling is not None:
        watch(telling)
    forget_ourselves()
