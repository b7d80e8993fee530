"""The exported model and its `deploy.yaml`, in PaddleSeg's format: what infer.py needs to know and no more.

Deploy:
  model: model.pdmodel            params: model.pdiparams
  transforms: [{type: Resize, target_size: [192, 192]}, {type: Normalize}]
  input_shape: [-1, 3, -1, -1]    output_op: argmax    output_dtype: int32
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from paddlezoo import checkpoint
from paddlezoo.errors import ZooError, explain_os_error
from paddlezoo.seg import transforms
from paddlezoo.seg.data import read_image

NAME = "model"
FILE = "deploy.yaml"
# On HRNet, fusing additions takes oneDNN 20 of the 27 s of loading, and gains 12 % of the time of an image.
SLOW_PASS = "conv_elementwise_add_onednn_fuse_pass"
# What is appended to the network, and the type of what comes out.
OUTPUT_OPS = {"argmax": "int32", "softmax": "float32", "none": "float32"}


@dataclass(frozen=True)
class Deployment:
    """A `deploy.yaml` that was read: where the model is, what it takes and gives."""

    prefix: Path
    transforms: Sequence[transforms.Transform]
    output_op: str
    input_shape: tuple[int, ...]

    def preprocess(self, paths: Sequence[str | Path]) -> np.ndarray:
        """Images as the batch that the model takes; they must come out of the transforms in one size."""
        random = np.random.default_rng(0)  # no transform of a deployment is random
        arrays = [
            transforms.apply(self.transforms, transforms.Sample(read_image(path)), random).image
            for path in paths
        ]
        sizes = {array.shape for array in arrays}
        if len(sizes) > 1:
            raise ZooError(
                f"images of {len(sizes)} sizes make no batch: add a Resize to {FILE} or take batch size 1"
            )
        return np.stack(arrays)


def classes_of(outputs: np.ndarray) -> np.ndarray:
    """The class of each pixel (N, H, W), whatever was appended to the network."""
    return outputs if outputs.ndim == 3 else outputs.argmax(axis=1)


def save(
    network: Any,
    entries: Sequence[dict[str, Any]],
    directory: str | Path,
    output_op: str,
    shape: Sequence[int],
    format: str = "legacy",
) -> Path:
    """Write the static model and its `deploy.yaml`; -1 in `shape` is any size. A PACT network becomes
    int8."""
    import paddle

    from paddlezoo import export
    from paddlezoo.quant import convert, pact
    from paddlezoo.seg.output import WithOutput

    transforms.build(entries)  # what infer.py could not read must not be written
    if format == export.PIR:
        export.refuse_pir(network)
    if pact.quantised_layers(network):
        convert.to_int8(network)
    deployed = WithOutput(network, output_op)
    # No forward here depends on data, so none has to be translated: that would take two thirds of the time.
    for layer in deployed.sublayers(include_self=True):
        paddle.jit.not_to_static(type(layer).forward)
    with _without_pruning():
        sizes = [None if size < 0 else size for size in shape]
        prefix = export.save(deployed, sizes, directory, NAME, format)
    content = {
        "model": f"{NAME}{export.STRUCTURES[format]}",
        "params": f"{NAME}.pdiparams",
        "transforms": [dict(entry) for entry in entries],
        "input_shape": [*shape],
        "output_op": output_op,
        "output_dtype": OUTPUT_OPS[output_op],
    }
    checkpoint.write_text(Path(directory, FILE), yaml.safe_dump({"Deploy": content}, sort_keys=False))
    return prefix


@contextlib.contextmanager
def _without_pruning() -> Iterator[None]:
    """Spare the search for parameters without a use: it compares every parameter with every operator, takes
    longer than all the rest on a HRNet, and serves the training of a traced network only."""
    from paddle.jit.dy2static.partial_program import PartialProgramLayer

    original = PartialProgramLayer._prune_unused_params
    PartialProgramLayer._prune_unused_params = lambda self, program: None
    try:
        yield
    finally:
        PartialProgramLayer._prune_unused_params = original


def read(path: str | Path) -> Deployment:
    """A `deploy.yaml`, or the folder it lies in; ZooError says what is missing."""
    path = Path(path)
    path = path / FILE if path.is_dir() else path
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ZooError(f"cannot read {explain_os_error(error)}") from None
    except (yaml.YAMLError, UnicodeDecodeError):
        raise ZooError(f"{path}: not YAML") from None
    entry = content.get("Deploy") if isinstance(content, dict) else None
    if not isinstance(entry, dict):
        raise ZooError(f"{path}: not a {FILE}: Deploy is missing")
    missing = [key for key in ("model", "transforms", "output_op") if key not in entry]
    if missing:
        raise ZooError(f"{path}: not a {FILE}: {missing[0]} is missing")
    try:
        steps = transforms.build(entry["transforms"])
    except ZooError as error:
        raise ZooError(f"{path}: {error}") from None
    model = path.parent / entry["model"]
    return Deployment(model.with_suffix(""), steps, entry["output_op"], tuple(entry.get("input_shape") or ()))
