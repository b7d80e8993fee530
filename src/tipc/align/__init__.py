"""Does a reproduction compute what its reference computes? Recorded tensors of both, compared stage by stage.

Either side records in its own script, with numpy alone; the other framework need not be installed::

    from tipc.align import Recorder

    with Recorder("ours.npz") as record:
        record.data("images", images)
        record.forward("logits", logits)
        record.loss("loss", loss)
        record.optimizer("lr", scheduler.get_lr())
        record.backward("head.weight", head.weight.grad)
        record.weights("head.weight", head.weight)

``tipc align reference.npz ours.npz`` then names the first tensor that differs.
"""

from tipc.align.recorder import STAGES, Recorder, read_recording
from tipc.align.tensor_comparison import THRESHOLDS, Alignment, TensorDifference, compare

__all__ = [
    "STAGES",
    "THRESHOLDS",
    "Alignment",
    "Recorder",
    "TensorDifference",
    "compare",
    "read_recording",
]
