"""One small file a sub-command: parse, call, print, exit code, nothing else."""
