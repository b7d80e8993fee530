"""The loader of batches: order, workers, damaged images."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = pytest.mark.paddle
pytest.importorskip("paddle")

from paddlezoo.errors import ZooError  # noqa: E402
from paddlezoo.loading import Loader  # noqa: E402


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_batches_come_in_order_and_errors_come_through(workers: int) -> None:
    class Squares:
        def __getitem__(self, index: int) -> tuple[np.ndarray, np.int64]:
            if index == 7:
                raise ZooError("7.jpg: damaged image")
            return np.full((2, 2), index, "float32"), np.int64(index * index)

    loader = Loader(Squares(), [[0, 1], [2, 3], [4], [5, 6]], workers)
    assert len(loader) == 4
    assert [labels.tolist() for _, labels in loader] == [[0, 1], [4, 9], [16], [25, 36]]
    with pytest.raises(ZooError, match=r"7\.jpg"):
        list(Loader(Squares(), [[0], [7], [1]], workers))
