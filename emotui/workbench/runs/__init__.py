"""Runs of models over datasets."""
