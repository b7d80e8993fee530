"""A small repository whose scripts pretend (no paddle): an honest one, to be turned into lies by edits."""

from __future__ import annotations

from pathlib import Path

WEIGHTS = {"conv.weight": [0.5, -0.25, 0.125], "head.weight": [[1.0, 2.0], [3.0, 4.0]]}

TRAIN = """
import argparse, os, pickle, sys

import numpy as np

WEIGHTS = {"conv.weight": [0.5, -0.25, 0.125], "head.weight": [[1.0, 2.0], [3.0, 4.0]]}

parser = argparse.ArgumentParser()
for name in ("--output-dir", "--epochs", "--batch-size", "--data-path", "--pretrained", "--amp_level"):
    parser.add_argument(name)
parser.add_argument("--test-only", action="store_true")
args = parser.parse_args()

if args.test_only:
    open(args.pretrained, "rb").close()
    print("Evaluation: loss: 0.9000, top1: 0.7500, top5: 1.0000")
    sys.exit(0)
os.makedirs(args.output_dir, exist_ok=True)
loss = 2.31
for epoch in range(1, int(args.epochs) + 1):
    for iteration in range(2):
        loss *= 0.9
        print(f"[Epoch {epoch}, iter: {iteration}] top1: 0.50000, lr: 0.00100, loss: {loss:.5f}, "
              f"avg_reader_cost: 0.01000 sec, avg_batch_cost: 0.10000 sec, avg_samples: 4.0, "
              f"avg_ips: 40.00000 images/sec.")
with open(os.path.join(args.output_dir, "latest.pdparams"), "wb") as stream:
    pickle.dump({name: np.array(value, "float32") for name, value in WEIGHTS.items()}, stream)
"""

EXPORT = """
import argparse, os

parser = argparse.ArgumentParser()
parser.add_argument("--pretrained")
parser.add_argument("--save-inference-dir")
args = parser.parse_args()
open(args.pretrained, "rb").close()
for name in ("inference.pdmodel", "inference.pdiparams"):
    with open(os.path.join(args.save_inference_dir, name), "wb") as stream:
        stream.write(b"model")
"""

INFER = '''
import argparse, glob, os

parser = argparse.ArgumentParser()
for name in ("--model-dir", "--img-path", "--benchmark", "--precision", "--batch-size"):
    parser.add_argument(name)
args = parser.parse_args()
images = sorted(glob.glob(os.path.join(args.img_path, "*")))
size = int(args.batch_size)
for start in range(0, len(images), size):
    batch = images[start:start + size]
    for place, image in enumerate(batch):
        index = start + place
        print(f"image_name: {image}, class_id: {index % 3}, prob: {0.9 - index / 100:.4f}")
runs = -(-len(images) // size)
report = f"""---------------------- Env info ----------------------
 OS_version: Debian
 CUDA_version: None
 CUDNN_version: None
 drivier_version: None
---------------------- Paddle info ----------------------
 paddle_version: 3.1.1
 paddle_commit: abc
 log_api_version: 1.0
----------------------- Conf info -----------------------
 runtime_device: cpu
 ir_optim: True
 enable_memory_optim: True
 enable_tensorrt: False
 enable_mkldnn: True
 cpu_math_library_num_threads: 1
----------------------- Model info ----------------------
 model_name: tiny
 precision: {args.precision}
----------------------- Data info -----------------------
 batch_size: {size}
 input_shape: dynamic
 data_num: {runs}
----------------------- Perf info -----------------------
 cpu_rss(MB): 315.2, gpu_rss(MB): None, gpu_util: None%
 total time spent(s): {runs * 0.0375:.4f}
 preprocess_time(ms): 10.0, inference_time(ms): 25.0, postprocess_time(ms): 2.5
"""
print(report)
'''


def make_plain_repo(root: Path) -> Path:
    """Write the honest repository; its archives, configs and documents are not part of it."""
    for name, text in {
        "train.py": TRAIN,
        "tools/export_model.py": EXPORT,
        "deploy/inference_python/infer.py": INFER,
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    images = root / "lite_data" / "val"
    images.mkdir(parents=True)
    for index in range(8):
        (images / f"{index}.jpg").write_bytes(b"jpeg %d" % index)
    return root


def edit(repo: Path, name: str, old: str, new: str) -> None:
    """Turn one place of an honest script into a lie; it must be there."""
    path = repo / name
    text = path.read_text()
    assert old in text, f"{name} has no {old!r}"
    path.write_text(text.replace(old, new))
