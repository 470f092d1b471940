"""Fine-tuning classifiers of the person's own (hard emotion test sets, section 5.1)."""
