"""Questions to the probes: what is asked about a run, and the processes that answer.

One process for each (interpreter, repository) answers everything, so that paddle is imported once. It runs
code of the repository, so it has a time limit and a memory limit, and its death costs one answer and not the
run.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tipc.certify.answers import KINDS, Answer, read_answer
from tipc.certify.predictions import printed_classes
from tipc.certify.scene import PlanScene
from tipc.plan.interpreter import resolve
from tipc.plan.model import Step
from tipc.run.record import Run

PROBE = Path(__file__).parent / "probes" / "probe_main.py"
TIMEOUT = 300.0  # seconds for one question
MEMORY = 8 * 2**30  # bytes, resident
ANSWER_LIMIT = 16 * 2**20

Key = tuple[str, str, str]  # (kind, Plan.key, Step.id)


@dataclass(frozen=True)
class Question:
    """One question, and the interpreter and environment that can answer it."""

    key: Key
    interpreter: str
    repo: str
    env: tuple[tuple[str, str], ...]
    body: Mapping[str, Any] = field(hash=False)

    @property
    def group(self) -> tuple[str, str, tuple[tuple[str, str], ...]]:
        """Questions with the same group can be put to one process."""
        return self.interpreter, self.repo, self.env


def ask_probes(run: Run, timeout: float = TIMEOUT) -> dict[Key, Answer]:
    """Everything that the checks want to know about a run's weights and models, by (kind, plan, step)."""
    groups: dict[Any, list[Question]] = {}
    for index, plan in enumerate(run.plans):
        for question in questions(PlanScene(run, plan, index)):
            groups.setdefault(question.group, []).append(question)
    answers: dict[Key, Answer] = {}
    for number, asked in enumerate(groups.values()):
        log = run.directory / "evidence" / f"probe-{number}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        answers.update(ask(asked, log, timeout))
    return answers


def questions(scene: PlanScene) -> Iterator[Question]:
    """What is asked about one plan: its weights, its exported models, and for each export the parity."""
    for step in scene.steps("train"):
        path = scene.path(step.weights)
        if step.weights and path.is_file() and is_python(step):
            yield question("weights", scene, step, {"weights": str(path)})
    for step in scene.steps("export"):
        if not step.model_dir or not is_python(step):
            continue
        model_dir, weights = str(scene.path(step.model_dir)), trained_weights(scene, step)
        yield question("model", scene, step, {"model_dir": model_dir, "weights": weights})
        yield question("parity", scene, step, parity_body(scene, step, model_dir, weights))


def parity_body(scene: PlanScene, step: Step, model_dir: str, weights: str) -> dict[str, Any]:
    """The protocol's request for one export, and which engines and batch sizes are tried."""
    cell = next((cell for cell in scene.plan.cells if cell.id == step.cell), None)
    trainings = [other for other in scene.plan.steps if other.cell == step.cell and other.kind == "train"]
    inferences = [other for other in scene.plan.steps if other.cell == step.cell and other.kind == "infer"]
    sizes = [int(text) for other in inferences if (text := other.settings.get("batch_size", "")).isdigit()]
    precision = cell.precision if cell else "fp32"
    asked_int8 = any("int8" in other.settings.get("precision", "") for other in inferences)
    return {
        "batch_size": min(max(sizes, default=1), 64),
        "int8": precision == "pact" or asked_int8,
        "printed": list(printed_classes(scene, step.cell)),
        "request": {
            "model": scene.plan.model,
            "weights": weights,
            "model_dir": model_dir,
            "train_argv": list(trainings[0].argv) if trainings else [],
            "precision": precision,
            "repo": scene.plan.repo,
        },
    }


def trained_weights(scene: PlanScene, step: Step) -> str:
    """The weights that an export reads, as a file; some scripts are given the name without its ending."""
    if not step.weights:
        return ""
    path = scene.path(step.weights)
    for candidate in (path, path.with_name(f"{path.name}.pdparams")):
        if candidate.is_file():
            return str(candidate)
    return str(path)


