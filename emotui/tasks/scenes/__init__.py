"""Eight emotions a scenario (EmoScene)."""
