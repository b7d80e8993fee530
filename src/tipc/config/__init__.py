"""Text to Config: lines and values with their positions, the dialects, and lint."""
