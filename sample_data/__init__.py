"""Small data written for this project, and figures that the papers published."""
