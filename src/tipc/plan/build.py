"""Config × mode × machine to Plan."""

from __future__ import annotations

import os
from dataclasses import replace

from tipc.command import Command
from tipc.config.chains import Evidence
from tipc.config.dialects import NAMES, load
from tipc.config.identify import Identity, identify, repository_of
from tipc.config.layout import parse
from tipc.config.rules import Dialect
from tipc.config.scripts import reading_script
from tipc.config.source import Source, read_source
from tipc.errors import UsageError, wording
from tipc.kinds import BENCHMARK_CHAIN, DEVICES, DY2STATIC_CHAIN, TRAIN_CHAIN, find_device
from tipc.meant import one_of
from tipc.plan.assemble import Assembly
from tipc.plan.engine import commands
from tipc.plan.fixes import FIXES
from tipc.plan.model import AppliedFix, Plan, Skip
from tipc.plan.modes import BENCHMARK_BLOCK, has_benchmark, known_modes, mode_of, mode_of_chain
from tipc.plan.prepare import with_prepare
from tipc.plan.request import PlanOptions
from tipc.plan.variables import Variables
from tipc.reasons import because

DEFAULTS = PlanOptions()
LISTS = ("gpu_list", "trainer_list", "autocast")


def build_plan(path: str | os.PathLike[str], mode: str, options: PlanOptions = DEFAULTS) -> Plan:
    """What a config runs in a mode; an empty one is the default of its chain.

    Raises UsageError, with the place in the file, instead of half a plan.
    """
    return plan_source(read_source(os.fspath(path)), mode, options)


def plan_source(source: Source, mode: str, options: PlanOptions = DEFAULTS) -> Plan:
    """``build_plan`` of a text that stands, or would stand, at its path; only tracing reads the file."""
    name = source.path
    _check_device(options.device)
    options = replace(options, repo=os.path.realpath(options.repo or repository_of(name)))
    identity = identify(source, options.repo, dialect=options.dialect)
    if mode == BENCHMARK_CHAIN and identity.chain == TRAIN_CHAIN:
        return _benchmark(source, options)
    if options.trace or (not identity.native and identity.traceable):
        from tipc.plan.trace.tracing import trace_plan

        plan = trace_plan(name, mode_of_chain(mode, identity.chain), options)
    else:
        plan = _native(source, identity, mode, options)
    if options.output:
        from tipc.plan.target.output import with_output

        plan = with_output(plan, options.output)
    plan = replace(plan, chain=identity.chain, evidence=identity.evidence)
    return with_prepare(plan) if options.prepare else plan


def _benchmark(source: Source, options: PlanOptions) -> Plan:
    """The training benchmark of a training config: its block is read by a script of its own, which is traced.

    The script rewrites a copy of the config for each batch size, precision and number of GPUs, and has the
    training script run it.
    """
    from tipc.plan.trace.tracing import trace_plan

    script = reading_script(source.path, options.repo, BENCHMARK_CHAIN).path
    if not script:
        raise UsageError("the repository has no benchmark_train.sh, which plans this mode", path=source.path)
    if not has_benchmark(source):
        message = wording(
            "this config has no block `{block}`: there is nothing to measure", block=BENCHMARK_BLOCK
        )
        raise UsageError(message, path=source.path, line=len(source.lines))
    plan = trace_plan(source.path, BENCHMARK_CHAIN, options, script=script)
    if not options.as_upstream:
        plan = _without_strangers(plan)
    evidence = (Evidence("script", f"{script}: traced"),)
    return replace(plan, chain=BENCHMARK_CHAIN, evidence=evidence)


def _without_strangers(plan: Plan) -> Plan:
    """The plan without commands whose script is elsewhere, and not there: what reads the speed of a log."""
    skipped = list(plan.skipped)
    kept = []
    for step in plan.steps:
        script = Command(step.argv).script
        if os.path.isabs(script) and not os.path.exists(script):
            skipped.append(Skip(step.cell, step.kind, because("script-elsewhere", path=script)))
        else:
            kept.append(step)
    there = {step.id for step in kept}
    steps = [replace(step, needs=tuple(need for need in step.needs if need in there)) for step in kept]
    return replace(plan, steps=tuple(steps), skipped=tuple(skipped))


