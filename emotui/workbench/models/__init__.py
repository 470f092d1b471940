"""Models: which there are, loaded ones, one text through them."""
