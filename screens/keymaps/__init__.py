"""Which key does what: the keys of the registry, a person's own, and sentences that name them."""
