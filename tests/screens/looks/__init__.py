"""What every place and every sheet looks like, read from the cells that a terminal would be sent."""
