"""Lint: what is wrong in a config file, where, what the bash would do with it, and what to write instead."""
