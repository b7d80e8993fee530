"""The inference engines that an exported model is tried in: an engine is a file.

Each file here has a name, says to which models it applies, and sets up a ``paddle.inference.Config``. It is
imported by ``tipc``, which asks ``applies``, and loaded by its path in the probe, under the config's own
interpreter, where ``configure`` is called: so it imports nothing but the standard library.

An int8 engine may have ``round_anew`` as well: it changes a quantised program so that paddle's own kernels
compute what the engine computes. With that, a network that makes much of every rounding can be told from an
engine that is wrong.

A plug-in adds engines by the hook ``tipc_engines``, as modules of the same form.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from tipc import hooks
from tipc.errors import EnvironmentProblem, wording
from tipc.kinds import PRECISIONS, find_precision
from tipc.suggestions import one_of

BUILT_IN = ("native", "onednn", "onednn_int8", "openvino")
NEEDED = ("NAME", "PRECISION", "applies", "configure")


@dataclass(frozen=True)
class Model:
    """What an engine is asked about."""

    legacy: bool  # ``.pdmodel``; else the newer ``.json``
    quantised: bool  # trained with quantisers
    used: frozenset[str]  # the engines that the deployment itself used


@dataclass(frozen=True)
class Engine:
    """One engine."""

    name: str
    precision: str
    script: Path  # the file that the probe loads
    module: Any

    def applies(self, model: Model) -> bool:
        """Whether a model can and should be tried in it."""
        return bool(self.module.applies(model.legacy, model.quantised, model.used))

    @property
    def rounds_anew(self) -> bool:
        """Whether it rounds a quantised model in other places or steps than the model itself says."""
        return hasattr(self.module, "round_anew")


def tipc_engines() -> list[ModuleType]:
    """The engines that come with tipc."""
    return [import_module(f"tipc.certify.engines.{name}") for name in BUILT_IN]


@cache
def all_engines() -> Mapping[str, Engine]:
    """Every engine by its name; raises EnvironmentProblem for one that is incomplete."""
    import tipc.certify.engines as built_in

    found: dict[str, Engine] = {}
    for name, module in hooks.collect("tipc_engines", ModuleType, _name_of, built_in=built_in).items():
        precision = str(module.PRECISION)
        if find_precision(precision) is None:
            raise EnvironmentProblem(
                wording(
                    "the engine `{name}` computes in `{precision}`, which is no precision that tipc knows",
                    name=name,
                    precision=precision,
                ),
                remedy=one_of(precision, PRECISIONS),
            )
        found[name] = Engine(name, precision, Path(str(module.__file__)), module)
    return found


def _name_of(module: ModuleType) -> str:
    for needed in NEEDED:
        if not hasattr(module, needed):
            raise EnvironmentProblem(
                wording("a plug-in has an engine without {absent}: {module!r}", absent=needed, module=module)
            )
    return str(module.NAME)


def engines_for(model: Model) -> tuple[Engine, ...]:
    """The engines that a model is tried in."""
    return tuple(engine for engine in all_engines().values() if engine.applies(model))
