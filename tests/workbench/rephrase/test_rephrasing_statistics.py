"""The figures over chains: word divergence by hand, columns, variants; and splits that tear nothing apart."""

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.errors import BadInput
from emotui.metrics.rephrasing_splits import split_chains
from emotui.metrics.rephrasing_statistics import COLUMNS, statistics_report
from emotui.metrics.word_distributions import kl_divergence, word_counts
from emotui.records import Attempt, Chain

LEXICON = {"happy": {"joy"}, "awful": {"sadness"}}


def chain(key: str, text: str, *attempts: tuple[str, str], predicted: str = "joy", skipped: bool = False) -> Chain:
    tried = tuple(Attempt(text=words, predicted=said) for words, said in attempts)
    return Chain(id=key, text=text, label="joy", attempts=tried, predicted=predicted, skipped=skipped)


def test_the_divergence_by_hand() -> None:
    # Vocabulary a, b, c. P: (2+1)/6, (1+1)/6, (0+1)/6; Q: (1+1)/5, (0+1)/5, (1+1)/5.
    expected = (
        1 / 2 * math.log((1 / 2) / (2 / 5)) + 1 / 3 * math.log((1 / 3) / (1 / 5)) + 1 / 6 * math.log((1 / 6) / (2 / 5))
    )
    assert kl_divergence(Counter("aab"), Counter("ac")) == pytest.approx(expected)


def test_the_divergence_has_a_direction() -> None:
    p, q = Counter("aaab"), Counter("bcc")
    assert kl_divergence(p, q) != pytest.approx(kl_divergence(q, p))


def test_the_divergence_from_no_word_is_undefined() -> None:
    assert kl_divergence(Counter(), Counter("a")) is None
    assert kl_divergence(Counter("a"), Counter()) is None


def test_smoothing_is_above_0() -> None:
    with pytest.raises(ValueError, match="above 0"):
        kl_divergence(Counter("a"), Counter("b"), 0.0)


COUNTS = st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 9), min_size=1).map(Counter)


@given(COUNTS, COUNTS, st.floats(0.01, 10))
def test_the_divergence_is_0_of_a_set_from_itself_and_never_below(p: Counter[str], q: Counter[str], s: float) -> None:
    assert kl_divergence(p, p, s) == pytest.approx(0, abs=1e-12)
    found = kl_divergence(p, q, s)
    assert found is not None
    assert 0 <= found < math.inf


def test_words_are_counted_without_case_and_with_one_apostrophe() -> None:
    assert word_counts(["Don’t, don't!", "DON'T 5 it's"]) == Counter({"don't": 3, "it's": 1})


CHAINS = [
    chain("a", "so happy", ("still happy", "joy"), ("not a cloud", "neutral")),
    chain("b", "happy happy", ("awful", "fear")),
    chain("c", "a plain day", predicted="neutral"),
    chain("d", "happy", skipped=True),
    chain("e", "happy", *[("happy", "joy")] * 4),
]


