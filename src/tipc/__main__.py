"""``python -m tipc`` is ``tipc``."""

import sys

# ``python -m`` looks for modules in the current directory first, which may be a repository that nobody
# trusts yet. This has to come before any other import; what Python itself imports before (a `tipc/` that lies
# there, too), only -P or -I keep out: SECURITY.md.
if not getattr(sys.flags, "safe_path", sys.flags.isolated):
    del sys.path[0]

from tipc.cli.main import console

console()
