"""``models``: the 32-line layout of the TIPC specification (PaddlePaddle/models and most reproductions)."""

from __future__ import annotations

from tipc.config.dialects.families import NORM, PROMISE
from tipc.config.dialects.layouts import SLIM
from tipc.config.rules import Choice, Dialect, Export, Inference, Rules, Whole
from tipc.kinds import CPU, GPU

_LAUNCH = "{python} -m paddle.distributed.launch"
_TRAIN = "{run_train} {+save_model} {+epoch} {+pretrain} {+train_batch}"
_DATA = " {?train_use_gpu!TF003} {?data_path!TF002}"
_INFER = (
    "{python} {inference} {=use_gpu} {model_dir+model_path} {+batch_size} {image_dir+image} {+benchmark}"
    " > {log} 2>&1 "
)
_EXPORT = "{python} {run_export} {export_weight+weights} {save_infer+save_dir} > {log} 2>&1 "
_SAVE = "{log_path}/{trainer}_gpus_{gpu}_autocast_{autocast}_nodes_{nodes}"

RULES = Rules(
    log_path="./test_tipc/output/{model_name}/{mode}",
    autocast=False,
    trainers=(),
    otherwise=NORM,
    choices=(Choice("autocast", "False"), Choice("autocast", "True", (("trainer", "=", "amp_train"),))),
    save_dir=(_SAVE + ".log", _SAVE + ".log"),
    train=(
        "{python} " + _TRAIN,
        _LAUNCH + " --gpus={gpu} " + _TRAIN,
        _LAUNCH + " --ips={ips} --gpus={gpu} " + _TRAIN,
    ),
    eval="{python} {eval} {pretrain+weights} > {log} 2>&1 ",
    exports=(Export(_EXPORT),),
    infer={
        CPU: Inference(_INFER, ("batch_size",), "{log_path}/python_infer_cpu_batchsize_{batch_size}.log"),
        GPU: Inference(_INFER, ("batch_size",), "{log_path}/python_infer_gpu_batchsize_{batch_size}.log"),
    },
    image="",
    whole=Whole(
        export="{python} {script} {export_weight+infer_model} {+save_infer} > {log} 2>&1 ",
        export_log="{log_path}/export_0.log",
        saved="{save_infer}",
        kept="{save_infer}",
    ),
    status=" Run successfully with command - {model_name} - {command}!  ",
    machine_env=True,
    env_at_eval=True,
    exported=(("nodes", "{nodes}", ()), ("autocast", "{autocast}", (("trainer", "=", "amp_train"),))),
)

DIALECT = Dialect(
    name="models",
    title="the specification's 32 lines (PaddlePaddle/models)",
    layout=SLIM,
    rules=RULES,
    promise={
        **PROMISE,
        "image": "{image_dir!TF001}",
        "save_dir": (_SAVE.replace("{trainer}", "{trainer!TF014}"),) * 2,
        "train": tuple(command + _DATA for command in RULES.train),
        "eval": "{python} {eval} {pretrain+weights} {?train_use_gpu!TF003} {?data_path!TF002} > {log} 2>&1 ",
    },
)
