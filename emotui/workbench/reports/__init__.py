"""Tables and figures of runs as files: for a paper, a page, a note, a program."""
