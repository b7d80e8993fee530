"""Configs of our own for the chains beside training: quantisation, conversion to ONNX, published models."""

from __future__ import annotations

_MODELS_PTQ_FIELDS = """
- model_name python ptq_use_gpu model_path output data batch_num batch - - script - -
inference infer_use_gpu infer_batch model_dir image benchmark
"""
_OCR_PTQ_FIELDS = """
- model_name python export_weight save_infer infer_model infer_export infer_quant inference infer_use_gpu
mkldnn threads infer_batch trt precision model_dir image save_log benchmark infer1
"""
_DET_PTQ_FIELDS = """
- model_name python filename - save_infer export_weight script param1 - inference infer_use_gpu mkldnn
threads infer_batch precision model_dir image benchmark infer1
"""
_ONNX_FIELDS = """
- model_name python converter model_path model_file params_file save_file opset checker inference
onnx_model image
"""
_CLAS_ONNX_FIELDS = """
- model_name python converter model_path model_file params_file save_file opset checker - inference
use_onnx onnx_model hardware infer_config
"""
_OCR_ONNX_FIELDS = """
- model_name python converter det_model model_file params_file det_file rec_model rec_file opset checker
inference infer_use_gpu det_key rec_key image
"""
_DET_ONNX_FIELDS = """
- model_name python filename - save_infer export_weight norm_export pact_export fpgm_export distill_export
export1 param1 kl_export - infer_mode infer_quant converter model_dir model_file params_file save_file opset
checker onnx1 inference infer_cfg onnx_file image infer1
"""

MODELS_PTQ = """\
===ptq_params===
model_name:pebble
python:python3
--use-gpu:True
--model_path:pebble_infer/
--output_dir:./pebble_infer_ptq/
--data_dir:./lite_data/
--batch_num:1
--batch_size:2
##
trainer:PTQ
PTQ:deploy/post_quant.py
##
===infer_params===
inference:deploy/infer.py
--use-gpu:True|False
--batch-size:1|2
--model-dir:./pebble_infer_ptq/
--img-path:./images/one.jpg
--benchmark:True"""

SEG_PTQ = """\
===ptq_params===
model_name:tinyseg_KL
python:python3
##
--model_dir:test_tipc/output/tinyseg_KL/tinyseg
##
--config:tinyseg.yml
--batch_num:1
--batch_size:1
##
trainer:PTQ
PTQ:deploy/slim/ptq.py
##
===infer_params===
inference:deploy/infer.py
--device:cpu|gpu
--batch_size:1|4
--config:quant_model/deploy.yaml
--image_path:data/one.png
--benchmark:True"""

OCR_PTQ = """\
===kl_quant_params===
model_name:tinyocr_KL
python:python3
Global.pretrained_model:null
Global.save_inference_dir:null
infer_model:./inference/tiny_det|./inference/tiny_rec
infer_export:quant_kl.py -c tiny.yml -o|null
infer_quant:True
inference:tools/predict.py --shape="3,48,320"
--use_gpu:True|False
--enable_mkldnn:True|False
--cpu_threads:1|6
--rec_batch_num:1
--use_tensorrt:False|True
--precision:int8|fp32
--det_model_dir:
--image_dir:./inference/images/
null:null
--benchmark:True
null:null
null:null"""

DET_PTQ = """\
===ptq_params===
model_name:tinydet
python:python3
filename:
##
--output_dir:./output_inference
weights:https://example.com/tinydet.pdparams
kl_quant_export:tools/post_quant.py -c tiny.yml --slim_config ptq.yml -o
export_param1:null
##
inference:./deploy/python/infer.py
--device:gpu|cpu
--enable_mkldnn:False|True
--cpu_threads:1|4
--batch_size:1|2
--run_mode:paddle|trt_fp16|trt_int8
--model_dir:
--image_dir:./dataset/test/
--run_benchmark:False
null:null"""

MODELS_ONNX = """\
===paddle2onnx_params===
model_name:pebble
python:python3
2onnx: paddle2onnx
--model_dir:./inference/pebble_infer/
--model_filename:inference.pdmodel
--params_filename:inference.pdiparams
--save_file:./inference/pebble_onnx/model.onnx
--opset_version:10
--enable_onnx_checker:True
inference:deploy/onnx_infer.py
--onnx_file:./elsewhere/model.onnx
--img_path:./lite_data/one.jpg"""

