"""Training a classifier of one's own."""
