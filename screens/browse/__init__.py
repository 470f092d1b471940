"""Browse: a text with what gold, people and models say about it."""
