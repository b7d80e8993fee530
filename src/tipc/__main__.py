"""``python -m tipc`` is ``tipc``."""

from tipc.cli.main import console

console()
