"""Tables of labels and pairs of annotators: equal to the plain figures, and worked by hand."""

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.metrics.agreement import agreement_report, cohen_kappa, fleiss_kappa
from emotui.metrics.figure import Figure
from emotui.metrics.rating_intervals import resampled_agreement
from emotui.metrics.rating_tables import TableAgreement, cohen, percent_agreement, table_agreement, votes
from emotui.metrics.span_pairs import NONE, _distinct, span_pair
from emotui.records import Mark
from tests.metrics.resampled import interval_by_hand

NAN = float("nan")

# Fleiss 1971, Table 1: 30 patients, 6 psychiatrists; counts of depression, personality disorder, schizophrenia,
# neurosis, other.
FLEISS = """
00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031 00501 30012 51000 02040 10203
00006 01050 02013 20040 10041 05010 40002 02040 10500 00006
"""


def psychiatrists() -> np.ndarray:
    """A table of items by raters that has these counts."""
    rows = [[label for label, n in enumerate(map(int, row)) for _ in range(n)] for row in FLEISS.split()]
    return np.array(rows, dtype=float)


def test_the_psychiatrists_have_the_published_kappa() -> None:
    table = psychiatrists()
    found = table_agreement(table, [f"r{at}" for at in range(6)], list("dpsno"))
    assert found.fleiss_kappa.value == pytest.approx(0.430, abs=5e-4)
    assert found.percent.value == pytest.approx(0.556, abs=5e-4)  # its mean agreement
    assert found.percent.low is found.fleiss_kappa.low is found.mean_cohen_kappa.low is None


tables = st.lists(
    st.lists(st.one_of(st.none(), st.sampled_from("abc")), min_size=3, max_size=3), min_size=1, max_size=10
).filter(lambda rows: any(label for row in rows for label in row))


@given(tables)
def test_a_table_has_the_figures_of_the_same_ratings_one_by_one(rows: list[list[str | None]]) -> None:
    table = np.array([[np.nan if label is None else "abc".index(label) for label in row] for row in rows])
    ratings = [(f"i{i}", f"r{r}", label) for i, row in enumerate(rows) for r, label in enumerate(row) if label]
    plain = agreement_report(ratings)
    found = table_agreement(table, ["r0", "r1", "r2"], list("abc"))
    for own, other in ((found.alphas["nominal"], "krippendorff_alpha"), (found.fleiss_kappa, "fleiss_kappa")):
        assert own.value == (None if plain[other] is None else pytest.approx(plain[other]))
        assert (own.value is None) == (own.why is not None)
    kappas = {(pair["a"], pair["b"]): pair["kappa"] for pair in plain["pairwise_cohen_kappa"]}
    for pair in found.pairs:
        expected = kappas.get((pair.a, pair.b))
        assert pair.kappa.value == (None if expected is None else pytest.approx(expected))
        assert sum(n for line in pair.confusion.values() for n in line.values()) == pair.n
    agreeing = [a == b for row in rows for a, b in combinations(row, 2) if a and b]
    assert found.percent.value == (pytest.approx(np.mean(agreeing)) if agreeing else None)


def test_cohen_of_columns_with_missing_ratings_is_over_what_both_rated() -> None:
    a, b = np.array([0, 1, 1, np.nan, 0]), np.array([0, 1, 0, 1, np.nan])
    assert cohen(a, b).value == cohen_kappa([0, 1, 1], [0, 1, 0])
    assert cohen(a, b).n == 3
    assert cohen(a[:1], a[:1]).why == "always the same one label"


def test_figures_count_the_items_that_they_are_over_and_two_raters_without_a_common_one_have_none() -> None:
    found = table_agreement(np.array([[0, NAN, 0], [NAN, 1, NAN], [1, NAN, NAN]]), ["a", "b", "c"], ["no", "yes"])
    assert (found.n, found.percent.n, found.percent.value) == (3, 1, 1.0)
    apart, together, _ = found.pairs
    assert apart.percent.why == apart.kappa.why == "no item that both rated"
    assert (together.n, together.percent.value, together.percent.why) == (1, 1.0, None)


