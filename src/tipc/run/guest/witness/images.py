"""The door of images: which image files were opened, and which were written."""

from __future__ import annotations

import os
import sys
from typing import Any

from tipc.run.guest.witness.door import Door

SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff", ".gif")
LISTS = (".txt", ".csv", ".tsv", ".json", ".jsonl", ".lst", ".list", ".xml", ".yml", ".yaml", ".pkl", ".mat")
MOST = 1000
MOST_LISTS = 16
SYSTEM = (sys.prefix, sys.base_prefix, "/usr", "/etc", "/proc", "/sys")


class Images(Door):
    """Python tells of every file that it opens (an audit hook); ``cv2`` opens by itself and is watched."""

    name = "images"

    def __init__(self, witness: Any) -> None:
        super().__init__(witness)
        self.paths: list[str] = []
        self.known: set[str] = set()
        self.lists: dict[str, None] = {}
        self.written: dict[str, None] = {}
        self.others: set[str] = set()  # files that were written and are no images

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
        elif len(self.others) < MOST and not self._is_pythons(name):
            self.others.add(name)

    def _is_pythons(self, name: str) -> bool:
        """No result of the script's: bytecode, and what belongs to the system."""
        return "__pycache__" in name or name.startswith((*SYSTEM, "/dev/"))

    def _add(self, path: str) -> None:
        lower = path.lower()
        if len(self.paths) < MOST and lower.endswith(SUFFIXES):
            name = os.path.abspath(path)
            if name not in self.known:
                self.known.add(name)
                self.paths.append(name)
        elif lower.endswith(LISTS) and len(self.lists) < MOST_LISTS:
            name = os.path.abspath(path)
            if not name.startswith(SYSTEM):
                self.lists.setdefault(name)

    def facts(self, *, final: bool) -> dict[str, Any]:
        """``images``, ``pictures``, ``written`` and ``lists``."""
        return {
            "images": self.paths,
            "pictures": list(self.written),
            "written": len(self.others),
            "lists": list(self.lists),
        }
