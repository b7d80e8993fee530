"""The rows of the field: which repository, which config, on which data, in what environment."""

from __future__ import annotations

import re
from dataclasses import dataclass

from field import data
from field.data import Draw

MODE = "lite_train_lite_infer"
# What works with paddle 3.1 on Python 3.11; a repository's own pins are older than both.
# paddleslim imports pip, pkg_resources, six, requests and decorator, and asks for none of them.
COMMON = (
    "paddlepaddle==3.1.1",
    "numpy==1.26.4",
    "opencv-python-headless==4.6.0.66",
    *("setuptools<81", "six", "pip", "requests", "decorator"),
)
SLIM = ("paddleslim==2.6.0",)
# The deploy scripts read .pdmodel; paddle 3 writes .json unless it is told so.
VARIABLES = {"FLAGS_enable_pir_api": "0"}


@dataclass(frozen=True)
class Repair:
    """A fault of a repository that stops every chain, and the smallest change that ends it."""

    fault: str
    file: str
    old: str
    new: str


@dataclass(frozen=True)
class Repository:
    """A public repository: where its TIPC folder is, what it needs, and how its configs get to a CPU."""

    name: str
    family: str
    packages: tuple[str, ...]
    datasets: tuple[Draw, ...]
    edits: tuple[tuple[str, str], ...]  # (pattern, replacement), of every config: a CPU, no downloads, small
    folder: str = "."
    repairs: tuple[Repair, ...] = ()  # made in the copy, except in rows that are run as found
    module: str = ""  # the name under which its scripts import the repository itself

    @property
    def root(self) -> str:
        """Of the model repository, below the folder of the checkouts."""
        return self.name if self.folder == "." else f"{self.name}/{self.folder}"


@dataclass(frozen=True)
class Row:
    """One config of one repository."""

    repository: str
    config: str  # below test_tipc/configs
    chain: str  # base, AMP, PACT
    model: str
    fault: str = ""  # what is broken in the repository itself, where its command says nothing of it
    found: bool = False  # as found: nothing repaired, paddle's own settings
    edits: tuple[tuple[str, str], ...] = ()
    repairs: tuple[Repair, ...] = ()  # of faults that only this chain meets

    @property
    def id(self) -> str:
        """``PaddleSeg/pphumanseg_lite``, ``PaddleSeg/pphumanseg_lite-PACT``."""
        suffix = "" if self.chain == "base" else f"-{self.chain}"
        return f"{self.repository}/{self.model}{suffix}{'-as-found' if self.found else ''}"


