"""``tipc env``: facts about a machine, and what follows. The GPU machines here are invented: none was
seen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tipc import language
from tipc.certify.abilities import PaddleFacts, PaddleGpu, abilities, ask_paddle
from tipc.cli.env import as_text, summary
from tipc.cli.main import main
from tipc.run.environment import describe

CPU: dict[str, Any] = {
    "cpu": {"model": "Xeon", "cores": 8, "flags": ["avx2", "avx512f", "avx512_vnni"]},
    "memory": 2**34,
    "gpus": [],
}
FAKE_GPU = {"name": "FAKE-A100", "driver_version": "535.1", "memory.total": "81920 MiB", "compute_cap": "8.0"}
CPU_PADDLE = PaddleFacts(version="3.1.1", cuda="False", cudnn="False")


def gpu_paddle(capability: str) -> PaddleFacts:
    return PaddleFacts(
        version="3.1.1", cuda="12.3", cudnn="9.0.0", compiled_with_cuda=True,
        gpus=[PaddleGpu(name="FAKE-GPU", capability=capability)],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("gpus", "paddle", "gpu_ready", "amp_ready", "words"),
    [
        ([], CPU_PADDLE, False, False, "there is no GPU"),
        ([FAKE_GPU], CPU_PADDLE, False, False, "a build for CPUs (install paddlepaddle-gpu)"),
        (
            [FAKE_GPU],
            CPU_PADDLE.model_copy(update={"compiled_with_cuda": True}),
            False,
            False,
            "does not see it",
        ),
        ([FAKE_GPU], gpu_paddle("8.0"), True, True, "fp16 and bf16, compute capability 8.0"),
        ([FAKE_GPU], gpu_paddle("7.5"), True, True, "fp16, compute capability 7.5"),
        ([FAKE_GPU], gpu_paddle("6.1"), True, False, "compute capability 6.1 is below 7.0"),
    ],
)
def test_what_a_machine_can_certify(
    gpus: list[Any], paddle: PaddleFacts, gpu_ready: bool, amp_ready: bool, words: str
) -> None:
    found = {str(one.name): one for one in abilities({**CPU, "gpus": gpus}, paddle)}
    assert found["chains on a GPU"].ready == gpu_ready
    assert found["mixed precision (AMP)"].ready == amp_ready
    assert words in str(found["mixed precision (AMP)"].reason)
    assert "VNNI" in str(found["int8 inference on the CPU"].reason)


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ("", "with VNNI"),
        ("AVX512_CORE_VNNI", "with VNNI"),
        ("AVX512_CORE", "without VNNI"),
        ("avx2", "without VNNI"),
    ],
)
def test_a_limit_of_onednn_can_leave_vnni_out(limit: str, words: str) -> None:
    limited = {**CPU, "cpu": {**CPU["cpu"], "onednn_limit": limit}}
    found = {str(one.name): str(one.reason) for one in abilities(limited, CPU_PADDLE)}
    assert words in found["int8 inference on the CPU"]


def test_the_limit_of_onednn_is_told_with_the_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "AVX2")
    assert describe()["cpu"]["onednn_limit"] == "AVX2"
    monkeypatch.delenv("ONEDNN_MAX_CPU_ISA")
    assert "onednn_limit" not in describe()["cpu"]


def test_an_invented_gpu_machine_is_told_in_full() -> None:
    environment, paddle = {**CPU, "gpus": [FAKE_GPU]}, gpu_paddle("8.0")
    text = as_text(summary(environment, paddle, "/usr/bin/python3"), abilities(environment, paddle), [])
    for words in (
        "FAKE-A100",
        "81920 MiB",
        "capability 8.0",
        "driver 535.1",
        "CUDA 12.3",
        "cuDNN 9.0.0",
        "AVX512 ✔",
    ):
        assert words in text


def test_the_machine_is_told_in_chinese_and_to_programs_in_english(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tipc.certify.abilities.ask_paddle", lambda interpreter: PaddleFacts(version="3.1.1"))
    monkeypatch.setattr("tipc.run.environment.describe", lambda: CPU)
    monkeypatch.setattr(language, "_chosen", "")  # and as it was afterwards
    assert main(["--lang", "zh", "env"]) == 0
    told = capsys.readouterr().out
    assert "CPU 上的基础链：paddle 3.1.1" in told
    assert "没有 GPU；在 CPU 上 paddle 的 AMP 会自行关闭" in told
    assert main(["--lang", "zh", "env", "--json"]) == 0
    abilities = json.loads(capsys.readouterr().out)["can_certify"]
    assert abilities[0] == {"name": "base chain on the CPU", "ready": True, "reason": "paddle 3.1.1"}


def test_without_paddle_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bare = tmp_path / "python-without-paddle"
    bare.write_text('#!/bin/sh\necho \'{"error": "ModuleNotFoundError: No module named paddle"}\'\n')
    bare.chmod(0o755)
    assert main(["env", "--python", str(bare)]) == 3
    assert "no paddle: ModuleNotFoundError" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("exit 1", "ended with status 1"),
        ("echo nonsense", "no answer"),
        ("echo '{\"gpus\": 3}'", "no answer"),
    ],
)
def test_an_interpreter_that_misbehaves_is_named(tmp_path: Path, script: str, words: str) -> None:
    odd = tmp_path / "odd-python"
    odd.write_text(f"#!/bin/sh\n{script}\n")
    odd.chmod(0o755)
    assert words in ask_paddle(str(odd)).error
    assert "No such file" in ask_paddle(str(tmp_path / "none")).error


@pytest.mark.paddle
def test_this_machine_is_described_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["env", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["schema"] == "tipc.env/1"
    assert data["paddle"]["version"]
    assert {"AVX2", "AVX512", "VNNI", "bf16"} == set(data["cpu"]["flags"])
    assert data["can_certify"][0] == {
        **data["can_certify"][0],
        "name": "base chain on the CPU",
        "ready": True,
    }
