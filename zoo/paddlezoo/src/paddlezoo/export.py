"""From the network that was trained to the files that Paddle Inference reads: ``inference.pdmodel`` and
``.pdiparams``.

The legacy format on purpose: it is the only one that carries int8 weights and that the OpenVINO engine reads.
``pir``, paddle 3's own format (``inference.json``), is a choice for networks in float.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paddlezoo.errors import ZooError, explain_os_error

NAME = "inference"
LEGACY, PIR = "legacy", "pir"
STRUCTURES = {LEGACY: ".pdmodel", PIR: ".json"}  # format → the suffix of the file with the graph
SUFFIXES = (".pdmodel", ".json", ".pdiparams", ".pdiparams.info")


def save(
    network: Any,
    shape: Sequence[int | None],
    directory: str | Path,
    name: str = NAME,
    format: str = LEGACY,
) -> Path:
    """Write the static model of ``network`` (eval mode) for inputs of ``shape`` (None: any size) into
    ``directory``.

    A network that was trained with PACT is converted in place first, so that its weights are stored as int8.
    ``name`` is that of the files. Returns the path without a suffix, as ``predictor.Predictor`` takes it.
    """
    import paddle
    from paddle.pir_utils import OldIrGuard

    from paddlezoo.quant import convert, pact

    if format == PIR:
        refuse_pir(network)
    if pact.quantised_layers(network):
        convert.to_int8(network)
    network.eval()
    directory = Path(directory)
    scratch = None
    try:
        directory.mkdir(parents=True, exist_ok=True)
        scratch = tempfile.mkdtemp(dir=directory, prefix=".export.")
        # The guard works whatever FLAGS_enable_pir_api was when paddle was imported, also in a forked server.
        with OldIrGuard() if format == LEGACY else contextlib.nullcontext():
            spec = [paddle.static.InputSpec([*shape], "float32", name="x")]
            static = paddle.jit.to_static(network, input_spec=spec, full_graph=True)
            paddle.jit.save(static, os.path.join(scratch, name))
        static.forward.rollback()  # to_static changed the network itself; it is a dynamic one again
        for suffix in SUFFIXES:
            source = Path(scratch, name + suffix)
            if source.exists():
                os.replace(source, directory / source.name)
            else:
                Path(directory, source.name).unlink(missing_ok=True)  # of an export in the other format
    except OSError as error:
        raise ZooError(f"cannot export to {directory}: {explain_os_error(error)}") from None
    finally:
        if scratch:
            shutil.rmtree(scratch, ignore_errors=True)
    return directory / name


def refuse_pir(network: Any) -> None:
    """ZooError where this network or this process cannot be exported as PIR."""
    import paddle

    from paddlezoo.quant import pact
    from paddlezoo.quant.convert import Int8Weight

    int8 = any(isinstance(layer, Int8Weight) for layer in network.sublayers())
    if int8 or pact.quantised_layers(network):
        raise ZooError("--format pir: paddle exports no int8 weights as PIR: leave the option out")
    if not paddle.get_flags("FLAGS_enable_pir_api")["FLAGS_enable_pir_api"]:
        raise ZooError("--format pir: FLAGS_enable_pir_api=0 is set: unset it")


def largest_difference(network: Any, prefix: Path, batch: np.ndarray) -> float:
    """The largest difference of the exported model's outputs, run plainly, from the network's on one batch.

    It is relative to the largest output where that is above 1: what float32 can keep.
    """
    import paddle

    from paddlezoo.predictor import Predictor

    with paddle.no_grad():
        outputs = network(paddle.to_tensor(batch))
    expected = [o.numpy() for o in (outputs if isinstance(outputs, (list, tuple)) else [outputs])]
    got = Predictor(prefix, engine="native")(batch)
    return max(
        float(np.abs(a - b).max() / max(1.0, np.abs(a).max())) for a, b in zip(expected, got, strict=True)
    )
