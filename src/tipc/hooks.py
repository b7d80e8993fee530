"""The extension points: what a package from outside can add, and how it is found.

A plug-in is a distribution with an entry point in the group ``tipc`` whose module has functions marked with
``hookimpl``::

    from tipc.hooks import hookimpl

    @hookimpl
    def tipc_checks():
        return [my_check]

What ``tipc`` brings itself is given by the same hooks. Plug-ins are looked for only where something is asked
for by a name that is not built in, or where everything is listed: the plain way costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

import pluggy

from tipc.errors import EnvironmentProblem, wording

if TYPE_CHECKING:
    from types import ModuleType

    from tipc.certify.registry import Check
    from tipc.config.rules import Dialect, OwnChain
    from tipc.kinds import Device
    from tipc.report.reporters import Reporter
    from tipc.run.executors.executor_kinds import ExecutorKind

hookspec = pluggy.HookspecMarker("tipc")
hookimpl = pluggy.HookimplMarker("tipc")


class Hooks:
    """What a plug-in can give. Every hook returns a list."""

    @hookspec
    def tipc_devices(self) -> list[Device]:  # type: ignore[empty-body]
        """Kinds of devices (``tipc.kinds.Device``)."""

    @hookspec
    def tipc_dialects(self) -> list[Dialect]:  # type: ignore[empty-body]
        """Layouts and rules of a family of scripts (``tipc.config.rules.Dialect``)."""

    @hookspec
    def tipc_chains(self) -> list[OwnChain]:  # type: ignore[empty-body]
        """Chains of their own, with the tables that read their files (``tipc.config.rules.OwnChain``)."""

    @hookspec
    def tipc_checks(self) -> list[Check]:  # type: ignore[empty-body]
        """Checks (``tipc.certify.registry.check`` makes one of a function)."""

    @hookspec
    def tipc_engines(self) -> list[ModuleType]:  # type: ignore[empty-body]
        """Inference engines that exported models are tried in: modules as in ``tipc.certify.engines``."""

    @hookspec
    def tipc_executors(self) -> list[ExecutorKind]:  # type: ignore[empty-body]
        """Places where steps run: ``tipc run --executor NAME``."""

    @hookspec
    def tipc_reporters(self) -> list[Reporter]:  # type: ignore[empty-body]
        """Forms of a report: ``tipc report --format NAME``."""


def collect(hook: str, built_in: ModuleType | None = None) -> Iterable[tuple[str, Any]]:
    """What all plug-ins give for a hook, each with its plug-in's name; ``built_in`` is asked first."""
    if built_in is not None:
        for item in getattr(built_in, hook)():
            yield "tipc", item
    if not _entry_points():
        return
    for implementation in getattr(_manager().hook, hook).get_hookimpls():
        for item in implementation.function() or ():
            yield implementation.plugin_name, item


def _entry_points() -> bool:
    from importlib.metadata import entry_points

    return bool(entry_points(group="tipc"))


@cache
def _manager() -> pluggy.PluginManager:
    """The plug-ins, loaded; raises EnvironmentProblem for one that cannot be."""
    plugins = pluggy.PluginManager("tipc")
    plugins.add_hookspecs(Hooks)
    try:
        plugins.load_setuptools_entrypoints("tipc")
        plugins.check_pending()
    except (ImportError, AttributeError, SyntaxError, ValueError, pluggy.PluginValidationError) as error:
        raise EnvironmentProblem(
            wording("a plug-in of tipc does not load: {error}", error=error),
            remedy="mend or uninstall it: pip list | grep tipc",
        ) from error
    return plugins


def forget() -> None:
    """Look for plug-ins anew: for tests, and after one was installed."""
    _manager.cache_clear()
