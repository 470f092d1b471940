"""Models that mark spans themselves: word by word (`tagger`), or as the answer to a question (`reader`)."""
