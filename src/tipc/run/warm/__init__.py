"""Guest code: run by whatever interpreter a config names, so standard library only, and Python 3.7 syntax.

``server`` takes requests and forks a ``keeper`` for each; a keeper owns one step's process tree. A server
that has imported paddle (a warm one) lets the step be a fork of itself; any other executes a program.
"""
