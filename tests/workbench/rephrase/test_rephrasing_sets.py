"""Which rephrasing stands in which set, by hand and against the wording of the formats; warnings and differences."""

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.metrics.rephrasings import (
    NAMES,
    closing,
    kth_rephrasings,
    rephrasing_of,
    rephrasing_sets,
    sets_report,
    succeeded_at,
    warnings,
    word_diff,
)
from emotui.records import Attempt, Chain

LEXICON = {"happy": {"joy"}, "awful": {"sadness"}}


def chain(key: str, *said: str, predicted: str | None = "joy", skipped: bool = False) -> Chain:
    """A chain of the label joy; its attempts are named by their number, `said` is what the classifier gave."""
    attempts = tuple(Attempt(text=f"{key}{k}", predicted=label) for k, label in enumerate(said, start=1))
    return Chain(id=key, text=f"{key}0", label="joy", attempts=attempts, predicted=predicted, skipped=skipped)


def texts(chains: Sequence[Chain]) -> dict[str, list[str]]:
    return {name: [record.text for record in records] for name, records in rephrasing_sets(chains).items()}


def test_a_success_stands_for_its_text_in_every_later_set() -> None:
    assert texts([chain("a", "joy", "anger")]) == {"1R": ["a1"], "2R": ["a2"], "3R": ["a2"], "4R": ["a2"]}


def test_a_chain_without_success_stands_by_its_kth_rephrasing_where_there_is_one() -> None:
    assert texts([chain("a", "joy", "joy")]) == {"1R": ["a1"], "2R": ["a2"], "3R": [], "4R": []}
    failed = chain("b", "joy", "joy", "joy", "joy")
    assert texts([failed]) == {"1R": ["b1"], "2R": ["b2"], "3R": ["b3"], "4R": ["b4"]}


def test_an_original_that_the_model_got_wrong_is_in_every_set_as_it_is() -> None:
    wrong = chain("w", predicted="anger")
    assert texts([wrong]) == {name: ["w0"] for name in NAMES}


def test_a_skipped_chain_keeps_the_attempts_made_before() -> None:
    assert texts([chain("s", "joy", skipped=True)]) == {"1R": ["s1"], "2R": [], "3R": [], "4R": []}


def test_an_original_that_nobody_rephrased_is_in_no_set() -> None:
    assert texts([chain("n")]) == {name: [] for name in NAMES}


def test_what_comes_after_a_success_does_not_count() -> None:
    odd = chain("a", "anger", "joy", "fear")
    assert texts([odd]) == {name: ["a1"] for name in NAMES}
    assert succeeded_at(odd) == 1
    assert kth_rephrasings([odd], 2) == []
    assert "1 chains go on after" in sets_report([odd], LEXICON)["notes"]["sets"]


def test_the_report_by_hand() -> None:
    chains = [
        Chain(
            id="a",
            text="so happy, happy",
            label="joy",
            predicted="joy",
            attempts=(
                Attempt(text="quite happy", predicted="joy", confidence=0.7),
                Attempt(text="a good day", predicted="neutral", confidence=0.2),
            ),
        ),
        chain("b", "joy", "joy", "joy", "joy"),
        chain("c", skipped=True),
        chain("d", predicted="neutral"),
        chain("e", "fear"),
        chain("f", "joy"),
    ]
    report = sets_report(chains, LEXICON)
    assert report["t_correct"] == ["a", "b", "c", "e", "f"]
    assert report["t_incorrect"] == ["d"]
    assert [record["id"] for record in report["sets"]["1R"]] == ["a", "b", "d", "e", "f"]
    assert [record["text"] for record in report["sets"]["2R"]] == ["a good day", "b2", "d0", "e1"]
    assert report["rounds"]["succeeded"] == {"1R": 1, "2R": 1, "3R": 0, "4R": 0}
    assert (report["rounds"]["failed"], report["rounds"]["skipped"], report["open"]) == (1, 1, 1)
    means = report["rounds"]["mean_explicit_words"]
    assert means["original"] == pytest.approx(2 / 5)
    assert means["1R"] == pytest.approx(1 / 4)
    assert means["2R"] == 0
    assert report["notes"] == {}


def test_means_over_no_text_are_undefined_and_say_why() -> None:
    report = sets_report([chain("w", predicted="anger")], LEXICON)
    assert report["rounds"]["mean_explicit_words"] == dict.fromkeys(("original", *NAMES))
    assert report["notes"]["mean_explicit_words.1R"] == "there is no text"


def test_a_chain_that_does_not_say_what_the_model_made_of_the_original_counts_as_right() -> None:
    report = sets_report([chain("a", "fear", predicted=None)], LEXICON)
    assert report["t_correct"] == ["a"]
    assert "1 chains do not say" in report["notes"]["t_correct"]


LABELS = st.sampled_from(["joy", "joy", "anger", "fear"])
CHAINS = st.lists(
    st.builds(
        lambda said, predicted, skipped: (said, predicted, skipped),
        st.lists(LABELS, max_size=5),
        st.none() | LABELS,
        st.booleans(),
    ),
    max_size=6,
).map(
    lambda rows: [chain(f"c{i}-", *said, predicted=label, skipped=skip) for i, (said, label, skip) in enumerate(rows)]
)


@given(CHAINS)
def test_sets_are_what_the_formats_say_word_for_word(chains: list[Chain]) -> None:
    for k, name in enumerate(NAMES, start=1):
        expected = []
        for one in chains:
            if one.predicted not in (None, one.label):
                expected.append(one.text)
                continue
            successes = [i for i, attempt in enumerate(one.attempts, start=1) if attempt.predicted != one.label]
            if successes and successes[0] < k:
                expected.append(one.attempts[successes[0] - 1].text)
            elif len(one.attempts) >= k:
                expected.append(one.attempts[k - 1].text)
        assert [record.text for record in rephrasing_sets(chains)[name]] == expected


