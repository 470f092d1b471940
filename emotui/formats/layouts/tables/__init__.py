"""Tables in any hand's shape: which column is what, and rows of one shape from them."""
