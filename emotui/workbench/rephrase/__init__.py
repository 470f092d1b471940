"""Rounds of rephrasing in a workspace."""
