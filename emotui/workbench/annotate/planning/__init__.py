"""Who annotates which texts, in which order, and by which protocol."""
