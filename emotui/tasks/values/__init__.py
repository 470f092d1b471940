"""Numbers about a text: valence, arousal, dominance, or a scale of one's own."""
