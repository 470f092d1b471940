"""What goes with a paper: runs as files, the same again, and the folder of tables, figures and words."""
