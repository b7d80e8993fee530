"""``seg``: PaddleSeg."""

from __future__ import annotations

from tipc.config.dialects.families import (
    DISTILL,
    FPGM,
    GPU_FP16_WITHOUT_TRT,
    GPU_INT8_UNQUANTISED,
    GPU_INT8_WITHOUT_TRT,
    MKLDNN_FP16,
    NORM,
    PACT,
    PROMISE,
    QUANT_NOT_INT8,
    TO_STATIC,
    TRAINER1,
    TRAINER2,
)
from tipc.config.dialects.layouts import FULL, changed
from tipc.config.layout import Row
from tipc.config.rules import Choice, Dialect, Export, Inference, Rules, SkipRule, Whole
from tipc.kinds import CPU, GPU

_LAUNCH = "{python} -m paddle.distributed.launch"
_TRAIN = "{+save_model} {+epoch} {pretrained} {+autocast} {+train_batch} {+train_param1} {amp}"
_NAME = "{trainer}_gpus_{gpu}_autocast_{autocast}"
_CPU = "usemkldnn_{mkldnn}_threads_{cpu_threads}_precision_{precision}_batchsize_{batch_size}"
_GPU = "usetrt_{use_trt}_precision_{precision}_batchsize_{batch_size}"
_ON_GPU = (
    "{python} {inference} {=use_gpu} {+use_trt} {+precision} {model_dir+model_path} {+batch_size}"
    " {image_dir+image} {+benchmark} {+infer2} > {log} 2>&1 "
)
_WITH_RESULTS = _ON_GPU.replace("{+infer2}", "{infer1+results!TF025} {+infer2}")

RULES = Rules(
    log_path="./test_tipc/output/{model_name}/{mode}",
    trainers=(
        *(PACT, FPGM, DISTILL, TRAINER1, TRAINER2),
        TO_STATIC._replace(train="{norm_train} {to_static}"),
    ),
    otherwise=NORM,
    choices=(
        Choice("amp", " "),
        Choice(
            "amp",
            "Global.use_amp=True Global.scale_loss=1024.0 Global.use_dynamic_loss_scaling=True",
            (("autocast", "=", "amp"),),
        ),
        Choice("amp", "--amp_level=O2", (("autocast", "==", "fp16"), ("mode", "==", "benchmark_train"))),
        Choice("infer_dir", "{save_dir}/{inference_dir}"),
        Choice("infer_dir", "{save_dir}", (("inference_dir", "==", "null"),)),
        Choice("infer_dir", "{save_dir}", (("inference_dir", "==", "##"),)),
    ),
    save_dir=("{log_path}/" + _NAME, "{log_path}/" + _NAME + "_nodes_{nodes}"),
    train=(
        "{python} {run_train} {+train_use_gpu}  " + _TRAIN,
        _LAUNCH + " --devices={gpu} {run_train} {+train_use_gpu} " + _TRAIN,
        _LAUNCH
        + " --ips={ips} --devices={gpu} {run_train} {+train_use_gpu} {+save_model} {pretrained} {+epoch}"
        " {+autocast} {+train_batch} {+train_param1} {amp}",
    ),
    train_log="{log_path}/" + _NAME + "_nodes_{nodes}.log",
    eval="{python} {eval} {pretrain+weights} {+train_use_gpu} {+eval1}",
    exports=(Export("{python} {run_export} {export_weight+weights} {save_infer+save_dir}"),),
    infer={
        CPU: Inference(
            "{python} {inference} {=use_gpu} {=mkldnn} {+cpu_threads} {model_dir+model_path} {+batch_size}"
            " {image_dir+image} {+benchmark} {+precision} {infer1+results} {+infer2} > {log} 2>&1 ",
            ("mkldnn", "cpu_threads", "batch_size", "precision"),
            "{log_path}/python_infer_cpu_gpu_{infer_gpu}_" + _CPU + ".log",
        ),
        GPU: Inference(
            _ON_GPU,
            ("use_trt", "precision", "batch_size"),
            "{log_path}/python_infer_gpu_gpu_{infer_gpu}_" + _GPU + ".log",
        ),
    },
    model_path="{infer_dir}/deploy.yaml",
    skips=(
        SkipRule(CPU, (("mkldnn", "=", "False"), ("quant", "=", "True")), "int8-needs-onednn"),
        MKLDNN_FP16,
        QUANT_NOT_INT8,
        SkipRule(
            CPU,
            (("quant", "=", "False"), ("precision", "!=", "fp32")),
            "unquantised-runs-fp32",
        ),
        GPU_INT8_UNQUANTISED,
        GPU_FP16_WITHOUT_TRT,
        GPU_INT8_WITHOUT_TRT,
        SkipRule(GPU, (("use_trt", "==", "False"), ("quant", "=", "True")), "quantised-needs-tensorrt"),
        SkipRule(
            GPU, (("precision", "~", "int8"), ("quant", "=", "True")), "script-never-runs-int8", fix="TF005"
        ),
    ),
    whole=Whole(
        over="infer_model",
        scripts="infer_export",
        quants="infer_quant",
        export="{python} {script} {export_weight+item} {save_infer+saved}",
        saved="{item_dir}",
    ),
    status=" Run successfully with command - {model_name} - {command} - {log}  ",
    env_at_gpu=True,
    norm_pretrain="last",
    lost_weights="iter_{epoch}/model.pdparams",
    leaves=(("best_model/model.pdparams", "--do_eval"), ("iter_{epoch}/model.pdparams", "--iters=")),
    without_flag={"quant": "0"},
)

DIALECT = Dialect(
    name="seg",
    title="PaddleSeg",
    layout=changed(
        FULL,
        Row(26, "header", keys=("export_params",), kind="header"),
        # In PaddleSeg's own files this line is the header of the next block: no colon, so an empty name.
        Row(35, "inference_dir", "v", ("infer_params",), "path"),
        Row(51, "infer2", "kv"),
        after=(("to_static", "to_static_train_benchmark_params"),),
    ),
    rules=RULES,
    promise={
        **PROMISE,
        "norm_pretrain": "entry",
        "infer": {**RULES.infer, GPU: RULES.infer[GPU]._replace(command=_WITH_RESULTS)},
    },
)
