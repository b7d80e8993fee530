"""What holds for all tests: hypothesis judges what code does, not how fast a busy machine is."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("tipc", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tipc")
