"""Answers a list of questions about models and weights:
``python probe_main.py REQUESTS ANSWERS AT_ONCE BYTES SECONDS [yields] [ready=FILE]``.

REQUESTS is JSON: a list of ``{"id": …, "kind": one of KINDS, …}``. For each, a line
``{"id": …, "answer": {…}}`` goes into ANSWERS. paddle is imported once; each question then has a forked
process of its own, AT_ONCE of them at a time, so that one that crashes costs one answer. So does one that
asks for more than BYTES of memory (a damaged file of parameters may), or that takes more than SECONDS. Short
ones share a process while all goes well.

With ``yields``, it is nice to whatever else wants the processor. With ``ready``, REQUESTS is a pipe: the
probe makes the predictors that FILE names (``{"legacy": …, "predictors": [{"model", "params", "engine"},
…]}``) and waits until somebody writes the path of the list into the pipe. Its forks have the predictors, too.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable
from typing import Any, NoReturn

# The interpreter is isolated (-I), or as good as that: this folder need not be on its path. The repository's
# own modules may have any name: the folder is taken off again, and the modules here have names that nobody
# else has. Nothing is written into the repository.
sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import probe_images  # type: ignore[import-not-found]
import probe_model  # type: ignore[import-not-found]
import probe_parity  # type: ignore[import-not-found]
import probe_run  # type: ignore[import-not-found]

sys.dont_write_bytecode = True
sys.path[:] = [entry for entry in sys.path if entry != os.path.dirname(os.path.realpath(__file__))]

KINDS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "run": probe_run.answer,
    "parity": probe_parity.answer,
    "model": probe_model.answer,
    "images": probe_images.answer,
}
SHORT = ("model", "images")  # take less than a fork of paddle's process does
MOST_TOGETHER = 6
MOST_AT_ONCE = 4
# A step has nine tenths of a core that both want. The idle policy would leave nothing to a probe on a machine
# that is busy with other things, and only root could take it back.
YIELDING = 10


def main(
    requests: str, answers: str, at_once: int, most_bytes: int, most_seconds: int, ready: str = ""
) -> int:
    """Answer every question; each failure is an answer, too."""
    if ready:
        requests = _stand_by(requests, ready, most_bytes, most_seconds)
    with open(requests, encoding="utf-8") as stream:
        questions = json.load(stream)
    sys.path += [entry for question in questions for entry in question["path"] if entry not in sys.path]
    import paddle  # noqa: F401 - for every question, before the first fork

    waiting = _bundles(questions)
    at_once = min(MOST_AT_ONCE, at_once)
    running: dict[int, list[dict[str, Any]]] = {}
    while waiting or running:
        while waiting and len(running) < at_once:
            bundle = waiting.pop(0)
            running[_fork(bundle, answers, most_bytes, most_seconds)] = bundle
        pid, status = os.wait()
        bundle = running.pop(pid)
        death = _death(os.waitstatus_to_exitcode(status), most_seconds)
        if death and len(bundle) > 1:
            # One of them is to blame: each gets a process of its own.
            done = _answered(answers)
            waiting += [[question] for question in bundle if question["id"] not in done]
        elif death:
            _write(answers, bundle[0]["id"], death)
    return 0


def _stand_by(pipe: str, ready: str, most_bytes: int, most_seconds: int) -> str:
    """Make predictors until all are there or the list is; the path of the list.

    If a model cannot be opened, that is said to who asks about it.
    """
    # Both ends are held here: the pipe is open for whoever writes, and not at its end when nobody does.
    pipe_end = os.open(pipe, os.O_RDWR)
    waiting = select.poll()
    waiting.register(pipe_end, select.POLLIN)
    resource.setrlimit(resource.RLIMIT_DATA, (most_bytes, most_bytes))
    with open(ready, encoding="utf-8") as stream:
        wanted = json.load(stream)
    signal.alarm(most_seconds)
    if wanted["legacy"]:
        _use_the_older_form()
    for one in wanted["predictors"]:
        if waiting.poll(0):
            break
        with contextlib.suppress(Exception):
            probe_run.open_predictor(one["model"], one["params"], one["engine"])
    signal.alarm(0)
    return os.read(pipe_end, 1 << 16).decode().rstrip("\n")


def _death(code: int, most_seconds: int) -> dict[str, Any]:
    """The answer for a process that ended without one; nothing if it has answered."""
    if code == 0:
        return {}
    if code == -signal.SIGALRM:
        return {"error": f"the probe gave no answer within {most_seconds} s", "limited": True}
    if code < 0:
        return {"error": f"the probe was killed by signal {-code}"}
    return {"error": "it died"}


def _bundles(questions: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The questions for each process: one, or several that are short.

    The longest first: to make a predictor takes longest, and each further run of it a little more.
    """
    order = list(KINDS)
    questions.sort(key=lambda question: (order.index(question["kind"]), -len(question.get("runs", ()))))
    bundles = [[question] for question in questions if question["kind"] not in SHORT]
    short = [question for question in questions if question["kind"] in SHORT]
    short.sort(key=lambda question: bool(question["legacy"]))  # a process does not return to the newer form
    for start in range(0, len(short), MOST_TOGETHER):
        bundles.append(short[start : start + MOST_TOGETHER])
    return bundles


