"""Every run and its figures in one SQLite file, ``<home>/history.sqlite``."""

from __future__ import annotations

import json
import math
import sqlite3
import sys
from array import array
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any

from tipc.errors import EnvironmentProblem, TipcError, UsageError, wording
from tipc.plan.model import Key
from tipc.report.headline import headline
from tipc.report.machine_facts import build, fingerprint, machine_name, versions
from tipc.report.view import RunView
from tipc.run.record.events import AttemptBegan
from tipc.run.record.journal import read_events
from tipc.run.record.results import Run

NAME = "history.sqlite"
VERSION = 1
SCHEMA = """
CREATE TABLE runs (
    id TEXT PRIMARY KEY, started REAL, seconds REAL, machine TEXT, machine_name TEXT, versions TEXT,
    build TEXT, word TEXT, headline TEXT, models TEXT, directory TEXT
);
CREATE TABLE cells (run TEXT, plan TEXT, cell TEXT, state TEXT, PRIMARY KEY (run, plan, cell));
CREATE TABLE figures (
    run TEXT, plan TEXT, cell TEXT, step TEXT, label TEXT, metric TEXT, kind TEXT, better TEXT, unit TEXT,
    value REAL, spread REAL, count INTEGER, samples TEXT, PRIMARY KEY (run, plan, step, metric)
);
CREATE INDEX figures_of ON figures (plan, step, metric);
CREATE INDEX runs_by_time ON runs (started);
CREATE INDEX cells_of ON cells (plan);
"""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of one step of one run."""

    plan: str
    cell: str
    step: str
    label: str
    metric: str
    kind: str
    better: str
    unit: str
    value: float
    spread: float = 0.0
    count: int = 1
    samples: tuple[float, ...] = ()

    @property
    def key(self) -> tuple[str, str, str]:
        """The same figure in another run has the same key."""
        return self.plan, self.step, self.metric


class PackedFigures(Mapping[tuple[str, str, str], Figure]):
    """The figures of one run, each made when it is asked for: of ten thousand steps they are fifty thousand,
    and as objects they take too much memory."""

    def __init__(self) -> None:
        self.places: dict[tuple[str, str, str], int] = {}
        self.words: list[tuple[str, ...]] = []  # cell, label, kind, better and unit; equal ones are one
        self.numbers = array("d")  # value, spread and count of each
        self.samples: dict[int, array[float]] = {}
        self._known: dict[tuple[str, ...], tuple[str, ...]] = {}

    def add(self, figure: Figure) -> None:
        """Take one more in."""
        place = len(self.words)
        words = (figure.cell, figure.label, figure.kind, figure.better, figure.unit)
        self.places[figure.key] = place
        self.words.append(self._known.setdefault(words, words))
        self.numbers.extend((figure.value, figure.spread, figure.count))
        if figure.samples:
            self.samples[place] = array("d", figure.samples)

    def __getitem__(self, key: tuple[str, str, str]) -> Figure:
        place = self.places[key]
        plan, step, metric = key
        cell, label, kind, better, unit = self.words[place]
        value, spread, count = self.numbers[3 * place : 3 * place + 3]
        samples = tuple(self.samples.get(place, ()))
        return Figure(plan, cell, step, label, metric, kind, better, unit, value, spread, int(count), samples)

    def __iter__(self) -> Iterator[tuple[str, str, str]]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)


class Values:
    """The values of a run's figures and nothing else of them: of ten thousand steps in fifty runs, all that
    is known about each figure takes too much memory.

    ``places`` gives each figure's place among the numbers; the runs that are read together share it.
    """

    def __init__(self, places: Mapping[tuple[str, str, str], int]) -> None:
        self.places = places
        self.numbers = array("d", [math.nan]) * len(places)

    def get(self, key: tuple[str, str, str]) -> float | None:
        """The value of one figure; None: the run has none, or it was not read."""
        place = self.places.get(key)
        if place is None or math.isnan(self.numbers[place]):
            return None
        return self.numbers[place]


@dataclass(frozen=True)
class PastRun:
    """One run as the history knows it."""

    id: str
    started: float
    seconds: float
    machine: str
    machine_name: str
    versions: str
    build: str  # equal for runs of the same commits and versions
    word: str
    headline: str
    models: tuple[str, ...]
    figures: Mapping[tuple[str, str, str], Figure] = field(default_factory=dict)
    cells: Mapping[tuple[str, str], str] = field(default_factory=dict)  # (plan, cell) → state
    values: Values | None = None  # instead of the figures, where only these were read

    def value(self, key: tuple[str, str, str]) -> float | None:
        """The value of one figure; None: the run does not have it."""
        if self.values is not None:
            return self.values.get(key)
        figure = self.figures.get(key)
        if figure is None:
            return None
        return figure.value


def newest(home: Path, *, machine: str = "", limit: int = 20, figures: bool = False) -> list[PastRun]:
    """The newest runs, oldest first. Looking makes no file where there is none."""
    if not (home / NAME).is_file():
        return []
    with History(home) as history:
        entries = history.entries(machine=machine, limit=max(1, limit))
        if figures:
            entries = [history.filled(entry) for entry in entries]
        return entries


def entry_of(view: RunView) -> PastRun:
    """What the history keeps of a run."""
    run = view.run
    figures = {}
    cells = {}
    for plan in view.plans:
        for cell in plan.cells:
            cells[plan.plan.key, cell.cell.id] = cell.state
            for step in cell.steps:
                label = step.label
                for metric in step.figures.metrics:
                    figure = Figure(
                        plan.plan.key,
                        cell.cell.id,
                        step.step.id,
                        label,
                        metric.name,
                        metric.kind,
                        metric.better,
                        metric.unit,
                        metric.value,
                        metric.spread,
                        metric.count,
                        metric.samples,
                    )
                    figures[figure.key] = figure
    return PastRun(
        run.id,
        run.started,
        view.elapsed,
        fingerprint(run.environment),
        machine_name(run.environment),
        versions(run.environment),
        build(run.environment, _sources(run)),
        headline(view).word,
        str(headline(view)),
        tuple(dict.fromkeys([plan.model for plan in run.plans])),
        figures,
        cells,
    )


class History:
    """The file, open. A context manager; several processes may use it at once."""

    def __init__(self, home: Path) -> None:
        self.path = home / NAME
        with self._told():
            home.mkdir(parents=True, exist_ok=True)
            self.db = sqlite3.connect(self.path, timeout=30)
            self.db.row_factory = sqlite3.Row
            with self.db:
                self.db.execute("BEGIN IMMEDIATE")
                (version,) = self.db.execute("PRAGMA user_version").fetchone()
                if version == 0:
                    for statement in SCHEMA.split(";"):
                        self.db.execute(statement)
                    self.db.execute(f"PRAGMA user_version = {VERSION}")
        if version > VERSION:
            self.db.close()
            raise EnvironmentProblem("written by a newer tipc", path=str(self.path), remedy="update tipc")

    def __enter__(self) -> History:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.db.close()

    def add(self, view: RunView) -> None:
        """Add a run, or take it in again after more was found out about it."""
        self.put(entry_of(view), str(view.run.directory))

    def keep_call(self, run: str, number: int) -> None:
        """Keep what is known of a run under ``<id>~<number>``: it went on, and its entry will be replaced.

        Without its figures: those of the steps that did not run again are in the new entry as well.
        """
        columns = (
            "started, seconds, machine, machine_name, versions, build, word, headline, models, directory"
        )
        with self._told(), self.db:
            for name, column, rest in (("runs", "id", columns), ("cells", "run", "plan, cell, state")):
                self.db.execute(
                    f"INSERT OR IGNORE INTO {name} SELECT ?, {rest} FROM {name} WHERE {column} = ?",
                    (f"{run}~{number}", run),
                )

    def put(self, entry: PastRun, directory: str = "") -> None:
        """Write one entry, whole or not at all."""
        run = (entry.id, entry.started, entry.seconds, entry.machine, entry.machine_name)
        rest = (entry.versions, entry.build, entry.word, entry.headline, json.dumps(entry.models), directory)
        cells = []
        for (plan, cell), state in entry.cells.items():
            cells.append(_text(entry.id, plan, cell, state))
        rows = (_figure_row(entry.id, one) for one in entry.figures.values())
        with self._told(), self.db:
            for name, column in (("runs", "id"), ("cells", "run"), ("figures", "run")):
                self.db.execute(f"DELETE FROM {name} WHERE {column} = ?", (entry.id,))
            self.db.execute("INSERT INTO runs VALUES (?,?,?,?,?,?,?,?,?,?,?)", _text(*run, *rest))
            self.db.executemany("INSERT INTO cells VALUES (?,?,?,?)", cells)
            self.db.executemany("INSERT INTO figures VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)", rows)

    def entries(self, *, machine: str = "", limit: int = 20) -> list[PastRun]:
        """The newest runs, oldest first, without their figures."""
        order = "started DESC, id LIKE '%~%', id DESC"  # earlier calls of a run come before it
        query = f"SELECT * FROM runs WHERE ? IN ('', machine) ORDER BY {order} LIMIT ?"
        with self._told():
            rows = self.db.execute(query, (machine, limit)).fetchall()
        return [_entry(row) for row in rows][::-1]

    def before(self, entry: PastRun, limit: int = 50) -> list[PastRun]:
        """The runs before this one on the same machine that share a config with it, oldest first.

        They come without their figures: see ``valued``. Earlier calls of a run (``<id>~1``) are none: their
        figures are those of the run.
        """
        query = (
            "SELECT * FROM runs WHERE machine = ? AND started < ? AND id != ? "
            "AND instr(id, '~') = 0 AND id IN ("
            "SELECT run FROM cells WHERE plan IN (SELECT plan FROM cells WHERE run = ?)) "
            "ORDER BY started DESC, id DESC LIMIT ?"
        )
        with self._told():
            values = (entry.machine, entry.started, entry.id, entry.id, limit)
            rows = self.db.execute(query, values).fetchall()
        return [_entry(row) for row in rows][::-1]

    def find(self, ref: str) -> PastRun | None:
        """A run by its id or by a prefix that only one has; None if there is none."""
        entry = self.listed(ref)
        if entry is None:
            return None
        return self.filled(entry)

    def listed(self, ref: str) -> PastRun | None:
        """The same without its figures."""
        with self._told():
            rows = self.db.execute("SELECT * FROM runs WHERE id = ?", (ref,)).fetchall()
            if not rows:
                rows = self.db.execute(
                    "SELECT * FROM runs WHERE substr(id, 1, ?) = ?", (len(ref), ref)
                ).fetchall()
        if not rows:
            return None
        if len(rows) > 1:
            names = ", ".join([row["id"] for row in rows])
            raise UsageError(wording("`{ref}` names several runs: {names}", ref=ref, names=names))
        return _entry(rows[0])

    def filled(self, entry: PastRun) -> PastRun:
        """The entry with its figures and cells."""
        figures = PackedFigures()
        with self._told():
            for row in self.db.execute("SELECT * FROM figures WHERE run = ?", (entry.id,)):
                figures.add(_figure(row))
        return replace(entry, figures=figures, cells=self._cells(entry))

    def valued(self, entries: Iterable[PastRun], *sides: PastRun) -> list[PastRun]:
        """The entries with their cells, and with the values of the figures that one of the sides has."""
        places: dict[tuple[str, str, str], int] = {}
        for side in sides:
            for key in side.figures:
                places.setdefault(key, len(places))
        return [
            replace(entry, values=self._values(entry, places), cells=self._cells(entry)) for entry in entries
        ]

    def _values(self, entry: PastRun, places: Mapping[tuple[str, str, str], int]) -> Values:
        values = Values(places)
        query = "SELECT plan, step, metric, value FROM figures WHERE run = ?"
        with self._told():
            for plan, step, metric, value in self.db.execute(query, (entry.id,)):
                place = places.get((plan, step, metric))
                if place is not None and value is not None:
                    values.numbers[place] = value
        return values

    def _cells(self, entry: PastRun) -> dict[tuple[str, str], str]:
        cells = {}
        with self._told():
            for row in self.db.execute("SELECT plan, cell, state FROM cells WHERE run = ?", (entry.id,)):
                plan, cell, state = map(sys.intern, row)
                cells[plan, cell] = state
        return cells

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise EnvironmentProblem(
                wording("the history cannot be used: {error}", error=error),
                path=str(self.path),
                remedy="move the file away",
            ) from error


def _sources(run: Run) -> list[str]:
    """Digests of the scripts that a run used, as its journal has them."""
    last: dict[Key, tuple[str | None, str | None]] = {}  # of the last attempt of each step
    try:
        for event in read_events(run.directory):
            if isinstance(event, AttemptBegan):
                last[event.plan, event.step] = (event.inputs.get("scripts"), event.inputs.get("config"))
    except TipcError:  # a run that was never written down
        return []
    digests = set()
    for known in set(last.values()):
        digests.update([digest for digest in known if digest is not None])
    return sorted(digests)


def _entry(row: sqlite3.Row) -> PastRun:
    values: dict[str, Any] = dict(row)
    values.pop("directory", None)
    values["models"] = tuple(json.loads(values["models"]))
    return PastRun(**values)


def _figure_row(run: str, one: Figure) -> tuple[Any, ...]:
    place = (run, one.plan, one.cell, one.step, one.label)
    sort = (one.metric, one.kind, one.better, one.unit)
    return _text(*place, *sort, one.value, one.spread, one.count, json.dumps(one.samples))


def _figure(row: sqlite3.Row) -> Figure:
    values: dict[str, Any] = dict(row)
    values.pop("run")
    values["samples"] = tuple(json.loads(values["samples"]))
    for name, value in values.items():
        if isinstance(value, str):
            values[name] = sys.intern(value)  # the figures of many steps and runs say the same words
    return Figure(**values)


def _text(*values: Any) -> tuple[Any, ...]:
    """SQLite takes no lone surrogates, which stand for bytes that are no UTF-8."""
    fit = []
    for value in values:
        if isinstance(value, str):
            value = value.encode("utf-8", "replace").decode()
        fit.append(value)
    return tuple(fit)
