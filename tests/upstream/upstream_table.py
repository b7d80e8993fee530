"""The configs whose runs are recorded: a base of each family, and what is changed in it.

``value`` keeps a line's key, ``line`` replaces the whole line. Every rule that a script has, every
combination that it skips, every difference that ``tipc`` names, and the odd values that real files hold,
stand here once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from upstream_bases import BASES, FIELDS

MODES = ("lite_train_lite_infer", "lite_train_whole_infer", "whole_train_whole_infer", "whole_infer")
FULL_FAMILIES = ("seg", "ocr", "clas", "det")
LITE = ("lite_train_lite_infer",)
WHOLE = ("whole_infer",)
LITE_AND_WHOLE = LITE + WHOLE
FILES = {
    "train": "train_infer_python.txt",
    "ptq": "train_ptq_infer_python.txt",
    "infer": "model_infer_python.txt",
    "paddle2onnx": "paddle2onnx_infer_python.txt",
    "benchmark_train": "train_infer_python.txt",
}
MACHINES = "192.168.0.1,192.168.0.2;0,1"


@dataclass(frozen=True)
class Case:
    """One config text, and the modes that it is run in."""

    base: str  # a key of BASES: "seg", "seg-ptq"
    name: str
    text: bytes
    modes: tuple[str, ...]

    @property
    def family(self) -> str:
        """Whose script reads it."""
        return self.base.partition("-")[0]

    @property
    def chain(self) -> str:
        """What it is for."""
        return self.base.partition("-")[2] or "train"

    @property
    def config(self) -> str:
        """Where it stands in its repository."""
        return f"test_tipc/configs/{self.name}/{FILES[self.chain]}"

    @property
    def digest(self) -> str:
        """Of the text: a recording holds for this text only."""
        return hashlib.sha256(self.text).hexdigest()[:16]


@dataclass(frozen=True)
class Variation:
    """A named change of the base."""

    name: str
    families: tuple[str, ...]
    modes: tuple[str, ...]
    values: dict[str, str]
    lines: dict[str, str]
    rewrite: Callable[[str], str] | None = None


VARIATIONS: list[Variation] = []


def vary(
    name: str,
    families: tuple[str, ...] | str = FULL_FAMILIES,
    modes: tuple[str, ...] = LITE,
    line: dict[str, str] | None = None,
    rewrite: Callable[[str], str] | None = None,
    **value: str,
) -> None:
    """Add a variation for some families."""
    if isinstance(families, str):
        families = tuple(families.split())
    VARIATIONS.append(Variation(name, families, modes, value, line or {}, rewrite))


def cases(base: str) -> list[Case]:
    """All configs of a base."""
    found = [Case(base, "base", (BASES[base] + "\n").encode(), modes_of(base))]
    for variation in VARIATIONS:
        if base in variation.families:
            text = changed(base, variation.values, variation.lines)
            if variation.rewrite:
                text = variation.rewrite(text)
            modes = variation.modes if "-" not in base else modes_of(base)[:1]
            found.append(Case(base, variation.name, text.encode(), modes))
    return found


def modes_of(base: str) -> tuple[str, ...]:
    """Every mode of a script."""
    if base.endswith("-ptq"):
        return ("whole_infer", "lite_train_lite_infer")
    if base.endswith("-infer"):
        return WHOLE
    if base.endswith("-paddle2onnx"):
        return ("paddle2onnx_infer",)
    if base.endswith("-benchmark_train"):
        return ("benchmark_train",)
    return (*MODES, "klquant_whole_infer") if base == "det" else MODES


def changed(base: str, values: dict[str, str], lines: dict[str, str]) -> str:
    """The base's text with other values (their keys stay) and other lines."""
    rows = BASES[base].split("\n")
    for name, value in values.items():
        index = FIELDS[base].index(name)
        rows[index] = rows[index].split(":", 1)[0] + ":" + value
    for name, line in lines.items():
        rows[FIELDS[base].index(name)] = line
    return "\n".join(rows) + "\n"


ALL = ("models", *FULL_FAMILIES)

