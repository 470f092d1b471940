"""Evidence of emotion in a text (SEER)."""
