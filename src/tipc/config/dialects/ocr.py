"""``ocr``: PaddleOCR."""

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
    TRAINER2,
)
from tipc.config.dialects.layouts import FULL, changed
from tipc.config.rules import Choice, Dialect, Export, Inference, Rules, Whole
from tipc.kinds import CPU, GPU

_LAUNCH = "{python} -m paddle.distributed.launch"
_NAME = "{trainer}_gpus_{gpu}_autocast_{autocast}"
_CPU = "usemkldnn_{mkldnn}_threads_{cpu_threads}_precision_{precision}_batchsize_{batch_size}"
_GPU = "usetrt_{use_trt}_precision_{precision}_batchsize_{batch_size}"
_AMP = "Global.use_amp=True Global.scale_loss=1024.0 Global.use_dynamic_loss_scaling=True"

RULES = Rules(
    log_path="./test_tipc/output/{model_name}/{mode}",
    trainers=(PACT, FPGM, DISTILL, TO_STATIC, TRAINER2),
    otherwise=NORM,
    choices=(
        Choice("amp", " "),
        Choice("amp", _AMP, (("autocast", "=", "amp"),)),
        Choice("infer_dir", "{save_dir}/{inference_dir}"),
        Choice("infer_dir", "{save_dir}", (("inference_dir", "==", "null"),)),
        Choice("infer_dir", "{save_dir}", (("inference_dir", "==", "##"),)),
    ),
    save_dir=("{log_path}/" + _NAME, "{log_path}/" + _NAME + "_nodes_{nodes}"),
    train=(
        "{python} {run_train} {+train_use_gpu}  {+save_model} {+epoch} {+pretrain}  {+train_batch}"
        " {amp} {+train_param1}",
        _LAUNCH
        + " --gpus={gpu} {run_train} {+train_use_gpu} {+save_model} {+epoch} {+pretrain}  {+train_batch}"
        " {amp} {+train_param1}",
        _LAUNCH + " --ips={ips} --gpus={gpu} {run_train} {+train_use_gpu} {+save_model} {+pretrain} {+epoch} "
        " {+train_batch} {amp} {+train_param1}",
    ),
    train_log="{save_dir}.log",
    eval="{python} {eval} {pretrain+weights} {+train_use_gpu} {+eval1} > {log} 2>&1 ",
    exports=(Export("{python} {run_export} {export_weight+weights} {save_infer+save_dir} > {log} 2>&1 "),),
    infer={
        CPU: Inference(
            "{python} {inference} {=use_gpu} {+mkldnn} {+cpu_threads} {model_dir+model_path} {+batch_size}"
            " {+save_log} {image_dir+image} {+benchmark} {+precision} {+infer1} > {log} 2>&1 ",
            ("mkldnn", "cpu_threads", "batch_size", "precision"),
            "{log_path}/python_infer_cpu_gpus_{infer_gpu}_" + _CPU + ".log",
        ),
        GPU: Inference(
            "{python} {inference} {=use_gpu} {+use_trt} {+precision} {model_dir+model_path} {+batch_size}"
            " {image_dir+image} {+benchmark} {+infer1} {+save_log} > {log} 2>&1 ",
            ("use_trt", "precision", "batch_size"),
            "{log_path}/python_infer_gpu_gpus_{infer_gpu}_" + _GPU + ".log",
        ),
    },
    skips=(MKLDNN_FP16, QUANT_NOT_INT8, GPU_INT8_UNQUANTISED, GPU_FP16_WITHOUT_TRT, GPU_INT8_WITHOUT_TRT),
    whole=Whole(
        over="infer_model",
        scripts="infer_export",
        quants="infer_quant",
        export="{python} {script} {export_weight+item} {save_infer+saved} > {log} 2>&1 ",
        export_log="{log_path}_export_{index}.log",
    ),
    status=" Run successfully with command - {model_name} - {command} - {log} ",
    env_at_eval=True,
    without_flag={"quant": "0", "infer_gpu": ""},
    status_of="log",
)

DIALECT = Dialect(
    name="ocr",
    title="PaddleOCR",
    layout=changed(FULL, after=(("to_static", "to_static_train_benchmark_params"),)),
    rules=RULES,
    promise={**PROMISE, "export_device": True},
)
