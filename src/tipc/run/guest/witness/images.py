"""The door of images: which image files were opened, and which were written."""

from __future__ import annotations

import os
import sys
from typing import Any

from tipc.run.guest.witness.door import Door

SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff", ".gif")
MOST = 1000


class Images(Door):
    """Python tells of every file that it opens (an audit hook); ``cv2`` opens by itself and is watched."""

    name = "images"

    def __init__(self, witness: Any) -> None:
        super().__init__(witness)
        self.paths: list[str] = []
        self.known: set[str] = set()
        self.written: dict[str, None] = {}

    def begin(self) -> None:
        """Watch what Python opens, also before paddle comes."""
        sys.addaudithook(self._opened)

    def attach(self, paddle: Any) -> None:
        """Nothing of paddle's is watched."""

    def attach_cv2(self, module: Any = None) -> None:
        """The script has imported ``cv2``, or will import this very module."""
        module = module or sys.modules["cv2"]
        self.around(module, "imread", before=self._read)
        self.around(module, "imwrite", before=self._write)

    def _opened(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "open" and not self.witness.silent:
            path, mode = args[0], args[1]
            reads = mode is None or (isinstance(mode, str) and "r" in mode)
            if not isinstance(path, (str, bytes, os.PathLike)):
                return
            if reads:
                self._add(os.fsdecode(path))
            else:
                self._write(path)
        elif event == "os.rename" and not self.witness.silent:
            self._write(args[1])  # written under another name first

    def _read(self, path: Any, *_args: Any, **_kwargs: Any) -> None:
        self._add(os.fsdecode(path))

    def _write(self, path: Any, *_args: Any, **_kwargs: Any) -> None:
        if not isinstance(path, (str, bytes, os.PathLike)):
            return
        name = os.path.abspath(os.fsdecode(path))
        if name.lower().endswith(SUFFIXES) and len(self.written) < MOST:
            self.written.setdefault(name)

    def _add(self, path: str) -> None:
        if len(self.paths) < MOST and path.lower().endswith(SUFFIXES):
            name = os.path.abspath(path)
            if name not in self.known:
                self.known.add(name)
                self.paths.append(name)

    def facts(self, *, final: bool) -> dict[str, Any]:
        """``images`` and ``pictures``."""
        return {"images": self.paths, "pictures": list(self.written)}
