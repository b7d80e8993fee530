"""The hook by which a plug-in adds checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pluggy

from tipc.errors import EnvironmentProblem

if TYPE_CHECKING:
    from tipc.certify.registry import Check

hookspec = pluggy.HookspecMarker("tipc")
hookimpl = pluggy.HookimplMarker("tipc")


class Hooks:
    """What a plug-in can give."""

    @hookspec
    def tipc_checks(self) -> list[Check]:
        """The checks that the plug-in adds."""
        raise NotImplementedError  # pluggy calls the plug-ins' implementations, never this


def manager() -> pluggy.PluginManager:
    """The plug-ins of the group ``tipc``, loaded; raises EnvironmentProblem for one that cannot be."""
    plugins = pluggy.PluginManager("tipc")
    plugins.add_hookspecs(Hooks)
    try:
        plugins.load_setuptools_entrypoints("tipc")
        plugins.check_pending()
    except (ImportError, AttributeError, SyntaxError, ValueError, pluggy.PluginValidationError) as error:
        raise EnvironmentProblem(
            f"a plug-in of tipc does not load: {error}", remedy="mend or uninstall it: pip list | grep tipc"
        ) from error
    return plugins
