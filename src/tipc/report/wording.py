"""The words of the documents, in the two languages that they are written in."""

from __future__ import annotations

from dataclasses import dataclass

from tipc.kinds import AMP, FP32, PACT


@dataclass(frozen=True)
class Wording:
    """What the support matrix says. The column names are those of the spec's documents."""

    train_title: str
    infer_title: str
    train_columns: tuple[str, ...]
    infer_columns: tuple[str, ...]
    trainings: dict[str, str]  # precision → what it is called
    cpu_only: str  # trained and passed, but not on the device that was asked for
    not_certified: str
    failed: str
    not_run: str
    unchecked: str
    supported: str
    no_device: str
    heading: str
    source: str
    documents: dict[str, str]  # precision → the title of its document


ZH = Wording(
    train_title="- 训练相关：",
    infer_title="- 推理相关：",
    train_columns=("算法名称", "模型名称", "单机单卡", "单机多卡"),
    infer_columns=("算法名称", "模型名称", "device_CPU", "device_GPU", "batchsize"),
    trainings={FP32: "正常训练", AMP: "混合精度训练", PACT: "PACT量化训练"},
    cpu_only="{}（仅CPU，GPU未认证）",
    not_certified="{}（未认证）",
    failed="失败",
    not_run="未测试",
    unchecked="已运行，未核验",
    supported="支持",
    no_device="未认证",
    heading="## 测试结论汇总",
    source="本表由 `tipc docs` 根据运行记录生成（{versions}），请勿手工修改。",
    documents={
        "": "# 飞桨训推一体全流程（TIPC）",
        FP32: "# Linux GPU/CPU 基础训练推理测试",
        AMP: "# Linux GPU/CPU 混合精度训练推理测试",
        PACT: "# Linux GPU/CPU PACT量化训练推理测试",
    },
)
EN = Wording(
    train_title="- Training:",
    infer_title="- Inference:",
    train_columns=("Algorithm", "Model", "Single machine, single GPU", "Single machine, multiple GPUs"),
    infer_columns=("Algorithm", "Model", "device_CPU", "device_GPU", "batchsize"),
    trainings={
        FP32: "normal training",
        AMP: "mixed precision training",
        PACT: "PACT quantised training",
    },
    cpu_only="{} (CPU only, not certified on a GPU)",
    not_certified="{} (not certified)",
    failed="failed",
    not_run="not tested",
    unchecked="ran, not checked",
    supported="supported",
    no_device="not certified",
    heading="## Test results",
    source="Written by `tipc docs` from runs ({versions}); not to be edited by hand.",
    documents={
        "": "# Training and Inference Pipeline Certification (TIPC)",
        FP32: "# Linux GPU/CPU basic training and inference test",
        AMP: "# Linux GPU/CPU mixed precision training and inference test",
        PACT: "# Linux GPU/CPU PACT quantised training and inference test",
    },
)
LANGUAGES = {"zh": ZH, "en": EN}
