"""A paper each: build what is asked of the backend, parse what comes back, score it."""
