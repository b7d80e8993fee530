"""The suite of lies, first part: repositories whose every command ends well, or whose bash says so, and which
are not what they say. Each is an honest repository with one edit, and must be caught by the right check, with
its cause."""

from __future__ import annotations

import json
import os
import time
import venv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from certify_answers import alarms
from certify_chain import OUT, plan_of, run_chain
from certify_lies import INFER, LIES, TRAIN, Lie
from certify_plain_repo import edit, make_plain_repo

from tipc.certify.sources import library_root
from tipc.certify.verdict import FAIL, NOT_CERTIFIED, PASS, UNCHECKED, Finding
from tipc.plan.model import Plan
from tipc.run.record import Run


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.name)
def test_a_lie_is_caught_by_the_right_check(
    lie: Lie, tmp_path: Path, judge: Callable[[Run], list[Finding]]
) -> None:
    repo = make_plain_repo(tmp_path)
    edit(repo, lie.file, lie.old, lie.new)
    findings = judge(run_chain(repo, plan_of(repo, lie.precision, lie.infer_precision)))
    caught = [finding for finding in findings if finding.check == lie.check and finding.status == FAIL]
    assert caught, [(finding.check, finding.message) for finding in alarms(findings)]
    assert any(lie.cause in finding.message for finding in caught), [finding.message for finding in caught]
    assert all(finding.remedy for finding in caught)


def test_the_honest_repository_raises_no_alarm(tmp_path: Path, judge: Callable[[Run], list[Finding]]) -> None:
    repo = make_plain_repo(tmp_path)
    findings = judge(run_chain(repo, plan_of(repo)))
    assert not alarms(findings), alarms(findings)
    assert {"TL101", "TL106", "TB601", "TB602", "TB603", "TP301", "TP306", "TX701"} <= {
        finding.check for finding in findings if finding.status == PASS
    }


def test_an_honest_int8_script_raises_no_alarm(tmp_path: Path, judge: Callable[[Run], list[Finding]]) -> None:
    repo = make_plain_repo(tmp_path)
    edit(repo, INFER, "runs = ", "if args.precision == 'int8':\n    enable_mkldnn_int8 = True\nruns = ")
    findings = judge(run_chain(repo, plan_of(repo, infer_precision="int8")))
    assert not alarms(findings), alarms(findings)
    assert any(finding.check == "TQ404" and finding.status == PASS for finding in findings)


def test_what_enables_int8_is_found_in_a_library_of_the_steps_own_interpreter(
    tmp_path: Path, judge: Callable[[Run], list[Finding]]
) -> None:
    repo = make_plain_repo(tmp_path)
    run = run_chain(repo, plan_of(repo, infer_precision="int8"))
    edit(repo, INFER, "import argparse", "import argparse\nfrom elsewhere.engine import start")
    python = tmp_path / "other" / "bin" / "python"
    venv.create(python.parents[1], with_pip=False, symlinks=True)

    def int8_with(interpreter: str) -> str:
        steps = tuple(
            replace(step, argv=(interpreter, *step.argv[1:])) if step.kind == "infer" else step
            for step in run.plans[0].steps
        )
        found = judge(replace(run, plans=(replace(run.plans[0], steps=steps),)))
        return " ".join({f"{one.status}: {one.message}" for one in found if one.check == "TQ404"})

    assert "has nothing that enables it" in int8_with(str(python))
    assert int8_with(str(python.with_name("python-that-is-gone"))).startswith(UNCHECKED)
    library_root.cache_clear()
    [packages] = python.parents[1].glob("lib/python*/site-packages")
    (packages / "elsewhere").mkdir()
    (packages / "elsewhere" / "__init__.py").touch()
    (packages / "elsewhere" / "engine.py").write_text("def start(config):\n    config.enable_mkldnn_int8()\n")
    assert "engine.py:2 enables it" in int8_with(str(python))


def test_a_model_file_of_an_earlier_run_is_no_result(
    tmp_path: Path, judge: Callable[[Run], list[Finding]]
) -> None:
    repo = make_plain_repo(tmp_path)
    (repo / OUT).mkdir(parents=True)
    old = repo / OUT / "latest.pdparams"
    old.write_bytes(b"yesterday's")
    os.utime(old, (time.time() - 86400,) * 2)
    edit(
        repo,
        TRAIN,
        'with open(os.path.join(args.output_dir, "latest.pdparams"), "wb")',
        'with open(os.devnull, "wb")',
    )
    run = run_chain(repo, plan_of(repo))
    assert run.ok
    [finding] = [one for one in judge(run) if one.check == "TX701" and one.status == FAIL]
    assert "of an earlier run" in finding.message


def test_predictions_that_differ_from_the_stored_ones_fail(
    tmp_path: Path, judge: Callable[[Run], list[Finding]]
) -> None:
    repo = make_plain_repo(tmp_path)
    results = repo / "test_tipc" / "results"
    results.mkdir(parents=True)
    stored = results / "tiny_results_fp32.txt"
    stored.write_text('0.jpg\t{"class_id": 0, "prob": 0.9001}\n1.jpg\t{"class_id": 1, "prob": 0.89}\n')
    (results / "tiny_results_int8.txt").write_text('0.jpg\t{"class_id": 7}\n')
    (results / "other_results_fp32.txt").write_text('0.jpg\t{"class_id": 7}\n')
    run = run_chain(repo, plan_of(repo))
    assert [one.status for one in judge(run) if one.check == "TR501"] == [PASS, PASS]
    stored.write_text('0.jpg\t{"class_id": 0, "prob": 0.7}\n')
    found = [one for one in judge(run) if one.check == "TR501"]
    assert [one.status for one in found] == [FAIL, FAIL]
    assert "prob 0.7 against 0.9" in found[0].message
    stored.write_text('99.jpg\t{"class_id": 0}\n')
    assert "no prediction for 99.jpg" in next(one for one in judge(run) if one.check == "TR501").message


