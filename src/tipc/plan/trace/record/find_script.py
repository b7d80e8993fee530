"""Which script of a repository reads a config file."""

from __future__ import annotations

import re
from pathlib import Path

from tipc.bounded import read_bounded
from tipc.config.chains import chain_of
from tipc.config.scripts import reading_script
from tipc.config.source import source_of
from tipc.errors import UsageError, wording

_HELPER = re.compile(r"""^\s*(?:source|\.)\s+["']?\$\{?(\w+)\}?["']?/([\w./-]+)""", re.MULTILINE)


def find_script(config: Path, repo: Path, given: str | None = None) -> Path:
    """The script, relative to the repository: the one that is given, the chain's, or the only one."""
    if given:
        if not (repo / given).is_file():
            raise UsageError(wording("there is no script `{given}` in {repo}", given=given, repo=repo))
        return Path(given)
    data = b""  # without a file its name alone tells the chain
    if config.is_file():
        data = read_bounded(config)
    chain, _ = chain_of(source_of(data, str(config)))
    script = reading_script(str(config), str(repo), chain)
    if script.path or script.thin:
        return Path(script.path or script.thin)
    if script.candidates:
        raise UsageError(
            wording("several scripts could read this config: {names}", names=", ".join(script.candidates)),
            path=str(config),
            remedy=wording("name one: TIPC_TRACE_SCRIPT={candidates}", candidates=script.candidates[0]),
        )
    raise UsageError(
        "its repository has no script to trace",
        path=str(config),
        line=1,
        remedy="--dialect models|seg|ocr|clas|det, or --repo DIR for the repository's root",
    )


def roots(text: str, start: Path) -> dict[str, str]:
    """The variables by which a script expects its caller to say where the repository is.

    ``source ${TEST_DIR}/test_tipc/common_func.sh`` in a script that never sets TEST_DIR, where ``start`` has
    such a file: TEST_DIR is ``start``.
    """
    found = {}
    for name, helper in _HELPER.findall(text):
        if ".." in helper.split("/") or not (start / helper).is_file():
            continue
        if not re.search(rf"(?m)^[^#\n]*\b{name}=", text):
            found[name] = str(start)
    return found
