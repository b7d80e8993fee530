"""Runs and verdicts made up for tests and benchmarks: real log files, but no process ever ran."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tipc.certify.verdict import Finding, Verdict
from tipc.certify.verdict_store import save_verdict
from tipc.kinds import BLOCKED, FAIL, NOT_CERTIFIED, NOT_SELECTED, PASS, PASSED, PENDING, UNCHECKED
from tipc.message import wording
from tipc.plan.model import Cell, Plan, Skip, Step
from tipc.reasons import because
from tipc.run.record.disk import write_json
from tipc.run.record.journal import Journal
from tipc.run.record.results import Run, StepResult
from tipc.run.record.run_store import write_plans

MACHINE = {
    "cpu": {"model": "Imaginary Xeon", "cores": 2, "flags": ["avx2", "avx512f"]},
    "memory": 24 * 2**30,
    "gpus": [],
    "host": "ci-1",
}
STARTED = 1_794_772_800.0
TRAINER = {"fp32": "norm_train", "amp": "amp_train", "pact": "pact_train"}
FILE = {
    "fp32": "train_infer_python.txt",
    "amp": "train_amp_infer_python.txt",
    "pact": "train_pact_infer_python.txt",
}
PARITY = wording("max |Δ| {max_abs:.2g}", max_abs=3.1e-06)
NO_GPU = because("no-device", device="gpu")


@dataclass
class Recipe:
    """What to make up. ``states`` gives the state of the steps whose id contains the key."""

    models: Sequence[str] = ("mobilenet_v3_small",)
    precisions: Sequence[str] = ("fp32",)
    gpus: Sequence[str] = ("0", "0,1")
    batch_sizes: Sequence[str] = ("1",)
    states: Mapping[str, str] = field(default_factory=dict)
    logs: Mapping[str, str] = field(default_factory=dict)  # text put at the end of the logs of these steps
    checks: bool = True
    seed: int = 0
    slower: float = 1.0  # every time is multiplied by this
    noise: float = (
        0.0  # standard deviation of a run's own speed, of its steps', and (×2) of a log's intervals
    )
    machine: Mapping[str, object] = field(default_factory=lambda: dict(MACHINE))
    started: float = STARTED
    name: str = ""
    accuracy: float = 0.92


def training_log(factor: float, jitter: random.Random, noise: float, intervals: int = 12) -> str:
    """What the spec wants a training to print."""
    rows = []
    for number in range(intervals):
        # One interval in ten is disturbed by something else on the machine, as real ones are.
        hiccup = 1.4 if noise and jitter.random() < 0.1 else 1.0
        cost = 0.28 * factor * hiccup * max(0.5, jitter.gauss(1, 2 * noise)) * (1.8 if number == 0 else 1)
        rows.append(
            f"[2026/11/15 20:12:{number:02d}] root INFO: [Epoch {number // 3}/4, iter: {number % 3}/9] "
            f"loss: {2.31 * 0.88**number:.4f}, top1: {0.1 + 0.07 * number:.4f}, lr: 0.001, "
            f"avg_reader_cost: {cost / 50:.5f} sec, avg_batch_cost: {cost:.5f} sec, avg_samples: 4.0, "
            f"avg_ips: {4 / cost:.4f} images/sec, eta: 0:00:{intervals - number:02d}"
        )
    return "\n".join(rows) + "\n"


def benchmark_log(
    factor: float, jitter: random.Random, noise: float, model: str, precision: str, batch: str
) -> str:
    """What ``auto_log`` prints."""
    scale = {"int8": 0.4, "fp16": 0.6}.get(precision, 1.0)
    times = [base * factor * scale * max(0.5, jitter.gauss(1, noise)) for base in (3.2, 12.4, 0.4)]
    names = ("preprocess_time", "inference_time", "postprocess_time")

    def row(suffix: str, stretch: float) -> str:
        return ", ".join(
            f"{name}{suffix}(ms): {ms * stretch:.4f}" for name, ms in zip(names, times, strict=True)
        )

    body = [
        "---------------------- Env info ----------------------",
        " OS_version: Debian GNU/Linux 12",
        "----------------------- Conf info -----------------------",
        " runtime_device: cpu",
        "----------------------- Model info ----------------------",
        f" model_name: {model}",
        f" precision: {precision}",
        "----------------------- Data info -----------------------",
        f" batch_size: {batch}",
        " data_num: 16",
        "----------------------- Perf info -----------------------",
        " cpu_rss(MB): 315.2656, gpu_rss(MB): None, gpu_util: None%",
        f" total time spent(s): {sum(times) * 16 / 1000:.4f}",
        " " + row("", 1.02),
        " " + row("_p50", 1.0),
        " " + row("_p95", 1.09),
    ]
    return "".join(f"[2026/11/15 20:13:07] root INFO: {line}\n" for line in body)


def plan_of(model: str, precision: str, recipe: Recipe, repo: Path) -> Plan:
    """The plan of one config on a machine without a GPU."""
    cells, steps, skips = [], [], []
    trainer = TRAINER[precision]
    for gpu in recipe.gpus:
        many = "," in gpu
        cell = Cell(
            id=f"{trainer}-gpu{gpu}-null",
            trainer=trainer,
            asked=gpu,
            runs_on="2 × cpu (gloo)" if many else "cpu",
            precision=precision,
            amp_level="O2" if precision == "amp" else "",
            not_certified=(NO_GPU,),
        )
        cells.append(cell)
        output = f"./test_tipc/output/{model}/lite_train_lite_infer/{trainer}_gpus_{gpu}"
        weights = f"{output}/latest.pdparams"

        def step(kind: str, name: str, argv: Sequence[str], needs: Sequence[str], **more: object) -> Step:
            return Step(
                id=f"{cell.id}/{name}",  # noqa: B023 - used at once
                kind=kind,
                cell=cell.id,  # noqa: B023
                argv=("python", *argv),
                env={"CUDA_VISIBLE_DEVICES": ""},
                cwd=".",
                log=f"{output}.{name}.log",  # noqa: B023
                needs=tuple(f"{cell.id}/{need}" for need in needs),  # noqa: B023
                produces=(),
                status_line="",
                **more,  # type: ignore[arg-type]
            )

        launch = ("-m", "paddle.distributed.launch", "--nproc_per_node=2") if many else ()
        steps.append(
            step(
                "train",
                "train",
                [*launch, "train.py", "--epochs=4", "--batch-size=4", f"--output-dir={output}"],
                [],
                processes=2 if many else 1,
            )
        )
        steps.append(step("eval", "eval", ["eval.py", f"--pretrained={weights}"], ["train"]))
        steps.append(
            step(
                "export",
                "export",
                ["tools/export_model.py", f"--pretrained={weights}", f"--save-inference-dir={output}"],
                ["train"],
            )
        )
        kind = "int8" if precision == "pact" else "fp32"
        for mkldnn in ("False", "True"):
            for batch in recipe.batch_sizes:
                steps.append(
                    step(
                        "infer",
                        f"infer-cpu-mkldnn{mkldnn}-bs{batch}",
                        [
                            "deploy/inference_python/infer.py",
                            f"--model-dir={output}",
                            f"--batch-size={batch}",
                            f"--enable_mkldnn={mkldnn}",
                            "--benchmark=True",
                        ],
                        ["export"],
                        settings={"mkldnn": mkldnn, "threads": "1", "batch_size": batch, "precision": kind},
                        measures=True,
                    )
                )
        skips.append(
            Skip(cell.id, "infer", NO_GPU, "gpu", {"use_trt": "False", "precision": kind, "batch_size": "1"})
        )
    return Plan(
        config=f"test_tipc/configs/{model}/{FILE[precision]}",
        mode="lite_train_lite_infer",
        dialect="models",
        model=model,
        repo=str(repo),
        as_upstream=False,
        cells=tuple(cells),
        steps=tuple(steps),
        skipped=tuple(skips),
        notes=("python3.7 is not here: the current interpreter is used",),
    )


def fabricate(home: Path, recipe: Recipe | None = None) -> tuple[Run, Verdict | None]:
    """A finished run with its logs on disk, and its verdict."""
    recipe = recipe or Recipe()
    jitter = random.Random(recipe.seed)
    repo = home / "repo"
    directory = home / "runs" / (recipe.name or f"20261115-2012{recipe.seed:02d}-{recipe.models[0][:40]}")
    (directory / "logs").mkdir(parents=True, exist_ok=True)
    plans = tuple(
        plan_of(model, precision, recipe, repo) for model in recipe.models for precision in recipe.precisions
    )
    own = recipe.slower * max(0.5, jitter.gauss(1, recipe.noise))
    results: dict[tuple[str, str], StepResult] = {}
    findings: list[Finding] = []
    clock = recipe.started + 1
    for index, plan in enumerate(plans):
        failed: set[str] = set()
        for number, step in enumerate(plan.steps):
            state = next((state for key, state in recipe.states.items() if key in step.id), PASSED)
            if state == PASSED and failed & set(step.needs):
                state = BLOCKED
            if state not in (PASSED, "flaky", NOT_SELECTED):
                failed.add(step.id)
            log = directory / "logs" / f"{index}-{number}.log"
            factor = own * max(0.5, jitter.gauss(1, recipe.noise))
            wall = {"train": 21.4, "eval": 1.9, "export": 3.2, "infer": 0.9}[step.kind] * factor
            text = ""
            if step.kind == "train":
                text = training_log(factor, jitter, recipe.noise)
            elif step.kind == "eval":
                loss = 1.2 * (2 - recipe.accuracy)
                text = f"[Eval] loss: {loss:.4f}, acc1: {recipe.accuracy:.4f}, acc5: 0.9900\n"
            elif step.kind == "infer":
                settings = step.settings
                text = benchmark_log(
                    factor, jitter, recipe.noise, plan.model, settings["precision"], settings["batch_size"]
                )
            text += "".join(extra for key, extra in recipe.logs.items() if key in step.id)
            if state in ("failed", "timeout"):
                text += "Traceback (most recent call last):\nFileNotFoundError: ./lite_data/train_list.txt\n"
            ran = state not in (BLOCKED, PENDING, NOT_SELECTED)
            if ran:
                log.write_text(text, encoding="utf-8", errors="surrogateescape")
            results[plan.key, step.id] = StepResult(
                plan=plan.key,
                step=step.id,
                state=PENDING if state == NOT_SELECTED else state,
                reason={
                    NOT_SELECTED: because("not-selected"),
                    "failed": because("exit", status=1),
                    BLOCKED: because("needs", step=", ".join(step.needs)),
                    "timeout": because("no-end-in", seconds=600),
                }.get(state),
                exit_code=1 if state == "failed" else 0 if ran else None,
                attempts=2 if state == "flaky" else 1 if ran else 0,
                started=clock if ran else 0.0,
                wall=wall if ran else 0.0,
                cpu=wall * 1.3 if ran else 0.0,
                peak_rss=int(560 * 2**20 * max(0.5, jitter.gauss(1, recipe.noise / 4))) if ran else 0,
                log=str(log) if ran else "",
                host="ci-1",
            )
            clock += wall if ran else 0
        findings += findings_of(plan, results)
    run = Run(
        id=directory.name,
        directory=directory,
        plans=plans,
        environment={
            **recipe.machine,
            "python": "3.11.7",
            "interpreters": {"/venv/bin/python": {"python": "3.11.7", "packages": {"paddlepaddle": "3.1.1"}}},
        },
        results=results,
        started=recipe.started,
        ended=clock + 1,
        argv=(plans[0].config, plans[0].mode),
    )
    return run, Verdict(run.id, tuple(findings)) if recipe.checks else None


def findings_of(plan: Plan, results: Mapping[tuple[str, str], StepResult]) -> list[Finding]:
    """Some of what the checks conclude about a plan."""
    findings = [
        Finding("TS001", "the step passed", UNCHECKED, "not selected", plan.key, step.cell, step.id)
        for step in plan.steps
        if results[plan.key, step.id].left_out
    ]
    for cell in plan.cells:
        steps = [step for step in plan.steps if step.cell == cell.id]
        train = steps[0]
        if not results[plan.key, train.id].ok:
            findings.append(
                Finding(
                    check="TS001",
                    title="the step passed",
                    status=FAIL,
                    message="exit 1: FileNotFoundError: ./lite_data/train_list.txt",
                    plan=plan.key,
                    cell=cell.id,
                    step=train.id,
                    remedy=f"bash test_tipc/prepare.sh {plan.config} {plan.mode}",
                )
            )
            continue
        findings.append(
            Finding(
                check="TL101",
                title="training log",
                status=PASS,
                message="loss 2.31 → 0.57, ips 14.2",
                plan=plan.key,
                cell=cell.id,
                step=train.id,
                evidence={"fields": ["loss", "avg_reader_cost", "avg_batch_cost", "avg_ips"], "lines": 12},
            )
        )
        findings.append(
            Finding(
                check="TP301",
                title="parity of training and inference engine",
                status=PASS,
                message=PARITY.in_english(),
                plan=plan.key,
                cell=cell.id,
                wordings={"message": PARITY},
                evidence={
                    "max_abs": 3.1e-06,
                    "top1": "16/16",
                    "engines": {"native": 3.1e-06, "onednn": 2.2e-06},
                },
            )
        )
        if cell.precision == "amp":
            findings.append(
                Finding(
                    check="TA201",
                    title="mixed precision really ran",
                    status=NOT_CERTIFIED,
                    message="conv2d 0 of 52, matmul 0 of 2 calls in fp16/bf16; emulated on this CPU",
                    plan=plan.key,
                    cell=cell.id,
                    step=train.id,
                    remedy="Run on a GPU of compute capability ≥ 7.0 to certify it.",
                    evidence={
                        "operators": {
                            "conv2d": {"fp16": 0, "bf16": 0, "fp32": 52, "other": 0},
                            "matmul": {"fp16": 0, "bf16": 0, "fp32": 2, "other": 0},
                        }
                    },
                )
            )
    return findings


def stored(run: Run, verdict: Verdict | None) -> Run:
    """Write a made-up run into its directory, as ``tipc run`` would have left it."""
    write_plans(run.directory, run.plans)
    write_json(run.directory / "environment.json", run.environment)
    with Journal(run.directory) as journal:
        journal.opened(run.id, run.argv, {}, run.started)
        for result in run.results.values():
            if result.state != PENDING:
                journal.ended(result)
        if run.ended is not None:
            journal.finished("passed" if run.ok else "failed")
    if verdict is not None:
        save_verdict(run, verdict)
    return run
