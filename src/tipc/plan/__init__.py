"""Config × mode × machine to Plan: a graph of Steps, and what is left out with its reason."""

from tipc.callable_package import make_callable

make_callable(__name__)
