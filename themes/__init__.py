"""One Textual theme a file."""
