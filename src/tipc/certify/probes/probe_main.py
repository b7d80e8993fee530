"""Answers a list of questions about models and weights: ``python probe_main.py REQUESTS ANSWERS``.

REQUESTS is JSON: a list of ``{"id": …, "kind": "model" | "weights" | "parity", …}``. For each, two lines go
into ANSWERS: ``{"id": …, "begun": true}`` and ``{"id": …, "answer": {…}}``, so that the caller knows at which
one this process died. One import of paddle serves all.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

# Python has put this directory first on the path. The repository's own modules may have any name: it is taken
# off again, and the modules here have names that nobody else has.
import probe_model  # type: ignore[import-not-found]
import probe_parity  # type: ignore[import-not-found]
import probe_weights  # type: ignore[import-not-found]

sys.path.pop(0)

KINDS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "model": probe_model.answer,
    "weights": probe_weights.answer,
    "parity": probe_parity.answer,
}


def main(requests: str, answers: str) -> int:
    with open(requests, encoding="utf-8") as stream:
        questions = json.load(stream)
    with open(answers, "a", encoding="utf-8") as sink:
        for question in questions:
            _write(sink, {"id": question["id"], "begun": True})
            start = time.perf_counter()
            answer = _answer(question)
            answer["seconds"] = time.perf_counter() - start
            _write(sink, {"id": question["id"], "answer": answer})
    return 0


def _answer(question: dict[str, Any]) -> dict[str, Any]:
    try:
        return KINDS[question["kind"]](question)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the repository's code may raise anything
        import traceback

        traceback.print_exc()
        return {"error": f"{type(error).__name__}: {error}"[:2000]}


def _write(sink: Any, line: dict[str, Any]) -> None:
    sink.write(json.dumps(line) + "\n")
    sink.flush()


if __name__ == "__main__":
    code = main(*sys.argv[1:3])
    # Leave without tearing paddle down: that takes time, and has nothing to add.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
