"""The dialects that need no tracing. Each is one module of data, loaded when it is asked for."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from tipc.config.rules import Dialect
from tipc.errors import UsageError

NAMES = ("models", "seg", "ocr", "clas", "det")


@cache
def load(name: str) -> Dialect:
    """A dialect by its name, or an error that lists them."""
    if name not in NAMES:
        raise UsageError(f"there is no dialect `{name}`", remedy=f"one of {', '.join(NAMES)}")
    dialect: Dialect = import_module(f"tipc.config.dialects.{name}").DIALECT
    return dialect
