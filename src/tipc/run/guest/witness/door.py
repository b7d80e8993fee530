"""What every door has in common: a function of paddle's is replaced by one that looks and then calls it."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tipc.run.guest.script import unseen

if TYPE_CHECKING:
    from tipc.run.guest.witness.witness import Witness

    Before = Callable[..., Any]  # gets what the function gets; what it returns is handed to After
    After = Callable[..., None]  # (note, answer, *what the function got)


class Door:
    """One kind of paddle's functions. ``why`` is empty as long as everything about them could be seen."""

    name = ""

    def __init__(self, witness: Witness) -> None:
        self.witness = witness
        self.why = ""

    def attach(self, paddle: Any) -> None:
        """Paddle has been imported: begin to watch."""
        raise NotImplementedError

    def facts(self, *, final: bool) -> dict[str, Any]:
        """What was seen, as fields of ``ProcessFacts``."""
        raise NotImplementedError

    def safely(self, look: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Look, and let no fault of ours reach the script. The time that it takes is counted as ours.

        Threads of a script look one after the other: what they tell goes through one socket.
        """
        begun = time.perf_counter()
        with self.witness.one_at_a_time:
            try:
                return look(*args, **kwargs)
            except Exception as error:  # noqa: BLE001
                self.why = f"{type(error).__name__}: {error}"[:300]
                return None
            finally:
                self.witness.own_seconds += time.perf_counter() - begun

    def around(
        self,
        owner: Any,
        name: str,
        *,
        before: Before | None = None,
        after: After | None = None,
        failed: Callable[[], None] | None = None,
    ) -> None:
        """Replace ``owner.name`` by a function that looks before and after, unless we ourselves call it."""
        real = getattr(owner, name)
        witness = self.witness

        @functools.wraps(real)
        def watched(*args: Any, **kwargs: Any) -> Any:
            silent = witness.silent
            note = None
            if before is not None and not silent:
                note = self.safely(before, *args, **kwargs)
            try:
                answer = real(*args, **kwargs)
            except BaseException as error:
                leave_no_frame(error)
                if failed is not None and not silent:
                    failed()
                raise
            if after is not None and not silent:
                self.safely(after, note, answer, *args, **kwargs)
            return answer

        unseen(watched)
        watched.__tipc_door__ = real  # type: ignore[attr-defined]
        setattr(owner, name, watched)


def leave_no_frame(error: BaseException) -> None:
    """Take the caller's frame out of a traceback. A bare ``raise`` does not put it back (Python 3.11)."""
    if error.__traceback__ is not None:
        error.__traceback__ = error.__traceback__.tb_next


def is_watched(function: Any) -> bool:
    """Whether a function is already one of ours."""
    return hasattr(function, "__tipc_door__")
