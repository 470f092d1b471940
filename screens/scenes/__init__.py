"""Scenes: eight emotions decoded together (EmoScene)."""
