"""A process below a guardian (``guest/guardian.py``), seen from ``tipc``: it ends with us, however we end."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

GUARDIAN = Path(__file__).parents[1] / "guest" / "guardian.py"


class Guarded(subprocess.Popen[bytes]):
    """A command under guard. Its session is its own: Ctrl-C is for tipc, which tells the rest.

    To kill it is to kill the guardian, and the command with it; ``end`` ends all that it has started, too.
    """

    def __init__(
        self,
        command: Sequence[str],
        mode: str,
        *,
        stdout: IO[bytes] | int | None,
        stderr: IO[bytes] | int | None,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        pass_fds: Sequence[int] = (),
    ) -> None:
        told, self.life = os.pipe()
        try:
            super().__init__(
                [sys.executable, "-I", "-S", str(GUARDIAN), str(told), mode, *command],
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                env=env,
                cwd=cwd,
                pass_fds=[told, *pass_fds],
                start_new_session=True,
            )
        except BaseException:
            os.close(self.life)
            raise
        finally:
            os.close(told)

    def wait_until_ended(self, seconds: float) -> None:
        """Wait for the end, or so long. ``wait`` itself looks ever more seldom, up to 50 ms late."""
        with contextlib.suppress(OSError):  # a kernel without pidfd
            descriptor = os.pidfd_open(self.pid)
            ended = select.poll()
            ended.register(descriptor, select.POLLIN)
            ended.poll(seconds * 1000)
            os.close(descriptor)
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(seconds)

    def end(self) -> None:
        """Have everything ended, and wait for that."""
        if self.life >= 0:
            os.close(self.life)
            self.life = -1
        self.wait()
