"""Work on files, without a store."""
