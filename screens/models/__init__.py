"""Models: which is asked live, what is loaded and what could be, and running them."""