def on_device(plan: Plan, device: str) -> Plan:
    return replace(plan, steps=tuple(replace(step, device=device) for step in plan.steps))


def ops(run: Run, **counts: dict[str, int]) -> None:
    path = run.directory / "evidence" / "0" / "cell__train.ops.json"
    path.write_text(json.dumps({"schema": "tipc.ops/1", "operators": counts}))


@pytest.mark.parametrize(
    ("device", "capability", "conv", "status", "words"),
    [
        ("gpu", "8.0", {"fp16": 50, "fp32": 2}, PASS, "conv2d 50 of 52"),
        ("gpu", "8.0", {"fp32": 52}, FAIL, "conv2d 0 of 52"),
        ("gpu", "8.0", {"fp16": 2, "fp32": 50}, FAIL, "conv2d 2 of 52"),
        ("gpu", "6.1", {"fp32": 52}, NOT_CERTIFIED, "compute capability 6.1"),
        (
            "cpu",
            "",
            {"fp32": 52},
            NOT_CERTIFIED,
            "conv2d 0 of 52, matmul 0 of 2 calls in fp16/bf16 on this CPU",
        ),
    ],
)
def test_mixed_precision_is_what_the_operators_ran_in(
    tmp_path: Path,
    judge: Callable[[Run], list[Finding]],
    device: str,
    capability: str,
    conv: dict[str, int],
    status: str,
    words: str,
) -> None:
    repo = make_plain_repo(tmp_path)
    run = run_chain(repo, on_device(plan_of(repo, "amp"), device))
    run = replace(run, environment={"gpus": [{"compute_cap": capability}] if capability else []})
    low = {kind: 2 if conv.get("fp16") else 0 for kind in ("fp16",)}
    ops(run, conv2d=conv, matmul_v2={**low, "fp32": 0 if low["fp16"] else 2})
    [finding] = [one for one in judge(run) if one.check == "TA201"]
    assert (finding.status, words in finding.message) == (status, True), finding.message
    assert finding.evidence["operators"]["conv2d"] == conv


def test_without_operator_counts_a_gpu_training_is_unchecked(
    tmp_path: Path, judge: Callable[[Run], list[Finding]]
) -> None:
    repo = make_plain_repo(tmp_path)
    run = run_chain(repo, on_device(plan_of(repo, "amp"), "gpu"))
    [finding] = [one for one in judge(run) if one.check == "TA201"]
    assert (finding.status, finding.required) == (UNCHECKED, True)


def test_glog_lines_count_where_there_is_no_observer(
    tmp_path: Path, judge: Callable[[Run], list[Finding]]
) -> None:
    repo = make_plain_repo(tmp_path)
    lines = "\\n".join(["I0101 conv2d API kernel key: [GPU, NCHW, float16]"] * 3)
    edit(repo, TRAIN, "loss = 2.31", f"loss = 2.31\nprint({lines!r}.replace(chr(92) + 'n', chr(10)))")
    run = run_chain(repo, on_device(plan_of(repo, "amp"), "gpu"))
    [finding] = [one for one in judge(run) if one.check == "TA201"]
    assert (finding.status, finding.message) == (PASS, "conv2d 3 of 3 calls in fp16/bf16")


@pytest.mark.parametrize("trace", ["warning", "casts"])
def test_a_script_that_tried_on_a_cpu_passes_ta202_and_stays_uncertified(
    tmp_path: Path, judge: Callable[[Run], list[Finding]], trace: str
) -> None:
    repo = make_plain_repo(tmp_path)
    if trace == "warning":
        warning = "UserWarning: amp_guard can only be enabled on CUDAPlace, current place is Place(cpu)"
        edit(repo, TRAIN, "loss = 2.31", f"loss = 2.31\nprint({warning!r}, args.amp_level)")
    run = run_chain(repo, plan_of(repo, "amp"))
    if trace == "casts":
        ops(run, conv2d={"fp32": 52}, cast={"bf16": 300})
    found = {one.check: one for one in judge(run)}
    assert found["TA202"].status == PASS
    assert found["TA201"].status == NOT_CERTIFIED
    assert not alarms(found.values())


@pytest.mark.parametrize(("cpu", "stopped"), [(900.0, False), (90.0, True)])
def test_a_chain_of_more_than_ten_minutes_fails_and_is_said_to_have_been_idle_where_it_was(
    tmp_path: Path, judge: Callable[[Run], list[Finding]], cpu: float, stopped: bool
) -> None:
    repo = make_plain_repo(tmp_path)
    run = run_chain(repo, plan_of(repo))
    key = (run.plans[0].key, "cell/train")
    run = replace(run, results={**run.results, key: replace(run.results[key], wall=700.0, cpu=cpu)})
    [finding] = [one for one in judge(run) if one.check == "TS004"]
    assert finding.status == FAIL
    assert "to train" in finding.message
    assert ("were its processes stopped?" in finding.message) == stopped


def test_there_are_at_least_twenty_five_lies() -> None:
    assert len(LIES) >= 25
