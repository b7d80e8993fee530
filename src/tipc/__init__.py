"""Training and Inference Pipeline Certification: from a config file to a verdict that can be trusted.

The data goes one way: ``config`` (text) → ``plan`` (commands) → ``run`` (processes) → ``certify`` (checks) →
``report`` (what people read). A stage imports the stages before it, never one after it, and nothing here
imports paddle.

As a library: ``from tipc import plan, run, certify, lint, load_run``. docs/library.md has the page. Names are
imported when they are first used, so that ``import tipc`` costs nothing.
"""

__version__ = "0.1.0"

_PUBLIC = {
    "lint": "tipc.api",
    "load_run": "tipc.api",
    "Plan": "tipc.plan.model",
    "Step": "tipc.plan.model",
    "PlanOptions": "tipc.plan.request",
    "Run": "tipc.run.record.results",
    "StepResult": "tipc.run.record.results",
    "Verdict": "tipc.certify.verdict",
    "Finding": "tipc.certify.verdict",
    "TipcError": "tipc.errors",
    "UsageError": "tipc.errors",
}
__all__ = ["__version__", "certify", "plan", "run", *_PUBLIC]


def __getattr__(name):  # type: ignore[no-untyped-def]
    """A public name, when it is first asked for."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'tipc' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value
