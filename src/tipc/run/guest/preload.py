"""Import paddle once, hide it, and give it to a forked script at the moment when the script imports it.

Until then the script finds an interpreter as it would be without: no third-party module is loaded, and no
variable set that the import sets. Where it has changed a variable that an import reads (``FLAGS_…``,
``OMP_NUM_THREADS``, …), the import of the server would not be the script's: it is told what differs.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tipc.run.guest.packages import Packages

# What paddle, numpy and the libraries below them read while they are imported.
READ_AT_IMPORT = (
    "FLAGS_", "GLOG_", "PADDLE_", "CPU_NUM", "OMP_", "KMP_", "MKL_", "OPENBLAS_", "GOTO_", "BLIS_",
    "NUMEXPR_", "ONEDNN_", "DNNL_", "NPY_",
)  # fmt: skip
READ_BY_PADDLE_ALONE = ("FLAGS_", "GLOG_", "PADDLE_", "CPU_NUM")
SELDOM = 1_000_000  # objects between two collections
ENVIRONMENT_MODULES = ("os", "_collections_abc", "collections.abc")  # through which a variable is asked for


class Preloaded(MetaPathFinder, Loader):
    """The third-party modules that importing paddle brought, what it printed and which variables it set."""

    def __init__(self, read_output: Callable[[], bytes]) -> None:
        known = set(sys.modules)
        self.before = dict(os.environ)
        with reads_of_variables() as self.read, seldom_collecting():
            import paddle

        self.version: str = paddle.__version__
        self.device = _device_in_use(paddle)
        self.set_by_import = {}
        for name, value in os.environ.items():
            if self.before.get(name) != value:
                self.set_by_import[name] = value
        self.output = read_output()
        self.modules = _third_party_modules(known)
        self.differs: Callable[[dict[str, str | None]], None] = lambda _needs: None
        self.imported: Callable[[], None] = lambda: None
        self.notes = -1  # a descriptor: what a script that begins again writes there reaches the keeper
        self.packages: Packages | None = None  # more of them, which some step was seen to use

    def close_notes(self) -> None:
        """Nobody will write there any more."""
        os.close(self.notes)
        self.notes = -1

    def hide(self) -> None:
        """In the child, before the script: take the modules away and wait for their import."""
        for name in self.modules:
            del sys.modules[name]
        sys.meta_path.insert(0, self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A module that was hidden, if the script would import the very same."""
        if "." in fullname or fullname not in self.modules:
            return None
        origin = getattr(self.modules[fullname].__spec__, "origin", None)
        found = PathFinder.find_spec(fullname, path)
        if found is None or found.origin != origin:
            return None  # the script has a module of that name which comes first
        needs = changed_before_import(self.before)
        if fullname != "paddle":
            # A script may import PIL, then set a flag, and then import paddle.
            needs = {name: now for name, now in needs.items() if not name.startswith(READ_BY_PADDLE_ALONE)}
        if needs:
            self.differs(needs)
        return ModuleSpec(fullname, self)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module as the server imported it."""
        module = self.modules[spec.name]
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Put it back with all that is below it; with paddle comes everything, and what its import did."""
        module.__spec__ = self._spec
        name = module.__name__
        if name != "paddle":
            for known in list(self.modules):
                if known.partition(".")[0] == name:
                    sys.modules[known] = self.modules.pop(known)
            return
        sys.meta_path.remove(self)
        for known, hidden in self.modules.items():
            sys.modules.setdefault(known, hidden)
        os.environ.update(self.set_by_import)
        os.write(2, self.output)
        self.imported()


def find_as_others(
    finder: MetaPathFinder, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
) -> ModuleSpec | None:
    """What the finders behind this one say of a module."""
    for other in sys.meta_path[sys.meta_path.index(finder) + 1 :]:
        spec = other.find_spec(fullname, path, target)
        if spec is not None:
            return spec
    return None


@contextlib.contextmanager
def seldom_collecting() -> Iterator[None]:
    """Modules are no garbage: to look for some takes a seventh of paddle's import."""
    usual = gc.get_threshold()
    gc.set_threshold(SELDOM, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


@contextlib.contextmanager
def reads_of_variables() -> Iterator[set[tuple[str, str]]]:
    """The variables that Python code asks for meanwhile, each with the module that does."""
    read: set[tuple[str, str]] = set()
    usual = type(os.environ)

    class Recording(usual):  # type: ignore[valid-type,misc]
        def __getitem__(self, name: str) -> str:
            frame = sys._getframe(1)
            while frame.f_back is not None and frame.f_globals.get("__name__") in ENVIRONMENT_MODULES:
                frame = frame.f_back
            read.add((name, frame.f_globals.get("__name__", "")))
            value: str = super().__getitem__(name)
            return value

    os.environ.__class__ = Recording
    try:
        yield read
    finally:
        os.environ.__class__ = usual


def changed_before_import(before: Mapping[str, str]) -> dict[str, str | None]:
    """The variables which the import of paddle reads and that are now others than before; None: unset."""
    changed = {}
    for name in {*os.environ, *before}:
        now = os.environ.get(name)
        if name.startswith(READ_AT_IMPORT) and now != before.get(name):
            changed[name] = now
    return changed


def _third_party_modules(known: set[str]) -> dict[str, ModuleType]:
    """The modules beyond the known ones that come with packages, whole with all below them."""
    new = {}
    foreign = set()
    for name, module in list(sys.modules.items()):
        if name in known or name == "__mp_main__":
            continue
        new[name] = module
        if "." not in name and _is_third_party(module):
            foreign.add(name)
    return {name: module for name, module in new.items() if name.partition(".")[0] in foreign}


def _is_third_party(module: ModuleType) -> bool:
    paths = list(getattr(module, "__path__", []))
    location = getattr(module, "__file__", None) or (paths[0] if paths else "")
    if not location:
        return False
    installed = "site-packages" in location or "dist-packages" in location
    return installed or not location.startswith(sysconfig.get_path("stdlib"))


def _device_in_use(paddle: ModuleType) -> str:
    """The accelerator that the import has opened: a fork of this process could not use it. Empty: none."""
    if paddle.device.is_compiled_with_cuda() and paddle.device.cuda.device_count() > 0:
        return "cuda"
    if paddle.device.is_compiled_with_xpu():
        return "xpu"
    return ", ".join(paddle.device.get_all_custom_device_type() or [])
