"""The suite of lies, first part: repositories whose every command ends well, or whose bash says so, and which
are not what they say. Each is an honest repository with one edit, and must be caught by the right check, with
its cause."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from certify_answers import alarms
from certify_chain import OUT, plan_of, run_chain
from certify_facts import Honest, training_facts
from certify_lies import INFER, LIES, TRAIN, Lie
from certify_plain_repo import edit, make_plain_repo

from tipc.certify.evidence import log_lines, logs
from tipc.certify.verdict import FAIL, NOT_CERTIFIED, PASS, UNCHECKED, Finding
from tipc.plan.model import Plan


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.name)
def test_a_lie_is_caught_by_the_right_check(
    lie: Lie, tmp_path: Path, judge: Callable[..., list[Finding]]
) -> None:
    repo = make_plain_repo(tmp_path)
    edit(repo, lie.file, lie.old, lie.new)
    findings = judge(run_chain(repo, plan_of(repo, lie.precision, lie.infer_precision)))
    caught = [finding for finding in findings if finding.check == lie.check and finding.status == FAIL]
    assert caught, [(finding.check, finding.message) for finding in alarms(findings)]
    assert any(lie.cause in finding.message for finding in caught), [finding.message for finding in caught]
    assert all(finding.remedy for finding in caught)


def test_the_honest_repository_raises_no_alarm(tmp_path: Path, judge: Callable[..., list[Finding]]) -> None:
    repo = make_plain_repo(tmp_path)
    findings = judge(run_chain(repo, plan_of(repo)))
    assert not alarms(findings), alarms(findings)
    assert {"TL101", "TL106", "TB601", "TB602", "TB603", "TP301", "TP306", "TX701"} <= {
        finding.check for finding in findings if finding.status == PASS
    }


@pytest.mark.parametrize(("was_seen", "status"), [(True, UNCHECKED), (False, FAIL)])
def test_an_evaluation_without_a_metric_fails_only_where_nothing_was_evaluated(
    was_seen: bool, status: str, tmp_path: Path, judge: Callable[..., list[Finding]]
) -> None:
    """What it printed may be a metric in a form that is not known here."""

    def unseen(honest: Honest) -> None:
        if not was_seen:
            honest.change("eval", evaluations=())

    repo = make_plain_repo(tmp_path)
    edit(repo, TRAIN, "Evaluation: loss: 0.9000, top1: 0.7500, top5: 1.0000", "Evaluation done")
    [found] = [one for one in judge(run_chain(repo, plan_of(repo)), unseen) if one.check == "TL106"]
    assert (found.status, found.required) == (status, True)
    assert "no metric" in found.message
    assert found.remedy


def test_an_honest_int8_script_raises_no_alarm(tmp_path: Path, judge: Callable[..., list[Finding]]) -> None:
    repo = make_plain_repo(tmp_path)
    findings = judge(run_chain(repo, plan_of(repo, infer_precision="int8")))
    assert not alarms(findings), alarms(findings)
    assert any(finding.check == "TQ404" and finding.status == PASS for finding in findings)


def test_onednn_that_nobody_asked_for_is_told_with_the_call_that_switches_it_off(
    tmp_path: Path, judge: Callable[..., list[Finding]]
) -> None:
    repo = make_plain_repo(tmp_path)
    plan = plan_of(repo)
    steps = tuple(replace(one, settings={**one.settings, "mkldnn": "False"}) for one in plan.steps)
    run = run_chain(repo, replace(plan, steps=steps))
    found = [one for one in judge(run) if one.check == "TB603"]
    assert {one.status for one in found} == {FAIL}
    assert "config.disable_mkldnn()" in found[0].remedy


@pytest.mark.parametrize(
    ("batch_size", "told", "status"),
    [
        ("{size}", "batch_size 4", PASS),
        ("None", "none of the settings", UNCHECKED),
        ("1", "asked for 4", FAIL),
    ],
)
def test_a_setting_of_which_the_block_says_none_is_not_told(
    batch_size: str, told: str, status: str, tmp_path: Path, judge: Callable[..., list[Finding]]
) -> None:
    repo = make_plain_repo(tmp_path)
    for name, was in (("runtime_device", "cpu"), ("enable_mkldnn", "True")):
        edit(repo, INFER, f" {name}: {was}", f" {name}: None")
    edit(repo, INFER, " cpu_math_library_num_threads: 1", " cpu_math_library_num_threads: None")
    edit(repo, INFER, " precision: {args.precision}", " precision: None")
    edit(repo, INFER, " batch_size: {size}", f" batch_size: {batch_size}")
    found = [one for one in judge(run_chain(repo, plan_of(repo))) if one.check == "TB603"]
    assert found[1].status == status
    assert told in found[1].message
    assert "device" not in found[1].message


def test_a_model_file_of_an_earlier_run_is_no_result(
    tmp_path: Path, judge: Callable[..., list[Finding]]
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
    tmp_path: Path, judge: Callable[..., list[Finding]]
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


def with_operators(**counts: dict[str, int]) -> Callable[[Honest], None]:
    return lambda honest: honest.change("train", operators=counts)


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
    judge: Callable[..., list[Finding]],
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
    counted = with_operators(conv2d=conv, matmul_v2={**low, "fp32": 0 if low["fp16"] else 2})
    [finding] = [one for one in judge(run, counted) if one.check == "TA201"]
    assert (finding.status, words in finding.message) == (status, True), finding.message
    assert finding.evidence["operators"]["conv2d"] == conv


def test_without_operator_counts_a_gpu_training_is_unchecked(
    tmp_path: Path, judge: Callable[..., list[Finding]]
) -> None:
    repo = make_plain_repo(tmp_path)
    run = run_chain(repo, on_device(plan_of(repo, "amp"), "gpu"))
    [finding] = [one for one in judge(run) if one.check == "TA201"]
    assert (finding.status, finding.required) == (UNCHECKED, True)


def test_what_a_log_says_about_kernels_does_not_count(
    tmp_path: Path, judge: Callable[..., list[Finding]]
) -> None:
    repo = make_plain_repo(tmp_path)
    line = "conv2d API kernel key: [GPU, NCHW, float16]"
    edit(repo, TRAIN, "loss = 2.31", f"loss = 2.31\nprint({line!r})")
    run = run_chain(repo, on_device(plan_of(repo, "amp"), "gpu"))
    [finding] = [one for one in judge(run) if one.check == "TA201"]
    assert finding.status == UNCHECKED


def kept_in_fp32(operators: str) -> dict[str, Any]:
    """Facts of a training that calls convolutions and products in an auto_cast with such a list."""
    amp = {"level": "O1", "forwards": "6", "black": operators}
    counted = {"conv2d": {"fp32": 52}, "matmul": {"fp32": 6}}
    return {"training": replace(training_facts(), amp=amp), "operators": counted}


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"operators": {"conv2d": {"fp32": 52}, "cast": {"bf16": 300}}}, PASS),
        ({"training": replace(training_facts(), amp={"level": "O2", "dtype": "float16"})}, PASS),
        ({"training": replace(training_facts(), amp={"level": "O1", "forwards": "6"})}, PASS),
        (kept_in_fp32("matmul_v2 softmax"), PASS),
        (kept_in_fp32("conv2d matmul_v2"), FAIL),
        ({"training": replace(training_facts(), amp={"level": "O1", "forwards": "0"})}, FAIL),
        ({"training": replace(training_facts(), amp={"level": "O1", "forwards": "1"})}, FAIL),
        ({"training": replace(training_facts(), amp={"scaler": "enabled", "forwards": "0"})}, FAIL),
        ({"training": replace(training_facts(), amp={"scaler": "disabled"})}, FAIL),
        ({"training": replace(training_facts(), amp={"off": "cfg.use_gpu or cfg.use_npu"})}, NOT_CERTIFIED),
        ({"training": replace(training_facts(), amp={"off": "args.amp_level != 'O0'"})}, FAIL),
    ],
)
def test_a_script_that_tried_on_a_cpu_passes_ta202_and_stays_uncertified(
    tmp_path: Path, judge: Callable[..., list[Finding]], fields: dict[str, Any], status: str
) -> None:
    repo = make_plain_repo(tmp_path)
    run = run_chain(repo, plan_of(repo, "amp"))
    found = {one.check: one for one in judge(run, lambda honest: honest.change("train", **fields))}
    assert found["TA202"].status == status
    assert found["TA201"].status == NOT_CERTIFIED
    assert bool(alarms(found.values())) == (status == FAIL)


@pytest.mark.parametrize(("cpu", "stopped"), [(900.0, False), (90.0, True)])
def test_a_chain_of_more_than_ten_minutes_fails_and_is_said_to_have_been_idle_where_it_was(
    tmp_path: Path, judge: Callable[..., list[Finding]], cpu: float, stopped: bool
) -> None:
    repo = make_plain_repo(tmp_path)
    run = run_chain(repo, plan_of(repo))
    key = (run.plans[0].key, "cell/train")
    run = replace(run, results={**run.results, key: replace(run.results[key], wall=700.0, cpu=cpu)})
    [finding] = [one for one in judge(run) if one.check == "TS004"]
    assert finding.status == FAIL
    assert "to train" in finding.message
    assert ("were its processes stopped?" in finding.message) == stopped


def test_a_chain_that_waited_for_processors_that_others_had_took_no_longer_for_it(
    tmp_path: Path, judge: Callable[..., list[Finding]]
) -> None:
    repo = make_plain_repo(tmp_path)
    run = run_chain(repo, plan_of(repo))
    key = (run.plans[0].key, "cell/train")
    waited = replace(run.results[key], wall=700.0, cpu=38.0, waited=600.0)
    run = replace(run, results={**run.results, key: waited})
    [finding] = [one for one in judge(run) if one.check == "TS004"]
    assert finding.status == PASS
    assert "600 s of waiting for processors that others used" in finding.message
    assert finding.evidence["waited"] == 600.0


def test_a_log_that_was_not_looked_through_to_its_end_is_not_certified(
    tmp_path: Path, judge: Callable[..., list[Finding]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_lines, "EDGE", 1 << 14)
    monkeypatch.setattr(log_lines, "LOOKED_THROUGH", 1 << 10)
    repo = make_plain_repo(tmp_path)
    edit(repo, TRAIN, "os.makedirs(args.output_dir", "print('x' * (1 << 16))\nos.makedirs(args.output_dir")
    found = [one for one in judge(run_chain(repo, plan_of(repo))) if one.status == UNCHECKED and one.required]
    assert {(one.check, one.step) for one in found} == {("TS002", "cell/train"), ("TL103", "cell/train")}
    monkeypatch.setattr(log_lines, "LOOKED_THROUGH", 1 << 20)
    logs._memory.logs.clear()
    assert not alarms(judge(run_chain(repo, plan_of(repo))))


@pytest.mark.parametrize(
    ("written", "pictures", "status"), [(0, (), UNCHECKED), (1, (), PASS), (0, ("a.png",), PASS)]
)
def test_a_deployment_that_tells_nobody_what_it_predicted_is_unchecked(
    tmp_path: Path,
    judge: Callable[..., list[Finding]],
    written: int,
    pictures: tuple[str, ...],
    status: str,
) -> None:
    repo = make_plain_repo(tmp_path)
    edit(repo, INFER, '        print(f"image_name', '        str(f"image_name')

    def seen(honest: Honest) -> None:
        for step in list(honest.processes):
            if "infer" in step:
                honest.change(step.partition("/")[2], written=written, pictures=pictures)

    found = [one for one in judge(run_chain(repo, plan_of(repo)), seen) if one.check == "TP310"]
    assert {(one.status, one.required) for one in found} == {(status, True)}


@pytest.mark.parametrize(
    ("in_training", "status"), [({"round": 4, "conv2d": 4}, PASS), ({"conv2d": 4}, UNCHECKED), ({}, PASS)]
)
def test_quantisers_that_work_in_evaluations_alone_are_unchecked(
    tmp_path: Path, judge: Callable[..., list[Finding]], in_training: dict[str, int], status: str
) -> None:
    repo = make_plain_repo(tmp_path)
    counted = {"round": {"fp32": 8}, "conv2d": {"fp32": 8}}
    fields = {"operators": counted, "operators_in_training": in_training}
    plan = plan_of(repo)
    run = run_chain(repo, replace(plan, cells=(replace(plan.cells[0], precision="pact"),)))
    [finding] = [
        one for one in judge(run, lambda honest: honest.change("train", **fields)) if one.check == "TQ405"
    ]
    assert finding.status == status


def test_there_are_at_least_twenty_five_lies() -> None:
    assert len(LIES) >= 25
