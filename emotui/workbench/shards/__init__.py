"""Runs in parts: on several machines, in files that other engines take, and together again."""
