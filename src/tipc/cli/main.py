"""The entry point: find the sub-command, run it, turn its outcome into an exit code.

A command is a module ``tipc.cli.<name>`` with ``main(argv) -> int``. Only the one that was asked for is
imported, so that ``tipc --help`` and ``tipc plan`` start in a few milliseconds.
"""

from __future__ import annotations

import sys
from importlib import import_module

from tipc import __version__
from tipc.errors import ENVIRONMENT, INTERRUPTED, USAGE, TipcError

# In the order of the pipeline: (name, what it does).
COMMANDS = {
    "init": "make test_tipc/ for a new model: configs, documents, scripts",
    "lint": "find what is wrong in config files, and fix what is mechanical",
    "plan": "show what a config runs: cells, commands, what is left out and why",
    "fixes": "list where the default plan differs from the upstream scripts, and why",
    "prepare": "fetch or unpack the data that a config needs",
    "run": "run the plan, check what came out, report",
    "certify": "run the checks again on an earlier run",
    "check": "the spec's checklist for a whole repository",
    "checks": "list the checks",
    "explain": "tell the reason and the remedy for a lint code, a check or a fix",
    "report": "show an earlier run: terminal, HTML, JUnit, JSON, Markdown",
    "docs": "write the result tables into test_tipc/README.md and docs/",
    "history": "list earlier runs and their figures",
    "compare": "compare two runs: speed, latency, memory, accuracy",
    "trend": "show one figure over the runs",
    "env": "tell what this machine can certify",
}

USAGE_TEXT = "usage: tipc COMMAND [ARGUMENTS]   (tipc COMMAND --help tells more)\n"


def help_text() -> str:
    """The page of ``tipc --help``."""
    width = max(map(len, COMMANDS))
    rows = "\n".join(f"  {name:<{width}}  {what}" for name, what in COMMANDS.items())
    return (
        f"{USAGE_TEXT}\nTraining and Inference Pipeline Certification for PaddlePaddle repositories.\n\n"
        f"{rows}\n\n"
        "exit codes: 0 all passed · 1 something failed · 2 the config or the call is wrong ·\n"
        "            3 an error of the environment or of tipc itself · 130 interrupted\n"
    )


def main(argv: list[str]) -> int:
    """Run one command line and return its exit code; expected errors become one message on stderr."""
    if not argv or argv[0] in ("-h", "--help", "help"):
        sys.stdout.write(help_text())
        return 0 if argv else USAGE
    if argv[0] in ("-V", "--version"):
        sys.stdout.write(f"tipc {__version__}\n")
        return 0
    name = argv[0]
    if name not in COMMANDS:
        from difflib import get_close_matches

        close = get_close_matches(name, COMMANDS, n=1)
        hint = f" Did you mean `tipc {close[0]}`?" if close else ""
        sys.stderr.write(f"tipc: there is no command `{name}`.{hint}\n{USAGE_TEXT}")
        return USAGE
    try:
        return int(import_module(f"tipc.cli.{name}").main(argv[1:]))
    except TipcError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader (head, less) has gone; keep the interpreter from complaining when it flushes stdout.
        sys.stdout = None
        return 0
    except Exception:  # noqa: BLE001 - the last resort: a bug in tipc, told as one and kept for a report
        from tipc.cli.crash import write_crash_report

        sys.stderr.write(write_crash_report(argv))
        return ENVIRONMENT


def console() -> None:
    """The ``tipc`` command."""
    sys.exit(main(sys.argv[1:]))