def test_votes_say_who_gave_which_label() -> None:
    found = votes(np.array([[0, 1], [np.nan, 1]]), 2)
    assert found.tolist() == [[[1, 0], [0, 1]], [[0, 0], [0, 1]]]
    counts = votes(psychiatrists(), 5).sum(axis=1)
    assert fleiss_kappa(counts) == pytest.approx(0.430, abs=5e-4)


def test_without_ratings_every_figure_says_why_it_is_undefined() -> None:
    found = table_agreement(np.full((2, 2), np.nan), ["a", "b"], [])
    for figure in (found.alphas["nominal"], found.fleiss_kappa, found.percent, found.mean_cohen_kappa):
        assert (figure.value, figure.n) == (None, 0)
        assert figure.why
    assert percent_agreement(np.empty((0, 2))).value is None


TEXT = "I was glad and then so very afraid"


def test_spans_of_two_annotators_worked_by_hand() -> None:
    glad, afraid = Mark(6, 10, "joy"), Mark(28, 34, "fear")
    wide = Mark(23, 34, "sadness")
    found = span_pair("a", "b", [(TEXT, [glad, afraid], [glad, wide]), (TEXT, [], []), (TEXT, [], [glad])])
    assert (found.n, found.both_empty) == (2, 1)
    assert found.exact_f1.value == pytest.approx(2 * 1 / 5)
    assert found.labelled_f1.value == pytest.approx(2 / 5)
    # "afraid" against "very afraid": 2 * 1 / 3; the text has (1 + 2/3) / 2, the last one 0.
    assert found.by_text == [pytest.approx((1 + 2 / 3) / 2), None, 0.0]
    assert found.overlap_f1.value == pytest.approx((1 + 2 / 3) / 4)
    assert found.confusion == {"joy": {"joy": 1}, "fear": {"sadness": 1}, NONE: {"joy": 1}}
    assert found.cells == {"joy": {"joy": {0: 1}}, "fear": {"sadness": {0: 1}}, NONE: {"joy": {2: 1}}}


marks = st.lists(
    st.tuples(st.integers(0, 20), st.integers(1, 10), st.sampled_from(["joy", "fear", None])).map(
        lambda one: Mark(one[0], one[0] + one[1], one[2])
    ),
    max_size=4,
)


@given(marks, marks)
def test_a_pair_has_the_same_figures_the_other_way_round(a: list[Mark], b: list[Mark]) -> None:
    one, other = span_pair("a", "b", [(TEXT, a, b)]), span_pair("b", "a", [(TEXT, b, a)])
    for name in ("exact_f1", "labelled_f1", "overlap_f1"):
        first, second = getattr(one, name), getattr(other, name)
        assert first.value == (None if second.value is None else pytest.approx(second.value))
        assert first.value is None or 0 <= first.value <= 1
    same = span_pair("a", "b", [(TEXT, a, list(reversed(a)))])
    assert same.exact_f1.value == same.overlap_f1.value == (1 if a else None)


@pytest.mark.parametrize("n", [20, 64])
def test_intervals_are_those_of_the_figures_over_resampled_texts(n: int) -> None:
    draw = np.random.default_rng(3)
    truth = draw.integers(0, 3, n)
    table = np.where(draw.random((n, 3)) < 0.7, truth[:, None], draw.integers(0, 3, (n, 3))).astype(float)
    texts = np.arange(n) // 2
    raters = ["r0", "r1", "r2"]
    found = table_agreement(table, raters, list("abc"), resamples=300, seed=0, texts=texts.tolist())
    figures: dict[str, Callable[[TableAgreement], Figure]] = {
        "percent": lambda one: one.percent,
        "fleiss": lambda one: one.fleiss_kappa,
        "mean": lambda one: one.mean_cohen_kappa,
        "kappa": lambda one: one.pairs[2].kappa,
        "percent of two": lambda one: one.pairs[1].percent,
    }
    for name, of in figures.items():
        by_hand = interval_by_hand(
            lambda rows, of=of: of(table_agreement(table[rows], raters, list("abc"))).value, texts, 300
        )
        assert (of(found).low, of(found).high) == pytest.approx(by_hand.ends), name


