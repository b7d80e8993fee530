"""Plan to Run: scheduler, executors, supervisor, journal and resume."""

from tipc.callable_package import make_callable

make_callable(__name__)
