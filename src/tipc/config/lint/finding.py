"""What lint finds, and the edits that mend it."""

from __future__ import annotations

from typing import NamedTuple

from tipc.config.lint.codes import CODES
from tipc.reasons import Reason

# A parameter of a message. A reason is a phrase of its own; several texts are listed one by one.
Told = str | int | tuple[str, ...] | Reason


class Edit(NamedTuple):
    """Replace one whole line (``text``), insert before it (``insert``), or remove it (``text`` None)."""

    line: int  # physical, from 1
    text: str | None
    insert: bool = False


class LintFinding(NamedTuple):
    """One thing that is wrong, in one file. Its sentences are made where people read."""

    path: str
    line: int  # 0: the whole file
    column: int  # from 1; 0: the whole line
    length: int  # of the text that the carets stand under
    case: str  # one of CASES: the code, and which of its cases where there are several
    params: tuple[tuple[str, Told], ...] = ()
    edits: tuple[Edit, ...] = ()

    @property
    def code(self) -> str:
        """TC012."""
        return self.case.partition("-")[0]

    @property
    def severity(self) -> str:
        """error: the file cannot do what it says; warning: it does, but not as meant; note: cosmetic."""
        return CODES[self.code].severity

    @property
    def fixable(self) -> bool:
        """Whether ``tipc lint --fix`` mends it."""
        return bool(self.edits)

    @property
    def message(self) -> str:
        """What is wrong, in the language of the user."""
        return self._words[0]

    @property
    def detail(self) -> str:
        """What the bash does with it."""
        return self._words[1]

    @property
    def fix(self) -> str:
        """What to write instead."""
        return self._words[2]

    @property
    def _words(self) -> tuple[str, str, str]:
        from tipc.language import lint_words

        return lint_words(self.case, dict(self.params))
