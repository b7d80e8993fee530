"""Running a repository's own script with recording stubs, in isolation."""
