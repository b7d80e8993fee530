"""Config files written for these tests, one for each dialect, and small tools to change them."""

from __future__ import annotations

from pathlib import Path

MODELS = """\
===========================train_params===========================
model_name:toy
python:python3
gpu_list:0|0,1
--device:gpu|gpu
--epochs:lite_train_lite_infer=2|whole_train_whole_infer=9
--output-dir:./out/
--batch-size:lite_train_lite_infer=4|whole_train_whole_infer=32
--pretrained:null
train_model_name:latest.pdparams
--data-path:./lite_data
##
trainer:norm_train
norm_train:train.py --seed 1
##
===========================eval_params===========================
eval:train.py --test-only
##
===========================infer_params===========================
--save-inference-dir:./out/toy_infer/
--pretrained:
norm_export:tools/export_model.py --model=toy
##
train_model:./weights/toy.pdparams
infer_export:tools/export_model.py --model=toy
##
inference:deploy/infer.py
--use-gpu:True|False
--batch-size:1|2
--model-dir:./out/toy_infer/
--img-path:./images/demo.jpg
--benchmark:True
"""

SEG = """\
===========================train_params===========================
model_name:tinyseg
python:python3
gpu_list:0|0,1
--device:gpu|gpu
--precision:null
--iters:lite_train_lite_infer=20|lite_train_whole_infer=20|whole_train_whole_infer=1000
--save_dir:
--batch_size:lite_train_lite_infer=2|lite_train_whole_infer=2|whole_train_whole_infer=3
--model_path:base.pdparams
train_model_name:best_model/model.pdparams
train_infer_img_dir:data/test.txt
null:null
##
trainer:norm_train
norm_train:train.py --config tinyseg.yml --do_eval
pact_train:quant/train.py --config tinyseg.yml --do_eval
fpgm_train:null
distill_train:null
null:null
null:null
##
===========================eval_params===========================
eval:null
null:null
##
===========================export_params===========================
--save_dir:
--model_path:
norm_export:export.py --config tinyseg.yml
quant_export:quant/export.py --config tinyseg.yml
fpgm_export:null
distill_export:null
export1:null
export2:null
===========================infer_params===========================
infer_model:./pretrained/model.pdparams
infer_export:export.py --config tinyseg.yml
infer_quant:False
inference:deploy/infer.py
--device:cpu|gpu
--enable_mkldnn:True|False
--cpu_threads:2
--batch_size:1
--use_trt:False|True
--precision:fp32|int8
--config:
--image_path:data/demo.jpg
--save_log_path:null
--benchmark:True
--save_dir:
--model_name:tinyseg
"""

OCR = """\
===========================train_params===========================
model_name:tinyocr
python:python3
gpu_list:0|0,1
Global.use_gpu:True|True
Global.auto_cast:null|amp
Global.epoch_num:lite_train_lite_infer=2|whole_train_whole_infer=50
Global.save_model_dir:./output/
Train.loader.batch_size_per_card:lite_train_lite_infer=2|whole_train_whole_infer=16
Global.pretrained_model:null
train_model_name:latest
train_infer_img_dir:./images/
null:null
##
trainer:norm_train
norm_train:tools/train.py -c tiny.yml -o
pact_train:quant.py -c tiny.yml -o
fpgm_train:null
distill_train:null
null:null
null:null
##
===========================eval_params===========================
eval:tools/eval.py -c tiny.yml -o
null:null
##
===========================infer_params===========================
Global.save_inference_dir:./output/
Global.checkpoints:
norm_export:tools/export_model.py -c tiny.yml -o
quant_export:quant_export.py -c tiny.yml -o
fpgm_export:null
distill_export:null
export1:null
export2:null
##
infer_model:./inference/a|./inference/b
infer_export:tools/export_model.py -c tiny.yml -o|null
infer_quant:False|True
inference:tools/predict.py --shape="3,48,320"
--use_gpu:True|False
--enable_mkldnn:False|True
--cpu_threads:6
--rec_batch_num:1
--use_tensorrt:False
--precision:fp32|int8
--rec_model_dir:
--image_dir:./inference/images
null:null
--benchmark:True
null:null
===========================to_static_train_benchmark_params===========================
to_static_train:Global.to_static=true
"""

