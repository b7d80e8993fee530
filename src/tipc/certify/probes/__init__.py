"""Guest code: run under a config's own interpreter, in a process of its own. tipc itself never imports it.

It may use the standard library, numpy and paddle, and nothing of tipc: the interpreter need not have it.
"""
