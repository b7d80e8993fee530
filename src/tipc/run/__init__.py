"""Plan to Run: scheduler, executors, supervisor, journal and resume."""
