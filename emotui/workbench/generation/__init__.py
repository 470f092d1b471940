"""Emotion generation: what the workbench does with runs of it."""