# GPU entries: the scripts tell them apart by the length of their text.
vary("gpu_one", ALL, gpu_list="0")
vary("gpu_cpu", ALL, gpu_list="-1")
vary("gpu_cpu_then_one", ALL, gpu_list="-1|0")
vary("gpu_one_then_cpu", ALL, gpu_list="0|-1")
vary("gpu_two_digits", ALL, gpu_list="10")
vary("gpu_three_entries", ALL, gpu_list="0|1|0,1")
vary("gpu_pair_first", ALL, gpu_list="0,1|0")
vary("gpu_eight", ALL, gpu_list="0,1,2,3,4,5,6,7")
vary("gpu_nine", ALL, gpu_list="0,1,2,3,4,5,6,7,8")
vary("gpu_machines", ALL, gpu_list=MACHINES)
vary("gpu_one_then_machines", ALL, gpu_list="0|" + MACHINES)
vary("gpu_machines_three", ALL, gpu_list="10.0.0.1,10.0.0.2,10.0.0.3;0,1,2,3")
vary("gpu_one_machine", ALL, gpu_list="192.168.0.1;0,1,2,3")
vary("gpu_machines_one_gpu", ALL, gpu_list="192.168.0.1,192.168.0.2;0")
vary("gpu_empty", ALL, gpu_list="")
vary("gpu_empty_item", ALL, gpu_list="0||1")
vary("gpu_trailing_bar", ALL, gpu_list="0|")

# The device of the training.
vary("use_gpu_short", "seg ocr clas models", gpu_list="0|0,1|1", use_gpu="gpu")
vary("use_gpu_null", ALL, use_gpu="null")
vary("use_gpu_empty", ALL, use_gpu="")
vary("use_gpu_list", "clas det", use_gpu="gpu|gpu")
vary("use_gpu_key_null", ALL, line={"use_gpu": "null:gpu"})
vary("use_gpu_npu", "clas", use_gpu="npu")

# Autocast.
vary("autocast_amp", autocast="amp")
vary("autocast_fp16", autocast="fp16")
vary("autocast_three", autocast="fp32|amp|fp16")
vary("autocast_empty", autocast="")
vary("autocast_key_null", line={"autocast": "null:amp"})
vary("autocast_machines", gpu_list=MACHINES, autocast="amp")
vary("autocast_two_gpus", gpu_list="0,1", autocast="amp|null")

# Values per mode, plain values, and none.
vary("epoch_plain", ALL, epoch="5", modes=(*LITE, "whole_train_whole_infer"))
vary("epoch_empty", ALL, epoch="")
vary("epoch_null", ALL, epoch="null")
vary("epoch_mode_without_value", ALL, epoch="lite_train_lite_infer|whole_train_whole_infer=3")
vary("epoch_key_null", ALL, line={"epoch": "null:lite_train_lite_infer=2"})
vary("epoch_twice", ALL, epoch="lite_train_lite_infer=2|lite_train_lite_infer=7")
vary("batch_plain", ALL, batch="16")
vary("batch_per_mode", "clas", batch="lite_train_lite_infer=2|whole_train_whole_infer=64")
vary("batch_null", ALL, batch="null")
vary("save_key_null", ALL, line={"save_model": "null:null"})

# Pretrained weights and what a training leaves.
vary("pretrain_given", ALL, pretrain="./weights/start")
vary("pretrain_address", ALL, pretrain="https://example.com/a/b.pdparams")
vary("pretrain_blank", ALL, pretrain=" ")
vary("pretrain_null_with_blank", ALL, pretrain=" null")
vary("pretrain_key_null", ALL, line={"pretrain": "null:./weights/start"})
vary("pretrain_machines", ALL, pretrain="./weights/start", gpu_list=MACHINES)
vary("weights_deeper", "models ocr clas det", train_model_name="best/model")

