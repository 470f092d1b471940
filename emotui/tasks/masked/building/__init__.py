"""From raw posts in the first person to texts with masked emotion words (EXPRESS, "Emotion Masking")."""
