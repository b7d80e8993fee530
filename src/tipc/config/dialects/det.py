"""``det``: PaddleDetection."""

from __future__ import annotations

from tipc.config.dialects.families import DISTILL, FPGM, NORM, PACT, PROMISE, TRAINER1, TRAINER2
from tipc.config.dialects.layouts import FULL, changed
from tipc.config.layout import Row
from tipc.config.rules import (
    Choice,
    Dialect,
    Export,
    Inference,
    Rules,
    SkipRule,
    Whole,
)
from tipc.kinds import CPU, GPU

_LAUNCH = "{python} -m paddle.distributed.launch"
_NAME = "{trainer}_gpus_{gpu}_autocast_{autocast}"
_SET = (
    "{+save_model} {+epoch} {+pretrain} {+train_batch} {+filename} {shuffle} {amp_level} {enable_ce} {amp} "
    "{static_flag} {+train_param1}"
)
_EXPORT = "{python} {run_export} {export_weight+weights} {+filename} {save_infer+save_dir} "
_CPU = "usemkldnn_{mkldnn}_threads_{cpu_threads}_mode_paddle_batchsize_{batch_size}"
# An operator of the model's own, compiled before each training.
_OPERATOR = "ppdet/modeling/transformers/ext_op"
_BUILD = ("{python} setup_ms_deformable_attn_op.py install", "pip list")
_TRAINERS = (NORM, PACT, FPGM, DISTILL, TRAINER1, TRAINER2)

RULES = Rules(
    log_path="./test_tipc/output/{model_name}/{mode}",
    trainers=(
        *(one._replace(compare="quoted", sets={"static_flag": ""}) for one in _TRAINERS),
        NORM._replace(row="to_static", compare="quoted", sets={"static_flag": "{to_static}"}),
    ),
    choices=(
        Choice("amp", " "),
        Choice("amp_level", " "),
        Choice("amp", "--amp", (("autocast", "=", "amp"),)),
        Choice("amp_level", "amp_level=O1", (("autocast", "=", "amp"),)),
        Choice("amp", "--amp", (("autocast", "=", "fp16"),)),
        Choice("amp_level", "amp_level=O2", (("autocast", "=", "fp16"),)),
        Choice("shuffle", " "),
        Choice("enable_ce", " "),
        Choice("shuffle", "TrainReader.shuffle=False", (("mode", "=", "benchmark_train"),)),
        Choice("enable_ce", "--enable_ce=True", (("mode", "=", "benchmark_train"),)),
        Choice("infer_dir", "{save_dir}/{model_name}"),
    ),
    options=(("filename", "{model_name}"),),
    use_gpu="whole",
    cpu_use_gpu="False",
    device_leaks=True,
    save_dir=("{log_path}/" + _NAME, "{log_path}/" + _NAME + "_nodes_{nodes}"),
    train=(
        "{python} {run_train} LearningRate.base_lr=0.0001 log_iter=1 {+train_use_gpu} " + _SET,
        _LAUNCH + " --gpus={gpu} {run_train} log_iter=1 {+train_use_gpu} " + _SET,
        _LAUNCH + " --ips={ips} --gpus={gpu} {run_train} log_iter=1 {+train_use_gpu} " + _SET,
    ),
    train_log="{log_path}/" + _NAME + "_nodes_{nodes}.log",
    weights="{save_dir}/{model_name}/{train_model_name}",
    eval="{python} {eval} {export_weight+weights} {+train_use_gpu} {+eval1}",
    exports=(
        Export(
            _EXPORT.replace("{save_infer", "export_onnx=True {save_infer") + ">{log} 2>&1",
            (("key:export2", "=", "export_onnx"),),
            log="{log_path}/" + _NAME + "_nodes_{nodes}_onnx_export.log",
            static=False,
        ),
        Export(_EXPORT),
    ),
    infer={
        CPU: Inference(
            "{python} {inference} {=use_gpu} {=mkldnn} {+cpu_threads} {model_dir+model_path} {+batch_size}"
            " {image_dir+image} {+benchmark} {+infer1} > {log} 2>&1 ",
            ("mkldnn", "cpu_threads", "batch_size"),
            "{log_path}/python_infer_cpu_gpus_{infer_gpu}_" + _CPU + ".log",
        ),
        GPU: Inference(
            "{python} {inference} {=use_gpu} {+precision} {model_dir+model_path} {+batch_size}"
            " {image_dir+image} {+benchmark} {+infer1} > {log} 2>&1 ",
            ("precision", "batch_size"),
            "{log_path}/python_infer_gpu_gpus_{infer_gpu}_mode_{precision}_batchsize_{batch_size}.log",
        ),
    },
    skips=(
        SkipRule(CPU, (("mkldnn", "=", "False"), ("quant", "=", "True")), "int8-needs-onednn"),
        SkipRule(GPU, (("quant", "==", "False"), ("precision", "==", "trt_int8")), "int8-needs-quantised"),
        SkipRule(
            GPU,
            (("precision", "!==", "paddle"), ("quant", "==", "True"), ("precision", "!==", "trt_int8")),
            "quantised-runs-int8",
        ),
    ),
    whole=Whole(
        modes=("whole_infer", "klquant_whole_infer"),
        over="infer_mode",
        kinds={
            "whole_infer": {kind: f"{{{kind}_export}}" for kind in ("norm", "pact", "fpgm", "distill")},
            "klquant_whole_infer": {"kl_quant": "{kl_quant_export}"},
        },
        quants="infer_quant",
        export_when=(),
        export="{python} {script} {+export_weight} {+filename} {+save_infer} ",
        saved="{save_infer}/{model_name}",
    ),
    status=" Run successfully with command - {model_name} - {command} - {log}  ",
    env_at_gpu=True,
    nodes_when_launched=True,
    builds=tuple(("dino_r50_4scale_1x_coco", command, _OPERATOR) for command in _BUILD),
    without_flag={"quant": "0"},
    time_limit="5m",
    live_pipe=("train", "eval", "export"),
)

DIALECT = Dialect(
    name="det",
    title="PaddleDetection",
    layout=changed(
        FULL,
        Row(27, "save_infer", "kv", kind="path"),
        Row(28, "export_weight", "kv", kind="weights"),
        Row(35, "kl_quant_export", "v", ("kl_quant_export",), "script"),
        Row(36, "filler", keys=("##",), kind="filler"),
        Row(37, "infer_mode", "l", ("infer_mode",)),
        Row(44, "use_trt", "kl", kind="flag", unused=True),
        value="rest of line",
        after=(("to_static", "to_static_train_benchmark_params"),),
    ),
    rules=RULES,
    promise={**PROMISE, "export_device": True},
)
