"""Decoding the emotions of scenarios."""
