"""What Spot check is drawn from: spans that follow editing, what is worth asking when, blocks of two models aligned."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.backends.base import (
    Attribution,
    Classification,
    Evidence,
    Filled,
    Generation,
    ModelCard,
)
from emotui.records import MASKED, PLUTCHIK
from emotui.screens.spot.blocks import Block, Column, bar, blocks, carrying, moved, task_blocks
from emotui.screens.spot.view import arranged, headlines, shares, who_marked_what
from emotui.screens.widgets.page import Lines
from emotui.workbench.models.probe import Odds, Probe, TaskAnswer

TEXT = "I miss her so much."


def card(*able: str) -> ModelCard:
    return ModelCard("m", "a model", able, {})


def said(part: str, *, able: tuple[str, ...] = (), seconds: float = 0.1, text: str = TEXT, **parts: object) -> Probe:
    return Probe(card(*able), text, "", **parts, seconds={part: seconds})  # type: ignore[arg-type]


def lines(found: Lines) -> list[str]:
    return ["".join(part.text for part in line).rstrip() for line in found]


def drawn(found: Mapping[str, Block], cells: int = 60) -> str:
    return "\n".join(lines(arranged([found], cells, stacked=True, spared=None)))


# Spans that follow editing.


def test_spans_before_and_behind_an_edit_stay_on_their_words() -> None:
    before, after = "I miss her so much.", "I really miss her very much."
    spans = [(2, 6), (7, 10), (14, 18)]
    assert [after[a:b] for a, b in moved([(0, 1)], before, after)] == ["I"]
    assert [after[a:b] for a, b in moved([spans[2]], before, after)] == ["much"]
    assert moved([(2, 18)], before, after) == []


@given(st.text("ab ", max_size=12), st.text("ab ", max_size=12), st.data())
def test_a_span_that_is_kept_covers_the_same_words(before: str, after: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(before)))
    end = data.draw(st.integers(start, len(before)))
    for first, last in moved([(start, end)], before, after):
        assert after[first:last] == before[start:end]
        assert 0 <= first <= last <= len(after)


@given(st.text(max_size=20), st.data())
def test_an_unchanged_text_keeps_all_spans(text: str, data: st.DataObject) -> None:
    spans = [(0, data.draw(st.integers(0, len(text))))]
    assert moved(spans, text, text) == spans


# When to ask.


def test_parts_are_asked_as_soon_as_their_cost_allows() -> None:
    column = Column("m")
    assert [column.when(part, TEXT) for part in ("classes", "words", "generation", "task spans")] == [
        "quick",
        "later",
        "later",
        "later",
    ]
    column.take("words", TEXT, said("words", seconds=1.1, words=Attribution("sadness", ())))
    assert column.when("words", TEXT) == "later"
    assert column.when("words", TEXT * 7) == "key"
    column.take("words", TEXT, said("words", seconds=1.2, words=Attribution("sadness", ())))
    assert column.when("words", TEXT) == "key"


def test_a_cold_start_is_forgiven_once_and_a_very_long_answer_never() -> None:
    column = Column("m")
    column.take("words", TEXT, said("words", seconds=3.0, words=Attribution("sadness", ())))
    assert column.when("words", TEXT) == "later"
    column.take("words", TEXT, said("words", seconds=0.2, words=Attribution("sadness", ())))
    assert column.when("words", TEXT) == "later"
    column.take("generation", TEXT, said("generation", seconds=5.0, generation=Generation("", 1, 1, "stop")))
    assert column.when("generation", TEXT) == "key"


def test_a_model_that_scores_slowly_writes_only_on_a_key() -> None:
    column = Column("m")
    column.take("emotions", TEXT, said("emotions", able=("generate", "score"), seconds=0.5))
    assert column.when("generation", TEXT) == "key"
    assert column.when("task spans", TEXT) == "key"
    encoder = Column("m")
    encoder.take("emotions", TEXT, said("emotions", able=("score",), seconds=0.5))
    assert encoder.when("task spans", TEXT) == "later"


def test_what_a_model_cannot_do_is_asked_once() -> None:
    column = Column("m")
    cannot = Probe(card(), TEXT, "", notes={"classes": "m cannot classify"}, lacking=("classes",))
    column.take("classes", TEXT, cannot)
    assert column.missing("another text", ["classes", "spans"]) == ["spans"]


def test_an_answer_to_another_text_is_missing_and_stale() -> None:
    column = Column("m")
    column.take("spans", TEXT, said("spans", spans=()))
    assert column.missing(TEXT, ["spans"]) == []
    assert column.missing("another", ["spans"]) == ["spans"]
    assert (blocks(column, TEXT, 60, 60, every=False)["spans"].stale) is False
    assert (blocks(column, "another", 60, 60, every=False)["spans"].stale) is True


# Blocks.


def test_labels_are_bars_best_first_and_all_of_them_when_asked() -> None:
    column = Column("m")
    probs = {"a": 0.1, "b": 0.6, "c": 0.05, "d": 0.2, "e": 0.05}
    column.take("classes", TEXT, said("classes", classes={"own": Classification(probs, "b", False)}))
    few = lines(blocks(column, TEXT, 50, 50, every=False)["classes own"].lines)
    assert [line.split()[0] for line in few] == ["b", "d", "a", "c"]
    assert few[0].endswith(".60")
    assert len(blocks(column, TEXT, 50, 50, every=True)["classes own"].lines) == 5
    assert "4 of 5" in drawn(blocks(column, TEXT, 60, 60, every=False))


def test_what_reads_zero_is_folded_into_a_line_and_small_shares_have_bars_of_their_own_length() -> None:
    probs = {"neutral": 0.9, "joy": 0.02, "fear": 0.004, "trust": 0.003, "love": 0.0}
    column = Column("m")
    column.take("classes", TEXT, said("classes", classes={"set": Classification(probs, "neutral", False)}))
    for every in (False, True):
        block = blocks(column, TEXT, 60, 60, every=every)["classes set"]
        assert lines(block.lines)[-1] == "  3 more under .005"
        assert len(block.lines) == 3
    assert [bar(share, 1.0, 20)[0].text for share in (0.0, 0.006, 0.02, 0.04, 0.09)] == ["", "▏", "▍", "▊", "█▊"]
    assert "2 of 5" in blocks(column, TEXT, 60, 60, every=False)["classes set"].note


def test_emotions_have_signed_bars_and_a_mark_where_two_models_disagree() -> None:
    one, other = Column("m"), Column("n")
    plain = {name: Odds(-1.0, 1.0) for name in PLUTCHIK}
    one.take("emotions", TEXT, said("emotions", emotions={**plain, "joy": Odds(3.0, 1.0)}))
    other.take("emotions", TEXT, said("emotions", emotions=plain))
    block = blocks(one, TEXT, 60, 60, every=False, beside=other)["emotions"]
    rows = lines(block.lines)
    bold = [line[0].kind == "strong" for line in block.lines]
    assert list(zip(("≠" in row for row in rows), bold, strict=True)) == [(True, True), *[(False, False)] * 7]
    assert "+3.00" in rows[0]
    assert rows[0].index("│") < rows[0].index("█")
    assert rows[1].index("█") < rows[1].index("│")


def test_bars_of_log_odds_are_finer_than_a_cell() -> None:
    column = Column("m")
    odds = {"joy": 1.0, "fear": 1.1, "anger": -1.0, "trust": -1.3, "sadness": -9.0}
    column.take("emotions", TEXT, said("emotions", emotions={name: Odds(one, 1.0) for name, one in odds.items()}))
    rows = lines(blocks(column, TEXT, 60, 60, every=False)["emotions"].lines)
    assert len({row[24:] for row in rows}) == len(odds), "no two of them look alike"


def test_of_a_text_of_one_word_no_word_is_said_to_carry_more_than_others() -> None:
    column = Column("m")
    for text in ("m", "so sad"):
        column.take("words", text, said("words", text=text, words=Attribution("neutral", ((0, len(text), 0.5),))))
        assert ("words that carry" in drawn(blocks(column, text, 60, 60, every=False))) is (text == "so sad")


def test_the_headline_and_the_block_of_an_answer_to_another_text_say_so() -> None:
    column = Column("m")
    column.take("emotions", TEXT, said("emotions", emotions={"joy": Odds(0.5, 1.0), "fear": Odds(0.1, 1.0)}))
    other = TEXT + " more"
    (head,) = lines(headlines([column], other, None, 90))
    assert head.startswith("· joy")
    assert "of the text before" in head
    assert "of the text before" not in "".join(lines(headlines([column], other, TEXT, 90)))
    shown_blocks = blocks(column, other, 78, 78, every=False)
    assert "emotions  of the text before" in drawn(shown_blocks, 78)


def test_a_word_without_which_hardly_anything_is_lost_carries_nothing() -> None:
    words = Attribution("sadness", ((2, 6, 0.07), (7, 10, 0.05)))
    assert carrying(words) == []
    column = Column("m")
    column.take("words", TEXT, said("words", words=words))
    assert lines(blocks(column, TEXT, 60, 60, every=False)["words"].lines) == ["  none takes 0.10 or more with it"]
    column.take("classes", TEXT, said("classes", classes={"ekman": Classification({"joy": 0.5}, "joy", False)}))
    assert "no word carries it alone" in lines(headlines([column], TEXT, None, 78))[-1]
    (first, _) = lines(blocks(column, TEXT, 60, 60, every=True)["words"].lines)
    assert 0 < first.count("█") < 8, "a small loss has a short bar"


def test_beside_a_word_that_carries_nearly_all_a_small_loss_carries_nothing() -> None:
    words = Attribution("amusement", ((0, 4, 0.12), (5, 13, 3.66), (14, 18, 1.0)))
    assert [start for start, _, _ in carrying(words)] == [5, 14]


def test_a_word_for_a_mask_stands_on_one_line_with_its_probability() -> None:
    column = Column("m")
    fills = tuple((word, 0.04) for word in ("happy", "sad", "angry", "afraid"))
    text = "so <mask>"
    column.take("masks", text, said("masks", text=text, masks=Filled((fills,))))
    rows = [line.split() for line in lines(blocks(column, text, 24, 24, every=False)["masks"].lines)]
    assert rows == [["happy", ".04", "sad", ".04"], ["angry", ".04", "afraid", ".04"]]


def test_words_that_carry_are_those_whose_loss_costs_the_label_most() -> None:
    words = Attribution("sadness", ((0, 1, -0.5), (2, 6, 2.0), (7, 10, 0.5), (11, 13, 0.1)))
    assert [TEXT[start:end] for start, end, _ in carrying(words, 2)] == ["miss", "her"]
    column = Column("m")
    column.take("words", TEXT, said("words", words=words))
    few, every = (lines(blocks(column, TEXT, 50, 50, every=every)["words"].lines) for every in (False, True))
    assert [line.split()[0] for line in few] == ["miss", "her"]
    assert [line.split()[0] for line in every] == ["miss", "I", "her", "so"]


def test_evidence_masks_and_what_was_written_are_shown_literally() -> None:
    column, asked = Column("m"), f"{TEXT} {MASKED}"
    column.take("spans", asked, said("spans", spans=(Evidence(2, 10, "sadness", 0.75),)))
    column.take("masks", asked, said("masks", masks=Filled(((("sad", 0.5), ("low", 0.25)),))))
    column.take("generation", asked, said("generation", generation=Generation("[b]sad\x1b[0m", 9, 4, "length")))
    text = drawn(blocks(column, asked, 60, 60, every=False))
    assert "sadness         .75  miss her" in text
    assert "sad .50   low .25" in text
    assert "[b]sad␛[0m" in text
    assert "4 tokens · cut there" in text


def test_a_part_that_is_refused_says_why_in_its_place() -> None:
    column = Column("m")
    column.take("spans", TEXT, Probe(card("extract"), TEXT, "", notes={"spans": "too long"}, seconds={"spans": 0.1}))
    assert "too long" in drawn(blocks(column, TEXT, 60, 60, every=False))


# Two models.


def two(left: dict[str, Block], right: dict[str, Block], cells: int, *, stacked: bool) -> list[str]:
    return lines(arranged([left, right], cells, stacked=stacked, spared=None))


def test_two_models_have_the_same_things_on_the_same_lines_and_a_mark_where_they_differ() -> None:
    left = {"a": Block("labels", "joy", lines=()), "b": Block("more", "x"), "c": Block("left only")}
    right = {"d": Block("right only"), "b": Block("more", "x"), "a": Block("labels", "fear", lines=())}
    found = two(left, right, 63, stacked=False)
    assert [line.split("│")[0].rstrip() for line in found] == ["labels  ≠", "more", "left only"]
    assert [line.split("│")[1].strip() for line in found] == ["labels  ≠", "more", "right only"]


def test_where_there_is_no_room_each_thing_is_under_the_other_models_with_its_sign() -> None:
    left, right = {"a": Block("labels", "joy"), "c": Block("alone")}, {"a": Block("labels", "joy")}
    assert two(left, right, 40, stacked=True) == ["● labels", "◇ labels", "● alone"]


def test_stale_answers_are_not_compared_and_are_grey_but_for_those_that_are_spared() -> None:
    left, right = {"a": Block("labels", "joy", of="old", stale=True)}, {"a": Block("labels", "fear")}
    assert "≠" not in "".join(two(left, right, 60, stacked=True))
    kinds = [
        {part.kind for line in arranged([left], 60, stacked=True, spared=of) for part in line} for of in ("", "old")
    ]
    assert ["stale" in one for one in kinds] == [True, False]


@pytest.mark.parametrize(
    ("cells", "models", "stacked"), [(40, 1, True), (78, 1, False), (120, 2, False), (78, 2, True)]
)
def test_no_line_is_wider_than_the_pane(cells: int, models: int, stacked: bool) -> None:
    column = Column("m")
    column.take("emotions", TEXT, said("emotions", emotions={name: Odds(-1.0, 0.5, "no") for name in PLUTCHIK}))
    column.take("spans", TEXT, said("spans", spans=(Evidence(0, 19, "sadness", 0.75),) * 3))
    column.take(
        "classes", TEXT, said("classes", classes={"s": Classification(dict.fromkeys("abcdef", 0.1), "a", True)})
    )
    wide, narrow = shares(cells, models, stacked)
    found = blocks(column, TEXT, wide, narrow, every=True)
    assert max(map(len, lines(arranged([found] * models, cells, stacked=stacked, spared=None)))) <= cells


@pytest.mark.parametrize(("cells", "note"), [(22, "4 of 6"), (30, "4 of 6, each by itself")])
def test_where_there_is_little_room_what_a_figure_is_comes_before_how_long_it_took(cells: int, note: str) -> None:
    column = Column("m")
    column.take(
        "classes", TEXT, said("classes", classes={"s": Classification(dict.fromkeys("abcdef", 0.1), "a", True)})
    )
    found = blocks(column, TEXT, cells, cells, every=False)
    heading = next(line for line in lines(arranged([found], cells, stacked=True, spared=None)) if "of 6" in line)
    assert note in heading
    assert "…" not in heading


def test_a_task_shows_what_was_read_and_written_letter_for_letter() -> None:
    answer = TaskAnswer(
        "spans", "retrieve", "p", "<s>mark it", ("miss | her",), "miss | her", {"spans": ["miss"]}, None, 1
    )
    column = Column("m")
    column.take("task spans", TEXT, Probe(card("generate"), TEXT, "", tasks={"spans": answer}))
    text = drawn(task_blocks(column, "spans", TEXT, 60))
    for part in (
        "what the model read  asked by retrieve",
        "<s>mark it",
        "what it wrote",
        "miss | her",
        '{"spans":["miss"]}',
    ):
        assert part in text
    assert task_blocks(column, "scenes", TEXT, 60) == {}


def test_who_marked_what_has_evidence_in_the_text_and_rows_of_everyone() -> None:
    one, other = Column("m"), Column("n")
    one.take("spans", TEXT, said("spans", spans=(Evidence(2, 6, "sadness", 0.5),)))
    other.take("words", TEXT, said("words", words=Attribution("sadness", ((7, 10, 1.0),))))
    score = who_marked_what([one, other], TEXT)
    assert [(voice.name, voice.spans, voice.inline) for voice in score.tiers if voice.spans] == [
        ("● evidence", ((2, 6),), True),
        ("◇ carries", ((7, 10),), False),
    ]


# The headline.


def test_the_answer_stands_on_top_with_what_it_rests_on_and_zero_draws_nothing() -> None:
    column = Column("m")
    probs = {"sadness": 0.71, "joy": 0.2, "anger": 0.001}
    column.take("classes", TEXT, said("classes", classes={"ekman": Classification(probs, "sadness", False)}))
    column.take("spans", TEXT, said("spans", spans=(Evidence(2, 6, "sadness", 0.9),)))
    column.take("words", TEXT, said("words", words=Attribution("sadness", ((2, 6, 1.5),))))
    odds = {"joy": Odds(-1.0, 1.0), "fear": Odds(0.5, 1.0)}
    column.take("emotions", TEXT, said("emotions", emotions=odds))
    first, asked, *rests = lines(headlines([column], TEXT, None, 78))
    assert first.startswith("· which label  sadness  ███")
    assert first.endswith("  .71   probability, ekman; then joy .20")
    assert lines(headlines([column], TEXT, None, 120, 20))[0].count("█") == 14, "on the scale of the bars below"
    narrow = lines(headlines([column], TEXT, None, 72, 24))[0]
    assert (narrow.count("█"), narrow.endswith(".71   probability")) == (17, True), "which comes before the words"
    assert asked.startswith("· is it there  fear ")
    assert "█" not in asked, "log-odds have no bar beside a probability's"
    assert asked.endswith(" +0.50   log-odds of yes; then joy -1.00")
    assert first.index(".71") == asked.index("+0.50") + 2, "figures stand under each other"
    assert "".join(rests).replace("  ", " ").strip() == "1 span of evidence · carried most by “miss”"
    text = drawn(blocks(column, TEXT, 78, 78, every=True), 78)
    assert next(line for line in text.split("\n") if "─" in line).startswith("─ which feeling ─")
    anger = next(line for line in text.split("\n") if "anger" in line)
    assert not set(anger) & set("█·")
    assert text.index("which feeling") < text.index("where it shows")


def test_two_models_have_a_headline_each_that_says_where_they_differ_and_what_is_old_is_grey() -> None:
    one, other, silent = Column("a"), Column("b"), Column("c")
    for column, label in ((one, "joy"), (other, "fear")):
        answer = Classification({label: 0.5}, label, False)
        column.take("classes", TEXT, said("classes", classes={"ekman": answer}))
    first, second = lines(headlines([one, other], TEXT, None, 78))
    assert first.startswith("● joy ")
    assert second.startswith("◇ fear ")
    assert "≠" in first
    odds = {"joy": Odds(1.0, 1.0), "anger": Odds(0.5, 1.0)}
    for column in (one, silent):
        column.take("emotions", TEXT, said("emotions", emotions=odds))
    found = lines(headlines([one, silent], TEXT, None, 78))
    assert all("joy" in line and "log-odds of yes" in line for line in found), "two models answer the same question"
    silent = Column("c")
    asked = lines(headlines([other, column], TEXT, None, 78))
    assert len(asked) == 2
    assert not any("≠" in line for line in asked), "answers to different questions do not differ"
    del one.answers["emotions"]
    assert lines(headlines([one, silent], TEXT, None, 78))[1] == "◇ no answer"
    assert headlines([silent], TEXT, None, 78) == []
    assert {part.kind for part in headlines([one], "another text", None, 78)[0]} == {"stale"}


def test_a_bar_whose_figure_reads_zero_is_empty_however_small_the_others_are() -> None:
    words = Attribution("fear", ((2, 6, 0.004), (7, 10, 0.003)))
    column = Column("m")
    column.take("words", TEXT, said("words", words=words))
    shown = drawn(blocks(column, TEXT, 60, 60, every=True))
    assert "+0.00" in shown
    assert "█" not in shown
