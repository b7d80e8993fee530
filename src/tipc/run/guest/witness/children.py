"""The door of processes: Python scripts that the script starts are watched as it is itself."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any

from tipc.command import Command
from tipc.run.guest.hearing import PROGRAM, VARIABLE
from tipc.run.guest.script import unseen
from tipc.run.guest.witness.door import Door, leave_no_frame

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 4))
MOST = 16  # programs that are told
LONGEST = 200
# What a process that multiprocessing starts does first. It leaves nothing of ours to be seen.
JOIN = (
    "import sys; sys.path.insert(0, {root!r}); from tipc.run.guest.witness import cold; "
    "sys.path.remove({root!r}); cold.join({address!r}); del cold; "
)


class Children(Door):
    """Stands before the scripts that ``subprocess`` and ``multiprocessing`` start; other programs, in which
    nothing is seen, are told by their command."""

    name = "processes"

    def __init__(self, witness: Any) -> None:
        super().__init__(witness)
        self.started: list[str] = []  # programs that nobody watches
        self.forks = 0  # copies of this process: workers of a loader, for one
        self.importing = False  # paddle, which asks programs about the machine

    def attach(self, paddle: Any) -> None:
        """Paddle has been imported."""
        self.importing = False

    def attach_system(self) -> None:
        """Before the script: the doors that are always open."""
        self.around(os, "system", before=self._unwatched)
        for name in ("execv", "execve"):  # to which all of their kin come
            self._attach_exec(name, getattr(os, name))
        os.register_at_fork(after_in_parent=self._forked)

    def _attach_exec(self, name: str, real: Callable[..., Any]) -> None:
        """A script may begin again, as the same process, with other variables."""

        @functools.wraps(real)
        def watched(path: Any, argv: Any, *env: Any) -> Any:
            again = self.safely(self._begins_again, path, argv)
            if again is None:
                return real(path, argv, *env)
            words, address = again
            try:
                if env:
                    return real(path, words, {**env[0], VARIABLE: address})
                os.environ[VARIABLE] = address
                return real(path, words)
            except BaseException as error:  # it is still here
                os.environ.pop(VARIABLE, None)
                self.safely(self.witness.telling.take_back, address)
                leave_no_frame(error)
                raise

        setattr(os, name, unseen(watched))

    def _begins_again(self, path: Any, argv: Any) -> tuple[list[str], str] | None:
        """The command with the witness in it, and the address that it needs; None: it is started as it is.
        What was seen so far is lost then: only a script that has done nothing yet is followed."""
        telling = self.witness.telling
        if self.witness.silent or telling.child or "paddle" in sys.modules or any(self.witness.done):
            return None
        command = Command((os.fsdecode(path), *(os.fsdecode(word) for word in argv[1:])))
        if command.program_at is None:
            return None
        words = [os.fsdecode(argv[0]), *command.with_before_script(PROGRAM).argv[1:]]
        address = telling.hand_on()
        if not address:
            return None
        return words, address

    def _forked(self) -> None:
        if not self.witness.silent and not self.importing:
            self.forks += 1

    def attach_subprocess(self) -> None:
        """The module has been imported."""
        popen = sys.modules["subprocess"].Popen
        real = popen.__init__

        @functools.wraps(real)
        def __init__(process: Any, args: Any, *rest: Any, **kwargs: Any) -> None:
            watched = self.safely(self._watched, args, rest, kwargs)
            if watched is None:
                real(process, args, *rest, **kwargs)
                return
            argv, environment = watched
            try:
                real(process, argv, *rest, **{**kwargs, "env": environment})
            finally:
                process.args = args

        popen.__init__ = unseen(__init__)

    def attach_spawn(self) -> None:
        """``multiprocessing.spawn`` has been imported."""
        module: Any = sys.modules["multiprocessing.spawn"]
        real: Callable[..., list[str]] = module.get_command_line

        @functools.wraps(real)
        def get_command_line(**kwargs: Any) -> list[str]:
            words = real(**kwargs)
            invitation = self.witness.telling.invitation
            if "-c" in words and invitation and not self.witness.silent:
                at = words.index("-c") + 1
                words = [
                    *words[:at],
                    JOIN.format(root=ROOT, address=invitation) + words[at],
                    *words[at + 1 :],
                ]
            return words

        module.get_command_line = unseen(get_command_line)

    def _watched(
        self, args: Any, rest: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[list[str], dict[str, str]] | None:
        """The command with the witness in it, and its environment; None: it is started as it is."""
        invitation = self.witness.telling.invitation
        if self.witness.silent or not invitation:
            return None
        plain = isinstance(args, (list, tuple)) and not rest and not kwargs.get("shell")
        command = Command(tuple(os.fsdecode(word) for word in args)) if plain else Command(())
        if command.program_at is None or kwargs.get("executable"):
            self._unwatched(args)
            return None
        argv = command.with_before_script(PROGRAM).argv
        inherited = kwargs.get("env")
        environment = dict(os.environ if inherited is None else inherited)
        return list(argv), {**environment, VARIABLE: invitation}

    def _unwatched(self, command: Any) -> None:
        words = " ".join(map(str, command)) if isinstance(command, (list, tuple)) else str(command)
        if self.importing:
            return
        if len(self.started) < MOST and words[:LONGEST] not in self.started:
            self.started.append(words[:LONGEST])

    def facts(self, *, final: bool) -> dict[str, Any]:
        """``started`` and ``forks``."""
        return {"started": self.started, "forks": self.forks}
