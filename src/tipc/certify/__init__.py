"""Run to Verdict: the checks, each with an id, evidence and a remedy."""

from tipc.callable_package import make_callable

make_callable(__name__)