_GPUS = (r"^gpu_list:.*", "gpu_list:-1")
REPOSITORIES = {
    one.name: one
    for one in (
        Repository(
            "PaddleSeg",
            "seg",
            (
                *("pyyaml", "visualdl", "tqdm", "filelock", "scipy", "prettytable", "scikit-learn"),
                *("scikit-image", "psutil", *SLIM),
            ),
            (data.people, data.streets),
            (
                _GPUS,
                (r"^--device:gpu$", "--device:cpu"),
                (r"^--device:cpu\|gpu", "--device:cpu"),
                (r"--device gpu", "--device cpu"),
                (r"^Global.use_gpu:null.*", "--device:cpu"),
                (r"--num_workers \d+", "--num_workers 0"),
                (r"^(--iters:lite_train_lite_infer)=50", r"\1=20"),
                (r"^--cpu_threads:.*", "--cpu_threads:2"),
            ),
        ),
        Repository(
            "PaddleClas",
            "clas",
            (
                *("prettytable", "ujson", "pillow", "tqdm", "PyYAML", "visualdl", "scipy", "scikit-learn"),
                *("gast==0.3.3", "faiss-cpu", "easydict", "psutil", *SLIM),
            ),
            (data.imagenet,),
            (
                _GPUS,
                (r"^-o Global.device:gpu", "-o Global.device:cpu"),
                # The script gives the export no device, and the pretrained weights would be downloaded.
                (
                    r"^(\w+_export:\S*export_model.py .*)",
                    r"\1 -o Global.device=cpu -o Arch.pretrained=False",
                ),
                (r' -o Global.pretrained_model="[^"]*"', ""),
                (r"^(\w+_train:tools/\S+ -c .*)", r"\1 -o Arch.pretrained=False"),
                (r"^(eval:tools/\S+ -c .*)", r"\1 -o Arch.pretrained=False"),
                (r"^-o Global.use_gpu:.*", "-o Global.use_gpu:False"),
                (r"^-o Global.cpu_num_threads:.*", "-o Global.cpu_num_threads:2"),
                (r"^-o Global.batch_size:.*", "-o Global.batch_size:1"),
                (r"^-o Global.use_fp16:.*", "-o Global.use_fp16:False"),
            ),
            repairs=(
                Repair(
                    "training writes OUTPUT/latest, its TIPC script reads OUTPUT/MODEL/latest",
                    "ppcls/engine/engine.py",
                    "self.output_dir = self.config['Global']['output_dir']",
                    "self.output_dir = os.path.join(self.config['Global']['output_dir'],"
                    " self.config['Arch']['name'])",
                ),
            ),
            module="paddleclas",
        ),
        Repository(
            "PaddleOCR",
            "ocr",
            (
                *("shapely", "scikit-image", "imgaug", "pyclipper", "lmdb", "tqdm", "rapidfuzz", "cython"),
                *("Pillow", "pyyaml", "requests", "visualdl", "psutil", *SLIM),
            ),
            (data.words, data.text_boxes),
            (
                _GPUS,
                (r"^Global.use_gpu:.*", "Global.use_gpu:False"),
                (r"^(Global.epoch_num:lite_train_lite_infer)=\d+", r"\1=2"),
                (r"^(Train.loader.batch_size_per_card:lite_train_lite_infer)=128", r"\1=8"),
                (r"Global.pretrained_model=\S*", "Global.pretrained_model="),
                (r"^(\w+_export:\S+ -c .* -o)", r"\1 Global.use_gpu=False"),
                (r"^(\w+_train:\S+ -c .* -o)", r"\1 Train.loader.num_workers=0 Eval.loader.num_workers=0"),
                (r"^--use_gpu:.*", "--use_gpu:False"),
                (r"^--cpu_threads:.*", "--cpu_threads:2"),
                (r"^--enable_mkldnn:.*", "--enable_mkldnn:True"),
            ),
            repairs=(
                Repair(
                    "recognition calls os.path.is_dir, which does not exist",
                    "tools/infer/predict_rec.py",
                    "os.path.is_dir(",
                    "os.path.isdir(",
                ),
            ),
        ),
        Repository(
            "PaddleDetection",
            "det",
            (
                *("tqdm", "typeguard", "visualdl", "PyYAML", "shapely", "scipy", "terminaltables", "Cython"),
                *("pycocotools", "Pillow", "lapx", "motmetrics", "pyclipper", "imgaug", "scikit-learn"),
                *("psutil", *SLIM),
            ),
            (data.coco, data.start_weights),
            (
                _GPUS,
                (r"^(\w+_train:tools/.* -o)\b.*", r"\1 worker_num=0 pretrain_weights="),
                (r"^(\w+_export:tools/.* -o)\b", r"\1 use_gpu=False"),
                (r"^pretrain_weights:.*", "pretrain_weights:null"),
                (r"^--device:.*", "--device:cpu"),
                (r"^--cpu_threads:.*", "--cpu_threads:2"),
            ),
            repairs=(
                Repair(
                    "training writes SAVE/model_final, its TIPC script reads SAVE/MODEL/model_final",
                    "ppdet/engine/callbacks.py",
                    "self.save_dir = self.model.cfg.save_dir",
                    "self.save_dir = os.path.join(self.model.cfg.save_dir, self.model.cfg.filename)",
                ),
            ),
        ),
        Repository(
            "models",
            "models",
            ("reprod-log", "pillow", "tqdm", "scipy", "pyyaml", "psutil", *SLIM),
            (data.folders,),
            (
                _GPUS,
                (r"^((?:norm|amp|pact)_train:train.py)", r"\1 --device=cpu -j 0 --data-path=./lite_data"),
                (r"^(eval:train.py)", r"\1 --device=cpu -j 0 --data-path=./lite_data"),
                (r"^(--epochs:lite_train_lite_infer)=\d+", r"\1=2"),
                (r"^--use-gpu:.*", "--use-gpu:False"),
            ),
            folder="tutorials/mobilenetv3_prod/Step6",
        ),
    )
}

