"""The folder of a paper, and the same again: from what the store keeps of runs."""
