"""Which step runs when."""
