"""``clas``: PaddleClas."""

from __future__ import annotations

from tipc.config.dialects.families import DISTILL, FPGM, NORM, PACT, PROMISE, TO_STATIC, TRAINER2
from tipc.config.dialects.layouts import FULL, changed
from tipc.config.layout import Row
from tipc.config.rules import Choice, Dialect, Export, Inference, Rules, SkipRule, Whole
from tipc.kinds import CPU, GPU

_LAUNCH = "{python} -m paddle.distributed.launch"
_NAME = "{trainer}_gpus_{gpu}_autocast_{autocast}_nodes_{nodes}"
_SET = "{+save_model} {+epoch} {+pretrain} {amp} {+train_batch} {+train_param1} -o Global.print_mem_info=True"
_RANKS = " -o Global.log_ranks=0,1,2,3,4,5,6,7"
_AMP = "-o AMP.use_amp=True -o AMP.scale_loss=128 -o AMP.use_dynamic_loss_scaling=True -o AMP.level="
_CPU = "usemkldnn_{mkldnn}_threads_{cpu_threads}_precision_{precision}_batchsize_{batch_size}"
_GPU = "usetrt_{use_trt}_precision_{precision}_batchsize_{batch_size}"
_QUANTISED = "{infer_model}/quant_post_static_model"
_EXPORT = "{python} {run_export} {export_weight+weights} {save_infer+save_dir} > {log} 2>&1"
# A recognition model's trunk has a directory of its own, and its export is given no weights at all.
_RECOGNITION = (
    {
        "weights": "{save_dir}/RecModel/{train_model_name}",
        "exports": (Export("{python} {run_export}  {save_infer+save_dir} > {log} 2>&1"),),
    },
    {"exports": (Export(_EXPORT.replace("weights}", "weights!TF023}")),)},
)

# Two models get further options in low precision: (word in the model's name, precision).
_FUSED = " -o Arch.use_fused_attn=True -o Arch.use_fused_linear=True"
_FUSED_WHERE = (
    ("CLIP_vit_base_patch16_224", "amp"),
    ("CLIP_vit_base_patch16_224", "fp16"),
    ("SwinTransformer_base_patch4_window7_224_ampo2_ultra", "amp"),
    ("SwinTransformer_base_patch4_window7_224_ampo2_ultra", "fp16"),
)

RULES = Rules(
    log_path="{root}/test_tipc/output/{model_name}/{mode}",
    trainers=(PACT, FPGM, DISTILL, TO_STATIC, TRAINER2),
    otherwise=NORM,
    choices=(
        Choice("epoch", "2", (("epoch", "==", ""),)),
        Choice("epoch", "1", (("mode", "==", "benchmark_train"),)),
        Choice("epoch", "1", (("train_use_gpu", "==", "npu"),)),
        Choice("amp", "-o AMP.use_amp=False"),
        Choice("amp", _AMP + "O1", (("autocast", "=", "amp"),)),
        Choice("amp", _AMP + "O2", (("autocast", "=", "fp16"),)),
        Choice("fused", ""),
        *(
            Choice("fused", _FUSED, (("model_name", "~", model), ("autocast", "==", precision)))
            for model, precision in _FUSED_WHERE
        ),
    ),
    use_gpu="whole",
    save_dir=("{log_path}/" + _NAME, "{log_path}/" + _NAME),
    train=(
        "{python} {run_train} {+train_use_gpu} " + _SET + " {fused}",
        _LAUNCH + " --devices={gpu} {run_train} {+train_use_gpu} " + _SET + _RANKS + "{fused}",
        _LAUNCH
        + " --ips={ips} --devices={gpu} {run_train} {+train_use_gpu} {+save_model} {+pretrain} {+epoch}"
        " {amp} {+train_batch} {+train_param1} -o Global.print_mem_info=True" + _RANKS + "{fused}",
    ),
    train_log="{save_dir}.log",
    weights="{save_dir}/{model_name}/{train_model_name}",
    eval="{python} {eval} {pretrain+weights} {+train_use_gpu} {+eval1} > {log} 2>&1",
    exports=(Export(_EXPORT),),
    infer={
        CPU: Inference(
            "{python} {inference} {=use_gpu} {=mkldnn} {+cpu_threads} {model_dir+model_path} {+batch_size}"
            " {image_dir+image} {+benchmark} {+infer1} > {log} 2>&1 ",
            ("mkldnn", "cpu_threads", "batch_size", "precision"),
            "{log_path}/python_infer_cpu_gpus_{infer_gpu}_" + _CPU + ".log",
        ),
        GPU: Inference(
            "{python} {inference} {=use_gpu} {+use_trt} {+precision} {model_dir+model_path} {+batch_size}"
            " {image_dir+image} {+benchmark} > {log} 2>&1 ",
            ("use_trt", "precision", "batch_size"),
            "{log_path}/python_infer_gpu_gpus_{infer_gpu}_" + _GPU + ".log",
        ),
    },
    infer_cwd="deploy",
    image="{image_dir}",
    skips=(SkipRule(GPU, (("precision", "=", "True"), ("use_trt", "=", "False")), "fp16-needs-tensorrt"),),
    whole=Whole(
        when=(("kl_quant", "!=", "null"), ("kl_quant", "!=", "False")),
        script="{kl_quant}",
        export_when=(),
        export="{python} {script} > {log} 2>&1",
        export_log="{log_path}/export.log",
        saved=_QUANTISED,
        model="../" + _QUANTISED,
        quant="True",
        cwd="deploy",
        links=(("model.pdmodel", "inference.pdmodel"), ("model.pdiparams", "inference.pdiparams")),
    ),
    status=" Run successfully with command - {model_name} - {command} - {log} ! ",
    env_at_gpu=True,
    unset_at_end=True,
    status_of="log",
)

DIALECT = Dialect(
    name="clas",
    title="PaddleClas",
    layout=changed(
        FULL,
        Row(8, "train_batch", "kv", kind="number"),
        Row(19, "to_static", "kv", kind="script"),
        Row(33, "kl_quant", "kv", ("kl_quant",), "script"),
        Row(35, "pretrained_model_url", keys=("pretrained_model_url",)),
        Row(36, "infer_model", "v", ("infer_model",), "path"),
        Row(37, "infer_export", keys=("infer_export",), kind="flag"),
        per_mode=False,
    ),
    rules=RULES,
    promise={
        **PROMISE,
        "export_device": True,
        "choices": (
            *RULES.choices[:4],
            Choice("amp", "-o AMP.use_amp=True", (("trainer", "~", "amp"),), fix="TF026"),
            *RULES.choices[4:],
        ),
    },
    files=(("GeneralRecognition", *_RECOGNITION), ("MetaBIN", *_RECOGNITION)),
)
