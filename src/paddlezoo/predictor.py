"""Paddle Inference: one class for every engine and precision, and a clear refusal of what cannot run here."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paddlezoo.device import gpu_is_there
from paddlezoo.errors import ZooError

ENGINES = ("native", "onednn", "openvino", "tensorrt")
PRECISIONS = ("fp32", "fp16", "int8")
# What oneDNN computes in int8 without loss of meaning; with more operators it fails on concat in segmentation
# models.
INT8_OPERATORS = {"conv2d", "depthwise_conv2d", "fused_conv2d"}
SHAPES_KEPT = 10  # oneDNN primitives are built once for each input shape


def is_quantised(prefix: Path) -> bool:
    """True if the exported model holds quantised weights."""
    return b"dequantize_linear" in prefix.with_suffix(".pdmodel").read_bytes()


def why_not(prefix: Path, engine: str, precision: str, device: str) -> str:
    """Why this combination cannot run here, or an empty text."""
    quantised = is_quantised(prefix)
    if device == "gpu" and not gpu_is_there():
        return "there is no GPU here"
    if engine == "tensorrt" and device != "gpu":
        return "TensorRT needs a GPU: give --use-gpu=True on a machine that has one"
    if engine in ("onednn", "openvino") and device == "gpu":
        return f"{engine} is an engine for CPUs: leave out --use-gpu=True or choose another engine"
    if precision == "fp16" and device != "gpu":
        return "paddle has no fp16 kernels for CPUs"
    if precision == "int8" and not quantised:
        return f"{prefix} is not quantised: train with --pact_quant and export that"
    if precision == "int8" and engine == "native":
        return "the native engine runs a quantised model in fp32: choose onednn, openvino or tensorrt"
    if precision == "fp32" and quantised and engine == "openvino":
        return "OpenVINO runs a quantised model in int8: ask for --precision=int8"
    return ""


class Predictor:
    """A model that was exported, ready to run: ``predictor(batch)`` gives the list of its outputs.

    ``skip_passes``: names of graph optimisations to leave out, for models on which they take too long.
    """

    def __init__(
        self,
        prefix: str | Path,
        engine: str = "onednn",
        precision: str = "fp32",
        threads: int = 1,
        device: str = "cpu",
        batch_size: int = 1,
        skip_passes: Sequence[str] = (),
    ) -> None:
        prefix = Path(prefix)
        for suffix in (".pdmodel", ".pdiparams"):
            if not prefix.with_suffix(suffix).is_file():
                raise ZooError(f"{prefix.with_suffix(suffix)}: no such file: export the model first")
        reason = why_not(prefix, engine, precision, device)
        if reason:
            raise ZooError(f"engine {engine} in {precision} on {device} cannot run: {reason}")
        self.engine, self.precision = engine, precision
        self.config = _config(prefix, engine, precision, threads, device, batch_size)
        for name in skip_passes:
            self.config.delete_pass(name)
        self._predictor = _create(self.config, prefix)
        self._inputs = [self._predictor.get_input_handle(name) for name in self._predictor.get_input_names()]
        self._outputs = [
            self._predictor.get_output_handle(name) for name in self._predictor.get_output_names()
        ]

    def __call__(self, *batches: np.ndarray) -> list[np.ndarray]:
        for handle, batch in zip(self._inputs, batches, strict=True):
            handle.copy_from_cpu(np.ascontiguousarray(batch))
        self._predictor.run()
        return [handle.copy_to_cpu() for handle in self._outputs]


def _create(config: Any, prefix: Path) -> Any:
    from paddle import inference

    try:
        with _quiet():
            return inference.create_predictor(config)
    except (RuntimeError, ValueError) as error:  # paddle's enforce errors: a damaged or foreign file
        last = str(error).strip().splitlines()[-1].strip()
        raise ZooError(f"{prefix}.pdmodel: Paddle Inference cannot load it: {last}") from None


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Throw away what paddle's int8 passes print on stderr: thirty lines that no setting stops."""
    sys.stderr.flush()
    saved = os.dup(2)
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)


def _config(prefix: Path, engine: str, precision: str, threads: int, device: str, batch_size: int) -> Any:
    from paddle import inference

    config = inference.Config(f"{prefix}.pdmodel", f"{prefix}.pdiparams")
    config.disable_glog_info()
    config.enable_memory_optim()
    if device == "gpu":
        mode = inference.PrecisionType.Half if precision == "fp16" else inference.PrecisionType.Float32
        config.enable_use_gpu(256, 0, mode)
        if engine == "tensorrt":
            _use_tensorrt(config, precision, batch_size)
        return config
    config.disable_gpu()
    config.set_cpu_math_library_num_threads(threads)
    if engine == "openvino":
        config.set_optim_cache_dir(str(prefix.parent / "openvino_cache"))  # else in the current directory
        config.enable_openvino_engine()  # the model says the precision: a quantised one runs in int8
    elif engine == "onednn":
        config.enable_mkldnn()
        config.set_mkldnn_cache_capacity(SHAPES_KEPT)
        if precision == "int8":
            config.enable_mkldnn_int8(INT8_OPERATORS)
    else:
        config.disable_mkldnn()  # on by default in newer releases
    return config


def _use_tensorrt(config: Any, precision: str, batch_size: int) -> None:
    from paddle import inference

    modes = {
        "fp32": inference.PrecisionType.Float32,
        "fp16": inference.PrecisionType.Half,
        "int8": inference.PrecisionType.Int8,
    }
    config.enable_tensorrt_engine(
        workspace_size=1 << 30,
        max_batch_size=batch_size,
        min_subgraph_size=3,
        precision_mode=modes[precision],
        use_static=False,
        use_calib_mode=False,
    )