def _answered(answers: str) -> set[str]:
    """The questions that have an answer."""
    with open(answers, encoding="utf-8") as stream:
        return {json.loads(line)["id"] for line in stream if line.endswith("\n")}


def _fork(bundle: list[dict[str, Any]], answers: str, most_bytes: int, most_seconds: int) -> int:
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        return pid
    resource.setrlimit(resource.RLIMIT_DATA, (most_bytes, most_bytes))
    for question in bundle:
        signal.alarm(most_seconds)
        begin = time.perf_counter()
        answer = _answer(question)
        if answer.get("error") and len(bundle) > 1:
            return _leave(1)  # it may have left too little memory for the others: see what it says alone
        answer["seconds"] = time.perf_counter() - begin
        _write(answers, question["id"], answer)
    return _leave(0)


def _answer(question: dict[str, Any]) -> dict[str, Any]:
    try:
        if question["legacy"]:
            _use_the_older_form()
        return KINDS[question["kind"]](question)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the repository's code may raise anything
        import traceback

        traceback.print_exc()
        return {"error": probe_run.short(error), "limited": probe_run.is_out_of_memory(error)}


def _use_the_older_form() -> None:
    """paddle reads and inspects a model of the older form only with the newer one switched off.

    That is a variable of the environment; in a process that has imported paddle already it is this.
    """
    import paddle

    flag = "FLAGS_enable_pir_api"
    try:
        newer = paddle.get_flags(flag)[flag]
    except ValueError:  # a paddle that knows only the older one
        return
    if newer:
        from paddle.pir_utils import OldIrGuard

        OldIrGuard().__enter__()
        paddle.disable_static()


def _write(answers: str, name: str, answer: dict[str, Any]) -> None:
    """Append one line in one write, since several processes do so."""
    line = json.dumps({"id": name, "answer": answer}) + "\n"
    sink = os.open(answers, os.O_WRONLY | os.O_APPEND)
    os.write(sink, line.encode())
    os.close(sink)


def _leave(code: int) -> NoReturn:
    """Leave without tearing paddle down: that takes time, and has nothing to add."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    if "yields" in sys.argv[6:]:
        os.nice(YIELDING)
    ready = ""
    for word in sys.argv[6:]:
        if word.startswith("ready="):
            ready = word.partition("=")[2]
    at_once, most_bytes, most_seconds = map(int, sys.argv[3:6])
    _leave(main(sys.argv[1], sys.argv[2], at_once, most_bytes, most_seconds, ready))
