"""Models: what is loaded, and what could be."""
