"""What people keep beside the samples of a dataset: notes with codes, filters under a name; and vectors of texts."""
