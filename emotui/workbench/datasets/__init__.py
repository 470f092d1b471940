"""Samples that come into a workspace."""