@given(CHAINS)
def test_every_right_chain_ends_in_one_way_and_counts_add_up(chains: list[Chain]) -> None:
    report = sets_report(chains, LEXICON)
    ends = sum(report["rounds"]["succeeded"].values()) + report["failed"] + report["skipped"] + report["open"]
    assert ends == len(report["t_correct"])
    assert len(report["t_correct"]) + len(report["t_incorrect"]) == len(chains)
    for one in chains:
        assert (closing(one) == "succeeded") == (succeeded_at(one) is not None)


@given(CHAINS)
def test_a_later_set_has_no_text_whose_chain_is_missing_in_an_earlier_one(chains: list[Chain]) -> None:
    found = rephrasing_sets(chains)
    ids = [{record.id for record in found[name]} for name in NAMES]
    assert all(later <= earlier for earlier, later in itertools.pairwise(ids))
    for one in chains:
        assert rephrasing_of(one, 1) == (one.attempts[0].text if one.attempts else None)


def test_a_difference_by_hand() -> None:
    changes = word_diff("You sat with my dad, all night.", "You waited all night with Dad!")
    assert [(change.kind, change.words) for change in changes] == [
        ("same", "You"),
        ("removed", "sat with my dad,"),
        ("added", "waited"),
        ("same", "all night"),
        ("added", "with Dad!"),
    ]
    # At the end only "sad" is common, though the word before it begins the other text.
    assert [(change.kind, change.words) for change in word_diff("I was sad", "was very sad")] == [
        ("removed", "I"),
        ("same", "was"),
        ("added", "very"),
        ("same", "sad"),
    ]


WORDY = st.lists(st.sampled_from(["a", "b", "b,", "C", "c", "dd", "é", "—", "x-y"]), max_size=12).map(" ".join)


@given(WORDY, WORDY)
def test_a_difference_rebuilds_both_texts_and_its_places_hold(original: str, text: str) -> None:
    changes = word_diff(original, text)
    for change in changes:
        source = original if change.kind == "removed" else text
        assert source[change.start : change.end] == change.words
    new = " ".join(change.words for change in changes if change.kind != "removed")
    assert new.split() == text.split()
    old = [word for change in changes if change.kind != "added" for word in change.words.split()]
    assert [word.rstrip(",").lower() for word in old] == [word.rstrip(",").lower() for word in original.split()]
    assert {change.kind for change in word_diff(text, text)} <= {"same"}


def test_a_difference_of_very_long_texts_takes_no_time() -> None:
    import time

    started = time.process_time()
    changes = word_diff("start " + "x y z w " * 2500 + "end", "start " + "y x w z " * 2500 + "end")
    assert time.process_time() - started < 1
    assert [(change.kind, change.words) for change in changes] == [
        ("same", "start"),
        ("removed", ("x y z w " * 2500).strip()),
        ("added", ("y x w z " * 2500).strip()),
        ("same", "end"),
    ]


ORIGINAL = "You sat with my dad at the hospital all night"


@pytest.mark.parametrize(
    ("text", "earlier", "similarity", "begins"),
    [
        ("Something else was going on over there then", [], 0.1, "similarity 0.10 is below"),
        ("you sat with my dad at the hospital, all night.", [], 0.9, "the same as the original"),
        ("He held the line for hours, and hours.", ["x", "he held the line for hours and hours"], 0.9, "the same as"),
        ("One two three four five six seven eight nine eleven", ["one two three four five six seven eight nine ten"],
         0.9, "nearly the same as attempt 1"),
        ("Word " * 26, [], 0.9, "much longer than the original: 26 words against 10"),
        ("Thanks then", [], 0.9, "much shorter than the original: 2 words against 10"),
    ],
)  # fmt: skip
def test_a_doubtful_rephrasing_is_warned_of(text: str, earlier: list[str], similarity: float, begins: str) -> None:
    (line,) = warnings(ORIGINAL, earlier, text, similarity)
    assert line.startswith(begins)


@pytest.mark.parametrize("text", ["", "   ", "You were with him until the morning came, both of you awake"])
def test_nothing_is_said_of_an_empty_text_or_a_fair_one(text: str) -> None:
    assert warnings(ORIGINAL, ["He waited there for hours"], text, 0.6) == ()


def test_eight_words_of_ten_in_common_are_not_nearly_the_same() -> None:
    eight = "one two three four five six seven eight"
    assert warnings(ORIGINAL, [f"{eight} nine ten"], f"{eight} other words", 0.9) == ()
    assert warnings(ORIGINAL, [f"nine ten {eight}"], f"other words {eight}", 0.9) == ()
    (line,) = warnings(ORIGINAL, [f"nine ten {eight}"], f"nine eleven {eight}", 0.9)
    assert line == "nearly the same as attempt 1"


def test_a_short_original_is_not_compared_by_length() -> None:
    assert warnings("Thanks a lot", [], "You came all the way out here in the rain to bring me this", 0.5) == ()
    assert len(warnings("Thanks a lot, really", [], "word " * 11, 0.5)) == 1
    assert warnings("Thanks a lot, really", [], "word " * 10, 0.5) == ()


def test_an_unknown_similarity_is_not_warned_of() -> None:
    assert warnings(ORIGINAL, [], "He never left that chair beside the bed for hours", None) == ()
