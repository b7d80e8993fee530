"""Runs a script under the eyes of the witness: ``python witnessed.py script.py arguments…``.

The script sees neither this file nor its name. In a distributed launch it stands before the script of every
rank. Without the variable that leads to a keeper the script simply runs.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    # Also under -I and by an interpreter that knows no tipc: find the package, load it, leave no trace of it.
    root = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3))
    sys.path.insert(0, root)
    from tipc.run.guest import script
    from tipc.run.guest.witness import cold

    sys.path.remove(root)
    run = cold.prepare(sys.argv)
    try:
        run()
    except BaseException:
        script.hide_frames(__file__)
        raise
