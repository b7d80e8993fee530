"""What holds for all tests: hypothesis judges what code does, not how fast a busy machine is; a config's
``python3`` is the interpreter of the tests, whether its environment was activated or not.
"""

from __future__ import annotations

import os
import sys

from hypothesis import HealthCheck, settings

settings.register_profile("tipc", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tipc")
os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])
