"""The state that makes a resumed training run continue to the same numbers as one that was never interrupted.

One file holds weights, optimizer, schedule, loss scaler and progress, since two files could be of two
different epochs after a crash between their writes. Random numbers need no state: see ``seeding``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paddlezoo import checkpoint
from paddlezoo.errors import ZooError

SUFFIX = ".pdstates"


def save(
    path: str | Path, model: Any, optimizer: Any, scaler: Mapping[str, Any], progress: Mapping[str, Any]
) -> None:
    """Write everything that ``load`` needs; ``progress`` is the script's own (epoch, best, …): numbers and
    text.
    """
    checkpoint.write(
        path,
        {
            "model": checkpoint.weights_of(model),
            "optimizer": _with_structured_names(optimizer, model),
            "scaler": dict(scaler),
            "progress": dict(progress),
        },
    )


def find(path: str | Path) -> Path:
    """The state file that ``--resume`` means: itself, the one beside the weights, or ``latest`` in a
    directory.
    """
    path = Path(path)
    if path.is_dir():
        return path / f"latest{SUFFIX}"
    return path if path.suffix == SUFFIX else path.with_suffix(SUFFIX)


def load(path: str | Path, model: Any, optimizer: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Restore network and optimizer (which holds the schedule); return the scaler's state and progress."""
    file = find(path)
    content = checkpoint.read(file)
    if not {"model", "optimizer", "scaler", "progress"} <= set(content):
        raise ZooError(
            f"{file}: not a training state: it lacks the optimizer; --pretrained takes weights alone"
        )
    checkpoint.load_weights(model, content["model"], file)
    optimizer.set_state_dict(_with_paddle_names(content["optimizer"], model))
    return content["scaler"], content["progress"]


def _with_structured_names(optimizer: Any, model: Any) -> dict[str, Any]:
    """Accumulators are named after paddle's running parameter names, which another process may count
    differently.
    """
    by_name = sorted(((p.name, name) for name, p in model.named_parameters()), key=lambda pair: -len(pair[0]))
    renamed = {}
    for key, value in optimizer.state_dict().items():
        if key == "master_weights":
            own = dict(by_name)
            renamed[key] = {own[name]: tensor.numpy() for name, tensor in value.items()}
            continue
        array = value.numpy() if hasattr(value, "numpy") else value
        owner = next((pair for pair in by_name if key.startswith(f"{pair[0]}_")), None)
        renamed[f"{owner[1]}|{key[len(owner[0]) :]}" if owner else key] = array
    return renamed


def _with_paddle_names(state: Mapping[str, Any], model: Any) -> dict[str, Any]:
    import paddle

    names = {name: p.name for name, p in model.named_parameters()}
    restored: dict[str, Any] = {}
    for key, value in state.items():
        if key == "master_weights":
            restored[key] = {names[name]: paddle.to_tensor(array) for name, array in value.items()}
            continue
        owner, bar, rest = key.partition("|")
        restored[names[owner] + rest if bar else key] = value
    return restored
