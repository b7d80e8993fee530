"""One config of our own in each family's layout, line by line: what ``upstream_table`` varies."""

from __future__ import annotations

from upstream_chain_bases import CHAIN_BASES

# The lines that the scripts of a layout read, by name; "-" is a header or a filler.
_SLIM = """
- model_name python gpu_list use_gpu epoch save_model batch pretrain train_model_name data -
trainer norm_train nodes - eval - - save_infer export_weight norm_export - infer_model infer_export -
inference infer_use_gpu infer_batch model_dir image benchmark
"""
_FULL = """
- model_name python gpu_list use_gpu autocast epoch save_model batch pretrain train_model_name train_image
param1 - trainer norm_train pact_train fpgm_train distill_train trainer1 trainer2 - - eval eval1 - -
save_infer export_weight norm_export pact_export fpgm_export distill_export export1 export2 inference_dir
infer_model infer_export infer_quant inference infer_use_gpu mkldnn threads infer_batch trt precision
model_dir image save_log benchmark infer1 infer2
"""
SLIM_FIELDS = _SLIM.split()
FULL_FIELDS = _FULL.split()

MODELS = """\
===train_params===
model_name:pebble
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
===eval_params===
eval:train.py --test-only
##
===infer_params===
--save-inference-dir:./out/pebble_infer/
--pretrained:
norm_export:tools/export_model.py --model=pebble
##
train_model:./weights/pebble.pdparams
infer_export:tools/export_model.py --model=pebble
##
inference:deploy/infer.py
--use-gpu:True|False
--batch-size:1|2
--model-dir:./out/pebble_infer/
--img-path:./images/one.jpg
--benchmark:True"""

SEG = """\
===train_params===
model_name:tinyseg
python:python3
gpu_list:0|0,1
--device:gpu|gpu
--precision:null
--iters:lite_train_lite_infer=20|lite_train_whole_infer=30|whole_train_whole_infer=1000
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
fpgm_train:prune.py --config tinyseg.yml --do_eval
distill_train:distill.py --config tinyseg.yml --do_eval
twin_train:twin.py --do_eval
other_train:other.py --do_eval
##
===eval_params===
eval:val.py --config tinyseg.yml
null:null
##
===export_params===
--save_dir:
--model_path:
norm_export:export.py --config tinyseg.yml
quant_export:quant/export.py --config tinyseg.yml
fpgm_export:export.py --config pruned.yml
distill_export:null
export1:export.py --twin
export2:export.py --other
===infer_params===
infer_model:./pretrained/model.pdparams|./other/model.pdparams
infer_export:export.py --config tinyseg.yml|null
infer_quant:False|True
inference:deploy/infer.py
--device:cpu|gpu
--enable_mkldnn:True|False
--cpu_threads:2
--batch_size:1
--use_trt:False|True
--precision:fp32|int8
--config:
--image_path:data/one.jpg
--save_log_path:null
--benchmark:True
--save_dir:
--model_name:tinyseg
===to_static_train_benchmark_params===
to_static_train:--to_static"""

OCR = """\
===train_params===
model_name:tinyocr
python:python3
gpu_list:0|0,1
Global.use_gpu:True|True
Global.auto_cast:null
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
fpgm_train:prune.py -c tiny.yml -o
distill_train:distill.py -c tiny.yml -o
twin_train:twin.py
other_train:other.py
##
===eval_params===
eval:tools/eval.py -c tiny.yml -o
null:null
##
===infer_params===
Global.save_inference_dir:./output/
Global.checkpoints:
norm_export:tools/export_model.py -c tiny.yml -o
quant_export:quant_export.py -c tiny.yml -o
fpgm_export:prune_export.py -c tiny.yml -o
distill_export:null
export1:null
export2:other_export.py
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
===to_static_train_benchmark_params===
to_static_train:Global.to_static=true"""

