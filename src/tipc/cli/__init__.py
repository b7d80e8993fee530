"""One small file a sub-command: parse, call, print, exit code, nothing else."""

import gc

# Modules and records stay until the end of a command: to look for cycles among them after every 700 new ones,
# as Python does, finds nothing and costs a short command some percent. Before the other imports, therefore.
gc.set_threshold(100_000)
