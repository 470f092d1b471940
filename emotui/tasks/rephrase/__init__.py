"""One label a text, and its rephrasings (hard emotion test sets)."""
