"""One Textual theme a file. Each names the same variables, so that a screen never names a colour.

`gold` is the colour of gold spans, `predicted` the background of predicted ones with `predicted-text` on it,
`gold-on-predicted` where both meet, `predicted-bar` for bars on the page's own background, `mark` for error
letters, `raised` the ground of what is selected or typed into, `rule` the line between panes, `label-red` and so on the
tones of labels that have a colour of their own.
"""

from textual.theme import Theme

from emotui.themes import colour_blind, dark, high_contrast, light

THEMES: dict[str, Theme] = {
    theme.name: theme for theme in (dark.THEME, light.THEME, high_contrast.THEME, colour_blind.THEME)
}
"""By name, in the order in which they are offered; the first is the default."""

DEFAULT = dark.THEME.name
