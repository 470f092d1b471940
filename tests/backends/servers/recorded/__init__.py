"""Answers of real servers as they came, and what is read of them."""
