"""Addresses of files as a page sees them."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote


def file_link(path: str | Path, folder: str) -> str:
    """A relative address, as seen from the page's folder: the report and the files can be moved together.

    Of no file, nothing.
    """
    if not path:
        return ""
    return "./" + quote(os.path.relpath(path, folder), errors="surrogateescape")
