"""Earlier runs, and how two of them compare."""
