"""Commands over what a workspace holds: its datasets and sources, their gold, their trash, and questions in SQL."""
