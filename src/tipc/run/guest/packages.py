"""The packages that a step was seen to use: imported once, hidden, given to each script that imports them.

By module and not by package: who imports ``scipy`` gets ``scipy`` and what that itself brings, and finds
``scipy.stats`` neither among the loaded modules nor as a name of its package. With a module come the
variables and the filters of warnings that its import sets. Whatever else an import leaves behind (threads,
open files, handlers, random states, output, names in other people's modules, …) is a reason not to have the
package here.
"""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from types import ModuleType
from typing import Any

from tipc.run.guest.preload import Preloaded, find_as_others, seldom_collecting
from tipc.run.guest.recording import (
    NOTHING,
    CannotPreload,
    Recorded,
    import_recorded,
    is_installed,
)
from tipc.run.guest.traces import state, threads_after_a_fork

# What libraries in C, which nobody sees read them, ask for while they are loaded.
READ_IN_C = ("OMP_", "KMP_", "MKL_", "OPENBLAS_", "GOTO_", "BLIS_", "NUMEXPR_", "NPY_", "GOMP_")


class Packages(MetaPathFinder, Loader):
    """Modules that are hidden until a script imports them."""

    def __init__(self, preloaded: Preloaded, recorded: Recorded, before: dict[str, str]) -> None:
        self.preloaded = preloaded  # paddle, with the modules that come with it
        self.recorded = recorded
        self.hidden = recorded.modules
        self.variables = dict(before)  # as they are when nothing of this has been imported
        self._closures: dict[str, list[str]] = {}
        self._specs: dict[str, ModuleSpec | None] = {}
        self._bound: set[str] = set()  # submodules whose names were taken from their packages
        self.differs: Callable[[dict[str, str | None]], None] = lambda _needs: None

    def hide(self) -> None:
        """Take the modules away, also from the packages that they are in."""
        for name, module in self.hidden.items():
            del sys.modules[name]
            package, _, last = name.rpartition(".")
            holder = self.hidden.get(package) or sys.modules.get(package)
            if holder is None or vars(holder).get(last) is not module or self._brings_itself(package, name):
                continue
            before = self.recorded.bound_before.get(name, NOTHING)
            if before is NOTHING:
                delattr(holder, last)
            else:
                setattr(holder, last, before)
            self._bound.add(name)
        sys.meta_path.insert(0, self)

    def _brings_itself(self, package: str, name: str) -> bool:
        """Whether a package imports this submodule of its own, and so is never without it."""
        return package in self.hidden and name in self.closure(package)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A module that was hidden. If the script would import another, or otherwise, it begins again."""
        if fullname not in self.hidden:
            return None
        coming = self.closure(fullname)
        changed = self._changed_variables(coming)
        if changed or not self._are_the_same(fullname, path, coming):
            self.differs(changed)
        own = self.hidden[fullname].__spec__
        spec = ModuleSpec(fullname, self, origin=getattr(own, "origin", None))
        spec.submodule_search_locations = getattr(own, "submodule_search_locations", None)
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module as the server imported it."""
        module = self.hidden[spec.name]
        self._specs[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Put it back with what it brings, and do again what that did outside of itself."""
        assert module.__spec__ is not None
        name = module.__spec__.name
        module.__spec__ = self._specs.pop(name)
        coming = self.closure(name)
        for other in coming:
            if other in self.preloaded.modules and other not in sys.modules:
                importlib.import_module(other.partition(".")[0])
        given = set()
        for other in coming:
            hidden = self.hidden.pop(other, None)
            if hidden is None:
                continue
            given.add(other)
            if other != name:
                sys.modules[other] = hidden
            if other in self._bound:
                package, _, last = other.rpartition(".")
                setattr(self.hidden.get(package) or sys.modules[package], last, hidden)
        self._do_again(given)
        if not self.hidden:
            sys.meta_path.remove(self)

    def _do_again(self, given: set[str]) -> None:
        for module, variable, value in self.recorded.variables:
            if module in given:
                os.environ[variable] = self.variables[variable] = value
        for module, item, append in self.recorded.filters:
            if module in given:
                action, message, category, where, line = item
                warnings.filterwarnings(
                    action, _pattern(message), category, _pattern(where), line, append
                )  # fmt: skip

    def closure(self, name: str) -> list[str]:
        """A module and all that comes with it, also what is not hidden, in no order."""
        if name in self._closures:
            return self._closures[name]
        found = {name}
        todo = [name]
        while todo:
            for other in self.recorded.brings.get(todo.pop(), ()):
                if other not in found:
                    found.add(other)
                    todo.append(other)
        self._closures[name] = list(found)
        return self._closures[name]

    def _changed_variables(self, coming: list[str]) -> dict[str, str | None]:
        """The variables that these imports read and that are now others than they were; None: unset."""
        hidden = [name for name in coming if name in self.hidden]
        read = set()
        for name, reader in self.recorded.read:
            if reader in hidden or reader not in self.recorded.brings:
                read.add(name)
        in_c: tuple[str, ...] = ()
        if any(_is_in_c(self.hidden[name]) for name in hidden):
            in_c = READ_IN_C
        by_paddle = self.preloaded.set_by_import
        changed = {}
        for name in {*os.environ, *self.variables}:
            now = os.environ.get(name)
            if name not in read and not name.startswith(in_c):
                continue
            if now not in (self.variables.get(name), self.preloaded.before.get(name), by_paddle.get(name)):
                changed[name] = now
        return changed

    def _are_the_same(self, fullname: str, path: Sequence[str] | None, coming: list[str]) -> bool:
        """Whether the script would find the same files: something of its own may come first."""
        if not self._is_the_same(fullname, path):
            return False
        for name in coming:
            if "." in name or name not in self.hidden:
                continue
            if _own_name(self.hidden[name]) == name and not self._is_the_same(name, None):
                return False
        return True

    def _is_the_same(self, name: str, path: Sequence[str] | None) -> bool:
        found = find_as_others(self, name, path)
        return found is not None and found.origin == getattr(self.hidden[name].__spec__, "origin", None)


def _is_in_c(module: ModuleType) -> bool:
    """Whether a module is a library of an installed package, which may bring others."""
    loader, origin = getattr(module.__spec__, "loader", None), getattr(module.__spec__, "origin", None)
    return isinstance(loader, ExtensionFileLoader) and is_installed(str(origin))


def _own_name(module: ModuleType) -> str:
    """A module may be known by a second name."""
    return getattr(module.__spec__, "name", "")


def _pattern(compiled: Any) -> str:
    return getattr(compiled, "pattern", compiled) or ""


def import_packages(preloaded: Preloaded, names: Sequence[str]) -> Packages:
    """Import modules that a step has loaded, and hide them. CannotPreload: some must not be here."""
    before = dict(os.environ)
    threads = threads_after_a_fork()
    with seldom_collecting():
        recorded = import_recorded(names, state)
    if threads_after_a_fork() != threads:
        why = "threads were started that do not outlive a fork"
        raise CannotPreload(why, names)
    packages = Packages(preloaded, recorded, before)
    packages.hide()
    return packages


def packages_in_use(known: set[str]) -> Iterator[str]:
    """The modules of installed packages that were loaded since others were known."""
    for name, module in list(sys.modules.items()):
        origin = getattr(getattr(module, "__spec__", None), "origin", None)
        if name not in known and isinstance(origin, str) and is_installed(origin):
            yield name
