"""The list of samples, shared by all places."""
