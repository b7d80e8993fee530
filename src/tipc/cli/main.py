"""The entry point: find the sub-command, run it, turn its outcome into an exit code.

A command is a module ``tipc.cli.<name>`` with ``main(argv) -> int``. Only the one that was asked for is
imported, so that ``tipc --help`` and ``tipc plan`` start in a few milliseconds.
"""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module

from tipc import __version__
from tipc.errors import ENVIRONMENT, INTERRUPTED, USAGE, TipcError, UsageError, wording
from tipc.kinds import LANGUAGES
from tipc.language import say
from tipc.visible import Visible, visible_name

# In the order of the pipeline: (name, what it does).
COMMANDS = {
    "init": "a new repository from a template, or test_tipc/ for your own",
    "lint": "find what is wrong in config files, and fix what is mechanical",
    "plan": "show what a config runs: cells, commands, what is left out and why",
    "fixes": "list where the default plan differs from the bash, and why",
    "prepare": "fetch or unpack the data that a config needs",
    "run": "run the plan, check what came out, report",
    "certify": "run the checks again on an earlier run",
    "check": "the spec's checklist for a whole repository",
    "align": "a reproduction's recorded tensors against its reference's",
    "checks": "list the checks",
    "explain": "tell the reason and the remedy for a lint code, a check or a fix",
    "report": "show an earlier run: terminal, HTML, JUnit, JSON, Markdown",
    "docs": "write the result tables into test_tipc/README.md and docs/",
    "history": "list earlier runs and their figures",
    "compare": "compare two runs: speed, latency, memory, accuracy",
    "trend": "show one figure over the runs",
    "env": "tell what this machine can certify",
    "completion": "print the completion of commands and options for bash, zsh or fish",
    "schema": "print the JSON Schema of a plan, a report, a verdict, …",
    "settings": "show the settings of this repository, and where they come from",
}

WHOLE_PATH = "TIPC_WHOLE_PYTHONPATH"  # what PYTHONPATH was, between the two halves of a start

USAGE_TEXT = "usage: tipc COMMAND [ARGUMENTS]   (tipc COMMAND --help says more)\n"


def help_text() -> str:
    """The page of ``tipc --help``."""
    width = max(map(len, COMMANDS))
    rows = "\n".join(f"  {name:<{width}}  {say(what)}" for name, what in COMMANDS.items())
    title = say("Training and Inference Pipeline Certification for PaddlePaddle repositories.")
    return f"{say(USAGE_TEXT)}\n{title}\n\n{rows}\n\n" + say(HELP_END)


HELP_END = (
    "Every command takes --lang en|zh; else TIPC_LANG, LC_ALL, LC_MESSAGES or LANG\n"
    "tells the language; and --color auto|always|never; NO_COLOR is honoured.\n"
    "exit codes: 0 all passed · 1 something failed · 2 the config or the call is\n"
    "            wrong · 3 an error of the environment or of tipc · 130 interrupted\n"
)


def _language_of_the_repository() -> None:
    """Speak the language of the setting `lang`, unless the user has said another."""
    from tipc import language
    from tipc.settings import find_settings

    wished = ""
    if not os.environ.get("TIPC_LANG"):
        wished = find_settings().get("lang") or ""
    language.choose(wished)


def _in_its_language(argv: list[str]) -> list[str]:
    """Choose the language: of the call, else of the repository. What remains of the call."""
    rest = _without_language(argv)
    if rest is argv:
        _language_of_the_repository()
    return rest


def _without_language(argv: list[str]) -> list[str]:
    """The call without ``--lang zh``, which every command takes and which is done with here."""
    if argv[0] == "docs":  # whose documents are Chinese unless it says otherwise
        return argv
    value, rest = _taken(argv, "--lang")
    if value is None:
        return argv
    from tipc import language

    if value not in LANGUAGES:
        known = ", ".join(LANGUAGES)
        raise UsageError(
            wording("--lang: there is no language `{value}`", value=value),
            remedy=wording("one of {names}", names=known),
        )
    language.choose(value)
    return rest


def _without_colour(argv: list[str]) -> list[str]:
    """The call without ``--color never``, which every command takes, too."""
    value, rest = _taken(argv, "--color")
    if value is None:
        return argv
    from tipc.run.show.colour import ALWAYS, WHEN, choose_colour

    if value not in WHEN:
        raise UsageError(
            wording("--color: there is no `{value}`", value=value),
            remedy=wording("one of {names}", names=", ".join(WHEN)),
        )
    choose_colour(value)
    for stream in (sys.stdout, sys.stderr):
        if value == ALWAYS and isinstance(stream, Visible):
            stream.allow_colours()
    return rest


