"""Results: the figures of runs and people, and the way to their samples."""
