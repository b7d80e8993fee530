"""``tipc run``: run the plan, check what came out, report."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, TextIO, cast

from tipc.errors import FAILED, INTERRUPTED, PASSED, UsageError

if TYPE_CHECKING:
    from tipc.certify.verdict import Verdict
    from tipc.plan.machine import Machine
    from tipc.run.executor import Executor
    from tipc.run.progress import Progress
    from tipc.run.record import Run
    from tipc.run.session import Request, Session


def main(argv: list[str]) -> int:
    """Plan, run, certify, report."""
    options = parser().parse_args(argv)
    from tipc.plan.machine import this_machine
    from tipc.run import session as sessions
    from tipc.run.scheduler import Settings
    from tipc.run.streams import Enduring

    going_on = options.resume if options.resume is not None else options.rerun_failed
    if going_on is None:
        session = sessions.new(request_of(options))
    elif options.config:
        raise UsageError(
            "--resume and --rerun-failed take a run, not configs", remedy="tipc run --resume [RUN]"
        )
    else:
        session = sessions.again(
            going_on or None,
            rerun_failed=options.rerun_failed is not None,
            expression=options.expression,
            only=options.only,
        )
    if options.dry_run:
        return dry_run(session, sys.stdout)
    machine = this_machine()
    executor, cores = _executor(options.executor, machine)
    settings = Settings(
        cores=cores,
        jobs=options.jobs,
        queued=options.executor == "ray",
        timeout=options.timeout,
        retries=options.retries,
        fail_fast=options.fail_fast,
        cold=options.cold,
        python=session.request.plan.get("python"),
    )
    stream = cast("TextIO", Enduring(sys.stdout))
    progress = _progress(stream, len(session.wanted))
    try:
        progress.header(session.plans, machine.describe())
        run, interrupted = sessions.execute(session, executor, settings, progress, argv)
    finally:
        executor.close()
        progress.close()
    return conclude(run, stream, interrupted=interrupted, checks=options.checks, strict=options.strict)


def conclude(run: Run, stream: TextIO, *, interrupted: bool, checks: bool, strict: bool) -> int:
    """Certify and report a run that is over; the exit code."""
    from tipc.report.finish import finish

    verdict: Verdict | None = None
    if checks and not interrupted and not run.left_out:
        from tipc.certify.engine import certify

        verdict = certify(run, strict=strict)
    finish(run, verdict, stream)
    stream.flush()
    return exit_code(run, verdict, interrupted=interrupted, strict=strict)


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
    if strict and (run.left_out or any(result.state == "flaky" for result in results)):
        return FAILED
    return PASSED


def dry_run(session: Session, stream: TextIO) -> int:
    """Show what would run, in order, as lines for a shell; run and write nothing."""
    from tipc.run.failure import pasteable
    from tipc.run.progress import place

    for plan in session.plans:
        stream.write(f"# {plan.key} ({plan.repo})\n")
        for step in plan.steps:
            if (plan.key, step.id) in session.wanted:
                stream.write(f"# {step.id} ({place(step)})\n{pasteable(plan, step)}\n")
    return PASSED


def request_of(options: argparse.Namespace) -> Request:
    """The new run that the options ask for."""
    from tipc.plan.inputs import expand_configs
    from tipc.run.session import Request

    if not options.config:
        raise UsageError("which config?", remedy="tipc run CONFIG… [MODE], or tipc run --resume")
    configs, mode = expand_configs(options.config, options.mode)
    return Request(
        configs=tuple(dict.fromkeys(os.path.abspath(config) for config in configs)),
        mode=mode,
        plan={
            "repo": os.path.abspath(options.repo) if options.repo else None,
            "dialect": options.dialect,
            "as_upstream": options.as_upstream,
            "python": options.python,
            "device": options.device,
            "allow_shell": options.allow_shell,
            "trace": options.trace,
        },
        prepare=options.prepare,
        expression=options.expression,
        only=options.only,
    )


def _progress(stream: TextIO, total: int) -> Progress:
    if stream.isatty() and os.environ.get("TERM") != "dumb":
        from tipc.run.progress_live import LiveProgress

        return LiveProgress(stream, total)
    from tipc.run.progress import Progress

    return Progress(stream, total)


def _executor(name: str, machine: Machine) -> tuple[Executor, int]:
    """Where steps run, and the cores of the largest machine there."""
    if name == "ray":
        from tipc.run.ray_executor import RayExecutor

        cluster = RayExecutor()
        nodes = [node["Resources"] for node in cluster.ray.nodes() if node["Alive"]]
        return cluster, max((int(node.get("CPU", 0)) for node in nodes), default=1) or 1
    from tipc.run.local import LocalExecutor

    return LocalExecutor(), machine.cores


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
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
    add("--rerun-failed", nargs="?", const="", metavar="RUN", help="as --resume, and what failed once more")
    add("--dry-run", action="store_true", help="show the commands in order, run nothing")
    add("--fail-fast", action="store_true", help="stop everything at the first failure")
    add("--timeout", type=positive_seconds, metavar="SECONDS", help="end a step that takes longer")
    add("--retries", type=count, default=0, metavar="N", help="try a failed step again; a late pass is flaky")
    add("--jobs", type=positive_count, metavar="N", help="at most so many steps at once")
    add("--executor", choices=("local", "ray"), default="local", help="where steps run (default: here)")
    add("--cold", action="store_true", help="a new interpreter for every step")
    add("--no-prepare", dest="prepare", action="store_false", help="the data is there: do not prepare")
    add("--no-checks", dest="checks", action="store_false", help="run only, certify nothing")
    add("--strict", action="store_true", help="what is not certified or flaky is a failure")
    add("--repo", metavar="DIR", help="the root of the model repository")
    add("--dialect", help="the layout of the config, if it is not recognised")
    add("--python", metavar="PROGRAM", help="the interpreter for `python` in configs")
    add("--device", help="plan for cpu, gpu, npu, xpu, …")
    add("--as-upstream", action="store_true", help="the commands of the upstream script to the letter")
    add("--allow-shell", action="store_true", help="let a config use pipes, && and the like")
    add("--trace", action="store_true", help="take the plan from the repository's own script")
    return made


def positive_seconds(text: str) -> float:
    """A number of seconds above 0."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError("must be above 0")
    return value


def count(text: str) -> int:
    """0, 1, 2, …"""
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError("must not be below 0")
    return value


def positive_count(text: str) -> int:
    """1, 2, 3, …"""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value
