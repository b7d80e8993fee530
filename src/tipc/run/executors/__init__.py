"""Where a step's process runs."""
