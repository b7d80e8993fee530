"""Puts questions to probes, and keeps what they answer.

A probe is a process of the config's own interpreter and a task of an executor, as a step is: it ends with
``tipc``, and while the executor has a warm server for it, it is a fork of that. It runs code and files of the
repository, so it is isolated from it, has a time limit and a memory limit, and its death costs the answers
that it has not given yet. What was answered while the steps still ran is not asked again, unless a file has
changed since.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tipc.certify.engines import all_engines
from tipc.certify.evidence.answers import KINDS, Answer, RunAnswer, RunReply, read_answer
from tipc.certify.evidence.question import FileState, Question, QuestionGroup, is_outside, state_of
from tipc.certify.evidence.trials import Answered, Trial
from tipc.message import english_text
from tipc.npz import read_npz
from tipc.run.executors.executor import Task, TaskOutcome
from tipc.run.executors.local import LocalExecutor
from tipc.run.tasks import environment

PROBE = Path(__file__).parents[1] / "probes" / "probe_main.py"
TIMEOUT = 300.0  # seconds for one question
LATER = 1.1  # times that: when a process is ended that does not do it itself
MEMORY = 8 * 2**30  # bytes, resident, of all questions that a process has forked for
OF_ONE = 7 * 2**30  # bytes that one question may ask for: it fails alone, and not its process
ANSWER_LIMIT = 16 * 2**20
PIPE = "more"  # through which a probe that stands by is asked
PULSE = 0.25  # seconds between two looks at what runs
LOOK_AT_MEMORY = 1.0
# Variables of Python that change nothing about what is imported.
HARMLESS = ("PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "PYTHONIOENCODING", "PYTHONUTF8")


@dataclass(frozen=True)
class End:
    """How a probe ended that had not answered."""

    reason: str
    limited: bool = False  # not the model's doing: it was never started, took too long or too much memory


@dataclass
class Asking:
    """A probe that was started: what it was asked, and where it writes."""

    asked: list[Question]
    task: Task
    folder: Path
    deadline: float = 0.0  # for its next answer
    beside_others: bool = False  # several questions are tried at once
    size: int = 0  # of its answers so far
    end: str = ""  # why it was ended

    @property
    def replies(self) -> Path:
        return self.folder / "answers.jsonl"


@dataclass
class StandingBy:
    """A probe that has made predictors of one model and waits to be asked."""

    group: QuestionGroup
    model: tuple[Path, Path]  # structure and parameters
    state: tuple[FileState, ...]  # of those files when it was started
    asking: Asking
    ticket: int = 0

    def can_answer(self, asked: Iterable[Question]) -> bool:
        """Whether all questions are its own, and no one has touched the files since: it may have read
        another model than the one that is there."""
        if tuple(map(state_of, self.model)) != self.state:
            return False
        for question in asked:
            if question.group != self.group:
                return False
            if question.key[0] == "run":
                if any(trial.model != self.model[0] or trial.simulated for trial in question.trials):
                    return False
            elif question.key[0] != "images":
                return False
        return True


class Prober:
    """The probes of one run. Without an executor it has one of its own."""

    def __init__(
        self, evidence: Path, executor: LocalExecutor | None = None, timeout: float = TIMEOUT
    ) -> None:
        self.evidence = evidence  # their logs go here
        self.timeout = timeout
        self._given = executor
        self._own: LocalExecutor | None = None
        self._scratch = tempfile.TemporaryDirectory(prefix="tipc-probe-")
        self.scratch = Path(self._scratch.name)
        self._running: dict[int, Asking] = {}
        self._prepared: list[Asking] = []
        self._standing: StandingBy | None = None
        self._answers: dict[str, Answer] = {}  # by Question.digest
        self._tried: dict[str, Answered] = {}  # by Trial.digest
        self._ends: dict[str, End] = {}  # Question.digest → how the process ended that did not answer
        self._count = 0
        self._looked = 0.0

    @property
    def executor(self) -> LocalExecutor:
        """Where probes run."""
        if self._given is not None:
            return self._given
        if self._own is None:
            self._own = LocalExecutor(warm=False)  # one process for all questions: there is no second import
        return self._own

    def close(self) -> None:
        """Let go of everything; what still runs is ended with its executor."""
        if self._own is not None:
            self._own.close()
        self._scratch.cleanup()

    # ------------------------------------------------------------------------------------ what is known
    def answer(self, question: Question) -> Answer:
        """The answer to a question that was asked."""
        return self._answers[question.digest]

    def tried(self, question: Question) -> tuple[Answered, ...]:
        """What came out of each trial of a question that was asked."""
        return tuple(replace(self._tried[trial.digest], trial=trial) for trial in question.trials)

    def open_questions(self, asked: Iterable[Question]) -> list[Question]:
        """What of these questions and of their trials nobody has answered yet, or is being asked."""
        under_way = set()
        done = set(self._tried)
        for one in (*self._running.values(), *self._prepared):
            for question in one.asked:
                under_way.add(question.digest)
                for trial in question.trials:
                    done.add(trial.digest)
        found = []
        for question in asked:
            if not question.trials:
                if question.digest not in self._answers and question.digest not in under_way:
                    found.append(question)
                continue
            left = [one for one in question.trials if one.digest not in done]
            if left:
                found.append(replace(question, trials=tuple(left)))
        return found

    # ------------------------------------------------------------------------------------- one process
    def prepare(self, asked: list[Question], at_once: int, *, yields: bool = False) -> Task:
        """The task that puts questions of one group to a process, so many at once. One that yields is
        nice to others that want the processor."""
        folder = self._new_folder()
        requests = self._write_requests(asked, folder)
        more = []
        if yields:
            more.append("yields")
        task = self._probe(asked[0].group, folder, requests, at_once, more)
        self._prepared.append(Asking(asked, task, folder, beside_others=at_once > 1 and len(asked) > 1))
        return task

    def stand_by(self, asked: Sequence[Question]) -> Task | None:
        """The task of a probe that makes the predictors of questions about one model, which were answered
        before, and waits: there will be more about it. None: there is nothing to make, or one stands by."""
        predictors = []
        for question in asked:
            for trial in question.trials[:1]:
                if not (trial.simulated or trial.skip):
                    engine = str(all_engines()[trial.engine].script)
                    predictors.append((trial, {**model_of(trial), "engine": engine}))
        if self._standing is not None or not predictors:
            return None
        first = predictors[0][0]
        folder = self._new_folder()
        ready = folder / "ready.json"
        wanted = [words for trial, words in predictors if trial.model == first.model]
        body = {"legacy": asked[0].body["legacy"], "predictors": wanted}
        ready.write_text(json.dumps(body), encoding="utf-8")
        pipe = folder / PIPE
        os.mkfifo(pipe)
        model = (first.model, first.params)
        task = self._probe(asked[0].group, folder, pipe, processors(), ["yields", f"ready={ready}"])
        state = tuple(map(state_of, model))
        self._standing = StandingBy(asked[0].group, model, state, Asking([], task, folder))
        return task

    def _ask_who_stands_by(self, asked: list[Question]) -> bool:
        """Give questions to the probe that waits for them; False: there is none, or it is not for these."""
        standing = self._standing
        if standing is None or not standing.ticket or not standing.can_answer(asked):
            return False
        requests = self._write_requests(asked, standing.asking.folder)
        try:
            pipe = os.open(standing.asking.folder / PIPE, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # it has not opened it yet, or has gone
            return False
        try:
            os.write(pipe, f"{requests}\n".encode())
        finally:
            os.close(pipe)
        standing.asking.asked = asked
        standing.asking.beside_others = len(asked) > 1
        standing.asking.deadline = time.monotonic() + LATER * self.timeout
        self._running[standing.ticket] = standing.asking
        self._standing = None
        return True

    def _dismiss(self) -> None:
        """End the probe that stands by."""
        if self._standing is not None and self._standing.ticket:
            self.executor.kill(self._standing.ticket)
        self._standing = None

    def _new_folder(self) -> Path:
        folder = self.scratch / str(self._count)
        folder.mkdir()
        self._count += 1
        return folder

    def _write_requests(self, asked: list[Question], folder: Path) -> Path:
        """The questions as the probe reads them."""
        requests = folder / "requests.json"
        written: dict[int, str] = {}  # arrays by identity: several trials get the same
        bodies = [self._body(number, question, folder, written) for number, question in enumerate(asked)]
        requests.write_text(json.dumps(bodies), encoding="utf-8")
        return requests

    def _probe(
        self, group: QuestionGroup, folder: Path, requests: Path, at_once: int, more: Sequence[str]
    ) -> Task:
        replies = folder / "answers.jsonl"
        replies.touch()
        # A question that takes too long ends by itself; a process that never answers, a little later.
        seconds = max(1, int(self.timeout))
        figures = (at_once, OF_ONE, seconds)
        arguments = (str(PROBE), str(requests), str(replies), *map(str, figures), *more)
        return self._task(group, arguments, self.evidence / f"probe-{folder.name}.log")

    def _task(self, group: QuestionGroup, arguments: tuple[str, ...], log: Path) -> Task:
        """A fork of the steps' own warm server, where that is as good as isolated; else isolated."""
        shared, isolated = self._tasks(group, arguments, log)
        if is_clean(shared.env, Path(group.repo)) and self.executor.is_warm(shared):
            return shared
        return replace(isolated, warm=self.executor.is_warm(isolated))

    def _tasks(self, group: QuestionGroup, arguments: tuple[str, ...], log: Path) -> tuple[Task, Task]:
        env = environment(os.environ, dict(group.env))
        # Parity is a matter of the two engines; on a CPU it is not one of the GPU's.
        env["CUDA_VISIBLE_DEVICES"] = ""
        interpreter = group.interpreter
        if os.sep in interpreter:
            # A path that a config names is as seen from its steps; an isolated probe runs elsewhere.
            interpreter = os.path.join(os.path.abspath(group.cwd), interpreter)
        shared = Task("probe", (interpreter, *arguments), Path(group.cwd), env, log, None)
        # Isolated: nothing is imported from the repository, from the current folder or by PYTHONPATH.
        isolated = replace(shared, argv=(interpreter, "-I", "-B", *arguments), cwd=self.scratch)
        return shared, isolated

    def warm_up(self, group: QuestionGroup) -> None:
        """Start a warm server for the probes of a group, unless they can use the one of the steps."""
        shared, isolated = self._tasks(group, (str(PROBE),), self.evidence / "probe.log")
        if not (is_clean(shared.env, Path(group.repo)) and self.executor.is_warm(shared)):
            self.executor.warm_up(isolated)

    def started(self, task: Task, ticket: int) -> None:
        """A task that was prepared here runs."""
        if self._standing is not None and self._standing.asking.task is task:
            self._standing.ticket = ticket
            return
        asking = next(one for one in self._prepared if one.task is task)
        self._prepared.remove(asking)
        now = time.monotonic()
        asking.deadline = now + LATER * self.timeout
        self._looked = now  # it has used no memory yet
        self._running[ticket] = asking

    def ended(self, ticket: int, outcome: TaskOutcome) -> None:
        """Take what a probe has answered."""
        if self._standing is not None and self._standing.ticket == ticket:
            self._standing = None  # it has died; others will be asked
            return
        asking = self._running.pop(ticket)
        lines = {str(line.get("id", "")): line for line in read_lines(asking.replies)}
        end = f"{asking.end or how_it_ended(outcome)}; see {asking.task.log}"
        for number, question in enumerate(asking.asked):
            line = lines.get(question.digest)
            if line is None:
                self._ends[question.digest] = End(end, limited=bool(asking.end or outcome.error))
                continue
            answer = read_answer(question.key[0], json.dumps(line.get("answer")))
            if answer.limited and asking.beside_others:
                self._ends[question.digest] = End(answer.error, limited=True)
                continue
            self._keep(question, answer, asking.folder / str(number))

    def _keep(self, question: Question, answer: Answer, folder: Path) -> None:
        self._answers[question.digest] = answer
        replies = answer.runs if isinstance(answer, RunAnswer) else []
        for number, trial in enumerate(question.trials):
            if number < len(replies):
                self._tried[trial.digest] = read_trial(trial, folder / f"{number}.npz", replies[number])
            else:
                self._tried[trial.digest] = Answered(
                    trial,
                    error=answer.error or english_text("the probe gave no answer"),
                    limited=answer.limited,
                )

    def look_after(self) -> None:
        """End a probe, with all that it started, when one answer takes too long or too much memory."""
        now = time.monotonic()
        look = now - self._looked >= LOOK_AT_MEMORY
        for ticket, asking in self._running.items():
            if (size := asking.replies.stat().st_size) != asking.size:
                asking.deadline, asking.size = now + LATER * self.timeout, size
            if not asking.end and now > asking.deadline:
                asking.end = english_text(
                    "the probe gave no answer within {seconds:.0f} s", seconds=self.timeout
                )
                self.executor.kill(ticket)
            if not asking.end and look and self.executor.memory(ticket) > MEMORY:
                asking.end = english_text(
                    "the probe used more than {limit} GB of memory", limit=MEMORY // 2**30
                )
                self.executor.kill(ticket)
        if look:
            self._looked = now

    # -------------------------------------------------------------------------------------- all of them
    def ask(self, asked: list[Question], say: Callable[[str], None] = lambda text: None) -> None:
        """Put every question that has no good answer yet, and wait. If a process dies, what it has not
        answered goes to another, as long as that leads on; what remains has the reason for an answer. What
        took too long or too much memory beside others is asked once more, one by one."""
        at_once = processors()
        self._forget_errors()
        if self._running:  # beside a probe that is still at work
            self._put(self.open_questions(asked), at_once)
        self._wait(say)
        self._forget_errors()
        left = self.open_questions(asked)
        while left:
            stood_by = self._put(left, at_once)
            self._wait(say)
            before, left = left, self.open_questions(asked)
            if stood_by:
                continue  # if it has died, that may be older than what it was asked
            limited = [one for one in left if self._is_limited(one)]
            if len(left) < len(before) and (at_once == 1 or len(limited) < len(left)):
                continue
            if at_once == 1 or len(before) == 1 or not limited:
                break
            at_once = 1
        for question in left:
            end = self._ends.get(question.digest, End("the probe gave no answer"))
            answer = KINDS[question.key[0]](error=end.reason, limited=end.limited)
            self._keep(question, answer, self.scratch)
        for question in asked:
            self._answers.setdefault(question.digest, Answer())

    def _put(self, asked: list[Question], at_once: int) -> bool:
        """Start to ask; whether some of it went to the probe that stood by."""
        groups: dict[QuestionGroup, list[Question]] = {}
        for question in asked:
            groups.setdefault(question.group, []).append(question)
        stood_by = False
        for those in groups.values():
            if self._ask_who_stands_by(those):
                stood_by = True
            else:
                task = self.prepare(those, at_once)
                self.started(task, self.executor.start(task))
        self._dismiss()
        return stood_by

    def _is_limited(self, question: Question) -> bool:
        return question.digest in self._ends and self._ends[question.digest].limited

    def _wait(self, say: Callable[[str], None]) -> None:
        while self._running:
            names: set[str] = set()
            for one in self._running.values():
                names.update(question.name for question in one.asked)
            say(", ".join(sorted(names)))
            for ticket, outcome in self.executor.wait(PULSE):
                if ticket in self._running:
                    self.ended(ticket, outcome)
            self.look_after()

    def _forget_errors(self) -> None:
        """What went wrong beside the steps gets another chance without them."""
        self._answers = {digest: answer for digest, answer in self._answers.items() if not answer.error}
        self._tried = {digest: tried for digest, tried in self._tried.items() if not tried.error}

    def _body(self, number: int, question: Question, folder: Path, written: dict[int, str]) -> dict[str, Any]:
        """A question as the probe reads it; the arrays of its trials are written for it."""
        body = {**question.body, "id": question.digest}
        if not question.trials:
            return body
        place = folder / str(number)
        place.mkdir()
        runs = []
        for trial in question.trials:
            if id(trial.feeds) not in written:
                path = folder / f"feeds-{len(written)}.npz"
                named = {f"{index} {name}": value for index, (name, value) in enumerate(trial.feeds.items())}
                np.savez(path, **named)  # type: ignore[arg-type]
                written[id(trial.feeds)] = str(path)
            runs.append(
                {
                    **model_of(trial),
                    "engine": str(all_engines()[trial.engine].script),
                    "feeds": written[id(trial.feeds)],
                    "fill": dict(trial.fill),
                    "batch": trial.batch,
                    "inner": [list(shape) for shape in trial.inner],
                    "skip": list(trial.skip),
                    "simulated": trial.simulated,
                }
            )
        return {**body, "runs": runs, "answers": str(place)}


