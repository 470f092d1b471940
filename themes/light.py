"""Light: the same three accents in ink on paper."""

from textual.theme import Theme

THEME = Theme(
    name="light",
    dark=False,
    primary="#136a75",
    secondary="#136a75",
    accent="#136a75",
    foreground="#23272e",
    background="#fbfaf6",
    surface="#fbfaf6",
    panel="#efede6",
    warning="#855600",
    error="#ac3520",
    success="#136a75",
    variables={
        "raised": "#e2dfd5",
        "gold": "#855600",
        "predicted": "#c4e4e8",
        "predicted-text": "#14252a",
        "gold-on-predicted": "#6b4300",
        "predicted-bar": "#136a75",
        "mark": "#ac3520",
        "text-muted": "#5c626b",
        "text-disabled": "#8b9099",
        "rule": "#d6d2c6",
        "label-red": "#b81f14",
        "label-orange": "#97480c",
        "label-yellow": "#6e5e0c",
        "label-green": "#246b2a",
        "label-cyan": "#1b676c",
        "label-blue": "#155cba",
        "label-purple": "#7920df",
        "label-magenta": "#ad1f79",
        "label-grey": "#5a5f65",
    },
)
