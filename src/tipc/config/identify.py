"""What a config file is: its chain, its dialect, and by what evidence. The one place that answers this.

- The **chain** is told by the file: header, name, lines (``tipc.config.chains``).
- The **dialect** is told by the script that reads the file there. It is native, planned from our tables, only
  where that script and its helpers are known by digest. Any other script has to be traced.
- Without a script the file's own lines decide, then the repository's name or package.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, NamedTuple

from tipc.config.chains import Evidence, chain_of, has_benchmark
from tipc.config.dialects import FAMILIES, TABLES, Keys, dialect_of_chain, has_table, keys_of, load
from tipc.config.scripts import Script, digest_of, helpers_of, reading_script
from tipc.config.source import Source, read_source
from tipc.errors import Message, UsageError, wording
from tipc.kinds import BENCHMARK_CHAIN, CHAINS, TRAIN_CHAIN
from tipc.message import english_text

if TYPE_CHECKING:
    from pathlib import Path


class Identity(NamedTuple):
    """What a file is. Without a chain it is no TIPC config; without ``native`` it is traced, or refused."""

    chain: str  # of ``tipc.kinds.CHAINS``; empty: nothing tells that this is a config
    dialect: str | None  # the family whose table reads it; None: none of ours does
    native: bool  # there is a table for this chain and dialect, and nothing reads the file otherwise
    script: str  # the repository's own script that reads it, relative to the repository; empty: none
    family: str | None  # the family that the file looks like, whatever script reads it
    evidence: tuple[Evidence, ...]
    repo: str
    candidates: tuple[str, ...] = ()  # scripts of which one reads it, where no name tells which

    @property
    def traceable(self) -> bool:
        """Whether there is a script to trace."""
        return bool(self.chain and (self.script or self.candidates))

    def refusal(self) -> Message:
        """Why nothing can be planned, in one sentence."""
        if not self.chain:
            return wording("this is not a TIPC config: no header, name or line says what it is for")
        title = wording(CHAINS[self.chain].title)
        if self.chain in TABLES:
            return wording(
                "this is a config for {title} ({chain}); no dialect fits it, and its repository has no script"
                " to trace",
                title=title,
                chain=self.chain,
            )
        return wording(
            "this is a config for {title} ({chain}), which tipc plans only from the repository's own script,"
            " and there is none",
            title=title,
            chain=self.chain,
        )


def find_repo(config: Path) -> Path:
    """The repository's root: the directory that holds ``test_tipc/`` or ``.git``; else the current one."""
    return type(config)(repository_of(os.fspath(config)))


def repository_of(config: str) -> str:
    """``find_repo`` on plain text."""
    directory = os.path.dirname(os.path.abspath(config))
    parts = directory.split(os.sep)
    if "test_tipc" in parts:
        nearest = len(parts) - 1 - parts[::-1].index("test_tipc")
        return os.sep.join(parts[:nearest]) or os.sep
    parents = [directory]
    while (parent := os.path.dirname(parents[-1])) != parents[-1]:
        parents.append(parent)
    for parent in parents:
        if os.path.isdir(f"{parent}/test_tipc") or os.path.exists(f"{parent}/.git"):
            return parent
    return os.getcwd()


def is_config(path: str) -> bool:
    """Whether a file is a config, of whatever chain; one that is empty or no text is by its name."""
    try:
        source = read_source(path)
    except UsageError:
        folder, name = os.path.split(path)
        return "_infer_python" in name or ("configs" in folder.split(os.sep) and "infer" in name)
    return bool(chain_of(source)[0])


# Within ``each_file_once``: (file, repository, dialect, whether for the benchmark) → what it is.
_Told = dict[tuple[Source, str, str, bool], Identity]
_TOLD: ContextVar[_Told | None] = ContextVar("told", default=None)


@contextmanager
def each_file_once() -> Iterator[None]:
    """Within it ``identify`` looks at a file and its scripts once, and then remembers.

    For the life of one command: it asks three times about each of hundreds of files.
    """
    before = _TOLD.set({})
    try:
        yield
    finally:
        _TOLD.reset(before)


def identify(source: Source, repo: str | os.PathLike[str], *, dialect: str = "", mode: str = "") -> Identity:
    """What a file is in its repository. ``dialect`` (``--dialect``) is believed, whatever script is there.

    In the mode ``benchmark_train`` a training config is one of the training benchmark, which has a script of
    its own; no other mode makes a difference.
    """
    place = os.fspath(repo)
    benchmark = mode == BENCHMARK_CHAIN
    told = _TOLD.get()
    if told is None:
        return _identify(source, place, dialect, benchmark)
    key = (source, place, dialect, benchmark)
    if key not in told:
        told[key] = _identify(source, place, dialect, benchmark)
    return told[key]


