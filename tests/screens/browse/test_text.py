"""What is drawn for a text: symbols, widths, line breaks, flattened overlays, layout of the stave."""

from itertools import pairwise

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from emotui.screens.browse.score import About, heading, sides
from emotui.screens.browse.things import Thing, cut_to
from emotui.screens.widgets.cell_width import fit, joined, right_to_left, shown, turns, whole, width, wrap
from emotui.screens.widgets.line import Part
from emotui.screens.widgets.number_format import bars, share, tenths
from emotui.screens.widgets.tier_layout import AnnotatedText, LineLabel, Tier, lay_out
from emotui.screens.widgets.tiered_text import flatten

TEXTS = st.text(
    alphabet=st.one_of(
        st.sampled_from("ab \n\t\x1b\x7f\u200b\u200d\u202e\u0301\ufe0f\u05d0\u0627漢字👩🏽❤🇫🇷\ud800\x85\u2028"),
        st.characters(),
    ),
    max_size=60,
)
SPANS = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 40)).map(lambda span: (min(span), max(span) + 1)), max_size=8
)


@pytest.mark.parametrize(
    ("character", "drawn"),
    [
        ("\x1b", "␛"),
        ("\x00", "␀"),
        ("\t", "␉"),
        ("\x7f", "␡"),
        ("\x9b", "�"),
        ("\ud800", "�"),
        ("\u200b", "◦"),
        ("\u200d", "◦"),
        ("\ufeff", "◦"),
        ("\u200e", "▸"),
        ("\u202e", "◂"),
        ("\u2028", "◦"),
        ("[", "["),
        ("é", "é"),
        ("א", "א"),
    ],
)
def test_what_cannot_be_seen_has_a_symbol_of_one_cell(character: str, drawn: str) -> None:
    assert shown(character) == drawn
    assert width(character) == 1


def test_a_combining_mark_stays_on_its_letter_and_gets_a_circle_where_there_is_none() -> None:
    assert shown("e\u0301") == "e\u0301"
    assert width("e\u0301") == 1
    assert shown("\u0301") == "◌\u0301"
    assert shown("a\n\u0301", 2) == "◌\u0301"
    assert width("a\n\u0301", 2) == 1


def test_an_emoji_sequence_is_drawn_code_point_by_code_point() -> None:
    assert shown("👩\u200d👧") == "👩◦👧"
    assert width("👩\u200d👧") == 5
    assert shown("❤\ufe0f") == "❤"


@given(TEXTS)
def test_a_drawn_text_has_the_width_that_the_terminal_gives_it(text: str) -> None:
    assert width(text) == cell_len(shown(text))


@given(TEXTS)
def test_nothing_drawn_acts_on_the_terminal(text: str) -> None:
    drawn = shown(text)
    drawn.encode("utf-8")
    assert not any(ord(one) < 0x20 or 0x7F <= ord(one) < 0xA0 or one in "\u200b\u200d\u202e\u2028" for one in drawn)


@given(TEXTS, st.integers(0, 30))
def test_a_fitted_text_has_exactly_the_cells_asked_for(text: str, cells: int) -> None:
    assert cell_len(fit(text, cells)) == cells


@given(TEXTS, st.integers(2, 30))
def test_every_character_but_the_line_feeds_is_on_one_line(text: str, cells: int) -> None:
    lines = wrap(text, cells)
    assert "".join(text[start:end] for start, end in lines) == text.replace("\n", "")
    assert all(before[1] <= after[0] for before, after in pairwise(lines))


@given(TEXTS, st.integers(2, 30))
def test_no_line_is_wider_than_asked_but_for_a_hanging_space(text: str, cells: int) -> None:
    for start, end in wrap(text, cells):
        hanging = text[start:end].endswith(" ")
        assert width(text, start, end) <= cells + hanging


def test_lines_break_at_spaces_and_long_words_inside() -> None:
    assert [("one two three four")[a:b] for a, b in wrap("one two three four", 9)] == ["one two ", "three ", "four"]
    assert wrap("abcdefgh", 3) == [(0, 3), (3, 6), (6, 8)]
    assert wrap("a\n\nb", 9) == [(0, 1), (2, 2), (3, 4)]
    assert wrap("", 9) == [(0, 0)]


def test_wide_characters_count_two_cells_when_lines_break() -> None:
    assert wrap("漢字漢字漢", 5) == [(0, 2), (2, 4), (4, 5)]


@given(st.lists(SPANS, min_size=1, max_size=4))
def test_flattened_pieces_cover_each_character_with_just_its_layers(layers: list[list[tuple[int, int]]]) -> None:
    pieces = flatten(layers, 30)
    found = [0] * 30
    for piece in pieces:
        assert piece.layers
        for at in range(piece.start, piece.end):
            assert found[at] == 0
            found[at] = piece.layers
    for at in range(30):
        expected = sum(1 << n for n, spans in enumerate(layers) if any(a <= at < b for a, b in spans))
        assert found[at] == expected


def test_rows_stand_only_under_lines_that_their_voice_has_a_span_on() -> None:
    score = AnnotatedText(
        "one two three", (Tier("gold", "gold", ((0, 3),)), Tier("A1", "annotator", ((8, 13),))), rows=True
    )
    rows = lay_out(score, 16).rows
    assert [(row.start, row.end, row.voice) for row in rows] == [(0, 8, -1), (0, 8, 0), (8, 13, -1), (8, 13, 1)]


def test_each_chip_opens_a_line_and_the_space_before_it_opens_none() -> None:
    score = AnnotatedText("One. Two.", chips=(LineLabel(0, "1 sad"), LineLabel(5, "2 happy")))
    rows = lay_out(score, 60).rows
    assert [(row.start, row.end, row.chip) for row in rows] == [(0, 4, 0), (5, 9, 1)]


