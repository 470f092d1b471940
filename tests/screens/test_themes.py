"""Themes: every text can be read on what it stands on, also by eyes that see fewer colours."""

import itertools
import re

import pytest
from rich._palettes import EIGHT_BIT_PALETTE
from rich.color import Color as RichColor
from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style
from textual.app import App
from textual.color import Color

from emotui.screens.widgets.textual_private import use_two_colours
from emotui.themes import THEMES
from emotui.themes.fewer import with_colours
from emotui.workbench.annotate.scheme import COLOURS
from tests.paths import CHECKOUT

LABELS = tuple(f"label-{colour}" for colour in COLOURS)
TEXTS = ("foreground", "primary", "gold", "mark", "predicted-bar", "text-muted", "text-disabled", *LABELS)
MATRICES = {
    # Machado, Oliveira and Fernandes 2009, severity 1.0, on linear RGB.
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039)),
}


def variables(name: str) -> dict[str, Color]:
    theme = THEMES[name]
    known = theme.to_color_system().generate() | theme.variables
    return {key: Color.parse(known[key]) for key in (*TEXTS, "background", "panel", "raised", *_GROUNDS)}


_GROUNDS = ("predicted", "predicted-text", "gold-on-predicted")


def linear(color: Color) -> tuple[float, float, float]:
    channels = [channel / 255 for channel in color.rgb]
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return r, g, b


def luminance(rgb: tuple[float, ...]) -> float:
    return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]


