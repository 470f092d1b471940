"""What all tasks share in asking models that write."""
