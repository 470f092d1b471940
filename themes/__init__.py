"""Textual themes. Each names the same variables, so that a screen never names a colour.

`gold` is the colour of gold spans, `predicted` the background of predicted ones with `predicted-text` on it,
`gold-on-predicted` where both meet, `predicted-bar` for bars on the page's own background, `mark` for error
letters, `field` the ground of what is selected or typed into, `raised` one on which any colour stands, `rule` the
line between panes, `label-red` and so on the tones of labels that have a colour of their own.
"""

from textual.theme import Theme

from emotui.themes.palettes import COLOUR_BLIND, DARK, HIGH_CONTRAST, LIGHT

THEMES: dict[str, Theme] = {theme.name: theme for theme in (DARK, LIGHT, HIGH_CONTRAST, COLOUR_BLIND)}
"""By name, in the order in which they are offered; the first is the default."""

DEFAULT = DARK.name
