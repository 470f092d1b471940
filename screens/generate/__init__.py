"""The place of emotion generation: versions beside each other, models by metrics, and blind ratings."""
