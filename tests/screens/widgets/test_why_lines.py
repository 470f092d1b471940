"""A span taken away, and a text by layer, in lines: what is said, and that it fits however narrow the pane is."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from emotui.screens.widgets.cell_width import width
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.page import Lines
from emotui.screens.widgets.why_lines import heat_lines, likeliest, margin, removal_lines, shade, verdict
from emotui.workbench.why.heat import Heat
from emotui.workbench.why.removal import Removed

TEXT = "I weep"


def removed(masked: float = 0.2, random: tuple[float, ...] = (0.8, 0.9, 0.85), text: str = TEXT) -> Removed:
    return Removed(
        text,
        (2, 6),
        "word:",
        "sadness",
        {"sadness": 0.9, "neutral": 0.1, "joy": 0.0},
        {"sadness": masked, "neutral": 1 - masked, "joy": 0.0},
        {"sadness": 0.1, "neutral": 0.9, "joy": 0.0},
        {"sadness": 0.95, "neutral": 0.04, "joy": 0.01},
        ("I …", "I", "weep"),
        random,
    )


def said(parts: list[Part]) -> str:
    return "".join(part.text for part in parts)


def text_of(lines: Lines) -> list[str]:
    return [said(list(line)) for line in lines]


def test_a_drop_beyond_every_random_one_is_told_apart_from_one_that_others_reach() -> None:
    assert said(verdict(removed())) == (
        "sadness .90, without it falls to .20 (change -.70). "
        "Without 3 random stretches as long: .85 on average (.80 to .90), never as low."
    )
    assert said(verdict(removed(masked=0.85))) == (
        "sadness .90, without it falls to .85 (change -.05). "
        "Without 3 random stretches as long: .85 on average (.80 to .90), as low without 2 of these 3."
    )
    assert said(verdict(removed(random=()))).endswith("No other stretch as long fits into the text beside it.")


def test_a_probability_that_rises_is_set_beside_how_high_others_come() -> None:
    assert said(verdict(removed(masked=0.95, random=(0.97, 0.8)))) == (
        "sadness .90, without it rises to .95 (change +.05). "
        "Without 2 random stretches as long: .89 on average (.80 to .97), as high without 1 of these 2."
    )
    assert said(verdict(removed(masked=0.99, random=(0.97, 0.91)))) == (
        "sadness .90, without it rises to .99 (change +.09). "
        "Without 2 random stretches as long: .94 on average (.91 to .97), never as high."
    )
    assert said(verdict(removed(random=(0.95,)))).endswith("Without a random stretch as long: .95, not as low.")
    assert said(verdict(removed(random=(0.1,)))).endswith("Without a random stretch as long: .10, as low.")


def test_the_emotion_of_the_span_is_told_before_the_likeliest_label() -> None:
    found = replace(removed(), marked="joy", marked_random=(0.0, 0.0))
    _, bars, *_ = all_lines = text_of(removal_lines(found, 160))
    first = next(line for line in all_lines if "predicted: " in line)
    second = next(line for line in all_lines if "likeliest: " in line)
    assert first == (
        " predicted: joy .00 of the text, without it stays .00. "
        "Without 2 random stretches as long: .00 on average (.00 to .00), as low without 2 of these 2."
    )
    assert second.startswith(" likeliest: sadness .90, without it falls to .20 (change -.70). Without")
    assert bars.startswith("  joy")
    assert max(map(width, text_of(removal_lines(found, 60)))) <= 60


def test_golds_emotion_has_a_line_whatever_the_model_makes_of_it() -> None:
    of_model = text_of(removal_lines(removed(), 130, gold="Joy"))
    assert next(line for line in of_model if "gold" in line).split()[:3] == ["joy", "gold", ".00"]
    assert next(line for line in of_model if "  sadness" in line).split()[:3] == ["sadness", "likeliest", ".90"]
    both = text_of(removal_lines(removed(), 130, gold="sadness"))
    assert "  sadness       likeliest, gold" in "\n".join(both)
    foreign = text_of(removal_lines(removed(), 130, gold="contempt"))
    assert any(
        line.split() == ["contempt", "gold", "–", *["not", "a", "label", "of", "the", "model"]] for line in foreign
    )
    own = text_of(removal_lines(replace(removed(), marked="joy", marked_random=(0.0,)), 130, gold="joy"))
    assert any(line.startswith(" gold: joy .00") for line in own), "a span that gold labels is told of as gold's"


@pytest.mark.parametrize(
    ("found", "cells", "kind"),
    [(removed(), "-.70", "strong"), (removed(masked=0.85), "-.05", "dim"), (removed(masked=0.95), "+.05", "dim")],
)
def test_the_margin_has_the_signed_change_and_is_strong_where_no_random_one_falls_as_low(
    found: Removed, cells: str, kind: str
) -> None:
    assert margin(found) == (cells, kind)
    assert margin(None) == ("    ", "plain")


def test_the_explained_label_stands_first_and_then_the_likeliest_in_any_form() -> None:
    assert likeliest(removed(), 2) == ["sadness", "neutral"]


def test_bars_stand_in_the_order_whole_masked_deleted_alone() -> None:
    lines = text_of(removal_lines(removed(), 120))
    assert lines[0].split() == ["whole", "masked", "deleted", "alone"], "figures stand before words"
    assert [word for word in lines[1].split() if word.startswith(".")] == [".90", ".20", ".10", ".95"]
    assert lines[-3:] == [" masked  I …", " deleted I", " alone   weep"]


@given(st.text(min_size=6, max_size=200), st.integers(20, 160))
def test_no_line_is_longer_than_the_pane_but_what_is_told_in_words(text: str, cells: int) -> None:
    lines = removal_lines(removed(text=text), cells)
    assert all(sum(width(part.text) for part in line) <= max(cells, 92) for line in lines[1:])


# A text by layer and word.


def heat(layers: int, words: int = 23, *, clear: bool = True) -> Heat:
    """Word k has k tenths of a deviation at every layer; the last layer is the best."""
    text = " ".join(f"word{at}" for at in range(words))
    places = tuple((one.start(), one.end()) for one in re.finditer(r"\S+", text))
    scores = tuple(tuple(at / 10 for at in range(words)) for _ in range(layers))
    rising = tuple(at / layers for at in range(layers))
    passing = tuple(clear and at == layers - 1 for at in range(layers))
    numbers = tuple(range(layers))
    return Heat(text, "hf:x", "mine", 90, 10, ("joy",), numbers, places, (scores,), (rising,), (rising,), (passing,))


@pytest.mark.parametrize("layers", [1, 7, 13, 33, 81])
@pytest.mark.parametrize("cells", [40, 78, 110, 158])
def test_every_line_of_a_heat_fits_and_no_word_is_left_out(layers: int, cells: int) -> None:
    found = heat(layers)
    lines = text_of(heat_lines(found, 0, cells, [(0, 5)], [(6, 11)]))
    assert max(width(line) for line in lines) <= cells
    every = "\n".join(lines)
    assert all(f"word{at} " in every for at in range(23))
    assert "▌word0" in every
    assert "▸ word1" in every
    assert f"number: layer {layers - 1}" in every


def test_shades_are_by_half_deviations_and_a_layer_that_is_not_clear_is_grey() -> None:
    assert "".join(map(shade, (2.4, 2, 1.9, 1.2, 0.5, 0.4, -1, -1.1))) == "██▓▒░··−"
    row = next(line for line in heat_lines(heat(7), 0, 78) if any("word22" in part.text for part in line))
    assert [part.kind for part in row if part.text == "██"][-7:] == ["dim"] * 6 + ["said"]
    said = text_of(heat_lines(heat(7, clear=False), 0, 78))
    assert "no layer beats its controls" in said[1]


@pytest.mark.parametrize(("in_margin", "told"), [(True, "(change -.70). "), (False, "(-.70). ")])
def test_only_the_place_whose_change_stands_in_the_margin_calls_it_so(in_margin: bool, told: str) -> None:
    line = next(line for line in text_of(removal_lines(removed(), 160, in_margin=in_margin)) if "without it" in line)
    assert f"falls to .20 {told}" in line