# Trainers.
vary("trainer_pact", trainer="pact_train")
vary("trainer_norm_pact", trainer="norm_train|pact_train")
vary("trainer_pact_norm", trainer="pact_train|norm_train")
vary("trainer_norm_pact_two_gpus", gpu_list="0,1", trainer="norm_train|pact_train")
vary("trainer_norm_pact_cpu", gpu_list="-1", trainer="norm_train|pact_train")
vary("trainer_pact_machines", gpu_list=MACHINES, trainer="norm_train|pact_train")
vary("trainer_fpgm", trainer="fpgm_train")
vary("trainer_norm_fpgm_distill", trainer="norm_train|fpgm_train|distill_train")
vary("trainer_first_extra", trainer="twin_train")
vary("trainer_second_extra", trainer="other_train")
vary(
    "trainer_second_extra_pattern",
    "seg ocr clas",
    trainer="other_train",
    line={"trainer2": "o*_train:other.py"},
)
vary("trainer_to_static", trainer="to_static_train")
vary("trainer_norm_to_static", gpu_list="0", trainer="norm_train|to_static_train")
vary("trainer_unknown", ALL, trainer="surprise_train")
vary("trainer_amp", ALL, trainer="amp_train")
vary("trainer_norm_amp", "models", trainer="norm_train|amp_train")
vary("trainer_amp_norm", "models", trainer="amp_train|norm_train")
vary("trainer_empty", ALL, trainer="")
vary("trainer_twice", ALL, trainer="norm_train|norm_train", gpu_list="0")
vary("trainer_script_null", ALL, norm_train="null")
vary("trainer_pact_null", trainer="norm_train|pact_train", pact_train="null")
vary("trainer_quoted_word", ALL, norm_train="train.py --words \"one two\" --other 'a b'")
vary("trainer_extra_blanks", ALL, norm_train="train.py   -c  tiny.yml ")
vary("trainer_script_empty", ALL, norm_train="")

# Further parameters.
vary("param1_given", line={"param1": "--more:5"})
vary("param1_bar", "seg ocr clas", line={"param1": "--more:5|6"})
vary("param1_machines", gpu_list=MACHINES, line={"param1": "--more:5"})
vary("eval1_given", line={"eval1": "--limit:7"})

# Evaluation and export.
vary("eval_null", ALL, eval="null")
vary("eval_empty", ALL, eval="")
vary("export_null", ALL, norm_export="null")
vary("export_empty", ALL, norm_export="")
vary("export_null_one_then_two", ALL, norm_export="null", gpu_list="0|0,1", eval="null")
vary("export_weight_key_null", ALL, line={"export_weight": "null:null"})
vary("export_save_key_null", ALL, line={"save_infer": "null:null"})
vary("export_onnx_first", "det", line={"export2": "export_onnx:True"})
vary("eval_and_export_null", ALL, eval="null", norm_export="null")
vary("inference_dir_named", "seg ocr", line={"inference_dir": "inference_dir:Student"})
vary("inference_dir_null", "seg ocr", line={"inference_dir": "inference_dir:null"})
vary("inference_dir_hashes", "seg ocr", line={"inference_dir": "inference_dir:##"})

# The inference matrix and its skips, without and with quantisation.
for quant in ("norm", "pact"):
    for family, precisions in (
        ("seg", "fp32|fp16|int8"),
        ("ocr", "fp32|fp16|int8"),
        ("clas", "False|True"),
        ("det", "paddle|trt_fp32|trt_fp16|trt_int8"),
    ):
        device = {"ocr": "False|True", "clas": "False|True"}.get(family, "cpu|gpu")
        vary(
            f"matrix_{quant}",
            (family,),
            gpu_list="0",
            trainer=f"{quant}_train",
            infer_use_gpu=device,
            mkldnn="True|False",
            threads="1|6",
            infer_batch="1|4",
            trt="False|True",
            precision=precisions,
        )
