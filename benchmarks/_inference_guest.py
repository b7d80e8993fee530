"""One engine alone in its process: makes a turn of calls when it is asked to. For inference.py.

``python _inference_guest.py ENGINE PRECISION THREADS MODEL``: a line on stdin is a turn, answered by a line
``turn`` and the milliseconds of each call. MODEL is an exported model, for onnxruntime an ``.onnx`` file.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable

import numpy as np

SIZE = 224
CALLS = 10
# The first calls of a turn wake the threads and bring the weights into the cache.
WARM_UP = 5
Run = Callable[[np.ndarray], object]


def onnxruntime(model: str, threads: int) -> Run:
    """Like our predictor it is told the size that the export left open, for what that gains."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3  # errors
    providers = ["CPUExecutionProvider"]
    (source,) = onnxruntime.InferenceSession(model, options, providers=providers).get_inputs()
    options.add_free_dimension_override_by_name(source.shape[0], 1)
    session = onnxruntime.InferenceSession(model, options, providers=providers)
    return lambda batch: session.run(None, {source.name: batch})


def milliseconds(run: Run, batch: np.ndarray) -> float:
    began = time.perf_counter()
    run(batch)
    return (time.perf_counter() - began) * 1000


def main() -> None:
    warnings.filterwarnings("ignore")
    engine, precision, threads, model = sys.argv[1:]
    if engine == "onnxruntime":
        run = onnxruntime(model, int(threads))
    else:
        from paddlezoo.predictor import Predictor

        run = Predictor(model, engine, precision, int(threads))
    batch = np.random.default_rng(0).normal(size=(1, 3, SIZE, SIZE)).astype("float32")
    for _ in sys.stdin:
        times = [milliseconds(run, batch) for _ in range(WARM_UP + CALLS)]
        print("turn", *times[WARM_UP:], flush=True)


if __name__ == "__main__":
    main()
