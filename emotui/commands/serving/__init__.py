"""`emotui serve`: the workbench in a browser on this machine."""