def question(kind: str, scene: PlanScene, step: Step, body: Mapping[str, Any]) -> Question:
    env = {key: value for key, value in step.env.items() if value is not None}
    env["CUDA_VISIBLE_DEVICES"] = (
        ""  # parity is a matter of the two engines; on a CPU it is not one of the GPU's
    )
    model_dir = Path(body.get("model_dir", ""))
    if "model_dir" not in body or any(model_dir.glob("*.pdmodel")):
        # paddle reads and inspects a model of the older form only with the newer one switched off.
        env["FLAGS_enable_pir_api"] = "0"
    body = {"id": f"{kind}|{scene.index}|{step.id}", "kind": kind, "repo": scene.plan.repo, **body}
    return Question(
        (kind, scene.plan.key, step.id), interpreter(step), scene.plan.repo, tuple(sorted(env.items())), body
    )


def is_python(step: Step) -> bool:
    return bool(step.argv) and "python" in Path(step.argv[0]).name


def interpreter(step: Step) -> str:
    """The interpreter that ran the step; a plan to the letter of the upstream script has only its name."""
    return shutil.which(resolve(step.argv[0], None)[0]) or sys.executable


def ask(asked: list[Question], log: Path, timeout: float) -> dict[Key, Answer]:
    """Put questions of one group to a process. If it dies, the ones that are left go to another, as long as
    each answers some; what remains without an answer has the reason for one."""
    answers: dict[Key, Answer] = {}
    left = {str(item.body["id"]): item for item in asked}
    while left:
        lines, end = one_process(list(left.values()), log, timeout)
        before = len(left)
        for line in lines:
            item = left.pop(str(line.get("id", "")), None)
            if item is not None:
                answers[item.key] = read_answer(item.key[0], json.dumps(line.get("answer")))
        if len(left) == before:
            answers.update(
                {item.key: KINDS[item.key[0]](error=f"{end}; see {log}") for item in left.values()}
            )
            break
    return answers


def one_process(asked: list[Question], log: Path, timeout: float) -> tuple[list[dict[str, Any]], str]:
    """The lines that one probe wrote, and how it ended."""
    first = asked[0]
    with tempfile.TemporaryDirectory(prefix="tipc-probe-") as scratch:
        requests, replies = Path(scratch, "requests.json"), Path(scratch, "answers.jsonl")
        requests.write_text(json.dumps([dict(item.body) for item in asked]), encoding="utf-8")
        replies.touch()
        command = [first.interpreter, str(PROBE), str(requests), str(replies)]
        env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **dict(first.env)}
        with log.open("ab") as sink:
            try:
                process = subprocess.Popen(
                    command, cwd=first.repo, env=env, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink,
                    start_new_session=True,
                )  # fmt: skip
            except OSError as error:
                return [], f"the probe cannot be started: {error}"
            end = watch(process, replies, timeout)
        return read_lines(replies), end


def watch(process: subprocess.Popen[bytes], replies: Path, timeout: float) -> str:
    """Wait for the probe; end it, with all that it started, when one answer takes too long or too much
    memory."""
    import psutil

    deadline, size = time.monotonic() + timeout, 0
    end = ""
    try:
        while not end:
            try:
                code = process.wait(timeout=0.1)
                return (
                    f"the probe was killed by signal {-code}"
                    if code < 0
                    else f"the probe ended with status {code}"
                )
            except subprocess.TimeoutExpired:
                pass
            if (now := replies.stat().st_size) != size:
                deadline, size = time.monotonic() + timeout, now
            with contextlib.suppress(psutil.Error):
                whole = psutil.Process(process.pid)
                if sum(one.memory_info().rss for one in (whole, *whole.children(recursive=True))) > MEMORY:
                    end = f"the probe used more than {MEMORY // 2**30} GB of memory"
            if time.monotonic() > deadline:
                end = f"the probe gave no answer within {timeout:.0f} s"
        return end
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The whole lines of the probe's file that are JSON objects."""
    found = []
    with path.open(encoding="utf-8", errors="replace") as stream:
        for text in stream.read(ANSWER_LIMIT).split("\n"):
            with contextlib.suppress(ValueError):
                line = json.loads(text)
                if isinstance(line, dict):
                    found.append(line)
    return found
