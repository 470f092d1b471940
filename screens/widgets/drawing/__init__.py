"""Shapes that figures are drawn as."""
