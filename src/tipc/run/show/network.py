"""What programs write when the network does not reach a host."""

from __future__ import annotations

import re

PATTERNS = (
    # As wget, curl and git, and requests say it.
    re.compile(r"unable to resolve host address \W*(?P<what>[\w.-]+)"),
    re.compile(r"Could not resolve (?:host|hostname):? \W*(?P<what>[\w.-]+)"),
    re.compile(r"(?:HTTPS?ConnectionPool|NewConnectionError)\(host='(?P<what>[\w.-]+)'"),
    re.compile(r"ailed to connect to (?P<what>[\w.-]+) port"),
)


def unreached_host(line: str) -> str:
    """The host that a line of a log says was not reached; empty where it does not say so."""
    for pattern in PATTERNS:
        found = pattern.search(line)
        if found:
            return found["what"]
    return ""
