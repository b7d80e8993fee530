"""``tipc run``: run the plan, check what came out, report."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, TextIO, cast

from tipc.cli.options import Parser, count, parse, positive_count
from tipc.errors import FAILED, INTERRUPTED, PASSED, USAGE, UsageError, deduplicated, wording
from tipc.kinds import FLAKY
from tipc.language import plural, say

if TYPE_CHECKING:
    from pathlib import Path

    from tipc.certify.early import EarlyChecks
    from tipc.certify.evidence.prober import Prober
    from tipc.certify.verdict import Verdict
    from tipc.run.executors.executor import Executor
    from tipc.run.executors.executor_kinds import ExecutorKind
    from tipc.run.record.results import Run
    from tipc.run.schedule.scheduler import Settings
    from tipc.run.session import Request, Session
    from tipc.run.show.progress import Progress


REPORTS = ("html", "junit", "json")  # what can be written beside the run's own report


def main(argv: list[str]) -> int:
    """Plan, run, certify, report."""
    options = parse(parser(), argv, "run")
    if options.paddle is not None:  # an empty one is refused: a variable that is not set may stand there
        from tipc.cli.releases import main as on_releases

        return on_releases(options, argv, main)
    if options.envs:
        raise UsageError("--envs goes with --paddle", remedy="tipc run CONFIG… --paddle 3.1,3.2 --envs DIR")
    from tipc.run.executors.executor_kinds import executor_kind

    session = session_of(options, argv)
    for problem in deduplicated(session.problems):
        sys.stderr.write(f"{problem}\n")
    kind = executor_kind(options.executor)
    if options.dry_run:
        return dry_run(session, sys.stdout) or _code_of_problems(session)
    if kind.name == "local":  # a node of a cluster has programs of its own
        refuse_absent(session.request.plan.python)
    executor = kind.make()
    try:
        get_ready(session, executor, cold=options.cold)
        # All else is imported from here on, while the server that this has started imports paddle.
        code = run_and_conclude(session, kind, executor, options, argv)
    finally:
        executor.close()
    return code or _code_of_problems(session)


def refuse_absent(python: str) -> None:
    """Before data are prepared, which takes long: the interpreter of ``--python`` has to be there."""
    from tipc.plan.target.interpreter import find_program, of_folder

    if not python:
        return
    inside = of_folder(python)
    if inside:
        raise UsageError(
            wording("--python: {path} is a folder", path=python),
            remedy=wording("its interpreter: --python {path}", path=inside),
        )
    if find_program(python) is None:
        raise UsageError(
            wording("--python: there is no program `{name}`", name=python),
            remedy="name an interpreter that is there: --python PROGRAM",
        )


def run_and_conclude(
    session: Session, kind: ExecutorKind, executor: Executor, options: argparse.Namespace, argv: list[str]
) -> int:
    """The steps, the checks and the report; the exit code."""
    from tipc.plan.plan_text import machine_text
    from tipc.plan.target.machine import this_machine
    from tipc.run.execution import execute
    from tipc.run.show.streams import Enduring

    settings = _settings(session, kind, executor, options)
    stream = cast("TextIO", Enduring(sys.stdout))
    progress = _progress(stream, len(session.wanted), options.verbosity)
    early: list[Prober] = []
    try:
        progress.header(session.plans, machine_text(this_machine()))
        for note in _warnings(session):
            progress.note(note)
        beside = None
        if options.checks:
            beside = checks_beside(session, executor, early)
        run, interrupted = execute(session, executor, settings, progress, argv, beside, make_ready)
        progress.close()
        files = {name: getattr(options, name) for name in REPORTS if getattr(options, name)}
        prober = let_go = None
        if early:
            prober = early[0]
            let_go = partial(let_go_of, executor, early)
        return conclude(
            run,
            stream,
            interrupted=interrupted,
            checks=options.checks,
            strict=options.strict,
            files=files,
            prober=prober,
            quiet=options.verbosity < 0,
            let_go=let_go,
        )
    finally:
        progress.close()
        let_go_of(executor, early)


def let_go_of(executor: Executor, probers: list[Prober]) -> None:
    """End what ran the steps and the probes, then remove what the probes had open. Can be called twice."""
    executor.close()
    for prober in probers:
        prober.close()


def _settings(
    session: Session, kind: ExecutorKind, executor: Executor, options: argparse.Namespace
) -> Settings:
    """How the steps are run."""
    from tipc.run.schedule.scheduler import Settings
    from tipc.run.schedule.whole_cores import whole_cores

    return Settings(
        cores=kind.cores(executor),
        jobs=options.jobs,
        whole_cores=whole_cores(),
        queued=kind.queues,
        timeout=options.timeout,
        retries=options.retries,
        fail_fast=options.fail_fast,
        cold=options.cold,
        python=session.request.plan.python,
    )


def session_of(options: argparse.Namespace, argv: list[str]) -> Session:
    """A new session, or one that goes on."""
    from tipc.run.session import new

    if options.resume is not None or options.rerun_failed is not None:
        return going_on(options, given(argv))
    if options.outdated:
        raise UsageError("--outdated goes with --rerun-failed", remedy="--resume runs what is outdated")
    return new(request_of(options))


def _warnings(session: Session) -> Iterator[str]:
    """What a user should know before the first step runs."""
    from tipc.language import sentence
    from tipc.run.execution import about_to_prepare
    from tipc.run.missing import missing_for
    from tipc.run.show.prepare_notes import notes_before

    for plan in about_to_prepare(session):
        yield from notes_before(plan, "--no-prepare")
    for reason in missing_for(session.plans):
        yield say("missing: ") + sentence(reason)


def _code_of_problems(session: Session) -> int:
    """The exit code where all that could be planned has passed."""
    if session.problems:
        return USAGE
    return PASSED


def checks_beside(
    session: Session, executor: Executor, made: list[Prober]
) -> Callable[[Path], EarlyChecks] | None:
    """Makes, when it is called, what asks the checks' questions while steps run; ``made`` keeps who knows the
    answers."""
    from tipc.run.executors.local import LocalExecutor

    if not isinstance(executor, LocalExecutor):
        return None  # probes run here: elsewhere there may be nothing to ask
    here = executor

    def make(directory: Path) -> EarlyChecks:
        # Now, while the steps run; the last is what numpy imports for its first median.
        import numpy.ma  # noqa: F401

        import tipc.certify.certifier  # noqa: F401
        from tipc.certify.early import EarlyChecks

        checks = EarlyChecks(session.plans, directory, here)
        made.append(checks.prober)
        return checks

    return make


def get_ready(session: Session, executor: Executor, *, cold: bool) -> None:
    """Paddle is imported while the run is still being put together."""
    from tipc.run.executors.local import LocalExecutor
    from tipc.run.session import first_tasks

    if isinstance(executor, LocalExecutor):
        for task in first_tasks(session, cold=cold):
            executor.get_ready(task)


def make_ready() -> None:
    """While steps run: what the end of the run needs, checked or not."""
    import concurrent.futures.thread  # noqa: F401

    import tipc.report.finish  # noqa: F401
    from tipc.report.html import page

    page.make_ready()


def conclude(
    run: Run,
    stream: TextIO,
    *,
    interrupted: bool,
    checks: bool,
    strict: bool,
    files: Mapping[str, str] | None = None,
    prober: Prober | None = None,
    quiet: bool = False,
    let_go: Callable[[], None] | None = None,
) -> int:
    """Certify and report a run that is over; the exit code. ``let_go`` is called when all is asked."""
    from concurrent.futures import ThreadPoolExecutor

    from tipc.report.finish import finish

    verdict: Verdict | None = None
    if checks and not interrupted and not run.left_out:
        verdict = check(run, stream, strict=strict, prober=prober, quiet=quiet)
    with ThreadPoolExecutor(max_workers=1) as beside:
        # Servers that end and folders that are removed are waited for, a fifth of a second: meanwhile the
        # report is made. What fails there fails again, and is said, where the caller lets go for good.
        if let_go is not None:
            beside.submit(let_go)
        finish(run, verdict, stream, files or {})
    outdated = run.left_out is not None and run.left_out.code == "steps-outdated"
    if interrupted or outdated:
        stream.write(say("to go on: ") + f"tipc run --resume {run.id}\n")
    stream.flush()
    return exit_code(run, verdict, interrupted=interrupted, strict=strict)


def check(run: Run, stream: TextIO, *, strict: bool, prober: Prober | None, quiet: bool) -> Verdict:
    """Make the checks, and say so: on a terminal what is being checked, in a log that it has begun."""
    from tipc.certify.certifier import certify
    from tipc.run.show.status_line import StatusLine

    began = time.monotonic()
    steps = plural(sum(len(plan.steps) for plan in run.plans), "step")
    if not quiet and not stream.isatty():
        stream.write(f"  {say('checking {steps} against what was seen of them', steps=steps)}\n")
        stream.flush()
    with StatusLine(stream) as line:

        def show(text: str) -> None:
            line.show(f"  {say('checking: ')}{text}")

        verdict = certify(run, strict=strict, say=show, prober=prober)
    if not quiet:
        seconds = f"{time.monotonic() - began:.1f}"
        stream.write(f"  {say('checked, {seconds} s after the last step', seconds=seconds)}\n")
    return verdict


def exit_code(run: Run, verdict: Verdict | None, *, interrupted: bool, strict: bool) -> int:
    """0 only if every step but those that were left out has passed, now or earlier in this run, and the
    verdict, if there is one, does.

    With ``--strict``, a step that passed only when retried and steps that were not selected are failures.
    """
    if interrupted:
        return INTERRUPTED
    results = [result for result in run.results.values() if not result.left_out]
    if not all(result.ok for result in results) or (verdict is not None and not verdict.passed):
        return FAILED
    if strict and (run.left_out or any(result.state == FLAKY for result in results)):
        return FAILED
    return PASSED


def dry_run(session: Session, stream: TextIO) -> int:
    """Show what would run, in order, as lines for a shell; run and write nothing."""
    from tipc.run.execution import about_to_prepare, would_run
    from tipc.run.show.failure import pasteable
    from tipc.run.show.prepare_notes import notes_before
    from tipc.run.show.progress import place

    shown = would_run(session)
    for plan in about_to_prepare(session):
        for note in notes_before(plan, "--no-prepare"):
            stream.write(f"# {note}\n")
    for plan in session.plans:
        stream.write(f"# {plan.key} ({plan.repo})\n")
        for step in plan.steps:
            if (plan.key, step.id) in shown:
                stream.write(f"# {step.id} ({place(step)})\n{pasteable(plan, step)}\n")
    return PASSED


# What a call that goes on with a run cannot change: it would be another run.
FIXED = ("config", "mode", "repo", "dialect", "as_upstream", "trace", "shard", "output")


def going_on(options: argparse.Namespace, told: frozenset[str]) -> Session:
    """The session of ``--resume`` or ``--rerun-failed``: each option of the call is honoured or refused."""
    from tipc.run.earlier import RerunRules
    from tipc.run.going_on import Changes, again

    if options.config:
        raise UsageError(
            "--resume and --rerun-failed take a run, not configs", remedy="tipc run --resume [RUN]"
        )
    if options.resume is not None and options.rerun_failed is not None:
        raise UsageError("--resume or --rerun-failed, not both")
    for name in FIXED:
        if name in told:
            option = f"--{name.replace('_', '-')}"
            raise UsageError(
                wording("{option} cannot change a run that goes on", option=option),
                remedy="tipc run CONFIG makes a new one",
            )
    changed = {}
    for name in ("prepare", "python", "device", "allow_shell"):
        if name in told:
            changed[name] = getattr(options, name)
    changes = Changes(expression=options.expression, only=options.only, **changed)
    if options.rerun_failed is not None:
        rules = RerunRules(failed=True, outdated=options.outdated)
        return again(options.rerun_failed or None, rules, changes)
    return again(options.resume or None, RerunRules(failed=False, outdated=True), changes)


def given(argv: list[str]) -> frozenset[str]:
    """The names of the options that a call gives by itself, whatever the defaults are."""
    bare = parser()
    for action in bare._actions:
        action.default = argparse.SUPPRESS
    return frozenset(vars(bare.parse_args(argv)))


def request_of(options: argparse.Namespace) -> Request:
    """The new run that the options ask for."""
    from tipc.plan.request import PlanOptions, expand
    from tipc.run.session import Request

    if not options.config:
        raise UsageError("which config?", remedy="tipc run CONFIG… [MODE], or tipc run --resume")
    expansion = expand(options.config, options.mode, trace=options.trace)
    if expansion.left_out:
        from tipc.plan.plan_text import not_planned_text

        sys.stderr.write(not_planned_text(expansion.left_out, ()))
    configs = expansion.configs
    if options.shard:
        part, parts = options.shard
        configs = configs[part - 1 :: parts]
        if not configs:
            raise UsageError(
                wording("--shard {part}/{parts}: there are not so many configs", part=part, parts=parts)
            )
    return Request(
        configs=tuple(dict.fromkeys(map(os.path.abspath, configs))),
        mode=expansion.mode,
        plan=PlanOptions(
            repo=options.repo and os.path.abspath(options.repo),
            dialect=options.dialect,
            as_upstream=options.as_upstream,
            python=options.python,
            device=options.device,
            allow_shell=options.allow_shell,
            trace=options.trace,
            output=options.output,
            prepare=options.prepare,
        ),
        expression=options.expression,
        only=options.only,
    )


def _progress(stream: TextIO, total: int, verbosity: int) -> Progress:
    live = stream.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("CI")
    if live and verbosity >= 0:
        from tipc.run.show.progress_live import LiveProgress

        return LiveProgress(stream, total, verbosity)
    from tipc.run.show.progress import Progress

    return Progress(stream, total, verbosity)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = Parser(
        prog="tipc run", description="Run the plan of one or more configs, check what came out, report."
    )
    add = made.add_argument
    add("config", nargs="*", help="config files, directories or globs, and last the mode")
    add("--mode", help="lite_train_lite_infer (the default), whole_infer, …")
    add(
        "-k", dest="expression", default="", metavar="EXPR", help="only steps that match: 'amp and not infer'"
    )
    add("--only", default="", metavar="KINDS", help="only steps of these kinds: train,export")
    add("--resume", nargs="?", const="", metavar="RUN", help="go on with a run, the newest if none is named")
    add("--rerun-failed", nargs="?", const="", metavar="RUN", help="what failed, and what depends on it")
    add("--outdated", action="store_true", help="with --rerun-failed: what has changed since it passed, too")
    loud = made.add_mutually_exclusive_group()
    loud.add_argument(
        *("-v", "--verbose"), dest="verbosity", action="store_const", const=1, default=0,
        help="also when steps start, and the status lines of the dialect",
    )  # fmt: skip
    loud.add_argument(
        *("-q", "--quiet"), dest="verbosity", action="store_const", const=-1, help="only the summary"
    )
    add("--dry-run", action="store_true", help="show the commands in order, run nothing")
    add("-x", "--fail-fast", action="store_true", help="stop everything at the first failure")
    add("--timeout", type=positive_seconds, metavar="SECONDS", help="end a step that takes longer")
    add("--retries", type=count, default=0, metavar="N", help="try a failed step again; a late pass is flaky")
    add("--jobs", type=positive_count, metavar="N", help="at most so many steps at once")
    add("--executor", default="local", metavar="NAME", help="where steps run: local (the default), ray, …")
    add("--cold", action="store_true", help="a new interpreter for every step")
    add(
        "--prepare",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="--no-prepare: the data is there; --prepare with --resume: prepare again",
    )
    add("--no-checks", dest="checks", action="store_false", help="run only, certify nothing")
    add("--strict", action="store_true", help="what is not certified or flaky is a failure")
    add("--shard", type=shard, metavar="I/N", help="only every N-th config, from the I-th on: 2/5")
    for name in REPORTS:
        add(f"--{name}", metavar="FILE", help=say("write the report as {form}, too", form=name.upper()))
    add("--repo", metavar="DIR", default="", help="the root of the model repository")
    add("--dialect", default="", help="the layout of the config, if it is not recognised")
    add("--python", metavar="PROGRAM", default="", help="the interpreter for `python` in configs")
    add("--paddle", metavar="RELEASES", help="run on each of these releases: 3.1,3.2,3.3")
    add("--envs", metavar="DIR", default="", help="where --paddle keeps its environments (.tipc/envs)")
    add(
        "--output",
        metavar="NAME",
        default="",
        help="write below test_tipc/output/NAME, not beside other runs",
    )
    add("--device", default="", help="plan for cpu, gpu, npu, xpu, …")
    add("--as-upstream", action="store_true", help="the commands of the upstream script to the letter")
    add("--allow-shell", action="store_true", help="let a config use pipes, && and the like")
    add("--trace", action="store_true", help="take the plan from the repository's own script")
    return made


def positive_seconds(text: str) -> float:
    """A number of seconds above 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(say("must be a number of seconds above 0, not `{text}`", text=text))
    return value


def shard(text: str) -> tuple[int, int]:
    """``2/5``: the second of five parts."""
    part, slash, parts = text.partition("/")
    if not (slash and part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
        raise argparse.ArgumentTypeError(say("must be like 2/5 (part 2 of 5), not `{text}`", text=text))
    return int(part), int(parts)
