"""What people keep beside the samples of a dataset: notes with codes, and filters under a name."""
