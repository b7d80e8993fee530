"""The forms of a report. Each is a name and a function from runs to text; plug-ins add others."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from tipc import hooks
from tipc.errors import UsageError, wording
from tipc.language import DEFAULT, speaking
from tipc.report.view import RunView


@dataclass(frozen=True)
class Reporter:
    """One form of a report."""

    name: str
    title: str  # for ``tipc report --help``
    make: Callable[[Sequence[RunView]], str | Iterable[str]]  # a long text in parts, which takes less memory

    def parts(self, views: Sequence[RunView]) -> Iterable[str]:
        """The text of these runs, in one part or several."""
        made = self.make(views)
        return [made] if isinstance(made, str) else made


def _html(views: Sequence[RunView]) -> Iterable[str]:
    from tipc.report.html.page import page_parts
    from tipc.report.load import past_for

    return page_parts(views, views[-1].run.directory / "report.html", past_for(views))


def _junit(views: Sequence[RunView]) -> Iterator[str]:
    from tipc.report.junit import junit_parts

    # Programs read it, whatever the language of who has called: so with JSON.
    with speaking(DEFAULT):
        for part in junit_parts(views):
            yield part.decode()


def _json(views: Sequence[RunView]) -> Iterator[str]:
    from tipc.report.as_json import json_parts

    with speaking(DEFAULT):
        yield from json_parts(views)


def _markdown(views: Sequence[RunView]) -> str:
    from tipc.report.markdown import matrix_markdown
    from tipc.report.wording import LANGUAGES

    return matrix_markdown(views, LANGUAGES["en"])


def tipc_reporters() -> list[Reporter]:
    """The built-in forms."""
    return [
        Reporter("html", "one page that needs nothing else", _html),
        Reporter("junit", "JUnit's XML, for CI servers", _junit),
        Reporter("json", "everything, for programs", _json),
        Reporter("markdown", "the support matrix", _markdown),
    ]


def all_reporters() -> dict[str, Reporter]:
    """Every form by its name."""
    return hooks.collect("tipc_reporters", Reporter, lambda form: form.name, built_in=sys.modules[__name__])


def reporter(name: str) -> Reporter:
    """A form by its name, or an error that lists them."""
    known = all_reporters()
    if name not in known:
        raise UsageError(
            wording("there is no form of report `{name}`", name=name),
            remedy=wording("one of {names}", names=", ".join(known)),
        )
    return known[name]
