"""Paddle Inference: one class for every engine and precision, and a clear refusal of what cannot run here."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from paddlezoo import cpu, unsigned
from paddlezoo.device import gpu_is_there
from paddlezoo.errors import ZooError

ENGINES = ("native", "onednn", "openvino", "tensorrt")
PRECISIONS = ("fp32", "fp16", "int8")
# What oneDNN computes in int8 without loss of meaning; with more operators it fails on concat in segmentation
# models.
INT8_OPERATORS = {"conv2d", "depthwise_conv2d", "fused_conv2d"}
SHAPES_KEPT = 10  # oneDNN primitives are built once for each input shape


def structure_of(prefix: Path) -> Path:
    """The file with the graph: ``.pdmodel``, or ``.json`` of a model that was exported as PIR."""
    legacy, pir = prefix.with_suffix(".pdmodel"), prefix.with_suffix(".json")
    return pir if pir.is_file() and not legacy.is_file() else legacy


def is_quantised(prefix: Path) -> bool:
    """True if the exported model holds quantised weights."""
    return b"dequantize_linear" in structure_of(prefix).read_bytes()


def pir_problem(engine: str, version: str) -> str:
    """Why a model in paddle 3's own format cannot run in an engine, or an empty text."""
    if engine == "openvino":
        return "OpenVINO reads the legacy format only: export without --format pir"
    if engine == "onednn" and version.startswith("3.3."):
        return f"oneDNN of paddle {version} has a defect with --format pir (Paddle#77340): export without it"
    return ""


def why_not(prefix: Path, engine: str, precision: str, device: str) -> str:
    """Why this combination cannot run here, or an empty text."""
    quantised = is_quantised(prefix)
    if device == "gpu" and not gpu_is_there():
        return "there is no GPU here"
    if structure_of(prefix).suffix == ".json":
        import paddle

        problem = pir_problem(engine, paddle.__version__)
        if problem:
            return problem
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

    OpenVINO compiles a model for the shapes of the first call, since it computes the shapes of every operator
    anew in each call where the export left a size open: a sixth of the time of a small network. From the
    first call with other shapes on the model is one for all of them.
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
        for path in (structure_of(prefix), prefix.with_suffix(".pdiparams")):
            if not path.is_file():
                raise ZooError(f"{path}: no such file: export the model first")
        reason = why_not(prefix, engine, precision, device)
        if reason:
            raise ZooError(f"engine {engine} in {precision} on {device} cannot run: {reason}")
        self.engine, self.precision = engine, precision
        self._prefix = prefix
        cache = prefix.parent / "openvino_cache"
        self._configure = partial(_config, engine, precision, threads, device, batch_size, skip_passes, cache)
        self.config = self._configure(prefix)
        self._shapes: tuple[tuple[int, ...], ...] | None = None
        self._session: _Session | None = None
        if engine == "openvino":
            _read_program(prefix)  # a damaged one is an error now already
        else:
            self._session = _Session(self.config, prefix)

    def __call__(self, *batches: np.ndarray) -> list[np.ndarray]:
        shapes = tuple(batch.shape for batch in batches)
        if self._session is None:
            self._session, self._shapes = self._session_for(shapes), shapes
        elif self._shapes not in (None, shapes):
            # Instead of the first, not beside it: paddle knows the engines of a process by a key that two of
            # the same model may share.
            self._session, self._shapes = self._session_for(None), None
        return self._session.run(batches)

    def _session_for(self, shapes: Sequence[tuple[int, ...]] | None) -> _Session:
        """The model for these shapes only, or for all. The engine reads it from files, while it is loaded."""
        program = _read_program(self._prefix)
        unsigned.without_signs(program)
        if shapes is not None:
            _set_shapes(program, shapes)
        with tempfile.TemporaryDirectory() as folder:
            changed = Path(folder, "changed")
            changed.with_suffix(".pdmodel").write_bytes(program.serialize_to_string())
            changed.with_suffix(".pdiparams").symlink_to(self._prefix.with_suffix(".pdiparams").resolve())
            return _Session(self._configure(changed), self._prefix)


