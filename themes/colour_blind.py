"""Colour-blind-safe: orange, blue and yellow of Okabe and Ito (2008), which differ in lightness too."""

from textual.theme import Theme

THEME = Theme(
    name="colour-blind-safe",
    dark=True,
    primary="#56b4e9",
    secondary="#56b4e9",
    accent="#56b4e9",
    foreground="#e4e6e9",
    background="#121417",
    surface="#121417",
    panel="#1d2126",
    warning="#f0e442",
    error="#f0e442",
    success="#56b4e9",
    variables={
        "raised": "#2a3038",
        "gold": "#e69f00",
        "predicted": "#00578a",
        "predicted-text": "#ffffff",
        "gold-on-predicted": "#ffc34d",
        "predicted-bar": "#56b4e9",
        "mark": "#f0e442",
        "text-muted": "#a3a9b2",
        "text-disabled": "#737a84",
        "rule": "#363d46",
        "label-red": "#e8743b",
        "label-orange": "#e69f00",
        "label-yellow": "#f0e442",
        "label-green": "#2fb889",
        "label-cyan": "#8fd0f5",
        "label-blue": "#56a0e9",
        "label-purple": "#b9a0f0",
        "label-magenta": "#e08fc0",
        "label-grey": "#a3a9b2",
    },
)