def test_the_report_by_hand() -> None:
    report = statistics_report(CHAINS, LEXICON, {"BT-1": {"a": "very happy", "c": "left out"}})
    assert report["needed"] == {"1": 1, "2": 1, "3": 0, "4": 0}
    assert (report["failed"], report["skipped"], report["open"]) == (1, 1, 0)
    assert (report["t_correct"], report["t_incorrect"], report["rephrasings"]) == (4, 1, 7)
    assert report["mean_rephrasings"] == pytest.approx(7 / 4)
    assert report["mean_rephrasings_begun"] == pytest.approx(7 / 3)
    assert report["notes"]["columns.BT-1"] == (
        "1 of 2 variants are of texts that the classifier got wrong, and are not used here"
    )
    assert report["notes"].keys() == {"kl", "columns.BT-1", "columns.original.kl", "columns.T_incorrect.kl"}
    columns = report["columns"]
    assert list(columns) == ["original", "T_incorrect", "BT-1", "R1", "R2", "R3", "R4", "successful"]
    assert columns["original"]["n"] == 4
    assert columns["original"]["mean_explicit_words"] == pytest.approx(5 / 4)
    assert columns["original"]["mean_words"] == pytest.approx(6 / 4)
    assert columns["original"]["kl"] is None
    assert columns["BT-1"]["n"] == 1
    first = columns["R1"]
    assert (first["n"], first["explicit"], first["misleading"]) == (3, pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert columns["R2"]["negated"] == pytest.approx(1 / 2)
    assert (columns["successful"]["n"], columns["T_incorrect"]["n"]) == (2, 1)
    # "not a cloud" and "awful"
    assert (columns["successful"]["negated"], columns["successful"]["misleading"]) == (1 / 2, 1 / 2)
    assert columns["R3"] == columns["R4"]


def test_a_columns_divergence_is_from_the_originals_of_its_own_texts() -> None:
    columns = statistics_report(CHAINS, LEXICON)["columns"]
    originals, rephrased = word_counts(["so happy", "happy"]), word_counts(["not a cloud", "happy"])
    assert columns["R2"]["kl"] == pytest.approx(kl_divergence(originals, rephrased))
    assert columns["R2"]["kl_reverse"] == pytest.approx(kl_divergence(rephrased, originals))
    assert columns["R4"]["kl"] == pytest.approx(0)


def test_shares_over_no_text_are_undefined_and_say_why() -> None:
    report = statistics_report([chain("c", "x", predicted="anger")], LEXICON)
    assert report["columns"]["R1"]["explicit"] is None
    assert report["columns"]["R1"]["kl"] is None
    assert report["mean_rephrasings"] is report["mean_rephrasings_begun"] is None
    assert report["notes"]["columns.R1"] == "there is no text"
    assert "columns.R1.kl" not in report["notes"]
    assert report["notes"]["mean_rephrasings"] == "the classifier got no original right"
    assert report["notes"]["mean_rephrasings_begun"] == "nothing was rephrased"


@pytest.mark.parametrize(
    "chains",
    [CHAINS, CHAINS[2:4], [], [chain("a", "5", ("6", "fear"))], [chain("a", "so happy", ("7", "joy"))]],
    ids=["several", "nothing rephrased", "none", "no word", "no word left"],
)
def test_every_undefined_figure_of_a_column_has_its_cause_in_the_notes(chains: list[Chain]) -> None:
    report = statistics_report(chains, LEXICON, {"BT-1": {"c": "a day"} if CHAINS[2] in chains else {}})
    for name, column in report["columns"].items():
        for figure, value in column.items():
            if value is None:
                named = f"columns.{name}", f"columns.{name}.{figure.removesuffix('_reverse')}"
                assert any(key in report["notes"] for key in named), (name, figure)


def test_a_column_of_variants_of_wrong_originals_alone_says_so() -> None:
    report = statistics_report(CHAINS, LEXICON, {"BT-1": {"c": "a day"}})
    assert report["columns"]["BT-1"]["n"] == 0
    assert report["notes"]["columns.BT-1"] == "it has no variant of a text that the classifier got right"


def test_the_note_on_the_divergence_says_direction_vocabulary_and_smoothing() -> None:
    said = statistics_report(CHAINS, LEXICON, smoothing=0.5)["notes"]["kl"]
    assert said.startswith("D(original || column), in nats")
    assert said.endswith("over the words of both, with 0.5 added to each count")


def test_a_variant_of_no_chain_is_named() -> None:
    with pytest.raises(BadInput, match="BT-10: zz: no chain has this id"):
        statistics_report(CHAINS, LEXICON, {"BT-10": {"zz": "x"}})


def test_suggested_attempts_are_counted() -> None:
    one = Chain(id="a", text="x", label="joy", attempts=(Attempt(text="y", predicted="joy", suggested=True),))
    assert statistics_report([one], LEXICON)["suggested"] == 1


def test_labels_without_a_counterpart_are_left_out_of_the_categories_and_told() -> None:
    odd = Chain(id="a", text="x y", label="hunger", attempts=(Attempt(text="z", predicted="hunger"),))
    report = statistics_report([odd], LEXICON)
    assert report["columns"]["R1"]["explicit"] is None
    assert report["columns"]["R1"]["kl"] is not None
    assert "hunger" in report["notes"]["categories"]


def test_every_column_has_the_same_figures() -> None:
    columns = statistics_report(CHAINS, LEXICON)["columns"]
    assert set(columns) == set(COLUMNS)
    assert len({tuple(column) for column in columns.values()}) == 1


TEXTS = st.sampled_from(["one", "Two", "two ", "three", "four", "five", "six", "seven", "eight"])
DEALT = st.lists(st.tuples(TEXTS, st.sampled_from(["joy", "fear"]), st.lists(TEXTS, max_size=3)), max_size=25).map(
    lambda rows: [
        Chain(id=str(i), text=text, label=label, attempts=tuple(Attempt(text=t, predicted="x") for t in tried))
        for i, (text, label, tried) in enumerate(rows)
    ]
)
SHARES = {"train": 0.7, "dev": 0.1, "test": 0.2}


def folded(one: Chain) -> set[str]:
    return {" ".join(text.casefold().split()) for text in (one.text, *(attempt.text for attempt in one.attempts))}


@given(DEALT, st.integers(0, 3))
def test_a_split_deals_every_chain_once_and_no_text_to_two_parts(chains: list[Chain], seed: int) -> None:
    parts = split_chains(chains, SHARES, seed)
    assert sorted(one.id for kept in parts.values() for one in kept) == sorted(one.id for one in chains)
    texts = {part: set().union(*map(folded, kept)) if kept else set() for part, kept in parts.items()}
    assert not texts["train"] & texts["dev"]
    assert not texts["train"] & texts["test"]
    assert not texts["dev"] & texts["test"]


@given(DEALT, st.integers(0, 3), st.randoms(use_true_random=False))
def test_a_split_does_not_depend_on_the_order_of_the_file(chains: list[Chain], seed: int, order: object) -> None:
    shuffled = list(chains)
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    first, second = split_chains(chains, SHARES, seed), split_chains(shuffled, SHARES, seed)
    assert {part: {one.id for one in kept} for part, kept in first.items()} == {
        part: {one.id for one in kept} for part, kept in second.items()
    }


def test_parts_are_as_large_as_asked_for_and_hold_each_label_in_its_share() -> None:
    labels = ["joy"] * 60 + ["fear"] * 40
    chains = [Chain(id=str(i), text=f"text {i}", label=label, attempts=()) for i, label in enumerate(labels)]
    parts = split_chains(chains, SHARES, 1)
    assert {part: len(kept) for part, kept in parts.items()} == {"train": 70, "dev": 10, "test": 20}
    assert Counter(one.label for one in parts["test"]) == {"joy": 12, "fear": 8}
    assert {one.id for one in split_chains(chains, SHARES, 2)["test"]} != {one.id for one in parts["test"]}


@pytest.mark.parametrize("shares", [(0.5, 0.4), (0.6, 0.6), (1.5, -0.5), (1.0, 0.0)])
def test_shares_that_do_not_add_up_or_are_not_above_0_are_refused(shares: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="add up to 1"):
        split_chains([], dict(zip(("train", "test"), shares, strict=True)))


def test_the_part_that_is_furthest_behind_its_share_is_dealt_to_and_the_seed_is_0() -> None:
    chains = [Chain(id=str(i), text=f"text {i}", label="joy", attempts=()) for i in range(12)]
    # Behind by 3/4 and 1/4; then by 1/2 each, where the larger takes it; then by 1/4 and 3/4.
    few = split_chains(chains[:3], {"test": 0.25, "train": 0.75})
    assert {part: len(kept) for part, kept in few.items()} == {"test": 1, "train": 2}
    assert split_chains(chains, SHARES) == split_chains(chains, SHARES, 0) != split_chains(chains, SHARES, 1)
