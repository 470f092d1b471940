"""How other programs and corpora lay out texts, and what is said about them, in files: a module a layout."""
