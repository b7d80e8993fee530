"""Config files written for these tests: one of each layout, with nothing wrong in them."""

from __future__ import annotations

PER_MODE = "lite_train_lite_infer={}|lite_train_whole_infer={}|whole_train_whole_infer={}"
HEADER = "=" * 27 + "{}" + "=" * 27

SLIM = f"""\
{HEADER.format("train_params")}
model_name:toy
python:python3
gpu_list:0|0,1
--device:gpu|gpu
--epochs:{PER_MODE.format(2, 2, 90)}
--output-dir:./output/
--batch-size:{PER_MODE.format(4, 4, 64)}
--pretrained:null
train_model_name:latest.pdparams
--data-path:./lite_data
##
trainer:norm_train
norm_train:train.py --seed=1
##
{HEADER.format("eval_params")}
eval:train.py --test-only
##
{HEADER.format("infer_params")}
--save-inference-dir:./output/toy_infer/
--pretrained:
norm_export:tools/export_model.py --model=toy
##
train_model:./pretrained/toy.pdparams
infer_export:tools/export_model.py --model=toy
##
inference:deploy/infer.py
--use-gpu:True|False
--batch-size:1
--model-dir:./output/toy_infer/
--img-path:./images/demo.jpg
--benchmark:True
"""

FULL = f"""\
{HEADER.format("train_params")}
model_name:toyseg
python:python3
gpu_list:0|0,1
--device:gpu|gpu
--precision:null
--iters:{PER_MODE.format(20, 20, 1000)}
--save_dir:
--batch_size:{PER_MODE.format(2, 2, 3)}
--model_path:null
train_model_name:best_model/model.pdparams
train_infer_img_dir:test_tipc/data/val.list
null:null
##
trainer:norm_train
norm_train:tools/train.py --config configs/toy.yml --do_eval --seed 100
pact_train:null
fpgm_train:null
distill_train:null
null:null
null:null
##
{HEADER.format("eval_params")}
eval:tools/val.py --config configs/toy.yml
null:null
##
{HEADER.format("export_params")}
--save_dir:
--model_path:
norm_export:tools/export.py --config configs/toy.yml
quant_export:null
fpgm_export:null
distill_export:null
export1:null
export2:null
{HEADER.format("infer_params")}
infer_model:./test_tipc/output/toyseg/model.pdparams
infer_export:tools/export.py --config configs/toy.yml
infer_quant:False
inference:deploy/python/infer.py
--device:cpu|gpu
--enable_mkldnn:True|False
--cpu_threads:1|6
--batch_size:1
--use_trt:False
--precision:fp32
--config:
--image_path:test_tipc/data/val.list
--save_log_path:null
--benchmark:True
--save_dir:
--model_name:toyseg
"""


def line_of(text: str, beginning: str) -> int:
    """The number of the first line that begins so."""
    return next(n for n, line in enumerate(text.splitlines(), 1) if line.startswith(beginning))


def without(text: str, beginning: str) -> str:
    """The text without the first line that begins so."""
    lines = text.splitlines(keepends=True)
    del lines[line_of(text, beginning) - 1]
    return "".join(lines)


def replaced(text: str, beginning: str, new: str) -> str:
    """The text with another line for the first one that begins so."""
    lines = text.splitlines(keepends=True)
    lines[line_of(text, beginning) - 1] = new + "\n"
    return "".join(lines)


def with_line(text: str, beginning: str, new: str) -> str:
    """The text with a line more, before the first one that begins so."""
    lines = text.splitlines(keepends=True)
    lines.insert(line_of(text, beginning) - 1, new + "\n")
    return "".join(lines)
