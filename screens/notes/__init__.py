"""Notes and codes: a sheet that writes one, the codebook, and the line that shows what is noted."""
