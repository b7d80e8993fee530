"""What an import may leave behind outside of its own modules, as far as it can be seen from here."""

from __future__ import annotations

import atexit
import builtins
import copyreg
import gc
import locale
import logging
import os
import random
import signal
import sys
import threading
from typing import Any


def state() -> dict[str, Any]:
    """All of it, to be compared with what it was."""
    sys.stdout.flush()
    sys.stderr.flush()
    callbacks: Any = atexit
    told: dict[str, Any] = {
        "what was printed": os.fstat(1).st_size,
        "Python's threads": threading.active_count(),
        "open files": _descriptors(),
        "the functions that are called at exit": callbacks._ncallbacks(),
        "signal handlers": [signal.getsignal(number) for number in signal.valid_signals()],
        "the root logger": (list(logging.root.handlers), logging.root.level, logging.root.manager.disable),
        "the class of loggers": logging.getLoggerClass(),
        "the module search path": list(sys.path),
        "how modules are found": (list(sys.meta_path), list(sys.path_hooks)),
        "Python's hooks": (sys.excepthook, sys.displayhook, threading.excepthook, sys.unraisablehook),
        "the standard streams": (sys.stdin, sys.stdout, sys.stderr),
        "Python's limits": (sys.getrecursionlimit(), sys.getswitchinterval(), sys.getdlopenflags()),
        "the garbage collector": (gc.isenabled(), gc.get_threshold(), list(gc.callbacks)),
        "Python's random numbers": random.getstate(),
        "the directory": os.getcwd(),
        "the locale": locale.setlocale(locale.LC_ALL),
        "Python's own functions": dict(vars(builtins)),
        "how objects are pickled": _reducers(),
        "the command line": list(sys.argv),
        "tracing": (sys.gettrace(), sys.getprofile()),
    }
    numpy = sys.modules.get("numpy")
    if numpy is not None and hasattr(numpy, "random"):
        generator, keys, *rest = numpy.random.get_state()
        told["numpy's random numbers"] = (generator, keys.tobytes(), rest)
        told["numpy's handling of errors"] = (numpy.geterr(), numpy.geterrcall())
        told["how numpy prints"] = numpy.get_printoptions()
    paddle = sys.modules.get("paddle")
    if paddle is not None and hasattr(paddle, "get_default_dtype"):
        told["paddle's defaults"] = (
            paddle.get_default_dtype(), paddle.in_dynamic_mode(), paddle.is_grad_enabled(),
        )  # fmt: skip
    return told


def _reducers() -> dict[type, Any]:
    """How objects of other people's types are pickled: a package may say it of its own."""
    others = {"builtins", "numpy", "paddle", *getattr(sys, "stdlib_module_names", ())}
    reducers: dict[type, Any] = copyreg.dispatch_table
    return {kind: how for kind, how in reducers.items() if kind.__module__.partition(".")[0] in others}


def _descriptors() -> list[tuple[str, str]]:
    found = []
    for name in sorted(os.listdir("/proc/self/fd")):
        try:
            found.append((name, os.readlink(f"/proc/self/fd/{name}")))
        except OSError:  # the one by which the folder was read
            continue
    return found


def threads_after_a_fork() -> int:
    """The threads of this process, without those that end when it forks, which begin again by themselves."""
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return len(os.listdir("/proc/self/task"))
