"""Masked emotion words in the workbench: texts with their words, blind guesses, the blind study, the review."""
