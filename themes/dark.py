"""Dark: warm gold and quiet teal on charcoal."""

from textual.theme import Theme

THEME = Theme(
    name="dark",
    dark=True,
    primary="#7fc4cc",
    secondary="#7fc4cc",
    accent="#7fc4cc",
    foreground="#d6d9de",
    background="#15171b",
    surface="#15171b",
    panel="#1f2329",
    warning="#e3b95f",
    error="#ee8f7e",
    success="#7fc4cc",
    variables={
        "raised": "#2a2f37",
        "gold": "#ecc46a",
        "predicted": "#21525a",
        "predicted-text": "#eef4f5",
        "gold-on-predicted": "#ffd980",
        "predicted-bar": "#7fc4cc",
        "mark": "#ee8f7e",
        "text-muted": "#9aa1ab",
        "text-disabled": "#6b727c",
        "rule": "#343a43",
        "label-red": "#f08076",
        "label-orange": "#ee8c3f",
        "label-yellow": "#ecd251",
        "label-green": "#6ecf76",
        "label-cyan": "#64d0d8",
        "label-blue": "#6ba5f0",
        "label-purple": "#bb8df0",
        "label-magenta": "#e87cc1",
        "label-grey": "#a0a5ac",
    },
)
