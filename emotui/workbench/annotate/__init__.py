"""Annotation by a person: the marks, the log that they are kept in, schemes, orders, and what comes of them."""
