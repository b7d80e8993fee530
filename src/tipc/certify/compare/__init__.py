"""Comparing arrays: what a trained network answered with what a deployed one answers. No paddle, no files."""
