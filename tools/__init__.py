"""What the project itself was made with; nothing of it is in the wheel."""
