"""Which packages an interpreter has, by what lies in the folders that they are installed in.

A server that was started before something was installed has what was there then.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping

FOLDERS = ("site-packages", "dist-packages")
# What is written, removed or renamed with each package; not the bytecode of single files, which comes by use.
METADATA = (".dist-info", ".egg-info", ".egg-link", ".pth")

Installed = Mapping[str, list[str]]  # of each folder, the metadata with the time of its last change


def folders() -> list[str]:
    """Where this interpreter finds packages."""
    return [path for path in sys.path if os.path.basename(path) in FOLDERS]


def installed_in(places: Iterable[str]) -> dict[str, list[str]]:
    """What is installed there now."""
    found = {}
    for place in places:
        lines = []
        try:
            with os.scandir(place) as entries:
                for entry in entries:
                    if entry.name.endswith(METADATA):
                        changed = entry.stat(follow_symlinks=False).st_mtime_ns
                        lines.append(f"{entry.name} {changed}")
        except OSError:  # it has gone, or is being written
            lines = []
        found[place] = sorted(lines)
    return found