def model_of(trial: Trial) -> dict[str, str]:
    """The files of a trial's model, as a probe is told them."""
    return {"model": str(trial.model), "params": str(trial.params)}


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0))


def is_clean(env: Mapping[str, str], repo: Path) -> bool:
    """Whether an interpreter with these variables imports nothing of the repository unasked."""
    for name, value in env.items():
        if name == "PYTHONPATH":
            if not all(is_outside(Path(entry), repo) for entry in value.split(os.pathsep)):
                return False
        elif name.startswith("PYTHON") and name not in HARMLESS:
            return False
    return True


def how_it_ended(outcome: TaskOutcome) -> str:
    """The end of a probe in words."""
    if outcome.error:
        return english_text("the probe cannot be started: {error}", error=outcome.error)
    if outcome.signal is not None:
        return english_text("the probe was killed by signal {signal}", signal=outcome.signal)
    return english_text("the probe ended with status {status}", status=outcome.exit_code)


def read_trial(trial: Trial, path: Path, reply: RunReply) -> Answered:
    """What came out of one trial."""
    if reply.error:
        return Answered(trial, unfed=tuple(reply.unfed), error=reply.error)
    try:
        file = read_npz(path)
        outputs = {name: file[str(index)] for index, name in enumerate(reply.outputs)}
        inner = {name: file[str(index)] for index, name in enumerate(reply.inner, len(outputs))}
    except (OSError, ValueError, KeyError) as error:
        return Answered(trial, error=english_text("its answer cannot be read: {error}", error=str(error)))
    return Answered(trial, outputs, tuple(reply.unfed), inner=inner)


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The whole lines of the probe's file that are JSON objects."""
    found = []
    with path.open(encoding="utf-8", errors="replace") as stream:
        for text in stream.read(ANSWER_LIMIT).split("\n"):
            with contextlib.suppress(ValueError, RecursionError):
                line = json.loads(text)
                if isinstance(line, dict):
                    found.append(line)
    return found