def test_text_is_never_set_wider_than_90_columns() -> None:
    assert lay_out(AnnotatedText("word " * 100), 300).columns == 90


def test_figures_have_two_decimals_and_a_dash_where_undefined() -> None:
    assert [share(value) for value in (0.416, 1.0, 0.0, -0.1, -0.001, None, float("nan"))] == [
        " .42",
        "1.00",
        " .00",
        "-.10",
        " .00",
        "   –",
        "   –",
    ]


def test_the_spread_puts_one_into_the_last_tenth_and_draws_the_tallest_full() -> None:
    assert tenths([0.0, 0.05, 0.1, 0.99, 1.0]) == [2, 1, 0, 0, 0, 0, 0, 0, 0, 2]
    assert bars([0, 1, 4, 8]) == " ▁▄█"
    assert bars([0, 0]) == "  "


FAMILY, FLAG, WAVE = "👩\u200d👧\u200d👦", "🇫🇷", "👋🏽"


@pytest.mark.parametrize(
    "text", [FAMILY, FLAG * 2, WAVE, "e\u0301a", "❤\ufe0f!", "कि", "a" + FAMILY + "b", "🏴\U000e0067\U000e007f"]
)
def test_graphemes_are_those_of_unicode(text: str) -> None:
    starts = {match.start() for match in regex.finditer(r"\X", text)}
    assert {at for at in range(len(text)) if not joined(text, at)} == starts


@pytest.mark.parametrize("text", ["क्ष", "क्षि", "क्\u200dष", "ত্র"])
def test_indic_conjuncts_are_kept_whole(text: str) -> None:
    assert [at for at in range(len(text) + 1) if not joined(f"{text}क", at)] == [0, len(text)]


def test_lines_are_cut_and_broken_between_graphemes() -> None:
    assert fit(f"ab{FAMILY}c", 5) == "ab…  "
    assert wrap(FAMILY * 2, 10) == [(0, len(FAMILY)), (len(FAMILY), 2 * len(FAMILY))]
    assert whole(f"a{FAMILY}b", 2, 3) == (1, 1 + len(FAMILY))


@given(TEXTS, st.integers(8, 40))
def test_only_a_grapheme_wider_than_a_line_is_broken(text: str, cells: int) -> None:
    for start, end in wrap(text, cells):
        assert not joined(text, end) or text[end - 1] == " " or whole(text, end, end)[0] <= start


@pytest.mark.parametrize(
    ("environment", "does"),
    [
        ({"VTE_VERSION": "7006"}, True),
        ({"VTE_VERSION": "5202"}, False),
        ({"KONSOLE_VERSION": "230800"}, True),
        ({"TERM": "xterm-256color"}, False),
        ({"TERM_PROGRAM": "Apple_Terminal"}, True),
    ],
)
def test_terminals_that_turn_letters_are_known(environment: dict[str, str], does: bool) -> None:
    assert turns(environment) is does


def test_letters_written_from_the_right_are_known() -> None:
    assert [right_to_left(text) for text in ("abc é 漢", "שלום", "سلام", "abc ד")] == [False, True, True, True]


@pytest.mark.parametrize("cells", range(48, 130, 3))
def test_the_line_about_a_span_has_each_thing_whole_or_not_at_all(cells: int) -> None:
    one = Thing("my house", "Mr Pell", (60, 68), (35, 42), marks="X", labels=(None, "amusement"), strength=0.65)
    about = About("x" * 90, ((30, 80, "2 contempt − F1 .22"),), key="Tab")
    line = "".join(part.text for part in heading([one], 0, about, cells))
    assert "…" not in line
    assert ("in 2 contempt − F1 .22" in line) or " in " not in line
    assert ("at 35–68" in line) or " at " not in line
    assert len(line) <= cells


@pytest.mark.parametrize(
    ("texts", "cells", "drawn"),
    [
        (("anger", "  ", "surprise"), 15, "anger  surprise"),
        (("anger", "  ", "surprise"), 18, "anger  surprise   "),
        (("anger", "  ", "surprise"), 7, "anger …"),
        (("anger", "  ", "surprise"), 5, "ange…"),
        (("anger", "  ", "surprise"), 9, "anger  s…"),
        (("anger", "  ", "surprise"), 0, ""),
        ((), 3, "   "),
    ],
)
def test_what_is_left_out_is_told_by_an_ellipsis(texts: tuple[str, ...], cells: int, drawn: str) -> None:
    assert "".join(part.text for part in cut_to([Part(text) for text in texts], cells)) == drawn


def test_a_span_without_its_own_match_names_what_overlaps_it_and_for_which_that_counts() -> None:
    words = "I wept. Then nobody came."
    missed = Thing(gold="nobody came", gold_place=(13, 24), marks="M")
    pair = Thing(gold="I wept", gold_place=(0, 6), said=words, said_place=(0, 25), f1=0.67)
    gold, said = ("".join(part.text for part in line) for line in sides(missed, 70, 2, [pair, missed]))
    assert gold == " gold nobody came"
    assert said == f" pred counted for span 1: {words}"
    (line,) = sides(missed, 78, 1, [pair, missed])
    assert "│ pred counted for span 1: I w" in "".join(part.text for part in line)
    extra = Thing(said="nobody", said_place=(13, 19), marks="X")
    gold, _ = ("".join(part.text for part in line) for line in sides(extra, 70, 2, [missed, extra]))
    assert gold == " gold span 1, no word in common: nobody came"
    alone = Thing(said="Then", said_place=(8, 12), marks="X")
    gold, _ = ("".join(part.text for part in line) for line in sides(alone, 70, 2, [missed, alone]))
    assert gold == " gold –"
