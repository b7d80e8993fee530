"""Import packages and note which module brings which others, and what each changes outside of itself.

A module brings what is imported while its own lines run, whoever asks for it: also a function of another
module that it calls. What was loaded before counts as well, since in an interpreter where it was not, it
would be loaded then.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import importlib
import importlib.util
import operator
import os
import sys
import sysconfig
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from types import ModuleType
from typing import Any

from tipc.run.guest.preload import find_as_others, reads_of_variables

NOTHING = object()  # where a package has no such name


class CannotPreload(Exception):
    """An import did what cannot be undone and done again in a fork: these modules are not for a server."""

    def __init__(self, why: str, modules: Sequence[str]) -> None:
        super().__init__(why)
        self.why = why
        self.modules = list(modules)


@dataclass
class Recorded:
    """Modules that were imported, each with what it brings and changes."""

    modules: dict[str, ModuleType] = field(default_factory=dict)
    brings: dict[str, set[str]] = field(default_factory=dict)
    bound_before: dict[str, Any] = field(default_factory=dict)  # what a package had under a submodule's name
    variables: list[tuple[str, str, str]] = field(default_factory=list)  # module, name, value; in order
    filters: list[tuple[str, Any, bool]] = field(default_factory=list)  # module, filter, whether at the end
    read: set[tuple[str, str]] = field(default_factory=set)  # variables, each with the module that reads it


class ImportRecorder(MetaPathFinder):
    """Stands before all other finders while packages are imported."""

    def __init__(self) -> None:
        self.recorded = Recorded()
        self.executing: list[str] = []  # modules whose lines run now, the innermost last
        self.why = ""  # it cannot be done again
        self._filters = warnings.filters  # while nobody has put another list in its place
        self._seen_filters = list(warnings.filters)
        self._seen_variables = _raw_variables()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's own spec, with a loader that notes."""
        package, _, name = fullname.rpartition(".")
        if package in sys.modules:
            before = vars(sys.modules[package]).get(name, NOTHING)
            self.recorded.bound_before.setdefault(fullname, before)
        self.note(fullname)
        spec = find_as_others(self, fullname, path, target)
        if spec is not None and spec.loader is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _Noting(spec.loader, self)
        return spec

    def note(self, name: str) -> None:
        """Whoever runs now brings this module and the packages that it is in."""
        if not self.executing:
            return
        brings = self.recorded.brings.setdefault(self.executing[-1], set())
        while name:
            brings.add(name)
            name = name.rpartition(".")[0]

    @contextlib.contextmanager
    def execution(self, name: str) -> Iterator[None]:
        """The lines of a module run."""
        self.settle()
        filters, before = warnings.filters, list(warnings.filters)
        self.executing.append(name)
        self.recorded.brings.setdefault(name, set())
        try:
            yield
        finally:
            self.settle()
            self.executing.pop()
            if warnings.filters is filters and filters is not self._filters and list(filters) != before:
                self.why = f"{name} changes the filters of warnings, and who imports it takes them back"

    def settle(self) -> None:
        """What has changed since the last time is the doing of the module that runs."""
        name = ""
        if self.executing:
            name = self.executing[-1]
        now = _raw_variables()
        for variable, value in now.items():
            if self._seen_variables.get(variable) != value:
                self.recorded.variables.append((name, os.fsdecode(variable), os.fsdecode(value)))
        if self._seen_variables.keys() - now.keys():
            self.why = f"{name} takes variables away"
        self._seen_variables = now
        if warnings.filters is not self._filters or list(warnings.filters) == self._seen_filters:
            return
        added = _added(self._seen_filters, list(warnings.filters))
        if added is None:
            self.why = f"{name} takes filters of warnings away"
        else:
            self.recorded.filters += [(name, item, last) for item, last in added]
        self._seen_filters = list(warnings.filters)


class _Noting(Loader):
    """Loads a module by its own loader, while the recorder knows whose lines run."""

    def __init__(self, loader: Any, recorder: ImportRecorder) -> None:
        self.loader = loader
        self.recorder = recorder

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        with self.recorder.execution(spec.name):  # some modules in C do all their work here
            spec.loader = self.loader
            made: ModuleType | None = self.loader.create_module(spec)
            spec.loader = self
        return made

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        if module.__spec__ is not None:
            name = module.__spec__.name
            module.__spec__.loader = self.loader
        module.__loader__ = self.loader
        with self.recorder.execution(name):
            self.loader.exec_module(module)
            if isinstance(self.loader, ExtensionFileLoader):
                self._look_into(module)

    def _look_into(self, module: ModuleType) -> None:
        """Code in C imports what is loaded already without asking anybody: it is seen by what it keeps."""
        for value in list(vars(module).values()):
            owner = getattr(value, "__name__", None)
            if not isinstance(value, ModuleType):
                owner = getattr(type(value), "__module__", None)
                if isinstance(value, type) or callable(value):
                    owner = getattr(value, "__module__", None)
            if isinstance(owner, str) and owner in sys.modules:
                self.recorder.note(owner)


def _raw_variables() -> dict[bytes, bytes]:
    """The variables as they are stored: to decode them at every module takes as long as to import it."""
    environ: Any = os.environ
    return dict(environ._data)


