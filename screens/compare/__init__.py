"""The place in which sources are compared."""
