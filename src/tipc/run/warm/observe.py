"""Runs a script under the count of operators: ``python observe.py --out FILE script.py arguments…``.

The script sees neither this file nor its arguments. In a distributed launch it stands before the script, and
rank 0 writes the counts.
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":
    root = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3))
    sys.path.insert(0, root)
    from tipc.run.warm import observing, script

    sys.path.remove(root)
    run = observing.prepare(sys.argv)
    try:
        run()
    except BaseException:
        script.hide_frames(__file__)
        raise
