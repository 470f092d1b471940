"""Annotation: the log, schemes, orders, and what comes of them."""
