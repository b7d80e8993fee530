"""Run by a config's interpreter: which of some distributions and modules are there. Imports none of them.

``python ask_packages.py '{"packages": ["numpy"], "modules": ["auto_log"]}'`` prints what there is.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from importlib import metadata


def version_of(name: str) -> str:
    """The installed version of a distribution; empty: it is not there."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def main() -> None:
    asked = json.loads(sys.argv[1])
    found = {
        "packages": {name: version_of(name) for name in asked["packages"]},
        "modules": {name: importlib.util.find_spec(name) is not None for name in asked["modules"]},
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
