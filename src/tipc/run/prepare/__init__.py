"""Data that a config needs, before its first step."""
