"""Training and Inference Pipeline Certification: from a config file to a verdict that can be trusted.

The data goes one way: ``config`` (text) → ``plan`` (commands) → ``run`` (processes) → ``certify`` (checks) →
``report`` (what people read). A stage imports the stages before it, never one after it, and nothing here
imports paddle.
"""

__version__ = "0.1.0"
