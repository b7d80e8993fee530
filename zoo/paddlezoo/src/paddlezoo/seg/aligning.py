"""A recording of a segmentation network for ``tipc align``: the same weights and images on both sides.

Weights are drawn from the names of the parameters and images from a seed, so that neither side needs a file
of the other. Nothing here knows whose network it records: `benchmarks/seg_parity.py --record` calls it with
paddleseg's, `tools/align.py` with ours.

Both compute in float64. In training, batch norms over few pixels enlarge rounding: in float32, gradients of
an HRNet on two kinds of CPU were 0.4 % of their largest value apart, by the same code. In float64 what
is left of rounding is far below every threshold, and what differs is arithmetic.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

SIZES = ((64, 96), (61, 83))  # the second is a multiple of no stride
KEPT = 128  # values of each tensor: enough to see any change of the arithmetic, and small enough to be kept
KERNELS = 8
STEPS = 2
LEARNING_RATE = 0.01


def weight(name: str, shape: list[int]) -> np.ndarray:
    """The value of a parameter or buffer, drawn from its name alone."""
    random = np.random.RandomState(zlib.crc32(name.encode()) & 0x7FFFFFFF)
    if name.endswith("._scale"):
        return np.ones(shape, "float32")
    if name.endswith("_variance"):
        return random.uniform(0.5, 1.5, shape).astype("float32")
    if name.endswith(".weight") and len(shape) == 1:
        return random.uniform(0.3, 0.7, shape).astype("float32")  # keeps deep residual sums small
    if name.endswith("_mean"):
        return (0.05 * random.standard_normal(shape)).astype("float32")
    if len(shape) == 1:
        # mostly on the live side of a ReLU
        return (0.1 + 0.1 * random.standard_normal(shape)).astype("float32")
    return (random.standard_normal(shape) * np.sqrt(2 / np.prod(shape[1:]))).astype("float32")


def fill(network: Any) -> list[tuple[str, tuple[int, ...]]]:
    """Give every parameter and buffer its value; the names and shapes, sorted."""
    state = network.state_dict()
    for name, value in state.items():
        value.set_value(weight(name, list(value.shape)).astype(number_type(value)))
    return sorted((name, tuple(value.shape)) for name, value in state.items())


def number_type(tensor: Any) -> str:
    """``float64`` of ``paddle.float64``."""
    return str(tensor.dtype).rpartition(".")[2]


def image(height: int, width: int, batch: int = 2) -> np.ndarray:
    """Normalised images; the same everywhere."""
    return np.random.RandomState(0).uniform(-1, 1, (batch, 3, height, width)).astype("float32")


def label(height: int, width: int, classes: int, batch: int = 2) -> np.ndarray:
    """A class for each pixel; the same everywhere."""
    return np.random.RandomState(1).randint(0, classes, (batch, height, width))


def sample(value: Any) -> np.ndarray:
    """At most KEPT values of a tensor, at places that its size alone decides."""
    flat = np.asarray(value).reshape(-1)
    if flat.size <= KEPT:
        return flat
    return flat[np.sort(np.random.RandomState(flat.size & 0x7FFFFFFF).choice(flat.size, KEPT, replace=False))]


def drop_nothing(network: Any) -> None:
    """Dropout draws its own numbers: without it both sides compute the same."""
    for layer in network.sublayers():
        if type(layer).__name__ in ("Dropout", "Dropout2D"):
            layer.p = 0.0


def record(network: Any, recorder: Any) -> None:
    """Give a `tipc.align.Recorder` images, logits of every head, losses, gradients and weights."""
    import paddle

    network.to(dtype="float64")
    fill(network)
    drop_nothing(network)
    classes = 0
    network.eval()
    for height, width in SIZES:
        images = image(height, width).astype("float64")
        recorder.data(f"images {height}x{width}", sample(images))
        with paddle.no_grad():
            answers = network(paddle.to_tensor(images))
        for head, logits in enumerate(answers):
            recorder.forward(f"eval {height}x{width} head {head}", sample(logits.numpy()))
            classes = logits.shape[1]
    train(network, classes, recorder)


def train(network: Any, classes: int, recorder: Any) -> None:
    """STEPS steps of SGD with momentum on one batch, by cross entropy on every head."""
    import paddle
    from paddle.nn import functional as F

    size = SIZES[0]
    images = paddle.to_tensor(image(*size).astype("float64"))
    truth = paddle.to_tensor(label(*size, classes)).unsqueeze(1)
    trained = {name: p for name, p in network.named_parameters() if not p.stop_gradient}
    optimizer = paddle.optimizer.Momentum(
        LEARNING_RATE, 0.9, parameters=list(trained.values()), weight_decay=1e-4
    )
    network.train()
    for step in range(STEPS):
        heads = network(images)
        loss = sum(F.cross_entropy(logits, truth, axis=1) for logits in heads)
        loss.backward()
        if step == 0:
            for head, logits in enumerate(heads):
                recorder.forward(f"train {size[0]}x{size[1]} head {head}", sample(logits.numpy()))
            for name in kernels(trained):
                recorder.backward(name, sample(trained[name].grad.numpy()))
        recorder.loss(f"step {step}", float(loss))
        recorder.optimizer(f"learning rate of step {step}", optimizer.get_lr())
        optimizer.step()
        optimizer.clear_grad()
    for name in kernels(trained):
        recorder.weights(name, sample(trained[name].numpy()))


def kernels(trained: dict[str, Any]) -> list[str]:
    """KERNELS names of kernels that the loss reaches, all over the network. By name: either side may have
    made its layers in an order of its own."""
    names = sorted(name for name, value in trained.items() if len(value.shape) == 4 and not unused(name))
    return names[:: max(1, len(names) // KERNELS)]


def unused(name: str) -> bool:
    """Layers that nothing but published weights needs have no gradient."""
    return "_depthwise_separable_0" in name