CLAS = """\
===========================train_params===========================
model_name:TinyNet
python:python3
gpu_list:0|0,1
-o Global.device:gpu
-o Global.auto_cast:null
-o Global.epochs:lite_train_lite_infer=3|whole_train_whole_infer=120
-o Global.output_dir:./output/
-o DataLoader.Train.sampler.batch_size:8
-o Global.pretrained_model:null
train_model_name:latest
train_infer_img_dir:./dataset/val
null:null
##
trainer:norm_train
norm_train:tools/train.py -c tiny.yaml
pact_train:null
fpgm_train:null
distill_train:null
to_static_train:-o Global.to_static=True
null:null
##
===========================eval_params===========================
eval:tools/eval.py -c tiny.yaml
null:null
##
===========================infer_params==========================
-o Global.save_inference_dir:./inference
-o Global.pretrained_model:
norm_export:tools/export_model.py -c tiny.yaml
quant_export:null
fpgm_export:null
distill_export:null
kl_quant:null
export2:null
pretrained_model_url:https://example.com/tiny.pdparams
infer_model:../inference/
infer_export:True
infer_quant:Fasle
inference:python/predict_cls.py -c configs/inference_cls.yaml
-o Global.use_gpu:True|False
-o Global.enable_mkldnn:False
-o Global.cpu_num_threads:1
-o Global.batch_size:1
-o Global.use_tensorrt:False
-o Global.use_fp16:False|True
-o Global.inference_model_dir:../inference
-o Global.infer_imgs:../dataset/val
-o Global.save_log_path:null
-o Global.benchmark:False
null:null
"""

DET = """\
===========================train_params===========================
model_name:tinydet
python:python3
gpu_list:0|0,1
use_gpu:True
auto_cast:null
epoch:lite_train_lite_infer=1|whole_train_whole_infer=12
save_dir:null
TrainReader.batch_size:lite_train_lite_infer=2|whole_train_whole_infer=8
pretrain_weights:https://example.com/tinydet.pdparams
trained_model_name:model_final.pdparams
train_infer_img_dir:./dataset/test/
filename:null
##
trainer:norm_train|pact_train
norm_train:tools/train.py -c tiny.yml -o
pact_train:tools/train.py -c tiny.yml --slim_config pact.yml -o
fpgm_train:null
distill_train:null
null:null
null:null
##
===========================eval_params===========================
eval:tools/eval.py -c tiny.yml -o
null:null
##
===========================infer_params===========================
--output_dir:./output_inference
weights:https://example.com/tinydet.pdparams
norm_export:tools/export_model.py -c tiny.yml -o
pact_export:tools/export_model.py -c tiny.yml --slim_config pact.yml -o
fpgm_export:null
distill_export:null
export1:null
export_onnx:null
kl_quant_export:tools/post_quant.py -c tiny.yml -o
##
infer_mode:norm|kl_quant
infer_quant:False|True
inference:./deploy/python/infer.py
--device:gpu|cpu
--enable_mkldnn:False|True
--cpu_threads:4
--batch_size:1
--use_tensorrt:null
--run_mode:paddle|trt_int8
--model_dir:
--image_dir:./dataset/test/
--save_log_path:null
--run_benchmark:False
--trt_max_shape:1600
"""

SAMPLES = {"models": MODELS, "seg": SEG, "ocr": OCR, "clas": CLAS, "det": DET}


def changed(text: str, lines: dict[int, str]) -> str:
    """The text with some of its lines replaced; lines count from 1."""
    rows = text.split("\n")
    for number, line in lines.items():
        rows[number - 1] = line
    return "\n".join(rows)


def write(root: Path, text: str | bytes, name: str = "train_infer_python.txt") -> Path:
    """The text as a config of a repository at ``root``."""
    path = root / "test_tipc" / "configs" / "tiny" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape"))
    return path
