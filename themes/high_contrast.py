"""High contrast: every text at 7:1 or more against what it stands on (WCAG 2, level AAA)."""

from textual.theme import Theme

THEME = Theme(
    name="high-contrast",
    dark=True,
    primary="#00ffff",
    secondary="#00ffff",
    accent="#00ffff",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#1c1c1c",
    warning="#ffff00",
    error="#ff9d8a",
    success="#00ffff",
    variables={
        "raised": "#003a5c",
        "gold": "#ffff00",
        "predicted": "#00458f",
        "predicted-text": "#ffffff",
        "gold-on-predicted": "#ffff55",
        "predicted-bar": "#00ffff",
        "mark": "#ff9d8a",
        "text-muted": "#e0e0e0",
        "text-disabled": "#b8b8b8",
        "rule": "#ffffff",
        "label-red": "#ff9d8a",
        "label-orange": "#ffb066",
        "label-yellow": "#ffff00",
        "label-green": "#7dff7d",
        "label-cyan": "#00ffff",
        "label-blue": "#9ec5ff",
        "label-purple": "#d9b3ff",
        "label-magenta": "#ff9ee0",
        "label-grey": "#d0d0d0",
    },
)
