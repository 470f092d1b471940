"""Spot check: any text, and what models make of it."""
