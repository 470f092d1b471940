"""Explicit, implicit, misleading: by the words alone, with offsets that hold, and negation as documented."""

import re
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.errors import BadInput
from emotui.lexicons import GOEMOTIONS_TO_PLUTCHIK, emolex
from emotui.metrics.inflections import dictionary_forms
from emotui.metrics.lexical import CATEGORIES, Cue, category_shares, cues_of, is_negated, lexical, lexical_report
from emotui.records import PLUTCHIK
from tests.conftest import Emotui
from tests.paths import CHECKOUT

LEXICON = {
    "love": {"joy", "positive"},
    "happy": {"joy", "trust", "positive"},
    "scare": {"fear", "negative"},
    "scar": {"sadness"},
    "hug": {"joy"},
    "cry": {"sadness"},
    "good": {"positive"},
    "base": {"anger"},
    "don": {"trust"},
}


def test_a_word_tied_to_the_gold_emotion_makes_a_text_explicit_whatever_else_is_in_it() -> None:
    found = lexical("We cry, but happy.", "joy", LEXICON)
    assert found.category == "explicit"
    assert found.explicit_words == 1
    assert found.cues == (Cue("cry", 3, 6, ("sadness",)), Cue("happy", 12, 17, ("joy", "trust")))


def test_a_word_tied_to_another_emotion_only_makes_a_text_misleading() -> None:
    assert lexical("I love when the rules change", "anger", LEXICON).category == "misleading"


def test_a_text_without_a_tied_word_is_implicit() -> None:
    assert lexical("The door was open all night.", "fear", LEXICON).category == "implicit"


def test_positive_and_negative_are_no_emotions() -> None:
    assert lexical("a good day", "joy", LEXICON).category == "implicit"


def test_a_label_of_goemotions_counts_as_the_emotion_that_it_maps_to() -> None:
    assert lexical("happy", "gratitude", LEXICON).emotion == "joy"
    assert lexical("happy", "gratitude", LEXICON).category == "explicit"
    assert lexical("happy", "grief", LEXICON).category == "misleading"


def test_neutral_has_no_cues() -> None:
    found = lexical("I love this, happy", "neutral", LEXICON)
    assert (found.cues, found.category, found.explicit_words) == ((), "implicit", 0)


def test_a_word_that_comes_twice_counts_twice() -> None:
    assert lexical("love, love", "joy", LEXICON).explicit_words == 2


def test_inflections_are_looked_up_where_asked_for() -> None:
    text = "She loved the hugs. They scared him."
    assert cues_of(text, LEXICON) == ()
    found = cues_of(text, LEXICON, inflections=True)
    assert [cue.word for cue in found] == ["loved", "hugs", "scared"]
    assert found[2].emotions == ("fear",)
    assert lexical(text, "fear", LEXICON).category == "implicit"
    assert lexical(text, "fear", LEXICON, inflections=True).category == "explicit"


def test_a_word_in_the_lexicon_is_taken_as_it_stands() -> None:
    both = {"loved": {"trust"}, "love": {"joy"}}
    assert cues_of("loved", both, inflections=True)[0].emotions == ("trust",)


@pytest.mark.parametrize(
    ("word", "form"),
    [
        ("hates", "hate"),
        ("kisses", "kiss"),
        ("worries", "worry"),
        ("cried", "cry"),
        ("hoping", "hope"),
        ("hugged", "hug"),
        ("kissed", "kiss"),
        ("scared", "scare"),
        ("scarred", "scar"),
        ("feared", "fear"),
        ("suffered", "suffer"),
        ("happiest", "happy"),
        ("agreed", "agree"),
    ],
)
def test_a_regular_inflection_has_its_dictionary_form_among_the_candidates(word: str, form: str) -> None:
    assert form in list(dictionary_forms(word))


@pytest.mark.parametrize("word", ["based", "according", "morning", "bus", "less", "this", "red", "was", "glass"])
def test_words_that_are_no_inflections_have_no_dictionary_form(word: str) -> None:
    assert [form for form in dictionary_forms(word) if form in emolex()] == []


def test_scared_is_not_scarred() -> None:
    assert "scar" not in list(dictionary_forms("scared"))


def test_a_contraction_is_no_word_and_a_possessive_loses_its_ending() -> None:
    assert cues_of("I don't. I don’t.", LEXICON) == ()
    (cue,) = cues_of("happy's", LEXICON)
    assert (cue.word, cue.start, cue.end) == ("happy", 0, 5)


@pytest.mark.parametrize(
    "text",
    [
        "I don't feel bad",
        "I don’t",
        "It was NOT",
        "no.",
        "Nobody's fault",
        "cannot",
        "dont worry",
        "without you",
        "won't",
    ],
)
def test_a_negation_is_seen(text: str) -> None:
    assert is_negated(text)


