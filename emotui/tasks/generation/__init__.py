"""Emotion generation: texts neutralised and re-injected with an emotion, and the metrics that say how well."""