vary(
    "matrix_tensorrt_names",
    "seg ocr",
    trainer="pact_train|norm_train",
    precision="trt_fp16|trt_int8|fp32",
    trt="True",
)
vary("infer_gpu_only", ALL, infer_use_gpu="gpu")
vary("infer_true_only", ALL, infer_use_gpu="True", modes=LITE_AND_WHOLE)
vary("infer_cpu_only", ALL, infer_use_gpu="cpu")
vary("infer_false_only", ALL, infer_use_gpu="False")
vary("infer_device_unknown", ALL, infer_use_gpu="npu|cpu")
vary("infer_device_empty", ALL, infer_use_gpu="")
vary("infer_batch_trailing_bar", ALL, infer_batch="1|2|")
vary("infer_batch_empty", ALL, infer_batch="")
vary("infer_batch_null", ALL, infer_batch="null")
vary("infer_threads_empty", threads="")
vary("infer_threads_null", threads="null")
vary("infer_mkldnn_null", mkldnn="null")
vary("infer_mkldnn_key_null", line={"mkldnn": "null:True"})
vary("infer_precision_empty", precision="")
vary("infer_precision_null", precision="null")
vary("infer_precision_key_null", line={"precision": "null:fp32"})
vary("infer_trt_empty", trt="")
vary("infer_benchmark_null", ALL, benchmark="null")
vary("infer_benchmark_key_null", ALL, line={"benchmark": "null:True"})
vary("infer_image_null", ALL, image="null", modes=LITE_AND_WHOLE)
vary("infer_train_image_null", train_image="null")
vary("infer_extra_given", line={"infer1": "--extra:yes"})
vary("infer_second_extra_null", "seg", line={"infer2": "null:null"})
vary("infer_model_key_null", ALL, line={"model_dir": "null:null"})
vary("infer_script_null", ALL, inference="null")

# Without a training.
vary("whole_no_export", "seg ocr models", modes=WHOLE, infer_export="null")
vary(
    "whole_one_model",
    "seg ocr",
    modes=WHOLE,
    infer_model="./a/model",
    infer_export="null",
    infer_quant="False",
)
vary(
    "whole_quant",
    "seg ocr",
    modes=WHOLE,
    infer_quant="True|True",
    precision="fp32|fp16|int8",
    trt="False|True",
)
vary("whole_quant_misspelt", "seg ocr", modes=WHOLE, infer_quant="Fasle|True", precision="fp32|int8")
vary("whole_quant_missing", "seg ocr det", modes=WHOLE, infer_quant="")
vary("whole_quant_short", "seg ocr", modes=WHOLE, infer_quant="False")
vary("whole_export_short", "seg ocr", modes=WHOLE, infer_export="export.py -c tiny.yml")
vary("whole_model_empty", "seg ocr", modes=WHOLE, infer_model="")
vary("whole_kl_null", "clas", modes=WHOLE, line={"export1": "kl_quant:null"})
vary("whole_kl_false", "clas", modes=WHOLE, line={"export1": "kl_quant:False"})
vary("whole_kl_folder_deeper", "clas", modes=WHOLE, infer_model="inference/tiny")
vary(
    "whole_kinds",
    "det",
    modes=(*WHOLE, "klquant_whole_infer"),
    infer_export="norm|pact|fpgm|kl_quant|null",
    infer_quant="False|True|False|True",
)
vary("whole_kind_null", "det", modes=WHOLE, infer_export="null", infer_quant="False")
vary(
    "whole_kl_only",
    "det",
    modes=(*WHOLE, "klquant_whole_infer"),
    infer_export="kl_quant",
    infer_quant="True",
)
vary("whole_weights_null", "det", modes=WHOLE, line={"export_weight": "weights:null"})

# Names with a meaning of their own.
vary("recognition_GeneralRecognition_tiny", "clas", model_name="GeneralRecognition_tiny", gpu_list="0|0,1")
vary("recognition_MetaBIN_ResNet50", "clas", model_name="MetaBIN_ResNet50", gpu_list="0")
vary("python_other_name", ALL, python="python3.7")

# The file itself.
vary("file_blank_lines", ALL, rewrite=lambda text: text.replace("\n", "\n\n", 12))
vary("file_no_end_of_line", ALL, rewrite=lambda text: text.rstrip("\n"))
vary("file_more_lines", ALL, rewrite=lambda text: text + "===other_params===\nkey:value\n")
vary("file_line_of_blanks", ALL, rewrite=lambda text: text.replace("\n##\n", "\n   \n", 1))
vary("file_key_without_colon", ALL, line={"pretrain": "--pretrained"})
vary("file_value_with_two_colons", ALL, image="a:b:c", modes=LITE_AND_WHOLE)
vary("file_without_static_block", "seg ocr det", rewrite=lambda text: text.split("===to_static")[0])

