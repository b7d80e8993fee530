"""Runs a small repository's chain as a Run, without the planner and the scheduler: for tests of the checks
alone.

A chain is train → eval → export → infer, at batch sizes 1 and 4, in one cell. The steps of a chain run one
after the other, forked from one process that has imported what they need.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from tipc.kinds import BLOCKED, FAILED, PASSED
from tipc.plan.model import Cell, Plan, Step
from tipc.reasons import because
from tipc.run.record.results import Run, StepResult

OUT = "test_tipc/output/tiny/lite_train_lite_infer/out"

# Forks for each step, as a warm server does; a repository without paddle preloads nothing.
RUNNER = """
import json, os, runpy, sys, time
for name in sys.argv[2:]:
    __import__(name)
for step in json.load(open(sys.argv[1])):
    begin = time.time()
    pid = os.fork()
    if pid == 0:
        log = os.open(step["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1); os.dup2(log, 2)
        sys.argv = step["argv"]; sys.path[0] = os.path.dirname(os.path.abspath(step["argv"][0]))
        code = 0
        try:
            runpy.run_path(step["argv"][0], run_name="__main__")
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1 if end.code else 0
        except BaseException:
            import traceback; traceback.print_exc(); code = 1
        sys.stdout.flush(); sys.stderr.flush(); os._exit(code)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    print(json.dumps([step["id"], status, begin, time.time() - begin]), flush=True)
    if status:
        break
"""


def plan_of(repo: Path, precision: str = "fp32", infer_precision: str = "fp32", epochs: int = 3) -> Plan:
    """The plan of a small repository, as the planner would make it on this machine."""
    option = {"amp": ["--amp_level=O2"], "pact": ["--pact_quant"]}.get(precision, [])
    cell = Cell(
        "cell",
        f"{precision}_train",
        "0",
        "cpu",
        precision=precision,
        not_certified=(because("no-device", device="gpu"),),
    )
    python, weights = sys.executable, f"{OUT}/latest.pdparams"
    settings = {"batch_size": "1", "precision": infer_precision, "mkldnn": "True", "threads": "1"}

    def step(kind: str, name: str, argv: list[str], **more: object) -> Step:
        return Step(
            id=f"cell/{name}",
            kind=kind,
            cell="cell",
            argv=(python, *argv),
            env={"CUDA_VISIBLE_DEVICES": None},
            cwd=".",
            log=f"{OUT}/{name}.log",
            needs=(),
            produces=tuple(more.pop("produces", ())),  # type: ignore[arg-type]
            status_line=" Run successfully with command - tiny! ",
            **more,  # type: ignore[arg-type]
        )

    train = [
        "train.py",
        *option,
        f"--output-dir={OUT}",
        f"--epochs={epochs}",
        "--batch-size=4",
        "--data-path=./lite_data",
    ]
    export = ["tools/export_model.py", f"--pretrained={weights}", f"--save-inference-dir={OUT}"]
    infer = ["deploy/inference_python/infer.py", f"--model-dir={OUT}", "--img-path=./lite_data/val"]
    infer += ["--benchmark=True", f"--precision={infer_precision}"]
    steps = [
        step("train", "train", train, weights=weights, produces=(weights,)),
        step("eval", "eval", ["train.py", "--test-only", f"--pretrained={weights}"], weights=weights),
        step("export", "export", export, weights=weights, model_dir=OUT,
             produces=(f"{OUT}/inference.pdmodel|{OUT}/inference.json", f"{OUT}/inference.pdiparams")),
    ]  # fmt: skip
    steps += [
        step("infer", f"infer-bs{size}", [*infer, f"--batch-size={size}"], model_dir=OUT, measures=True,
             settings={**settings, "batch_size": str(size)})
        for size in (1, 4)
    ]  # fmt: skip
    config = "test_tipc/configs/tiny/train_infer_python.txt"
    return Plan(config, "lite_train_lite_infer", "models", "tiny", str(repo), False, (cell,), tuple(steps))


def execute(repo: Path, todo: list[dict[str, object]], preload: tuple[str, ...]) -> dict[str, list[Any]]:
    """Step id → [id, exit status, begin, seconds], of the steps that were begun."""
    path = repo / ".tipc" / "todo.json"
    path.write_text(json.dumps(todo))
    env = {
        **os.environ,
        "FLAGS_enable_pir_api": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONWARNINGS": "default",
    }
    done = subprocess.run(
        [sys.executable, "-c", RUNNER, str(path), *preload],
        cwd=repo, env=env, capture_output=True, text=True, timeout=240, check=True,
    )  # fmt: skip
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    return {row[0]: row for row in rows}


def run_chain(repo: Path, plan: Plan, *, preload: tuple[str, ...] = (), only: tuple[str, ...] = ()) -> Run:
    """Execute a plan's steps (or some of them) and tell what happened, as the journal would."""
    home = repo / ".tipc"
    (home / "evidence" / "0").mkdir(parents=True, exist_ok=True)
    (repo / OUT).mkdir(parents=True, exist_ok=True)
    wanted = [step for step in plan.steps if not only or step.kind in only]
    todo = [{"id": step.id, "argv": list(step.argv[1:]), "log": str(repo / step.log)} for step in wanted]
    started = time.time()
    told = execute(repo, todo, preload) if todo else {}
    results = {}
    for step in plan.steps:
        base = StepResult(
            plan.key, step.id, BLOCKED, because("needs", step="earlier"), log=str(repo / step.log)
        )
        if step.id in told:
            _, code, begin, wall = told[step.id]
            state, reason = (PASSED, None) if code == 0 else (FAILED, because("exit", status=code))
            base = replace(
                base, state=state, reason=reason, exit_code=code, attempts=1, started=begin, wall=wall
            )
        elif only and step.kind not in only:
            base = replace(
                base, state=PASSED, reason=None, exit_code=0, attempts=1, started=started - 3600, wall=1.0
            )
        results[(plan.key, step.id)] = base
    return Run("lie", home, (plan,), {"gpus": []}, results, started, time.time())
