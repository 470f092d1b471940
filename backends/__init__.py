"""Model backends behind one protocol, each loaded in a child process."""
