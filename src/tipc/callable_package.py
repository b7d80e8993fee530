"""Packages that can be called: ``tipc.plan(config)`` beside ``tipc.plan.build``.

The stages are packages, and public functions have their names: ``from tipc import plan, run, certify``. So
these three packages are also functions, those of ``tipc.api``. ``tipc/__init__.pyi`` tells their types.
"""

import sys
from types import ModuleType


class CallablePackage(ModuleType):
    """A package that passes calls on to the function of its name in ``tipc.api``."""

    def __call__(self, *args, **kwargs):  # type: ignore[no-untyped-def]
        from tipc import api

        return getattr(api, self.__name__.rpartition(".")[2])(*args, **kwargs)


def make_callable(name: str) -> None:
    """Called by a package about itself while it is imported."""
    sys.modules[name].__class__ = CallablePackage
