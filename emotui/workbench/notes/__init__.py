"""Notes on samples, and the codes that grow out of them."""
