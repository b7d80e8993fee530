"""What lint finds, and the edits that mend it."""

from __future__ import annotations

from typing import NamedTuple

from tipc.config.lint.codes import CODES


class Edit(NamedTuple):
    """Replace one whole line (``text``), insert before it (``insert``), or remove it (``text`` None)."""

    line: int  # physical, from 1
    text: str | None
    insert: bool = False


class Finding(NamedTuple):
    """One thing that is wrong, in one file."""

    path: str
    line: int  # 0: the whole file
    column: int  # from 1; 0: the whole line
    length: int  # of the text that the carets stand under
    code: str
    message: str
    detail: str  # what the bash does with it
    fix: str  # what to write instead
    edits: tuple[Edit, ...] = ()

    @property
    def severity(self) -> str:
        """error: the file cannot do what it says; warning: it does, but not as meant; note: cosmetic."""
        return CODES[self.code].severity

    @property
    def fixable(self) -> bool:
        """Whether ``tipc lint --fix`` mends it."""
        return bool(self.edits)