CLAS = """\
===train_params===
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
pact_train:slim.py -c tiny.yaml -o mode=pact
fpgm_train:slim.py -c tiny.yaml -o mode=fpgm
distill_train:distill.py -c tiny.yaml
to_static_train:-o Global.to_static=True
other_train:other.py
##
===eval_params===
eval:tools/eval.py -c tiny.yaml
null:null
##
===infer_params===
-o Global.save_inference_dir:./inference
-o Global.pretrained_model:
norm_export:tools/export_model.py -c tiny.yaml
quant_export:slim_export.py -c tiny.yaml
fpgm_export:null
distill_export:export.py --distilled
kl_quant:quant_post.py -c tiny.yaml
export2:other_export.py
pretrained_model_url:https://example.com/tiny.pdparams
infer_model:./inference
infer_export:True
infer_quant:Fasle
inference:python/predict_cls.py -c configs/inference_cls.yaml
-o Global.use_gpu:True|False
-o Global.enable_mkldnn:False|True
-o Global.cpu_num_threads:1
-o Global.batch_size:1
-o Global.use_tensorrt:False
-o Global.use_fp16:False|True
-o Global.inference_model_dir:../inference
-o Global.infer_imgs:../dataset/val
-o Global.save_log_path:null
-o Global.benchmark:False
null:null"""

DET = """\
===train_params===
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
trainer:norm_train
norm_train:tools/train.py -c tiny.yml -o
pact_train:tools/train.py -c tiny.yml --slim_config pact.yml -o
fpgm_train:tools/train.py -c tiny.yml --slim_config fpgm.yml -o
distill_train:tools/train.py -c tiny.yml --slim_config distill.yml -o
twin_train:tools/twin.py -o
other_train:tools/other.py -o
##
===eval_params===
eval:tools/eval.py -c tiny.yml -o
null:null
##
===infer_params===
--output_dir:./output_inference
weights:https://example.com/tinydet.pdparams
norm_export:tools/export_model.py -c tiny.yml -o
pact_export:tools/export_model.py -c tiny.yml --slim_config pact.yml -o
fpgm_export:tools/export_model.py -c tiny.yml --slim_config fpgm.yml -o
distill_export:null
export1:tools/twin_export.py -o
null:null
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
===to_static_train_benchmark_params===
to_static_train:--to_static"""

BASES = {"models": MODELS, "seg": SEG, "ocr": OCR, "clas": CLAS, "det": DET, "clas-ptq": CLAS}
FIELDS = {name: SLIM_FIELDS if name == "models" else FULL_FIELDS for name in BASES}
for _name, (_text, _fields) in CHAIN_BASES.items():
    BASES[_name] = _text
    FIELDS[_name] = _fields.split()
TRAINING = [name for name in BASES if "-" not in name]

# The block that benchmark_train.sh reads, after the lines of the training config.
_PROFILER = "--profiler_options:batch_range=[10,20];state=GPU;profile_path=model.profile"
_FLAGS = "flags:FLAGS_eager_delete_tensor_gb=0.0;FLAGS_conv_workspace_size_limit=4096"
_BLOCK = ("batch_size:4", "fp_items:fp32|fp16", "epoch:3")
_BLOCK_FIELDS = ("bench_batch", "bench_precision", "bench_epoch")
_BLOCKS = {
    "seg": ((), (), (("bench_last", "log_iters:15;repeats:500"),)),
    "ocr": ((), (), ()),
    "clas": (
        ("model_type:norm_train|to_static_train", "num_workers:12"),
        ("bench_type", "bench_workers"),
        (),
    ),
    "det": (("repeat:2",), ("bench_repeat",), ()),
}
for _family, (_own, _own_fields, _end) in _BLOCKS.items():
    _head, _static, _tail = BASES[_family].partition("\n===to_static")
    _lines = ["===train_benchmark_params===", *_BLOCK, *_own, _PROFILER, _FLAGS]
    _names = ["-", *_BLOCK_FIELDS, *_own_fields, "bench_profile", "bench_flags"]
    _after = (_static + _tail).removeprefix("\n").split("\n") if _static else []
    _lines += [*_after, *(line for _, line in _end)]
    _names += [*("-" for _ in _after), *(name for name, _ in _end)]
    _before = FULL_FIELDS[: _head.count("\n") + 1]
    BASES[f"{_family}-benchmark_train"] = "\n".join([_head, *_lines])
    FIELDS[f"{_family}-benchmark_train"] = [*_before, *_names]
