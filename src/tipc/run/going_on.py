"""Going on with an earlier run: its request, as it is changed now, becomes a session again."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pydantic import TypeAdapter, ValidationError

from tipc.errors import UsageError, wording
from tipc.kinds import FAILED, PREPARE, TIMEOUT
from tipc.plan.request import PlanOptions
from tipc.run.earlier import RerunRules
from tipc.run.record import run_store
from tipc.run.record.journal import replay_of
from tipc.run.record.replay import Replay
from tipc.run.session import Request, Session, new, together


@dataclass(frozen=True)
class Changes:
    """What a call that goes on with a run wants otherwise than the call before. None: as it was."""

    expression: str = ""
    only: str = ""
    prepare: bool | None = None  # True: once more; False: not at all
    python: str | None = None
    device: str | None = None
    allow_shell: bool | None = None

    def applied(self, options: PlanOptions) -> PlanOptions:
        """The options of a plan with these changes."""
        if self.prepare is not None:
            options = replace(options, prepare=self.prepare)
        if self.python is not None:
            options = replace(options, python=self.python)
        if self.device is not None:
            options = replace(options, device=self.device)
        if self.allow_shell is not None:
            options = replace(options, allow_shell=self.allow_shell)
        return options


def again(ref: str | None, rules: RerunRules, changes: Changes | None = None) -> Session:
    """Plan to go on with an earlier run: its request, as changed now, with the config files as they are."""
    directory = run_store.find_run(ref)
    replay = replay_of(directory)
    try:
        request = TypeAdapter(Request).validate_python(replay.options)
    except ValidationError as error:
        raise UsageError(
            "this run cannot be resumed: its request is not known", path=str(directory)
        ) from error
    wish = changes or Changes()
    if wish.expression or wish.only:
        request = replace(request, expression=wish.expression, only=wish.only)
    request = replace(request, plan=wish.applied(request.plan))
    rules = replace(rules, prepare=wish.prepare is True)
    session = replace(new(request), run=directory, rules=rules)
    if session.problems:
        raise together(session.problems)  # what has begun with them cannot go on without them
    if rules.failed and not rules.prepare:
        _refuse_to_prepare_again(session, replay)
    return session


def _refuse_to_prepare_again(session: Session, replay: Replay) -> None:
    """A preparation that failed may have deleted data: it is repeated only when that is asked for."""
    for plan in session.plans:
        for step in plan.steps:
            result = replay.results.get((plan.key, step.id))
            if step.kind == PREPARE and result and result.state in (FAILED, TIMEOUT):
                raise UsageError(
                    wording(
                        "preparing {config} failed, and doing it again may remove data", config=plan.config
                    ),
                    remedy="`--prepare` does it again; is the data already there? `--no-prepare`",
                )
