"""A complete model repository in the 32-line dialect whose scripts need nothing and take no time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

CONFIG = """\
===========================train_params===========================
model_name:toy
python:python3
gpu_list:-1
--use-gpu:False
--epochs:lite_train_lite_infer=1|whole_train_whole_infer=2
--output-dir:./output/
--batch-size:lite_train_lite_infer=4|whole_train_whole_infer=8
--pretrained:null
train_model_name:latest.pdparams
--data-path:./lite_data
##
trainer:norm_train
norm_train:train.py
##
===========================eval_params===========================
eval:train.py --test-only
##
===========================infer_params===========================
--save-inference-dir:./output/infer/
--pretrained:
norm_export:export.py
##
train_model:./output/latest.pdparams
infer_export:export.py
##
inference:infer.py
--use-gpu:False
--batch-size:1|2|4
--model-dir:./output/infer/
--img-path:./demo.jpg
--benchmark:False
"""
COMMON = """\
import os, sys, time
args = dict(word.lstrip("-").split("=", 1) for word in sys.argv[1:] if "=" in word)
behave = open("behave").read() if os.path.exists("behave") else ""
def number(text):
    return float(text) if text[:1].isdigit() else 0.0
def leave(*path):
    os.makedirs(os.path.join(*path[:-1]), exist_ok=True)
    with open(os.path.join(*path), "w") as file:
        file.write("made by " + sys.argv[0])
"""
SCRIPTS = {
    "train.py": COMMON
    + """\
print("training")
if "--test-only" in sys.argv:
    sys.exit(not os.path.exists(args["pretrained"]))
if behave == "fail":
    sys.exit(3)
if behave in ("leave nothing", "leave yesterday's"):
    sys.exit(0)
if behave == "die":
    os.kill(os.getpid(), 11)
if behave == "print bytes":
    os.write(1, bytes(range(256)) * 10)
if behave == "leave a daemon" and os.fork() == 0:
    os.setsid()
    leave("daemons", str(os.getpid()))
    time.sleep(60)
while behave == "leave a daemon" and not os.path.exists("daemons"):
    time.sleep(0.01)
if behave == "flaky":
    os.remove("behave")
    sys.exit(1)
while behave == "wait" and not os.path.exists("go"):
    time.sleep(0.02)
while behave == "hang":
    leave("hangs", str(os.getpid()))
    time.sleep(60)
time.sleep(number(behave))
leave(args["output-dir"], "latest.pdparams")
""",
    "export.py": COMMON
    + """\
time.sleep(number(behave))
leave(args["save-inference-dir"], "inference.pdmodel")
leave(args["save-inference-dir"], "inference.pdiparams")
""",
    "infer.py": COMMON
    + """\
time.sleep(number(behave))
sys.exit(not os.path.exists(args["model-dir"] + "/inference.pdmodel"))
""",
}
STEPS = ("train", "eval", "export", "infer-cpu-bs1", "infer-cpu-bs2", "infer-cpu-bs4")


def make(root: Path) -> Path:
    """Write the repository; the path of its config."""
    config = root / "test_tipc/configs/toy/train_infer_python.txt"
    config.parent.mkdir(parents=True)
    config.write_text(CONFIG)
    for name, text in SCRIPTS.items():
        (root / name).write_text(text)
    return config


def command(*words: str | Path) -> list[str]:
    """``tipc run`` as a process, cold and without checks: those are not what is tested here."""
    return [sys.executable, "-m", "tipc", "run", "--cold", "--no-checks", *map(str, words)]


def hear_signals() -> None:
    """In a child, before its program: be as started from a terminal, however pytest itself was started."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def tipc_run(cwd: Path, *words: str | Path, **changes: Any) -> subprocess.CompletedProcess[str]:
    """Run it to its end."""
    environ = {**os.environ, **changes.pop("env", {})}
    return subprocess.run(
        command(*words),
        cwd=cwd,
        env=environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **changes,
    )


def journals(cwd: Path) -> list[Path]:
    """The journals of the runs made in a directory, oldest first."""
    return sorted(cwd.glob(".tipc/runs/*/journal.jsonl"))


def events(journal: Path) -> list[dict[str, Any]]:
    """The whole lines of a journal."""
    lines = [json.loads(line) for line in journal.read_bytes().split(b"\n")[:-1]]
    return [{**line, **line.get("result", {})} for line in lines]


def states(journal: Path) -> dict[str, str]:
    """The last word on each step, by what follows the cell in its id."""
    return {
        event["step"].rpartition("/")[2]: event["state"]
        for event in events(journal)
        if event["event"] == "end"
    }
