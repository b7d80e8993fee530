"""What one family of scripts does with a config, as data. ``tipc.plan`` has the one engine that reads it."""

from __future__ import annotations

from dataclasses import dataclass

from tipc.config.dialect import Layout


@dataclass(frozen=True)
class Marks:
    """By what a dialect is known. Every ``keys`` entry is (line index, beginning of that line)."""

    keys: tuple[tuple[int, str], ...] = ()
    script: tuple[str, ...] = ()  # all of these stand in the repository's own script
    script_lacks: tuple[str, ...] = ()
    repositories: tuple[str, ...] = ()  # the name of the repository's directory
    packages: tuple[str, ...] = ()  # a directory of the repository


@dataclass(frozen=True)
class Dialect:
    """One family of upstream scripts and the files that it reads."""

    name: str
    title: str
    layout: Layout
    marks: Marks