_ONEDNN_IS_ON = "inference is asked for no oneDNN; paddle 3 has it on, and the script does not switch it off"
_INT8_UNREAD = "int8 is asked for and reported; on a CPU the script does not read --precision, and fp32 runs"


def _int8_on_a_cpu(file: str, config: str, asked: str) -> Repair:
    """A deploy script that switches oneDNN's int8 on where it is asked for, for what oneDNN can do in it."""
    old = f"{config}.enable_mkldnn()"
    operators = "{'conv2d', 'depthwise_conv2d', 'fused_conv2d'}"
    new = f"{old}; {asked} == 'int8' and {config}.enable_mkldnn_int8({operators})"
    return Repair(_INT8_UNREAD, file, old, new)


_SEG_INT8 = (_int8_on_a_cpu("deploy/python/infer.py", "self.pred_cfg", "self.args.precision"),)
_OCR_INT8 = (_int8_on_a_cpu("tools/infer/utility.py", "config", "args.precision"),)
# Twenty iterations of two pictures of 1024 × 512 take a CPU half an hour.
_FEW = ((r"^(--iters:lite_train_lite_infer)=\d+", r"\1=4"),)
_SMALL = (
    Repair(
        "pictures are cut to 1024 x 512",
        "test_tipc/configs/_base_/cityscapes.yml",
        "crop_size: [1024, 512]",
        "crop_size: [256, 256]",
    ),
)
_AMP = "train_linux_gpu_normal_amp_infer_python_linux_gpu_cpu.txt"
_ROUNDED = "the export rounds the output of every layer to 8 bits, which the trained network does not"
_CLAS_PACT = (
    (r"^-o Global.enable_mkldnn:.*", "-o Global.enable_mkldnn:True"),
    # The config starts from pretrained weights; from nothing, it has to learn something first.
    (r"^(-o Global.epochs:lite_train_lite_infer)=\d+", r"\1=25"),
    (
        r"^(pact_train:tools/\S+ -c .*)",
        r"\1 -o Optimizer.lr.warmup_epoch=0 -o Global.eval_during_train=False",
    ),
)
_FP32_IS_LEFT_OUT = (
    "inference is asked for in fp32, which the script leaves out for a quantised model: none runs"
)
_NOT_LOADED = "the evaluation is not told to quantise: none of the convolutions' weights is loaded"
# Without oneDNN the script runs no quantised model on a CPU.
_DET_PACT = ((r"^--enable_mkldnn:.*", "--enable_mkldnn:True"),)
_DET_START = (
    Repair(
        "the weights to start from are downloaded",
        "configs/slim/quant/yolov3_mobilenet_v3_qat.yml",
        "https://paddledet.bj.bcebos.com/models/yolov3_mobilenet_v3_large_270e_coco.pdparams",
        "dataset/start.pdparams",
    ),
)
_ANY_BOX = (
    Repair(
        "a network that starts from nothing has no box with a score above 0.01",
        "configs/ppyoloe/_base_/ppyoloe_crn.yml",
        "score_threshold: 0.01",
        "score_threshold: 0.0001",
    ),
)
_PPYOLOE = "ppyoloe/ppyoloe_crn_s_300e_coco_train"
ROWS = (
    Row("PaddleSeg", "pphumanseg_lite/train_infer_python.txt", "base", "pphumanseg_lite", found=True),
    Row(
        "PaddleClas",
        "MobileNetV3/MobileNetV3_small_x1_0_train_infer_python.txt",
        "base",
        "MobileNetV3_small",
        found=True,
    ),
    Row(
        "PaddleOCR",
        "ch_ppocr_mobile_v2_0_rec/train_infer_python.txt",
        "base",
        "ch_ppocr_mobile_v2_0_rec",
        found=True,
    ),
    Row(
        "PaddleDetection",
        "picodet/picodet_s_320_coco_lcnet_train_infer_python.txt",
        "base",
        "picodet_s_320",
        found=True,
    ),
    Row("models", "mobilenet_v3_small/train_infer_python.txt", "base", "Step6", found=True),
    Row("PaddleSeg", "pphumanseg_lite/train_infer_python.txt", "base", "pphumanseg_lite"),
    Row(
        "PaddleClas", "MobileNetV3/MobileNetV3_small_x1_0_train_infer_python.txt", "base", "MobileNetV3_small"
    ),
    Row("PaddleOCR", "ch_ppocr_mobile_v2_0_rec/train_infer_python.txt", "base", "ch_ppocr_mobile_v2_0_rec"),
    Row(
        "PaddleOCR",
        "ch_ppocr_mobile_v2_0_rec/train_infer_python.txt",
        "base",
        "ch_ppocr_mobile_v2_0_rec_no_onednn",
        fault=_ONEDNN_IS_ON,
        edits=((r"^--enable_mkldnn:.*", "--enable_mkldnn:False"),),
    ),
    Row(
        "PaddleDetection", "picodet/picodet_s_320_coco_lcnet_train_infer_python.txt", "base", "picodet_s_320"
    ),
    Row("models", "mobilenet_v3_small/train_infer_python.txt", "base", "Step6"),
    Row("PaddleSeg", f"pphumanseg_lite/{_AMP}", "AMP", "pphumanseg_lite"),
    Row(
        "PaddleSeg",
        "pphumanseg_lite/train_pact_infer_python.txt",
        "PACT",
        "pphumanseg_lite",
        fault=_INT8_UNREAD,
    ),
    Row(
        "PaddleSeg",
        "pphumanseg_lite/train_pact_infer_python.txt",
        "PACT",
        "pphumanseg_lite_int8",
        repairs=_SEG_INT8,
    ),
    Row("PaddleSeg", "fcn_hrnetw18_small/train_infer_python.txt", "base", "fcn_hrnetw18_small"),
    Row("PaddleSeg", f"fcn_hrnetw18_small/{_AMP}", "AMP", "fcn_hrnetw18_small"),
    Row(
        "PaddleSeg",
        "fcn_hrnetw18_small/train_pact_infer_python.txt",
        "PACT",
        "fcn_hrnetw18_small",
        fault=_INT8_UNREAD,
    ),
    Row(
        "PaddleSeg",
        "pp_liteseg_stdc1/train_infer_python.txt",
        "base",
        "pp_liteseg_stdc1",
        edits=_FEW,
        repairs=_SMALL,
    ),
    Row("PaddleSeg", f"pp_liteseg_stdc1/{_AMP}", "AMP", "pp_liteseg_stdc1", edits=_FEW, repairs=_SMALL),
    Row(
        "PaddleSeg",
        "pp_liteseg_stdc1/train_pact_infer_python.txt",
        "PACT",
        "pp_liteseg_stdc1",
        fault=_INT8_UNREAD,
        edits=_FEW,
        repairs=_SMALL,
    ),
    Row(
        "PaddleClas",
        "MobileNetV3/MobileNetV3_small_x1_0_train_amp_infer_python.txt",
        "AMP",
        "MobileNetV3_small",
        fault=_ONEDNN_IS_ON,
    ),
    Row(
        "PaddleClas",
        "MobileNetV3/MobileNetV3_small_x1_0_train_amp_infer_python.txt",
        "AMP",
        "MobileNetV3_small_onednn",
        edits=((r"^-o Global.enable_mkldnn:.*", "-o Global.enable_mkldnn:True"),),
    ),
    Row("PaddleClas", "PPLCNet/PPLCNet_x0_25_train_infer_python.txt", "base", "PPLCNet_x0_25"),
    Row(
        "PaddleClas",
        "PPLCNet/PPLCNet_x0_25_train_pact_infer_python.txt",
        "PACT",
        "PPLCNet_x0_25",
        fault=_ROUNDED,
        edits=_CLAS_PACT,
    ),
    Row("PaddleClas", f"PPLCNet/PPLCNet_x0_25_{_AMP}", "AMP", "PPLCNet_x0_25"),
    Row("PaddleClas", "ResNet/ResNet50_train_infer_python.txt", "base", "ResNet50"),
    Row("PaddleClas", f"ResNet/ResNet50_{_AMP}", "AMP", "ResNet50"),
    Row(
        "PaddleClas",
        "ResNet/ResNet50_train_pact_infer_python.txt",
        "PACT",
        "ResNet50",
        fault=_ROUNDED,
        edits=_CLAS_PACT,
    ),
    Row("PaddleOCR", "ch_ppocr_mobile_v2_0_det/train_infer_python.txt", "base", "ch_ppocr_mobile_v2_0_det"),
    Row("PaddleOCR", f"ch_ppocr_mobile_v2_0_det/{_AMP}", "AMP", "ch_ppocr_mobile_v2_0_det"),
    Row(
        "PaddleOCR",
        "ch_ppocr_mobile_v2_0_det/train_pact_infer_python.txt",
        "PACT",
        "ch_ppocr_mobile_v2_0_det",
        fault=_FP32_IS_LEFT_OUT,
        # The weights to start from, which the settings name, would be downloaded.
        edits=((r"^(pact_train:\S+ -c .* -o)", r"\1 Global.pretrained_model="),),
    ),
    Row("PaddleOCR", f"ch_ppocr_mobile_v2_0_rec/{_AMP}", "AMP", "ch_ppocr_mobile_v2_0_rec"),
    Row(
        "PaddleOCR",
        "ch_ppocr_mobile_v2_0_rec/train_pact_infer_python.txt",
        "PACT",
        "ch_ppocr_mobile_v2_0_rec",
        fault=_FP32_IS_LEFT_OUT,
    ),
    Row(
        "PaddleOCR",
        "ch_ppocr_mobile_v2_0_rec/train_pact_infer_python.txt",
        "PACT",
        "ch_ppocr_mobile_v2_0_rec_int8",
        edits=((r"^--precision:.*", "--precision:int8"),),
        repairs=_OCR_INT8,
    ),
    Row(
        "PaddleDetection",
        "picodet/picodet_s_320_coco_lcnet_train_linux_gpu_normal_amp_infer_python_linux_gpu_cpu.txt",
        "AMP",
        "picodet_s_320",
    ),
    Row(
        "PaddleDetection",
        "picodet/picodet_s_320_coco_lcnet_train_pact_infer_python.txt",
        "PACT",
        "picodet_s_320",
        fault=_NOT_LOADED,
        edits=_DET_PACT,
        repairs=_DET_START,
    ),
    Row(
        "PaddleDetection",
        "yolov3/yolov3_mobilenet_v1_270e_coco_train_infer_python.txt",
        "base",
        "yolov3_mobilenet_v1",
    ),
    Row("PaddleDetection", f"{_PPYOLOE}_infer_python.txt", "base", "ppyoloe_crn_s", repairs=_ANY_BOX),
    Row(
        "PaddleDetection",
        f"ppyoloe/ppyoloe_crn_s_300e_coco_{_AMP}",
        "AMP",
        "ppyoloe_crn_s",
        repairs=_ANY_BOX,
    ),
    Row(
        "PaddleDetection",
        f"{_PPYOLOE}_pact_infer_python.txt",
        "PACT",
        "ppyoloe_crn_s",
        fault=_NOT_LOADED,
        edits=_DET_PACT,
        repairs=(*_ANY_BOX, *_DET_START),
    ),
    Row("models", "mobilenet_v3_small/train_amp_infer_python.txt", "AMP", "Step6"),
    Row(
        "models",
        "mobilenet_v3_small/train_pact_infer_python.txt",
        "PACT",
        "Step6",
        fault="the export makes the plain network: none of its 54 layers is quantised",
    ),
)


def on_a_cpu(text: str, edits: tuple[tuple[str, str], ...]) -> str:
    """A config's text for this machine: every line through the edits."""
    lines = []
    for line in text.split("\n"):
        for pattern, replacement in edits:
            line = re.sub(pattern, replacement, line)
        lines.append(line)
    return "\n".join(lines)