def test_intervals_of_two_raters_are_over_the_items_that_both_rated() -> None:
    draw = np.random.default_rng(4)
    table = draw.integers(0, 2, (60, 3)).astype(float)
    table[draw.random(table.shape) < 0.2] = NAN
    raters = ["r0", "r1", "r2"]
    found = table_agreement(table, raters, ["no", "yes"], resamples=200, seed=0)
    for at, (pair, (a, b)) in enumerate(zip(found.pairs, ((0, 1), (0, 2), (1, 2)), strict=True)):
        both = int((~np.isnan(table[:, a]) & ~np.isnan(table[:, b])).sum())
        for name in ("percent", "kappa"):
            own = getattr(pair, name)

            def again(rows: np.ndarray, at: int = at, name: str = name) -> float | None:
                value: float | None = getattr(table_agreement(table[rows], raters, ["no", "yes"]).pairs[at], name).value
                return value

            by_hand = interval_by_hand(again, np.arange(60), 200, n=both)
            assert (own.low, own.high) == pytest.approx(by_hand.ends)


def test_of_many_raters_each_two_have_no_interval_but_all_together_have() -> None:
    table = np.random.default_rng(0).integers(0, 2, (12, 10)).astype(float)
    found = table_agreement(table, [f"r{at}" for at in range(10)], ["no", "yes"], resamples=50)
    assert found.percent.low is not None
    assert all(pair.kappa.low is None for pair in found.pairs)
    assert (found.mean_cohen_kappa.low, found.mean_cohen_kappa.why) == (None, None)
    nine = table_agreement(table[:, 1:], [f"r{at}" for at in range(9)], ["no", "yes"], resamples=50)
    assert all(pair.kappa.low is not None for pair in nine.pairs)


def test_a_table_without_ratings_has_nothing_defined_in_any_resample() -> None:
    nothing = resampled_agreement(np.full((3, 2), np.nan), None, 20, 0)
    for figure in (nothing.percent, nothing.fleiss_kappa, *nothing.pair_percents, *nothing.kappas, nothing.mean_kappa):
        assert figure is not None
        assert figure.resampled.shape == (20,)
        assert np.isnan(figure.resampled).all()


@pytest.mark.parametrize("n", [8, 40])
def test_a_pair_of_spans_has_the_intervals_of_sums_over_texts(n: int) -> None:
    texts = [("so glad", [Mark(3, 7)], [Mark(3, 7)] if at % 2 else [Mark(0, 7)]) for at in range(n)]
    found = span_pair("a", "b", texts, resamples=200)
    by_hand = interval_by_hand(lambda rows: float(np.mean(rows % 2)), np.arange(n), 200, bounds=(0.0, 1.0))
    assert (found.exact_f1.low, found.exact_f1.high) == pytest.approx(by_hand.ends)
    assert found.exact_f1.note == (by_hand.note or None)
    assert span_pair("a", "b", texts).exact_f1.low is None


def test_spans_of_one_place_are_in_the_order_of_their_labels_and_intervals_have_seed_0() -> None:
    marks = [Mark(0, 3, "joy"), Mark(0, 3, "fear"), Mark(0, 3)]
    assert _distinct([*marks, Mark(0, 3)]) == [Mark(0, 3), Mark(0, 3, "fear"), Mark(0, 3, "joy")]
    texts = [("sad day", [Mark(0, 3)], [Mark(0, 3 + 4 * (at % 3 == 0))]) for at in range(36)]
    drawn = span_pair("a", "b", texts, resamples=50)
    assert drawn == span_pair("a", "b", texts, resamples=50, seed=0)
    assert drawn.exact_f1 != span_pair("a", "b", texts, resamples=50, seed=1).exact_f1
