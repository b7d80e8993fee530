"""``--opts optimizer.weight_decay=0.0001 loss.coef.0=2``: values of a config by the path to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml

from paddlezoo.errors import ZooError


def apply(content: dict[str, Any], opts: Sequence[str]) -> dict[str, Any]:
    """Set ``path.to.key=value`` in ``content``: names of mappings and numbers of lists, values as in YAML.

    A name may be new: whether it is known is for the config's own validation to say.
    """
    for opt in opts:
        path, equals, text = opt.partition("=")
        if not equals or not path:
            raise ZooError(f"--opts {opt}: expected key=value, such as optimizer.weight_decay=0.0001")
        try:
            value = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise ZooError(f"--opts {opt}: {text!r} is no value in YAML ({error})") from None
        _set(content, path.split("."), value, opt)
    return content


def _set(content: Any, keys: list[str], value: Any, opt: str) -> None:
    """Go down to what holds the last key, and set it there."""
    for depth, key in enumerate(keys):
        last = depth == len(keys) - 1
        where = ".".join(keys[: depth + 1])
        if isinstance(content, list):
            if not key.isdigit() or int(key) >= len(content):
                raise ZooError(f"--opts {opt}: {where}: this is a list of {len(content)}, counted from 0")
            index: Any = int(key)
        elif isinstance(content, dict):
            index = key
            content.setdefault(key, {})
        else:
            raise ZooError(f"--opts {opt}: {where}: there is nothing below a single value")
        if last:
            content[index] = value
        else:
            content = content[index]
