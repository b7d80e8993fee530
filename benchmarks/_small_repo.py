"""A small model repository whose steps do real work with numpy, for measurements over many real runs."""

from __future__ import annotations

import subprocess
from pathlib import Path

UNITS = 20  # of work in each timed operation; the slower version does a tenth more
WORK = """\
import numpy as np

UNITS = int(open("units.txt").read())
LEFT = np.random.default_rng(0).normal(size=(192, 192)).astype("float32")


def work(times=1):
    out = LEFT
    for _ in range(UNITS * times):
        out = np.tanh(out @ LEFT)
    return out
"""
TRAIN = """\
import argparse, os, sys, time
from work import work

parser = argparse.ArgumentParser()
parser.add_argument("--output-dir", default=".")
parser.add_argument("--test-only", action="store_true")
args, _ = parser.parse_known_args()
if args.test_only:
    print("[Eval] top1: 0.9, top5: 1.0")
    sys.exit()
os.makedirs(args.output_dir, exist_ok=True)
for interval in range(12):
    begun = time.perf_counter()
    for _ in range(8):
        work()
    cost = (time.perf_counter() - begun) / 8
    print(f"[Epoch {interval // 3 + 1}/4, iter: {interval}/12] loss: {2.3 * 0.9**interval:.4f}, "
          f"avg_reader_cost: 0.0001 sec, avg_batch_cost: {cost:.6f} sec, avg_samples: 4.0, "
          f"avg_ips: {4 / cost:.3f} images/sec", flush=True)
open(os.path.join(args.output_dir, "latest.pdparams"), "w").write("x")
"""
EXPORT = """\
import argparse, os

parser = argparse.ArgumentParser()
parser.add_argument("--save-inference-dir")
args, _ = parser.parse_known_args()
os.makedirs(args.save_inference_dir, exist_ok=True)
for name in ("inference.pdmodel", "inference.pdiparams"):
    open(os.path.join(args.save_inference_dir, name), "w").write("x")
"""
INFER = """\
import argparse, os, sys

sys.path.insert(0, os.getcwd())
import auto_log
from work import work

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=1)
args, _ = parser.parse_known_args()
log = auto_log.AutoLogger("small", batch_size=args.batch_size, warmup=3)
for _ in range(43):
    log.times.start()
    log.times.stamp()
    work(args.batch_size)
    log.times.stamp()
    log.times.end(stamp=True)
log.report()
"""
CONFIG = """\
===========================train_params===========================
model_name:small
python:python3
gpu_list:0
--use-gpu:True|True
--epochs:lite_train_lite_infer=5|lite_train_whole_infer=5|whole_train_whole_infer=90
--output-dir:./output/
--batch-size:lite_train_lite_infer=4|lite_train_whole_infer=4|whole_train_whole_infer=128
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
--save-inference-dir:./output/small_infer/
--pretrained:
norm_export:tools/export_model.py --model=small
##
train_model:./output/latest.pdparams
infer_export:tools/export_model.py --model=small
##
inference:deploy/inference_python/infer.py
--use-gpu:True|False
--batch-size:1|2|3
--model-dir:./output/small_infer/
--img-path:./images/demo.jpg
--benchmark:True
"""
NAME = "test_tipc/configs/small/train_infer_python.txt"
FILES = {
    "work.py": WORK,
    "train.py": TRAIN,
    "tools/export_model.py": EXPORT,
    "deploy/inference_python/infer.py": INFER,
    NAME: CONFIG,
    "test_tipc/prepare.sh": "exit 0\n",
    "images/demo.jpg": "",
    ".gitignore": "output\ntest_tipc/output\n__pycache__\n",
}


def write(repo: Path) -> None:
    """The repository with two versions, tagged ``equal`` and ``slower``."""
    for name, text in FILES.items():
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_text(text)
    (repo / "lite_data").mkdir(exist_ok=True)
    subprocess.run(["git", "init", "-q", str(repo)], check=True)
    for version, units in (("equal", UNITS), ("slower", UNITS * 11 // 10)):
        (repo / "units.txt").write_text(str(units))
        _git(repo, "add", "-A")
        _git(repo, "commit", "-q", "-m", f"{units} units of work")
        _git(repo, "tag", version)


def switch(repo: Path, version: str) -> None:
    """Go to one of the versions."""
    _git(repo, "checkout", "-q", version)


def _git(repo: Path, *words: str) -> None:
    identity = ("-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", str(repo), *identity, *words], check=True)