def _taken(argv: list[str], wanted: str) -> tuple[str | None, list[str]]:
    """The value of an option and the call without both; None where the call does not have it."""
    for place, word in enumerate(argv):
        option, equals, value = word.partition("=")
        if word == "--":
            break
        if option != wanted:
            continue
        rest = argv[place + 1 :]
        if not equals and rest:
            value = rest.pop(0)
        return value, [*argv[:place], *rest]
    return None, argv


def main(argv: list[str]) -> int:
    """Run one command line and return its exit code; expected errors become one message on stderr."""
    if not argv or argv[0] in ("-h", "--help", "help"):
        sys.stdout.write(help_text())
        if not argv:
            return USAGE
        return 0
    if argv[0] in ("-V", "--version"):
        sys.stdout.write(f"tipc {__version__}\n")
        return 0
    try:
        argv = _without_colour(_in_its_language(argv))
    except UsageError as error:
        sys.stderr.write(f"{error}\n")
        return USAGE
    name = "".join(argv[:1])
    if name not in COMMANDS:
        return _no_such_command(name)
    try:
        return int(import_module(f"tipc.cli.{name}").main(argv[1:]))
    except TipcError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    except KeyboardInterrupt:
        sys.stderr.write(say("interrupted") + "\n")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader (head, less) has gone; keep the interpreter from complaining when it flushes stdout.
        sys.stdout = None
        return 0
    except Exception:  # noqa: BLE001 - the last resort: a bug in tipc, told as one and kept for a report
        from tipc.cli.crash import write_crash_report

        sys.stderr.write(write_crash_report(argv))
        return ENVIRONMENT


def _no_such_command(name: str) -> int:
    from tipc.suggestions import closest

    told = say("tipc: there is no command `{name}`.", name=visible_name(name))
    close = closest(name, COMMANDS)
    if close:
        told += say(" Did you mean `tipc {close}`?", close=close)
    sys.stderr.write(f"{told}\n{say(USAGE_TEXT)}")
    return USAGE


def console() -> None:
    """The ``tipc`` command."""
    without_modules_of_the_repository()
    forget_relative_places()
    if sys.stdout and sys.stderr:  # a caller may have closed them
        sys.stdout = Visible(sys.stdout, os.environ)
        sys.stderr = Visible(sys.stderr, os.environ)
    code = main(sys.argv[1:])
    gc.freeze()  # else Python looks for cycles once more at its end: a tenth of a short command
    sys.exit(code)


def without_modules_of_the_repository() -> None:
    """Import nothing more from parts of PYTHONPATH inside of the current directory; the steps get all of it.

    Many repositories want `PYTHONPATH=.`. It is for their scripts: a ``sitecustomize`` or a ``rich`` that
    lies there is none of ours. Where one of them is loaded already, start anew without.
    """
    whole = os.environ.pop(WHOLE_PATH, None)
    if whole is not None:
        os.environ["PYTHONPATH"] = whole
        return
    path = os.environ.get("PYTHONPATH", "")
    if not path or sys.flags.ignore_environment:
        return
    entries = path.split(os.pathsep)
    theirs = {os.path.realpath(entry) for entry in entries if is_here(entry)}
    ours = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    theirs.discard(os.path.realpath(ours))
    if not theirs:
        return
    if not any(came_from(module, theirs) for module in list(sys.modules.values())):
        sys.path[:] = [place for place in sys.path if os.path.realpath(place) not in theirs]
        return
    kept = [entry for entry in entries if os.path.realpath(entry) not in theirs]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(kept), WHOLE_PATH: path}
    program = os.path.join(ours, "tipc", "__main__.py")
    os.execve(sys.executable, [sys.executable, program, *sys.argv[1:]], environment)


def came_from(module: object, places: set[str]) -> bool:
    """Whether a module, or the package that it belongs to, lies in one of these folders of modules."""
    file = getattr(module, "__file__", None)
    if not isinstance(file, str):
        return False
    folder = os.path.dirname(os.path.realpath(file))
    depth = getattr(module, "__name__", "").count(".") + hasattr(module, "__path__")
    for _ in range(depth):
        folder = os.path.dirname(folder)
    return folder in places


def is_here(folder: str) -> bool:
    """Whether a part of a module path is the current directory or lies in it."""
    try:
        here = os.path.realpath(os.getcwd())
    except FileNotFoundError:  # it was removed
        return False
    return os.path.commonpath([here, os.path.realpath(folder)]) == here


def forget_relative_places() -> None:
    """Take out of PATH what depends on the current directory.

    That directory may be a repository that is only looked at: its ``git`` or ``python3`` is not the user's.
    """
    places = os.environ.get("PATH", "").split(os.pathsep)
    os.environ["PATH"] = os.pathsep.join(place for place in places if os.path.isabs(place))
