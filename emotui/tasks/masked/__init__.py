"""Masked emotion words (EXPRESS)."""
