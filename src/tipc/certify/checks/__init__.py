"""The built-in checks, one function each, by subject."""
