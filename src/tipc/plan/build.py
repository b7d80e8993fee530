"""Config × mode × machine to Plan."""

from __future__ import annotations

import os

from tipc.config.detect import detect, repository_of, script_text
from tipc.config.dialect import parse
from tipc.config.dialects import NAMES, load
from tipc.config.records import NamedTuple
from tipc.config.rules import Dialect
from tipc.config.text import Source, read_source
from tipc.errors import UsageError
from tipc.plan.assemble import Assembly, Target
from tipc.plan.devices import target_device
from tipc.plan.draft import AppliedFix, Plan, completed
from tipc.plan.engine import commands
from tipc.plan.fixes import FIXES
from tipc.plan.machine import Machine, this_machine
from tipc.plan.modes import known_modes
from tipc.plan.scope import Scope

LISTS = ("gpu_list", "trainer_list", "autocast")


def build_plan(
    path: str | os.PathLike[str],
    mode: str,
    *,
    repo: str | os.PathLike[str] | None = None,
    dialect: str | None = None,
    as_upstream: bool = False,
    python: str | None = None,
    device: str | None = None,
    machine: Machine | None = None,
    allow_shell: bool = False,
    trace: bool = False,
) -> Plan:
    """What a config runs in a mode. Raises UsageError, with the place in the file, instead of half a plan."""
    draft = draft_plan(
        os.fspath(path),
        mode,
        os.fspath(repo) if repo else None,
        dialect,
        Wishes(as_upstream, python, device, machine, allow_shell, trace),
    )
    return draft if draft.traced else completed(draft)


class Wishes(NamedTuple):
    """What was asked of a plan, besides its config and mode."""

    as_upstream: bool = False
    python: str | None = None
    device: str | None = None
    machine: Machine | None = None
    allow_shell: bool = False
    trace: bool = False


def draft_plan(name: str, mode: str, repo: str | None, dialect: str | None, wishes: Wishes) -> Plan:
    """The plan as it is printed: a draft, or a real one where a script was traced."""
    root = os.path.realpath(repo or repository_of(name))
    source = read_source(name)
    known = load(dialect) if dialect else None if wishes.trace else detect(source, root)
    if wishes.trace or (known is None and script_text(root)):
        from tipc.plan.trace.api import trace_plan

        options = wishes._asdict()
        del options["trace"]
        return trace_plan(name, mode, root, **options)
    if known is None:
        raise UsageError(
            "no dialect fits this file, and its repository has no script to trace",
            path=name,
            line=1,
            remedy=f"--dialect {'|'.join(NAMES)}, or --repo with the repository's root",
        )
    here = wishes.machine or this_machine()
    target = Target(
        target_device(wishes.device, here),
        here,
        root,
        wishes.as_upstream,
        wishes.python,
        wishes.allow_shell,
        elsewhere=wishes.device is not None,
    )
    return _native(source, known, mode, target)


def _native(source: Source, dialect: Dialect, mode: str, target: Target) -> Plan:
    name = _relative(source.path, target.repo)
    config = parse(source, dialect.layout)
    rules = dialect.rules_for(name, target.as_upstream)
    modes = known_modes(config, rules)
    if mode not in modes:
        raise UsageError(f"unknown mode `{mode}`", path=source.path, remedy=f"one of {', '.join(modes)}")
    scope = Scope(config, rules, mode, root=target.repo, upstream=dialect.rules)
    if not target.as_upstream:
        _check_lists(scope)
    assembly = Assembly(scope, target)
    for item in commands(scope):
        assembly.take(item)
    _add_notes(assembly, source)
    return Plan(
        config=name,
        mode=mode,
        dialect=dialect.name,
        model=scope.values.get("model_name", ""),
        repo=target.repo,
        as_upstream=target.as_upstream,
        cells=tuple(assembly.cells.values()),
        steps=tuple(assembly.steps),
        skipped=tuple(assembly.skipped),
        fixes=tuple(AppliedFix(fix, FIXES[fix].title) for fix in sorted(scope.fixes)),
        notes=tuple(assembly.notes),
        results_log=f"{scope.values['log_path']}/results_python.log",
    )


def _check_lists(scope: Scope) -> None:
    """An empty list runs nothing at all, and the script calls that a success: it is an error here."""
    if scope.values["mode"] in scope.rules.whole.modes:
        return
    for name in LISTS:
        if name in scope.config.rows and not any(item.strip() for item in scope.walked(name)):
            place = scope.config.value(name)
            row = scope.config.rows[name]
            message = f"line {row.index + 1} ({name}) is empty or missing: nothing would run"
            raise scope.config.source.error(message, place, remedy="tipc lint tells which line is missing")


def _add_notes(assembly: Assembly, source: Source) -> None:
    for cell in assembly.cells.values():
        note = f"{cell.asked or 'gpu'} → {cell.runs_on}: {cell.not_certified}"
        if cell.not_certified and note not in assembly.notes:
            assembly.notes.append(note)
    if not assembly.steps:
        assembly.notes.append(f"{source.path}: this mode runs nothing")


def _relative(path: str, repo: str) -> str:
    """A config's name: relative to the repository where it is inside."""
    absolute = os.path.realpath(path)
    return os.path.relpath(absolute, repo) if absolute.startswith(repo + os.sep) else path