# Quantisation after training.
PTQ = ("models-ptq", "seg-ptq", "ocr-ptq", "det-ptq", "clas-ptq")
vary("ptq_cpu_only", PTQ, infer_use_gpu="cpu")
vary("ptq_false_only", PTQ, infer_use_gpu="False")
vary("ptq_device_unknown", PTQ, infer_use_gpu="npu|cpu")
vary("ptq_device_empty", PTQ, infer_use_gpu="")
vary("ptq_batch_trailing_bar", PTQ, infer_batch="1|")
vary("ptq_image_null", PTQ, image="null")
vary("ptq_benchmark_null", PTQ, benchmark="null")
vary("ptq_model_key_null", PTQ, line={"model_dir": "null:null"})
vary("ptq_script_null", "models-ptq seg-ptq det-ptq", script="null")
vary("ptq_output_null", "models-ptq seg-ptq", output="null")
vary("ptq_batch_num_null", "models-ptq seg-ptq", batch_num="null")
vary("ptq_precision_fp32", "ocr-ptq", precision="fp32|fp16")
vary("ptq_no_export", "ocr-ptq", infer_export="null|null")
vary("ptq_mkldnn_null", "ocr-ptq det-ptq", mkldnn="null")
vary("ptq_weights_null", "det-ptq", export_weight="null")
vary("ptq_filename_null", "det-ptq", line={"filename": "null:null"})
vary("ptq_run_mode_null", "det-ptq", precision="null")
vary("ptq_kl_null", "clas-ptq", line={"export1": "kl_quant:null"})
vary("ptq_kl_false", "clas-ptq", line={"export1": "kl_quant:False"})

# Conversion to ONNX.
ONNX = ("models-paddle2onnx", "seg-paddle2onnx", "clas-paddle2onnx", "ocr-paddle2onnx", "det-paddle2onnx")
vary("onnx_other_opset", ONNX, opset="13")
vary("onnx_opset_null", ONNX, opset="null")
vary("onnx_checker_null", ONNX, checker="null")
vary("onnx_model_file_null", ONNX, model_file="null")
vary("onnx_key_null", "models-paddle2onnx seg-paddle2onnx", line={"onnx_model": "null:null"})
vary("onnx_image_null", "models-paddle2onnx seg-paddle2onnx ocr-paddle2onnx det-paddle2onnx", image="null")
vary("onnx_inference_null", ONNX, inference="null")
vary("onnx_save_null", "models-paddle2onnx seg-paddle2onnx clas-paddle2onnx", save_file="null")
vary("onnx_more_lines", ONNX, rewrite=lambda text: text + "===other_params===\nkey:value\n")
vary("onnx_recognition", "ocr-paddle2onnx", model_name="tiny_rec")
vary("onnx_both", "ocr-paddle2onnx", model_name="ch_PP-OCRv3")
vary("onnx_table", "ocr-paddle2onnx", model_name="slanet")
vary("onnx_neither", "ocr-paddle2onnx", model_name="tiny_cls")
vary("onnx_cpu_only", "ocr-paddle2onnx", infer_use_gpu="False")
vary("onnx_kinds", "det-paddle2onnx", infer_mode="norm|quant|kl_quant")
vary("onnx_kind_null", "det-paddle2onnx", infer_mode="null")
vary("onnx_kind_unknown", "det-paddle2onnx", infer_mode="surprise")
vary("onnx_parameter_null", "det-paddle2onnx", line={"param1": "export_param:null"})

# Published models.
INFER = "ocr-infer"
vary("infer_cpu_only", INFER, infer_use_gpu="cpu")
vary("infer_gpu_only", INFER, infer_use_gpu="gpu")
vary("infer_device_unknown", INFER, infer_use_gpu="npu|False")
vary("infer_one_model", INFER, infer_model="./inference/a", infer_quant="False")
vary("infer_quantised", INFER, infer_model="./inference/a", infer_quant="True")
vary("infer_flag_missing", INFER, infer_quant="")
vary("infer_flag_misspelt", INFER, infer_quant="Fasle|True")
vary("infer_second_model_null", INFER, rec_model="null")
vary("infer_image_null", INFER, image="null")
vary("infer_mkldnn_null", INFER, mkldnn="null")
vary("infer_precision_null", INFER, precision="null")
vary("infer_no_models", INFER, infer_model="")

