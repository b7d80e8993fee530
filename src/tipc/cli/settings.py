"""``tipc settings``: which settings hold here, and where each value comes from."""

from __future__ import annotations

import argparse
import json
import sys

from tipc.cli.options import Parser
from tipc.errors import PASSED
from tipc.language import say
from tipc.settings import OWN, SETTINGS, SHARED, find_settings

SCHEMA = "tipc.settings/1"


def main(argv: list[str]) -> int:
    """Print every setting with its value and its source."""
    args = parser().parse_args(argv)
    chosen = find_settings()
    if args.json:
        document = {"schema": SCHEMA, "file": chosen.path or None, "settings": dict(chosen.values)}
        sys.stdout.write(json.dumps(document) + "\n")
        return PASSED
    from tipc.run.show.fold import write_folded

    none = say("none ({own} or [tool.tipc] in {shared})", own=OWN, shared=SHARED)
    lines = [f"{say('file: ')}{chosen.path or none}\n"]
    width = max(map(len, SETTINGS))
    for name, setting in SETTINGS.items():
        value = chosen.get(name)
        told = f"{json.dumps(value, ensure_ascii=False)}  ({chosen.path})"
        if value is None:
            told = "-"
        lines.append(f"  {name:<{width}}  {told:<12}  # {say(setting.title)}\n")
    write_folded(sys.stdout, "".join(lines), width + 2)
    return PASSED


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = Parser(
        prog="tipc settings",
        description=say(
            "Show the settings of this repository: {own}, or [tool.tipc] in {shared}, looked for upwards"
            " from here. Options of the command line outdo them.",
            own=OWN,
            shared=SHARED,
        ),
    )
    made.add_argument("--json", action="store_true", help="print them as JSON")
    return made
