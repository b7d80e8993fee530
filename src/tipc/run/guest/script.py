"""Turn this process into ``python script.py arguments``: what the script sees is what a fresh one would see.

It does not come back: the caller calls the function that it gets at the top of its own program and lets
whatever comes out of it reach the interpreter, so exit codes, hooks, threads and atexit are Python's own.
"""

from __future__ import annotations

import io
import os
import sys
import traceback
import types
from collections.abc import Callable, Iterator
from functools import partial
from importlib.machinery import SourceFileLoader
from typing import Any


def become(argv: list[str], ours: str) -> Callable[[], object]:
    """Set up ``__main__``, ``sys.argv`` and ``sys.path`` for a script; the function that runs it.

    ``ours`` is the file of the program that calls: its frames and its directory are not to be seen.
    OSError, SyntaxError or ValueError, and nothing changed, if there is no script that can be run.
    """
    name = argv[0]
    path = os.path.join(os.getcwd(), name) if sys.version_info >= (3, 9) else name  # as Python itself has it
    with open(name, "rb") as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    main = types.ModuleType("__main__")
    main.__dict__.update(
        __builtins__=sys.modules["builtins"],
        __file__=path,
        __cached__=None,
        __loader__=SourceFileLoader("__main__", path),
        __annotations__={},
    )
    for alias in ("__main__", "__mp_main__"):  # the second is multiprocessing's, if it was imported
        if alias in sys.modules or alias == "__main__":
            sys.modules[alias] = main
    sys.argv = list(argv)
    directory = os.path.dirname(os.path.abspath(ours))
    if sys.path and os.path.realpath(sys.path[0]) == os.path.realpath(directory):
        sys.path[0] = os.path.dirname(os.path.realpath(name))
    forget_ourselves()
    # The script's code as a function over the names of its module: no frame of ours but the caller's.
    return types.FunctionType(code, main.__dict__)


def become_launcher(argv: list[str], ours: str) -> Callable[[], object]:
    """As ``become_module``, in a server that runs with ``-u``, which a launcher does not."""
    for name, line_buffering in (("stdout", False), ("stderr", sys.version_info >= (3, 9))):
        setattr(sys, name, _buffered(getattr(sys, name), line_buffering))
    return become_module(argv, ours)


def become_module(argv: list[str], ours: str) -> Callable[[], object]:
    """Set up ``__main__``, ``sys.argv`` and ``sys.path`` for ``-m module``; the function that runs it."""
    main = types.ModuleType("__main__")
    main.__dict__.update(__builtins__=sys.modules["builtins"], __annotations__={})
    sys.modules["__main__"] = main
    sys.argv = ["-m", *argv[1:]]
    directory = os.path.dirname(os.path.abspath(ours))
    if sys.path and os.path.realpath(sys.path[0]) == os.path.realpath(directory):
        sys.path[0] = os.getcwd()
    forget_ourselves()
    import runpy

    run: Any = runpy
    return partial(run._run_module_as_main, argv[0])


def _buffered(stream: Any, line_buffering: bool) -> io.TextIOWrapper:
    """A standard stream as it is in an interpreter without ``-u``, which the one of a launcher is."""
    binary = open(stream.fileno(), "wb", closefd=False)  # noqa: SIM115  (as long as the process)
    raw: Any = binary.raw
    raw.name = stream.name
    made = io.TextIOWrapper(
        binary, stream.encoding, stream.errors, newline="\n", line_buffering=line_buffering
    )
    made.mode = "w"  # type: ignore[misc]
    return made


def forget_ourselves() -> None:
    """Take our modules away: a script that imports ``tipc`` gets the one that it would get without us."""
    for module in [module for module in sys.modules if module.partition(".")[0] == "tipc"]:
        del sys.modules[module]


def hide_frames(ours: str) -> None:
    """A traceback that is printed because nobody caught its exception begins in the script, not here."""
    shown = sys.excepthook

    def hook(kind: type[BaseException], value: BaseException, trace: types.TracebackType | None) -> None:
        while trace is not None and trace.tb_frame.f_code.co_filename == ours:
            trace = trace.tb_next
        shown(kind, value.with_traceback(trace), trace)

    sys.excepthook = hook


# The file name in the code of our functions that stand between a script and paddle. Python's warnings pass
# over frames of importlib._bootstrap when they look for who is to blame (stacklevel), and so over ours.
UNSEEN = "<importlib._bootstrap: tipc>"


def unseen(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of ours whose frame nobody is shown."""
    function.__code__ = function.__code__.replace(co_filename=UNSEEN)
    return function


def hide_callers(ours: str) -> None:
    """Who asks for the stack gets it without us. Paddle writes it into the programs that it exports."""
    walk = traceback.walk_stack

    def walk_stack(f: types.FrameType | None) -> Iterator[tuple[types.FrameType, int]]:
        if f is None:
            return walk(f)
        return (pair for pair in walk(f) if pair[0].f_code.co_filename not in (ours, UNSEEN))

    traceback.walk_stack = walk_stack
