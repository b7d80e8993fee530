"""What explains a check, a fix of the plan or a lint code. The English stands with each of them."""

from __future__ import annotations

from typing import NamedTuple


class Described(NamedTuple):
    """The parts of an explanation in another language; a part that the English lacks is empty."""

    title: str
    reason: str
    remedy: str = ""
    reads: str = ""
