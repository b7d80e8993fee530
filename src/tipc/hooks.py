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

from collections.abc import Callable, Collection, Iterator
from functools import cache
from typing import TYPE_CHECKING, TypeVar

import pluggy

from tipc.errors import EnvironmentProblem, wording

if TYPE_CHECKING:
    from types import ModuleType

    from tipc.certify.registry import Check
    from tipc.config.rules import Dialect, OwnChain
    from tipc.kinds import Device, ModelFormat, Precision
    from tipc.report.reporters import Reporter
    from tipc.run.executors.executor_kinds import ExecutorKind

hookspec = pluggy.HookspecMarker("tipc")
hookimpl = pluggy.HookimplMarker("tipc")
T = TypeVar("T")


class Hooks:
    """What a plug-in can give. Every hook returns a list."""

    @hookspec
    def tipc_devices(self) -> list[Device]:  # type: ignore[empty-body]
        """Kinds of devices (``tipc.kinds.Device``)."""

    @hookspec
    def tipc_precisions(self) -> list[Precision]:  # type: ignore[empty-body]
        """Precisions that engines compute in (``tipc.kinds.Precision``)."""

    @hookspec
    def tipc_model_formats(self) -> list[ModelFormat]:  # type: ignore[empty-body]
        """Formats of exported models (``tipc.kinds.ModelFormat``)."""

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


def collect(
    hook: str,
    kind: type[T],
    name_of: Callable[[T], str],
    *,
    built_in: ModuleType | None = None,
    taken: Collection[str] = (),
) -> dict[str, T]:
    """What all plug-ins give for a hook, by name; ``built_in``, a module of tipc, is asked first.

    Raises EnvironmentProblem for what is of another kind, and for a name that is there or in ``taken``.
    """
    found: dict[str, T] = {}
    for plugin, item in _given(hook, built_in):
        if not isinstance(item, kind):
            raise EnvironmentProblem(
                wording(
                    "the plug-in {plugin} gave {item!r}, which is no {kind} of tipc",
                    plugin=plugin,
                    item=item,
                    kind=kind.__name__,
                )
            )
        name = name_of(item)
        if name in found or name in taken:
            raise EnvironmentProblem(
                wording("the plug-in {plugin} has `{name}`, a name that is taken", plugin=plugin, name=name)
            )
        found[name] = item
    return found


def _given(hook: str, built_in: ModuleType | None) -> Iterator[tuple[str, object]]:
    """The items of a hook, each with the name of its plug-in."""
    if built_in is not None:
        for item in getattr(built_in, hook)():
            yield "tipc", item
    if not _entry_points():
        return
    for implementation in getattr(_manager().hook, hook).get_hookimpls():
        try:
            items = list(implementation.function() or ())
        except Exception as error:  # it is not our code, and can raise anything
            raise _broken(error) from error
        for item in items:
            yield implementation.plugin_name, item


@cache
def _entry_points() -> bool:
    from importlib.metadata import entry_points

    return bool(entry_points(group="tipc"))


def _broken(error: Exception) -> EnvironmentProblem:
    return EnvironmentProblem(
        wording("a plug-in of tipc does not load: {error}", error=error),
        remedy="correct or uninstall it: pip list | grep tipc",
    )


@cache
def _manager() -> pluggy.PluginManager:
    """The plug-ins, loaded; raises EnvironmentProblem for one that cannot be."""
    plugins = pluggy.PluginManager("tipc")
    plugins.add_hookspecs(Hooks)
    try:
        plugins.load_setuptools_entrypoints("tipc")
        plugins.check_pending()
    except Exception as error:  # it is not our code, and can raise anything
        raise _broken(error) from error
    return plugins


def forget() -> None:
    """Look for plug-ins anew: for tests, and after one was installed."""
    _manager.cache_clear()
    _entry_points.cache_clear()