def _identify(source: Source, repo: str, dialect: str, benchmark: bool) -> Identity:
    root = os.path.realpath(repo)
    chain, evidence = chain_of(source)
    if benchmark and (chain == TRAIN_CHAIN or has_benchmark(source)):
        chain = BENCHMARK_CHAIN
        evidence = (*evidence, Evidence("option", english_text("the mode {mode}", mode=BENCHMARK_CHAIN)))
    if dialect:
        load(dialect)  # a name that does not exist is an error here
        chain = chain or TRAIN_CHAIN
        told = (*evidence, Evidence("option", english_text("--dialect {name}", name=dialect)))
        return Identity(chain, dialect, has_table(dialect, chain), "", dialect, told, root)
    if not chain:
        return Identity("", None, False, "", None, (), root)
    script = reading_script(source.path, root, chain)
    known, by_script = _by_script(script, root, chain)
    if known is not None:
        native = known in TABLES.get(chain, {})
        return Identity(chain, known, native, script.path, known, (*evidence, by_script), root)
    own = dialect_of_chain(chain)
    if own is not None and not script.path:
        told = (*evidence, Evidence("chain", english_text("a plug-in's, of the dialect {name}", name=own)))
        return Identity(chain, own, True, "", own, told, root)
    family, by_family = family_of(source, root, chain)
    told = (*evidence, *by_family, by_script)
    if script.path or script.candidates:
        return Identity(chain, None, False, script.path, family, told, root, script.candidates)
    return Identity(chain, family, family in TABLES.get(chain, {}), "", family, told, root)


def _by_script(script: Script, repo: str, chain: str) -> tuple[str | None, Evidence]:
    """The family whose script reads a file, where it is known, and what the script tells."""
    if script.path:
        return _known(script.path, repo, chain)
    if script.candidates:
        return None, Evidence("script", english_text("one of {names} reads it", names=script.candidates))
    return None, Evidence("script", english_text("the repository has none for this chain"))


def _known(script: str, repo: str, chain: str) -> tuple[str | None, Evidence]:
    """The family whose script this is, by its digest."""
    from tipc.config.known_scripts import KNOWN

    path = os.path.normpath(os.path.join(repo, script))
    helpers = helpers_of(path, repo)
    names = (script, *(os.path.relpath(one, repo) for one in helpers))
    family = KNOWN.get(chain, {}).get(digest_of((path, *helpers)))
    if family is None:
        return None, Evidence("script", english_text("{names}: not known, so it is traced", names=names))
    told = english_text("{names}: known, of the dialect {family}", names=names, family=family)
    return family, Evidence("script", told)


def family_of(source: Source, repo: str | Path, chain: str) -> tuple[str | None, tuple[Evidence, ...]]:
    """The family that a file looks like: by its lines; where they fit none, by the repository."""
    around = _by_repository(repo)
    by_lines = family_by_lines(source, chain, prefer=around)
    if by_lines:
        return by_lines, (Evidence("lines", english_text("the lines of {family}", family=by_lines)),)
    if around:
        return around, (
            Evidence("repository", english_text("the name or the package of {family}", family=around)),
        )
    return None, ()


def family_by_lines(source: Source, chain: str, *, prefer: str | None = None) -> str | None:
    """The family whose lines a file has; None where it has at most half of any. ``prefer`` decides a tie."""
    texts = [line.text for line in source.seen()]
    best, most = None, 0.5
    for name, keys in keys_of(chain).items():
        score = _score(keys, texts)
        if score > most or (score == most and best is not None and name == prefer):
            best, most = name, score
    return best


def _score(keys: Keys, texts: list[str]) -> float:
    """The share of a family's keys that a file shows: a removed or an added line shifts them by one."""
    found = 0
    for index, beginning in keys:
        near = texts[max(0, index - 2) : index + 3]
        found += any(text.startswith(beginning) for text in near)
    return found / len(keys)


def _by_repository(repo: str | Path) -> str | None:
    for name, family in FAMILIES.items():
        here = os.path.basename(os.fspath(repo)) in family.repositories
        if here or any(os.path.isdir(os.path.join(repo, package)) for package in family.packages):
            return name
    return None
