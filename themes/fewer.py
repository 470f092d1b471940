"""The themes for terminals of 256 and of 16 colours, where Rich takes the nearest colour that there is.

The nearest of 16 to a colour of a theme may stand on the nearest to its ground without any contrast, so the variables
are chosen anew there, for dark grounds and for light ones. Of 256 a few are.
"""

from collections.abc import Mapping

from textual.theme import Theme

_BLACK, _RED, _BLUE, _MAGENTA, _CYAN = "#000000", "#aa0000", "#0000aa", "#aa00aa", "#00aaaa"
_WHITE, _LIGHT_RED = "#aaaaaa", "#ff5555"
_YELLOW, _LIGHT_CYAN, _BRIGHT = "#ffff55", "#55ffff", "#ffffff"

# Of 16 colours one is gold's, one that of errors and one says where one is. What is left does not tell eight emotions
# apart, and two of one colour would look like two of a kind: names and letters alone tell labels. No ground is quiet
# enough for what one types either, which is underlined.

_COLOURS = ("red", "orange", "yellow", "green", "cyan", "blue", "purple", "magenta", "grey")
_LABELS = tuple(f"label-{colour}" for colour in _COLOURS)

_DARK = {
    "primary": _LIGHT_CYAN,
    "foreground": _BRIGHT,
    "background": _BLACK,
    "surface": _BLACK,
    "panel": _BLACK,
    "warning": _YELLOW,
    "error": _LIGHT_RED,
    "success": _LIGHT_CYAN,
    "raised": _BLACK,
    "field": _BLUE,
    "entry": _BLACK,
    "entry-text-style": "underline",
    "gold": _YELLOW,
    "predicted": _CYAN,
    "predicted-text": _BLACK,
    "gold-on-predicted": _BLACK,
    "predicted-bar": _LIGHT_CYAN,
    "mark": _LIGHT_RED,
    "text-muted": _WHITE,
    "text-disabled": _WHITE,
    "input-cursor-background": _BLACK,
    "input-cursor-foreground": _LIGHT_CYAN,
    "input-selection-background": _CYAN,
    "input-selection-foreground": _BLACK,
    "screen-selection-background": _CYAN,
    "screen-selection-foreground": _BLACK,
    "rule": _WHITE,
} | dict.fromkeys(_LABELS, _BRIGHT)
_LIGHT = {
    "primary": _BLUE,
    "foreground": _BLACK,
    "background": _BRIGHT,
    "surface": _BRIGHT,
    "panel": _BRIGHT,
    "warning": _RED,
    "error": _RED,
    "success": _BLUE,
    "raised": _BRIGHT,
    "field": _BRIGHT,
    "entry": _BRIGHT,
    "entry-text-style": "underline",
    "gold": _MAGENTA,
    "predicted": _BLUE,
    "predicted-text": _BRIGHT,
    "gold-on-predicted": _BRIGHT,
    "predicted-bar": _BLUE,
    "mark": _RED,
    "text-muted": _BLACK,
    "text-disabled": _BLACK,
    "input-cursor-background": _BRIGHT,
    "input-cursor-foreground": _BLUE,
    "input-selection-background": _BLUE,
    "input-selection-foreground": _BRIGHT,
    "screen-selection-background": _BLUE,
    "screen-selection-foreground": _BRIGHT,
    "rule": _BLACK,
} | dict.fromkeys(_LABELS, _BLACK)
_OF_256: Mapping[str, Mapping[str, str]] = {
    "dark": {
        "predicted": "#008787",
        "predicted-text": "#000000",
        "gold-on-predicted": "#000000",
        "text-disabled": "#a8a8a8",
    },
    "light": {
        # The nearest of 256 to a white with a tinge of yellow is cream.
        "background": "#ffffff",
        "surface": "#ffffff",
        "panel": "#eeeeee",
        "raised": "#eeeeee",
        "field": "#eeeeee",
        "entry": "#eeeeee",
        "rule": "#d0d0d0",
        "input-cursor-background": "#ffffff",
        "error": "#af0000",
        "mark": "#af0000",
    },
    "high-contrast": {"raised": "#00005f", "field": "#00005f", "entry": "#00005f"},
    "colour-blind-safe": {
        "predicted": "#0087af",
        "predicted-text": "#000000",
        "gold-on-predicted": "#000000",
        "text-disabled": "#a8a8a8",
    },
}


def with_colours(theme: Theme, system: str | None) -> Theme:
    """A theme in the colours of a terminal, under the same name.

    Args:
        theme: as it is in any colour.
        system: what Rich calls the terminal's colours; `standard` are 16.
    """
    if system == "standard":
        return _with(theme, _DARK if theme.dark else _LIGHT)
    return _with(theme, _OF_256.get(theme.name, {})) if system == "256" else theme


def _with(theme: Theme, colours: Mapping[str, str]) -> Theme:
    """The theme with some of its colours put in place of others."""

    def of(name: str, now: str | None) -> str:
        return colours.get(name, now or theme.primary)

    primary = of("primary", theme.primary)
    return Theme(
        name=theme.name,
        dark=theme.dark,
        primary=primary,
        secondary=of("primary", theme.secondary),
        accent=of("primary", theme.accent),
        foreground=of("foreground", theme.foreground),
        background=of("background", theme.background),
        surface=of("surface", theme.surface),
        panel=of("panel", theme.panel),
        warning=of("warning", theme.warning),
        error=of("error", theme.error),
        success=of("success", theme.success),
        variables={name: colours.get(name, now) for name, now in theme.variables.items()},
    )
