"""Sources against what several people say of a text: labels, words marked, and numbers."""