def contrast(one: Color, other: Color) -> float:
    """WCAG 2's contrast ratio."""
    high, low = sorted((luminance(linear(one)), luminance(linear(other))), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(
    ("name", "least"), [("dark", 4.5), ("light", 4.5), ("high-contrast", 7.0), ("colour-blind-safe", 4.5)]
)
def test_every_text_stands_out_from_its_ground(name: str, least: float) -> None:
    of = variables(name)
    pairs = [(text, ground) for text in TEXTS for ground in ("background", "panel")]
    pairs += [("foreground", "raised"), ("predicted-text", "predicted"), ("gold-on-predicted", "predicted")]
    assert [text for text in TEXTS if contrast(of[text], of["raised"]) < 4.5] == []
    assert contrast(of["predicted"], of["background"]) >= 3
    faint = {pair: round(ratio, 2) for pair in pairs if (ratio := contrast(of[pair[0]], of[pair[1]])) < least}
    assert faint == {}


@pytest.mark.parametrize("name", THEMES)
def test_the_cursors_ground_is_told_from_that_of_what_is_predicted(name: str) -> None:
    of = variables(name)
    least = 2.0 if name == "high-contrast" else 2.5
    assert contrast(of["primary"], of["predicted"]) >= least, round(contrast(of["primary"], of["predicted"]), 2)
    if not THEMES[name].dark:
        assert contrast(of["predicted-bar"], of["predicted"]) >= 1.8, "the span at hand while the list has the keys"


@pytest.mark.parametrize("eyes", MATRICES)
def test_the_three_accents_of_the_colour_blind_theme_stay_apart_for_all_eyes(eyes: str) -> None:
    of = variables("colour-blind-safe")
    seen = {
        name: [
            sum(weight * channel for weight, channel in zip(row, linear(of[name]), strict=True))
            for row in MATRICES[eyes]
        ]
        for name in ("gold", "predicted-bar", "mark", "foreground")
    }
    for one, other in itertools.combinations(seen, 2):
        distance = sum((a - b) ** 2 for a, b in zip(seen[one], seen[other], strict=True)) ** 0.5
        assert distance > 0.2, (one, other, round(distance, 2))


def test_all_themes_name_the_same_variables() -> None:
    names = {name: set(theme.variables) for name, theme in THEMES.items()}
    assert len({frozenset(variables) for variables in names.values()}) == 1


def test_no_screen_names_a_colour_of_its_own() -> None:
    # So the pictures of one theme hold for the others: what differs is a theme's variables, tested above.
    named = re.compile(r"#[0-9a-fA-F]{3}(?:[0-9a-fA-F]{3})?\b|\brgba?\(|\bhsla?\(")
    files = [file for file in (CHECKOUT / "screens").rglob("*") if file.suffix in (".py", ".tcss")]
    assert files
    assert [str(file) for file in files if named.search(file.read_text(encoding="utf-8"))] == []


_XTERM = (
    "000000 cd0000 00cd00 cdcd00 0000ee cd00cd 00cdcd e5e5e5 7f7f7f ff0000 00ff00 ffff00 5c5cff ff00ff 00ffff ffffff"
)
_LINUX = (
    "000000 aa0000 00aa00 aa5500 0000aa aa00aa 00aaaa aaaaaa 555555 ff5555 55ff55 ffff55 5555ff ff55ff 55ffff ffffff"
)
_WINDOWS = (
    "0c0c0c c50f1f 13a10e c19c00 0037da 881798 3a96dd cccccc 767676 e74856 16c60c f9f1a5 3b78ff b4009e 61d6d6 f2f2f2"
)
TERMINALS = {
    name: (ColorSystem.STANDARD, [Color.parse(f"#{one}") for one in colours.split()])
    for name, colours in (("xterm", _XTERM), ("linux", _LINUX), ("windows", _WINDOWS))
} | {"256": (ColorSystem.EIGHT_BIT, [Color(*EIGHT_BIT_PALETTE[at]) for at in range(256)])}


@pytest.mark.parametrize("terminal", TERMINALS)
@pytest.mark.parametrize("name", THEMES)
def test_every_text_stands_out_where_there_are_few_colours(name: str, terminal: str) -> None:
    system, palette = TERMINALS[terminal]
    theme = with_colours(THEMES[name], "256" if system is ColorSystem.EIGHT_BIT else "standard")
    known = {**theme.variables} | {key: getattr(theme, key) for key in ("foreground", "primary", "background", "panel")}

    def of(variable: str) -> Color:
        number = RichColor.parse(known[variable]).downgrade(system).number
        assert number is not None
        return palette[number]

    pairs = [(text, ground) for text in TEXTS for ground in ("background", "panel", "raised")]
    pairs += [("predicted-text", "predicted"), ("gold-on-predicted", "predicted")]
    pairs += [(text, "field") for text in ("foreground", "primary", "gold", "text-muted", "text-disabled")]
    pairs += [(text, "entry") for text in ("foreground", "text-muted", "text-disabled", "mark")]
    faint = {pair: round(ratio, 2) for pair in pairs if (ratio := contrast(of(pair[0]), of(pair[1]))) < 4.5}
    assert faint == {}
    assert contrast(of("predicted"), of("background")) >= 3


def test_without_colour_what_is_dim_stays_dim(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app: App[None] = App()
    use_two_colours(app)
    segments = [Segment("old", Style(dim=True, color="red", bgcolor="blue"))]
    for line_filter in app._filters:
        segments = line_filter.apply(segments, Color.parse("black"))
    assert [one.style for one in segments] == [Style(dim=True, color="default", bgcolor="default")]


@pytest.mark.parametrize("name", THEMES)
def test_of_sixteen_colours_errors_and_gold_have_one_each_and_no_label_has_either(name: str) -> None:
    theme = with_colours(THEMES[name], "standard")
    of = {
        key: RichColor.parse(theme.variables[key]).downgrade(ColorSystem.STANDARD).number
        for key in ("gold", "mark", *LABELS)
    }
    error = RichColor.parse(str(theme.error)).downgrade(ColorSystem.STANDARD).number
    red, light_red = 1, 9
    assert of["mark"] == error
    assert error in (red, light_red)
    assert of["gold"] != error
    assert not {of["gold"], error} & {of[label] for label in LABELS}
    foreground = RichColor.parse(str(theme.foreground)).downgrade(ColorSystem.STANDARD).number
    assert {of[label] for label in LABELS} == {foreground}, "what shares a colour looks like one kind"


def test_the_light_theme_is_white_or_grey_also_of_256_colours() -> None:
    theme = with_colours(THEMES["light"], "256")
    for ground in (theme.background, theme.surface, theme.panel, theme.variables["raised"], theme.variables["field"]):
        number = RichColor.parse(str(ground)).downgrade(ColorSystem.EIGHT_BIT).number
        assert number is not None
        assert len(set(EIGHT_BIT_PALETTE[number])) == 1, ground
