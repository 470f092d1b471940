"""Masked: a text with the words behind its masks, as words and as vectors."""
