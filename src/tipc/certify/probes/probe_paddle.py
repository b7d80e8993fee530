"""What paddle is and what it can do here, as one line of JSON on stdout: ``python probe_paddle.py``."""

from __future__ import annotations

import json
import os
from typing import Any


def facts() -> dict[str, Any]:
    try:
        import paddle
    except ImportError as error:
        return {"error": f"{type(error).__name__}: {error}"}
    cuda = bool(paddle.device.is_compiled_with_cuda())
    count = paddle.device.cuda.device_count() if cuda else 0
    return {
        "version": paddle.__version__,
        "commit": paddle.version.commit,
        "cuda": str(paddle.version.cuda()),
        "cudnn": str(paddle.version.cudnn()),
        "compiled_with_cuda": cuda,
        "gpus": [
            {
                "name": paddle.device.cuda.get_device_name(index),
                "capability": ".".join(map(str, paddle.device.cuda.get_device_capability(index))),
            }
            for index in range(count)
        ],
    }


if __name__ == "__main__":
    # paddle prints warnings when it is imported: the answer goes where stdout was before.
    answer = os.dup(1)
    os.dup2(2, 1)
    text = json.dumps(facts())
    os.write(answer, f"{text}\n".encode())
    os._exit(0)