def _added(before: list[Any], now: list[Any]) -> list[tuple[Any, bool]] | None:
    """The filters that were put before or behind the others, in the order of their coming. None: else."""
    for count in range(len(now) + 1):
        first, rest = now[:count], now[count:]
        others = [item for item in before if item not in first]
        if rest[: len(others)] == others:
            found = [(item, False) for item in reversed(first)]
            return found + [(item, True) for item in rest[len(others) :]]
    return None


@contextlib.contextmanager
def _imports_seen_by(recorder: ImportRecorder) -> Iterator[None]:
    """Also what is loaded already is noted when it is imported."""
    bootstrap: Any = importlib._bootstrap
    usual, usual_by_name = builtins.__import__, bootstrap._gcd_import

    def seen(
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        answer = usual(name, globals, locals, fromlist or (), level)
        full = name
        if level:
            full = importlib.util.resolve_name("." * level + name, (globals or {}).get("__package__"))
        recorder.note(full)
        for item in fromlist or ():
            below = sys.modules.get(f"{full}.{item}")
            if below is not None and getattr(answer, "__dict__", {}).get(item) is below:
                recorder.note(f"{full}.{item}")
        return answer

    def seen_by_name(name: str, package: Any = None, level: int = 0) -> Any:
        answer = usual_by_name(name, package, level)
        recorder.note(answer.__name__)
        return answer

    builtins.__import__, bootstrap._gcd_import = seen, seen_by_name
    sys.meta_path.insert(0, recorder)
    try:
        yield
    finally:
        sys.meta_path.remove(recorder)
        builtins.__import__, bootstrap._gcd_import = usual, usual_by_name


def import_recorded(names: Sequence[str], state: Callable[[], Mapping[str, Any]]) -> Recorded:
    """Import modules, one after the other. CannotPreload, with those that came with it, if one changes what
    ``state`` tells or is not installed. Variables and the filters of warnings are as before afterwards."""
    state()  # what that imports for itself, and the next line, is not what the packages bring
    is_installed("")
    known = [name for name, module in sys.modules.items() if isinstance(module, ModuleType)]
    variables = dict(os.environ)
    with warnings.catch_warnings():
        recorder = ImportRecorder()
        with reads_of_variables() as read, _imports_seen_by(recorder):
            before = state()
            names_of_others = {known_name: dict(vars(sys.modules[known_name])) for known_name in known}
            for name in names:
                if name in sys.modules:
                    continue
                loaded = set(sys.modules)
                try:
                    importlib.import_module(name)
                except BaseException as error:
                    raise CannotPreload(f"{name}: {error!r}", [name, *set(sys.modules) - loaded]) from error
                new = [module for module in sys.modules if module not in loaded]
                why = recorder.why or _what_differs(before, state()) or _not_installed(new)
                why = why or _patched(names_of_others)
                if why:
                    raise CannotPreload(f"{name}: {why}", [name, *new])
    os.environ.clear()
    os.environ.update(variables)
    recorded = recorder.recorded
    recorded.read = {(variable, module) for variable, module in read if not module.startswith("tipc.")}
    for name, module in list(sys.modules.items()):
        spec = getattr(module, "__spec__", None)
        if name not in known and spec is not None:
            recorded.modules[name] = module
            recorded.brings.setdefault(spec.name, set()).add(name)  # a module may have a second name
    return recorded


def _what_differs(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    for name, value in before.items():
        if now[name] != value:
            return f"its import changes {name}"
    return ""


def _patched(before: Mapping[str, Mapping[str, Any]]) -> str:
    """Which name of a module that was there before is now another thing; submodules are no such change."""
    for module, names in before.items():
        now = vars(sys.modules[module])
        if len(now) == len(names) and all(map(operator.is_, now.values(), names.values())):
            continue  # as nearly all are, each time
        for name, value in list(now.items()):
            was = names.get(name, NOTHING)
            if value is was or f"{module}.{name}" in sys.modules:
                continue
            if was is None and name.startswith("_"):
                continue  # a module that fills a store of its own
            if not isinstance(value, (str, tuple)) or value != was:
                return f"it changes {module}.{name}"
    return ""


def _not_installed(modules: Sequence[str]) -> str:
    """Which of the modules comes neither with Python nor with an installed package: it may be anything."""
    for name in modules:
        origin = getattr(getattr(sys.modules[name], "__spec__", None), "origin", None)
        if (
            isinstance(origin, str)
            and os.path.isabs(origin)
            and not (is_installed(origin) or _is_own(origin))
        ):
            return f"it imports {origin}"
    return ""


def is_installed(origin: str) -> bool:
    """Whether a file belongs to an installed package."""
    return _is_below(origin, "purelib", "platlib")


def _is_own(origin: str) -> bool:
    """Whether a file comes with Python."""
    return _is_below(origin, "stdlib", "platstdlib")


def _is_below(path: str, *schemes: str) -> bool:
    return path.startswith(_directories(schemes))


@functools.cache  # asked for every module; to work it out takes longer than many a module takes to import
def _directories(schemes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sysconfig.get_path(scheme) + os.sep for scheme in schemes)