@pytest.mark.parametrize(
    "text",
    ["I feel good", "a knot", "note this", "hardly", "as is his wont", "unhappy", "", "the nobles", "nonetheless"],
)
def test_what_is_no_negation_is_not_taken_for_one(text: str) -> None:
    assert not is_negated(text)


def test_the_papers_own_example_of_a_misleading_text_is_misleading_by_emolex() -> None:
    text = "amazing, I love when the rules change just before the deadline"
    assert lexical(text, "anger", emolex()).category == "misleading"
    assert lexical("I am happy", "joy", emolex()).category == "explicit"


WORDS = st.sampled_from([*LEXICON, "the", "loved", "hugging", "don't", "nobody", "🙂", "x-y", "ÉTÉ", "a'b", "I’m"])


@given(
    st.lists(WORDS), st.sampled_from([" ", ", ", "-", "\n", "…"]), st.sampled_from([*PLUTCHIK, "gratitude", "neutral"])
)
def test_cues_stand_where_they_say_and_settle_the_category(words: list[str], gap: str, label: str) -> None:
    text = gap.join(words)
    found = lexical(text, label, LEXICON)
    assert all(text[cue.start : cue.end] == cue.word for cue in found.cues)
    assert all(before.end <= after.start for before, after in zip(found.cues, found.cues[1:], strict=False))
    assert found.explicit_words == sum(found.emotion in cue.emotions for cue in found.cues)
    assert found.category == ("explicit" if found.explicit_words else "misleading" if found.cues else "implicit")


@given(st.text(alphabet=string.printable + "’é🙂ß\u0301", max_size=60))
def test_any_text_has_a_category_and_case_does_not_matter_to_it(text: str) -> None:
    found = lexical(text, "joy", emolex())
    assert found.category in CATEGORIES
    assert lexical(text.swapcase(), "joy", emolex()).category == found.category or "ß" in text


def test_the_report_counts_each_record_once_and_names_labels_without_a_counterpart() -> None:
    report = lexical_report([("a", "I love it", "joy"), ("b", "no love", "anger"), ("c", "Hm.", "fear")], LEXICON)
    assert report["counts"] == {"explicit": 1, "implicit": 1, "misleading": 1}
    assert report["mean_explicit_words"] == pytest.approx(1 / 3)
    assert report["negated"] == pytest.approx(1 / 3)
    assert report["notes"] == {}
    with pytest.raises(BadInput, match="d: the label 'hunger' is none of"):
        lexical_report([("d", "x", "hunger")], LEXICON)


def test_over_no_text_means_and_shares_are_undefined_and_say_why() -> None:
    nothing = lexical_report([], LEXICON)
    assert (nothing["n"], nothing["mean_explicit_words"], nothing["negated"]) == (0, None, None)
    assert nothing["notes"] == dict.fromkeys(("mean_explicit_words", "negated"), "there is no record")
    assert category_shares([]) == dict.fromkeys(CATEGORIES)


def test_the_command_prints_what_the_formats_promise(emotui: Emotui, tmp_path: Path) -> None:
    records = tmp_path / "records.jsonl"
    records.write_text(
        '{"id": 1, "text": "I\'m happy.", "label": "joy"}\n{"id": 2, "text": "I hate it, never", "label": "joy"}\n'
        '{"id": 3, "text": "Ok then", "label": "gratitude"}\n'
    )
    got = emotui("lexical", "--records", records, "--json").document
    assert got["counts"] == {"explicit": 1, "implicit": 1, "misleading": 1}
    first, second, third = got["records"]
    assert first == {
        "id": "1",
        "category": "explicit",
        "cues": [{"word": "happy", "start": 4, "end": 9, "emotions": ["joy", "trust", "anticipation"]}],
        "explicit_words": 1,
        "negated": False,
    }
    assert (second["category"], second["negated"]) == ("misleading", True)
    assert third["category"] == "implicit"


def test_the_command_names_the_line_of_a_label_that_it_cannot_map(emotui: Emotui, tmp_path: Path) -> None:
    records = tmp_path / "records.jsonl"
    records.write_text('{"id": "a", "text": "x", "label": "joy"}\n\n{"id": "b", "text": "x", "label": "hunger"}\n')
    done = emotui("lexical", "--records", records, "--json")
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"{records}:3: b: the label 'hunger'")
    with_skip = emotui("lexical", "--records", records, "--json", "--skip-bad")
    assert [record["id"] for record in with_skip.document["records"]] == ["a"]
    assert "hunger" in with_skip.err


def test_the_documented_table_of_labels_is_the_one_that_is_used() -> None:
    page = (CHECKOUT / "docs" / "rephrase.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+) \| ([\w, ]+) \|$", page, re.MULTILINE)
    table = {label: emotion for emotion, labels in rows if emotion in PLUTCHIK for label in labels.split(", ")}
    assert table == dict(GOEMOTIONS_TO_PLUTCHIK)
