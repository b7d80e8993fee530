"""Guest code: run by the interpreter that a config names, so standard library only, nothing newer than 3.9.

``server`` takes requests and forks a ``keeper`` for each; a keeper owns one step's process tree. A server
that has imported paddle (a warm one) lets the step be a fork of itself; any other executes a program.
"""
