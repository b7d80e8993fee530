"""What can be read of a run: logs, predictions, sources, probes."""