class _Session:
    """A model that Paddle Inference loaded, with the handles of its inputs and outputs."""

    def __init__(self, config: Any, prefix: Path) -> None:
        self._predictor = _create(config, prefix)
        self._inputs = [self._predictor.get_input_handle(name) for name in self._predictor.get_input_names()]
        self._outputs = [
            self._predictor.get_output_handle(name) for name in self._predictor.get_output_names()
        ]

    def run(self, batches: Sequence[np.ndarray]) -> list[np.ndarray]:
        for handle, batch in zip(self._inputs, batches, strict=True):
            handle.copy_from_cpu(np.ascontiguousarray(batch))
        self._predictor.run()
        return [handle.copy_to_cpu() for handle in self._outputs]


def _read_program(prefix: Path) -> Any:
    """The exported graph; ZooError if the file is damaged."""
    from paddle.base import core

    try:
        program = core.ProgramDesc(prefix.with_suffix(".pdmodel").read_bytes())
    except (RuntimeError, ValueError) as error:
        raise _cannot_load(prefix, error) from None
    if program.num_blocks() == 0:  # of an empty file; paddle crashes when such a graph is looked into
        raise ZooError(f"{prefix}.pdmodel: Paddle Inference cannot load it: it is empty")
    return program


def _set_shapes(program: Any, shapes: Sequence[tuple[int, ...]]) -> None:
    """Give the sizes of inputs that the export left open, in place."""
    block = program.block(0)
    operators = (block.op(i) for i in range(block.op_size()))
    feeds = sorted((op for op in operators if op.type() == "feed"), key=lambda op: int(op.attr("col")))
    for feed, shape in zip(feeds, shapes, strict=True):
        variable = block.find_var(feed.output("Out")[0].encode())
        declared = variable.shape()
        if len(declared) == len(shape):  # else paddle says what is wrong when it runs
            variable.set_shape([has if has >= 0 else new for has, new in zip(declared, shape, strict=True)])


def _create(config: Any, prefix: Path) -> Any:
    from paddle import inference

    try:
        with _quiet():
            return inference.create_predictor(config)
    except (RuntimeError, ValueError) as error:  # paddle's enforce errors: a damaged or foreign file
        raise _cannot_load(prefix, error) from None


def _cannot_load(prefix: Path, error: Exception) -> ZooError:
    last = str(error).strip().splitlines()[-1].strip()
    return ZooError(f"{prefix}.pdmodel: Paddle Inference cannot load it: {last}")


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


def _config(
    engine: str,
    precision: str,
    threads: int,
    device: str,
    batch_size: int,
    skip_passes: Sequence[str],
    cache: Path,
    prefix: Path,
) -> Any:
    from paddle import inference

    structure = structure_of(prefix)
    config = inference.Config(str(structure), f"{prefix}.pdiparams")
    config.disable_glog_info()
    if structure.suffix == ".json":  # else paddle 3.2 and 3.3 fail with enable_memory_optim
        config.enable_new_ir(True)
        config.enable_new_executor(True)
    config.enable_memory_optim()
    if device == "gpu":
        _use_gpu(config, engine, precision, batch_size)
    else:
        _use_cpu(config, engine, precision, threads, cache)
    for name in skip_passes:
        config.delete_pass(name)
    return config


def _use_cpu(config: Any, engine: str, precision: str, threads: int, cache: Path) -> None:
    config.disable_gpu()
    config.set_cpu_math_library_num_threads(threads)
    if engine == "openvino":
        cpu.leave_amx_out()
        config.set_optim_cache_dir(str(cache))  # else in the current directory
        config.enable_openvino_engine()  # the model says the precision: a quantised one runs in int8
    elif engine == "onednn":
        config.enable_mkldnn()
        config.set_mkldnn_cache_capacity(SHAPES_KEPT)
        if precision == "int8":
            config.enable_mkldnn_int8(INT8_OPERATORS)
    else:
        config.disable_mkldnn()  # on by default in newer releases


def _use_gpu(config: Any, engine: str, precision: str, batch_size: int) -> None:
    from paddle import inference

    mode = inference.PrecisionType.Half if precision == "fp16" else inference.PrecisionType.Float32
    config.enable_use_gpu(256, 0, mode)
    if engine == "tensorrt":
        _use_tensorrt(config, precision, batch_size)


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
