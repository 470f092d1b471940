"""What made the weights of the embedded model."""
