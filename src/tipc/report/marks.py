"""The sign of each state. In a terminal that cannot show them, letters."""

from __future__ import annotations

from tipc.certify.verdict import FAIL, NOT_CERTIFIED, PASS, UNCHECKED
from tipc.report.view import REFUTED, SKIPPED, UNCERTIFIED, UNPROVEN
from tipc.run.record import BLOCKED, FAILED, FLAKY, INTERRUPTED, PASSED, PENDING, TIMEOUT

MARKS = {
    PASSED: "✔",
    FLAKY: "≈",
    FAILED: "✘",
    TIMEOUT: "✘",
    REFUTED: "✘",
    INTERRUPTED: "✘",
    UNPROVEN: "?",
    UNCERTIFIED: "◇",
    BLOCKED: "▫",
    PENDING: "○",
    SKIPPED: "–",
}
LETTERS = {
    PASSED: "ok",
    FLAKY: "flaky",
    FAILED: "FAILED",
    TIMEOUT: "TIMEOUT",
    REFUTED: "REFUTED",
    INTERRUPTED: "STOPPED",
    UNPROVEN: "?",
    UNCERTIFIED: "nc",
    BLOCKED: "blocked",
    PENDING: "-",
    SKIPPED: "skip",
}
# A finding's status in the words of a report.
FINDING_STATES = {PASS: PASSED, FAIL: REFUTED, UNCHECKED: UNPROVEN, NOT_CERTIFIED: UNCERTIFIED}
