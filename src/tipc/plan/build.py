"""Config × mode × machine to Plan."""

from __future__ import annotations

import os
from dataclasses import replace

from tipc.command import Command
from tipc.config.chains import BENCHMARK_BLOCK, chain_of, has_benchmark
from tipc.config.dialects import NAMES, TABLES, load
from tipc.config.identify import Identity, identify, repository_of
from tipc.config.layout import parse
from tipc.config.rules import Dialect, Rules
from tipc.config.source import Source, read_source
from tipc.errors import UsageError, wording
from tipc.kinds import BENCHMARK_CHAIN, CHAINS, DEVICES, DY2STATIC_CHAIN, find_device
from tipc.message import english_text
from tipc.plan.assemble import Assembly
from tipc.plan.engine import commands
from tipc.plan.fixes import FIXES
from tipc.plan.model import AppliedFix, Plan, Skip
from tipc.plan.modes import known_modes, mode_of, mode_of_chain
from tipc.plan.prepare import with_prepare
from tipc.plan.request import PlanOptions
from tipc.plan.variables import Variables
from tipc.reasons import because
from tipc.suggestions import one_of

# Why calls of a traced script are no steps, on whatever machine.
SET_UP = ("sets-up-environment", "asks-only", "no-step")

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
    repo = options.repo or repository_of(name)
    identity = identify(source, repo, dialect=options.dialect, mode=mode)
    options = replace(options, repo=identity.repo)
    if identity.chain == BENCHMARK_CHAIN:
        _check_block(source, identity)
    if options.trace or (not identity.native and identity.traceable):
        plan = _traced(source, identity, mode, options)
    else:
        plan = _native(source, identity, mode, options)
    if options.output:
        from tipc.plan.target.output import with_output

        plan = with_output(plan, options.output)
    plan = replace(plan, chain=identity.chain, evidence=identity.evidence)
    if options.prepare:
        plan = with_prepare(plan)
    return plan


def _check_block(source: Source, identity: Identity) -> None:
    """A training config without the block says nothing about a benchmark."""
    if has_benchmark(source):
        return
    if not identity.native and chain_of(source)[0] == BENCHMARK_CHAIN:
        return  # a file for benchmarks alone: its script, which is traced, knows what it means
    message = wording(
        "this config has no block `{block}`: there is nothing to measure", block=BENCHMARK_BLOCK
    )
    raise UsageError(message, path=source.path, line=len(source.lines))


def _traced(source: Source, identity: Identity, mode: str, options: PlanOptions) -> Plan:
    """The plan that the repository's own script has."""
    from tipc.plan.trace.tracing import trace_plan

    if identity.chain != BENCHMARK_CHAIN:
        plan = trace_plan(source.path, mode_of_chain(mode, identity.chain), options)
        _refuse_nothing(plan, identity, source.path)
        return plan
    plan = trace_plan(source.path, BENCHMARK_CHAIN, options, script=identity.script or None)
    return plan if options.as_upstream else _without_strangers(plan)


def _refuse_nothing(plan: Plan, identity: Identity, path: str) -> None:
    """A chain that we have no table for, whose script does nothing but build, copy and ask, has no plan."""
    if identity.chain in TABLES or plan.steps:
        return
    if any(skip.reason.code not in SET_UP for skip in plan.skipped):
        return  # there are steps, and only this machine is in their way
    script = identity.script or ", ".join(identity.candidates)
    message = wording("{script} calls nothing that could be a step of a plan", script=script)
    if identity.chain in CHAINS:
        message = wording(
            "this is a config for {title} ({chain}): {script} calls nothing that could be a step of a plan",
            title=wording(CHAINS[identity.chain].title),
            chain=identity.chain,
            script=script,
        )
    raise UsageError(message, path=path)


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
    steps = []
    for step in kept:
        needs = [need for need in step.needs if need in there]
        steps.append(replace(step, needs=tuple(needs)))
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
    if identity.chain == BENCHMARK_CHAIN:
        return _of_benchmark(source, dialect, options)
    return _of_table(source, dialect, mode, options)


def _of_sections(source: Source, dialect: Dialect, options: PlanOptions) -> Plan:
    """A file of several training configs, each of which is trained twice."""
    from tipc.config.dialects.dy2static import MODE
    from tipc.plan.graph_sections import plan_sections

    def part(section: Source, folder: str) -> Plan:
        # In a plan of our own each training has a folder, or the second would overwrite the first.
        if options.as_upstream:
            folder = ""
        return _of_table(section, dialect, MODE, options, folder)

    return plan_sections(source, dialect.name, part, as_upstream=options.as_upstream)


def _of_benchmark(source: Source, dialect: Dialect, options: PlanOptions) -> Plan:
    """A training config that is run for each batch size and precision of its block."""
    from tipc.config.dialects.training_benchmark import COPY
    from tipc.plan.benchmark_runs import plan_benchmark

    def part(run: Source, folder: str, more: str) -> Plan:
        rules = dialect.rules_for(COPY, options.as_upstream)
        one, several, machines = rules.train
        rules = rules._replace(train=(one + more, several + more, machines + more))
        if folder:
            rules = rules._replace(log_path=f"{rules.log_path}/{folder}")
        return _by_rules(run, dialect, rules, BENCHMARK_CHAIN, options)

    return plan_benchmark(source, dialect, options.repo, part, as_upstream=options.as_upstream)


def _of_table(source: Source, dialect: Dialect, mode: str, options: PlanOptions, folder: str = "") -> Plan:
    """The plan by a dialect's table; ``folder`` is one of its own for what it writes."""
    rules = dialect.rules_for(_relative(source.path, options.repo), options.as_upstream)
    if folder:
        rules = rules._replace(log_path=f"{rules.log_path}/{folder}")
    mode = mode_of(mode, rules, as_upstream=options.as_upstream)
    modes = known_modes(parse(source, dialect.layout), rules, as_upstream=options.as_upstream)
    if mode not in modes:
        raise UsageError(
            wording("unknown mode `{mode}`", mode=mode), path=source.path, remedy=one_of(mode, modes)
        )
    return _by_rules(source, dialect, rules, mode, options)


def _by_rules(source: Source, dialect: Dialect, rules: Rules, mode: str, options: PlanOptions) -> Plan:
    """The plan by a dialect's layout and by rules that may be changed for this config."""
    config = parse(source, dialect.layout)
    variables = Variables(config, rules, mode, root=options.repo, upstream=dialect.rules)
    if not options.as_upstream:
        _check_lists(variables)
    assembly = Assembly(variables, options)
    for item in commands(variables):
        assembly.take(item)
    if not assembly.steps:
        assembly.notes.append(english_text("{path}: this mode runs nothing", path=source.path))
    return Plan(
        config=_relative(source.path, options.repo),
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
            message = wording(
                "line {line} ({name}) is empty or missing: nothing would run", line=row.index + 1, name=name
            )
            raise variables.config.source.error(
                message, place, remedy="tipc lint shows which line is missing"
            )


def _relative(path: str, repo: str) -> str:
    """A config's name: relative to the repository where it is inside."""
    absolute = os.path.realpath(path)
    if absolute.startswith(repo + os.sep):
        return os.path.relpath(absolute, repo)
    return path
