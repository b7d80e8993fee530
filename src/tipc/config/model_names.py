"""What people call a model: ``test_tipc/models.json`` of a repository, which no config line has room for.

    {"pphumanseg_lite": {"algorithm": "ConnectNet", "aliases": ["pp_humanseg_lite"]}}

The file is optional. ``tipc docs`` takes the columns *algorithm* and *model name* from it, and a config
is found below any of its model's names.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tipc.bounded import read_bounded
from tipc.errors import UsageError, wording

FILE = "test_tipc/models.json"


@dataclass(frozen=True)
class ModelName:
    """The algorithm that a model belongs to, and its other names."""

    algorithm: str = ""
    aliases: tuple[str, ...] = ()


def read_model_names(repo: Path) -> dict[str, ModelName]:
    """The file of a repository by model; nothing where there is none. UsageError says what is wrong in it."""
    path = repo / FILE
    try:
        text = read_bounded(path)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise UsageError(
            wording("cannot be read: {strerror}", strerror=error.strerror), path=str(path)
        ) from error

    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(dict[str, ModelName]).validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UsageError(
            ": ".join(filter(None, (where, first["msg"]))),
            path=str(path),
            remedy='{"model": {"algorithm": "its algorithm", "aliases": ["another name"]}}',
        ) from None


def by_any_name(path: str) -> str:
    """The path of a config folder or file, where another name of its model was given, with its own name."""
    parts = Path(path).parts
    for place in range(2, len(parts)):
        if parts[place - 2 : place] != ("test_tipc", "configs"):
            continue
        for model, names in read_model_names(Path(*parts[: place - 2])).items():
            if parts[place] in names.aliases:
                return str(Path(*parts[:place], model, *parts[place + 1 :]))
    return path