# Training benchmarks.
BENCHMARK = tuple(f"{family}-benchmark_train" for family in FULL_FAMILIES)
vary("bench_two_batches", BENCHMARK, bench_batch="2|4", bench_precision="fp32")
vary("bench_three_precisions", BENCHMARK, bench_precision="fp32|amp|fp16")
vary("bench_no_batch", BENCHMARK, bench_batch="")
vary("bench_epoch_empty", BENCHMARK, bench_epoch="")
vary("bench_flags_null", BENCHMARK, bench_flags="null")
vary("bench_flags_one", BENCHMARK, bench_flags="FLAGS_cudnn_deterministic=True")
vary("bench_flags_last_empty", BENCHMARK, bench_flags="FLAGS_a=1;;FLAGS_b=2;")
vary("bench_profile_quoted", BENCHMARK, bench_profile="'batch_range=[1,2];state=GPU'  ")
vary("bench_profile_with_slash", BENCHMARK, bench_profile="profile_path=a/b")
vary("bench_param1_given", BENCHMARK, line={"param1": "--more:5"})
vary("bench_python_other_name", BENCHMARK, python="python3.7")
vary("bench_machines", BENCHMARK, gpu_list=MACHINES)
vary("bench_trainer_norm_pact", BENCHMARK, trainer="norm_train|pact_train", bench_precision="fp32")
vary("bench_trainer_pact", BENCHMARK, trainer="pact_train")
vary("bench_trainer_unknown", BENCHMARK, trainer="surprise_train")
vary("bench_eval_elsewhere", BENCHMARK, rewrite=lambda text: text.replace("===eval", "##\n===eval", 1))
vary("bench_blank_line_below", BENCHMARK, rewrite=lambda text: text + "\n\n")
vary("bench_key_with_slash", BENCHMARK, line={"epoch": "a/b:lite_train_lite_infer=2"})
vary("bench_save_key_null", BENCHMARK, line={"save_model": "null:null"})
vary("bench_second_header", BENCHMARK, rewrite=lambda text: "===a_train_benchmark_params_b===\n" + text)
SEG_BENCHMARK = "seg-benchmark_train"
vary("bench_autocast_key", SEG_BENCHMARK, line={"autocast": "Global.auto_cast:null"})
vary("bench_last_skips", SEG_BENCHMARK, line={"bench_last": "log_iters:5;skip_iters:2;repeats:500"})
vary("bench_last_matting", SEG_BENCHMARK, line={"bench_last": "log_iters:15;task:mat"})
vary("bench_last_other", SEG_BENCHMARK, line={"bench_last": "random_infer_input:[{float32,[3,512,1024]}]"})
CLAS_BENCHMARK = "clas-benchmark_train"
_SHUFFLED = (
    "train.py -o DataLoader.Train.sampler.shuffle=False -o DataLoader.Train.loader.num_workers=0"
    " -o DataLoader.Train.loader.use_shared_memory=False -o DataLoader.Train.loader.use_shared_memory=False"
)
vary("bench_texts_replaced", CLAS_BENCHMARK, norm_train=_SHUFFLED)
vary("bench_one_type", CLAS_BENCHMARK, bench_type="norm_train")
vary("bench_fused", CLAS_BENCHMARK, model_name="CLIP_vit_base_patch16_224_x", bench_precision="fp32|amp|fp16")
vary("bench_recognition", CLAS_BENCHMARK, model_name="GeneralRecognition_tiny")
vary("amp_fused", "clas", model_name="CLIP_vit_base_patch16_224_x", autocast="amp|fp16|fp32")
vary("bench_many_epochs", "det-benchmark_train", model_name="tiny_hrnet", bench_epoch="2")
vary(
    "bench_to_static",
    "det-benchmark_train ocr-benchmark_train seg-benchmark_train",
    trainer="to_static_train",
)
