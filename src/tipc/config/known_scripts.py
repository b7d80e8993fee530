"""Digests of the scripts that our tables describe: chain → digest (``tipc.config.scripts.digest``) → family.

Taken from public checkouts of PaddlePaddle/models, PaddleSeg, PaddleOCR, PaddleClas and PaddleDetection.
"""

KNOWN: dict[str, dict[str, str]] = {
    "train": {
        "1ac1e4eb74d95046": "models",
        "6120cb3523aad407": "seg",
        "ca7fd872810e4d51": "ocr",
        "b342c665cb2d3ad8": "clas",
        "e501a4d1f7566b38": "det",
    },
    "ptq": {
        "4ee6f6b72da20f39": "models",
        "2334d3a827ab3577": "seg",
        "bd7948f528db25e5": "ocr",
        "f1109e9a06850df1": "clas",
        "5ceb089385488f51": "det",
    },
    "paddle2onnx": {
        "bd1306af01a6f654": "models",
        "29ddff04d892a74f": "seg",
        "e78f1712844f2f7a": "ocr",
        "b63091eae2f5c4ef": "clas",
        "b000c72bda47f182": "det",
    },
    "dy2static": {
        "c584f745b4e6af08": "seg",
        "230f8ac67689cf50": "clas",
    },
    "infer": {
        "7827b7ac638ccfb9": "ocr",
    },
    "benchmark_train": {
        "2d754822f094eb59": "seg",
        "8ff290bcd0b1365d": "ocr",
        "dda9732780b76e9a": "clas",
        "38236ea98b4ba7f6": "det",
    },
    "serving_python": {
        "06b8f36c7cad5d04": "models",
        "57f56eb37d586448": "seg",
        "a9633e65fd1b0cb1": "ocr",
        "9a5e74d6d4a36e58": "clas",
        "bc5309acb237883e": "det",
    },
    "serving_cpp": {
        "b75fdf00b63dcfe1": "models",
        "ede8d9408a8a29de": "seg",
        "fa00da404b65ab13": "ocr",
        "c70c74a98dbe1582": "clas",
        "83597b589df8fef7": "det",
    },
    "infer_cpp": {
        "b94bb410afd15268": "models",
        "91f8430a79754d00": "seg",
        "921c1102eaa84770": "ocr",
        "b9a5027cb5c82822": "clas",
        "4d7a9ce46da7c348": "det",
    },
    "lite": {
        "b7c3abd7c8871d0d": "models",
        "0746e8ea87ed3d70": "ocr",
        "249ef7d5ccefdd90": "clas",
    },
    "pipeline": {
        "987b0ecbc6d6d467": "det",
    },
}
