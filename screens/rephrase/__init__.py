"""Rephrase: a text rewritten against a live classifier (hard emotion test sets)."""
