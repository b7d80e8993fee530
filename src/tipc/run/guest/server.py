"""The program that starts processes for ``tipc``: ``python server.py DESCRIPTOR [warm]``. See ``serving``."""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    # Also under -I and by an interpreter that knows no tipc: find the package, load it, leave no trace of it.
    root = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3))
    sys.path.insert(0, root)
    from tipc.run.guest import script, serving

    sys.path.remove(root)
    run = serving.main(sys.argv)  # comes back only in the child that is to be a script
    try:
        run()
    except BaseException:
        script.hide_frames(__file__)
        raise
