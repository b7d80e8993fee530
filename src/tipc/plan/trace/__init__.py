"""Plans for repositories that no dialect fits: run their own script with recording stubs, in isolation."""
