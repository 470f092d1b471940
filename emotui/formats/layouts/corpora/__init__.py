"""The files in which corpora of emotions are released: a module a corpus."""