CLAS_ONNX = """\
===paddle2onnx_params===
model_name:TinyNet
python:python3
2onnx: paddle2onnx
--model_dir:./deploy/models/TinyNet_infer/
--model_filename:inference.pdmodel
--params_filename:inference.pdiparams
--save_file:./deploy/models/TinyNet_infer/inference.onnx
--opset_version:10
--enable_onnx_checker:True
inference_model_url:https://example.com/TinyNet_infer.tar
inference:./python/predict_cls.py
Global.use_onnx:True
Global.inference_model_dir:./models/TinyNet_infer
Global.use_gpu:False
-c:configs/inference_cls.yaml"""

OCR_ONNX = """\
===paddle2onnx_params===
model_name:tiny_det
python:python3
2onnx: paddle2onnx
--det_model_dir:./inference/tiny_det_infer/
--model_filename:inference.pdmodel
--params_filename:inference.pdiparams
--det_save_file:./inference/det_onnx/model.onnx
--rec_model_dir:./inference/tiny_rec_infer/
--rec_save_file:./inference/rec_onnx/model.onnx
--opset_version:10
--enable_onnx_checker:True
inference:tools/predict.py
--use_gpu:True|False
--det_model_dir:
--rec_model_dir:
--image_dir:./inference/images/"""

DET_ONNX = """\
===paddle2onnx_params===
model_name:tinydet
python:python3
filename:null
##
--output_dir:./output_inference
weights:https://example.com/tinydet.pdparams
norm_export:tools/export_model.py -c tiny.yml -o
pact_export:tools/export_model.py -c tiny.yml --slim_config pact.yml -o
fpgm_export:null
distill_export:null
export1:null
export_param:export_onnx=True
kl_quant_export:tools/post_quant.py -c tiny.yml -o
##
infer_mode:norm
infer_quant:False
cmd:paddle2onnx
--model_dir:null
--model_filename:model.pdmodel
--params_filename:model.pdiparams
--save_file:model.onnx
--opset_version:11
--enable_onnx_checker:True
paddle2onnx_params1:null
infer_py:./deploy/onnx/infer.py
--infer_cfg:null
--onnx_file:null
--image_file:./demo/one.jpg
infer_param1:null"""

_OCR_INFER_FIELDS = """
- model_name python infer_model infer_export infer_quant inference infer_use_gpu mkldnn threads infer_batch
trt precision model_dir image rec_model benchmark infer1
"""
OCR_INFER = """\
===infer_params===
model_name:tinyocr
python:python3
infer_model:./inference/a|./inference/b
infer_export:null
infer_quant:False|True
inference:tools/predict.py --shape="3,48,320"
--use_gpu:True|False
--enable_mkldnn:True|False
--cpu_threads:1|6
--rec_batch_num:1|2
--use_tensorrt:False|True
--precision:fp32|fp16|int8
--det_model_dir:
--image_dir:./inference/images/
--rec_model_dir:./inference/tiny_rec
--benchmark:True
null:null
null:null"""

CHAIN_BASES = {
    "models-ptq": (MODELS_PTQ, _MODELS_PTQ_FIELDS),
    "seg-ptq": (SEG_PTQ, _MODELS_PTQ_FIELDS),
    "ocr-ptq": (OCR_PTQ, _OCR_PTQ_FIELDS),
    "det-ptq": (DET_PTQ, _DET_PTQ_FIELDS),
    "ocr-infer": (OCR_INFER, _OCR_INFER_FIELDS),
    "models-paddle2onnx": (MODELS_ONNX, _ONNX_FIELDS),
    "seg-paddle2onnx": (MODELS_ONNX, _ONNX_FIELDS),
    "clas-paddle2onnx": (CLAS_ONNX, _CLAS_ONNX_FIELDS),
    "ocr-paddle2onnx": (OCR_ONNX, _OCR_ONNX_FIELDS),
    "det-paddle2onnx": (DET_ONNX, _DET_ONNX_FIELDS),
}