def _check_device(device: str) -> None:
    if not device or find_device(device):
        return
    raise UsageError(wording("there is no device `{device}`", device=device), remedy=one_of(device, DEVICES))


def _native(source: Source, identity: Identity, mode: str, options: PlanOptions) -> Plan:
    if not identity.native or identity.dialect is None:
        raise UsageError(
            identity.refusal(),
            path=source.path,
            line=1,
            remedy=wording("--dialect {names}, or --repo with the repository's root", names="|".join(NAMES)),
        )
    dialect = load(identity.dialect, identity.chain)
    if identity.chain == DY2STATIC_CHAIN:
        return _of_sections(source, dialect, options)
    return _of_table(source, dialect, mode, options)


def _of_sections(source: Source, dialect: Dialect, options: PlanOptions) -> Plan:
    """A file of several training configs, each of which is trained twice."""
    from tipc.config.dialects.dy2static import MODE
    from tipc.plan.graph_sections import plan_sections

    def part(section: Source, folder: str) -> Plan:
        # In a plan of our own each training has a folder, or the second would overwrite the first.
        below = "" if options.as_upstream else folder
        return _of_table(section, dialect, MODE, options, below)

    return plan_sections(source, dialect.name, part, as_upstream=options.as_upstream)


def _of_table(source: Source, dialect: Dialect, mode: str, options: PlanOptions, folder: str = "") -> Plan:
    """The plan by a dialect's table; ``folder`` is one of its own for what it writes."""
    name = _relative(source.path, options.repo)
    config = parse(source, dialect.layout)
    rules = dialect.rules_for(name, options.as_upstream)
    if folder:
        rules = rules._replace(log_path=f"{rules.log_path}/{folder}")
    mode = mode_of(mode, rules, as_upstream=options.as_upstream)
    modes = known_modes(config, rules, as_upstream=options.as_upstream)
    if mode not in modes:
        raise UsageError(
            wording("unknown mode `{mode}`", mode=mode), path=source.path, remedy=one_of(mode, modes)
        )
    variables = Variables(config, rules, mode, root=options.repo, upstream=dialect.rules)
    if not options.as_upstream:
        _check_lists(variables)
    assembly = Assembly(variables, options)
    for item in commands(variables):
        assembly.take(item)
    if not assembly.steps:
        assembly.notes.append(f"{source.path}: this mode runs nothing")
    return Plan(
        config=name,
        mode=mode,
        dialect=dialect.name,
        model=variables.values.get("model_name", ""),
        repo=options.repo,
        as_upstream=options.as_upstream,
        cells=tuple(assembly.cells.values()),
        steps=tuple(assembly.steps),
        skipped=tuple(assembly.skipped),
        fixes=tuple(AppliedFix(fix, FIXES[fix].title) for fix in sorted(variables.fixes)),
        notes=tuple(assembly.notes),
        results_log=f"{variables.values['log_path']}/{rules.results_log}",
        interpreter=assembly.interpreter,
    )


def _check_lists(variables: Variables) -> None:
    """An empty list runs nothing at all, and the script calls that a success: it is an error here."""
    if variables.values["mode"] in variables.rules.whole.modes:
        return
    for name in LISTS:
        if name in variables.config.rows and not any(item.strip() for item in variables.walked(name)):
            place = variables.config.value(name)
            row = variables.config.rows[name]
            message = f"line {row.index + 1} ({name}) is empty or missing: nothing would run"
            raise variables.config.source.error(
                message, place, remedy="tipc lint tells which line is missing"
            )


def _relative(path: str, repo: str) -> str:
    """A config's name: relative to the repository where it is inside."""
    absolute = os.path.realpath(path)
    return os.path.relpath(absolute, repo) if absolute.startswith(repo + os.sep) else path
