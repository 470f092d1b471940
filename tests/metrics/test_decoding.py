"""Joint decoding against enumeration in plain Python, its ties, what-if, and the terms of a log-odds."""

import itertools
import json
import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emotui.errors import BadInput
from emotui.metrics.decode_report import decode_folds_report, decode_report
from emotui.metrics.decoding import (
    PAPER_ALPHAS,
    decode_map,
    explain_label,
    log_odds_of,
    marginals_over_alphas,
    posterior_marginals,
)
from emotui.metrics.ising import Ising, couplings_only, fit_exact, fit_paper
from emotui.metrics.nested_cv import Grid, Target
from emotui.metrics.priors import PRIORS

Row = list[float]


def plain_score(odds: Row, prior: Ising, alpha: float, vector: tuple[int, ...]) -> float:
    """Equation 6, one term at a time."""
    k = len(odds)
    score = sum(odds[i] * vector[i] for i in range(k))
    score += alpha * sum(float(prior.theta[i]) * vector[i] for i in range(k))
    return score + alpha * sum(
        float(prior.pairs[i, j]) * vector[i] * vector[j] for i in range(k) for j in range(i + 1, k)
    )


def plain_map(odds: Row, prior: Ising, alpha: float) -> list[int]:
    """The first of the best vectors in binary order; scores within 1e-12 are ties."""
    best, best_score = (0,) * len(odds), -math.inf
    for vector in itertools.product((0, 1), repeat=len(odds)):
        score = plain_score(odds, prior, alpha, vector)
        if score > best_score + 1e-12:
            best, best_score = vector, score
    return list(best)


def plain_marginals(odds: Row, prior: Ising, alpha: float, clamps: dict[int, int] | None = None) -> list[float]:
    clamps = clamps or {}
    weights = {
        vector: math.exp(plain_score(odds, prior, alpha, vector))
        for vector in itertools.product((0, 1), repeat=len(odds))
        if all(vector[i] == value for i, value in clamps.items())
    }
    total = sum(weights.values())
    return [sum(weight for vector, weight in weights.items() if vector[i]) / total for i in range(len(odds))]


def random_prior(k: int, seed: int, scale: float = 1.0) -> Ising:
    draw = np.random.default_rng(seed)
    return Ising(draw.normal(0, scale, k), np.triu(draw.normal(0, scale, (k, k)), 1))


def random_odds(n: int, k: int, seed: int) -> list[Row]:
    draw = random.Random(seed)
    return [[draw.gauss(0, 2) for _ in range(k)] for _ in range(n)]


@pytest.mark.parametrize("k", [1, 2, 3, 5, 8])
def test_the_best_vector_equals_plain_enumeration_at_every_alpha_of_the_paper(k: int) -> None:
    prior, odds = random_prior(k, k), random_odds(6, k, k)
    decoded = decode_map(odds, prior, PAPER_ALPHAS)
    for a, alpha in enumerate(PAPER_ALPHAS):
        assert decoded[a].tolist() == [plain_map(row, prior, alpha) for row in odds]


dyadic = st.integers(-16, 16).map(lambda value: value / 8)


@settings(max_examples=150, deadline=None)
@given(st.data(), st.integers(1, 4), st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0, -1.0]))
def test_of_equal_scores_the_smallest_binary_number_wins(data: st.DataObject, k: int, alpha: float) -> None:
    """Eighths add without rounding, so plain Python sees every tie exactly; small values make many."""
    numbers = st.lists(dyadic, min_size=k, max_size=k)
    theta = data.draw(numbers)
    pairs = np.triu(np.array(data.draw(st.lists(numbers, min_size=k, max_size=k))), 1)
    odds = data.draw(st.lists(numbers, min_size=1, max_size=3))
    prior = Ising(np.array(theta), pairs)
    expected = [plain_map(row, prior, alpha) for row in odds]
    assert decode_map(odds, prior, [alpha])[0].tolist() == expected


def test_a_tie_of_a_later_label_against_an_earlier_one_goes_to_the_later() -> None:
    # 01 and 10 score alike, 11 is ruled out: 01 is the smaller number.
    prior = Ising(np.zeros(2), np.array([[0.0, -100.0], [0.0, 0.0]]))
    assert decode_map([[1.0, 1.0]], prior, [1.0])[0].tolist() == [[0, 1]]


def test_a_tie_is_seen_through_rounding() -> None:
    # 0.1 + 0.2 is not 0.3 in doubles: {first, second} and {third} tie all the same, and 001 is smaller than 110.
    pairs = np.triu(np.full((3, 3), -50.0), 1)
    pairs[0, 1] = 0.0
    assert decode_map([[0.1, 0.2, 0.3]], Ising(np.zeros(3), pairs), [1.0])[0].tolist() == [[0, 0, 1]]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=3), min_size=1, max_size=5))
def test_alpha_zero_is_thresholding_and_a_log_odds_of_zero_is_no(odds: list[Row]) -> None:
    expected = [[int(value > 0) for value in row] for row in odds]
    assert decode_map(odds, random_prior(3, 1), [0.0])[0].tolist() == expected


def test_alpha_zero_thresholds_a_tiny_log_odds_beside_a_huge_one() -> None:
    assert decode_map([[1e17, 1e-300, 0.0, -1e-300]], random_prior(4, 0), [0.0])[0].tolist() == [[1, 1, 0, 0]]


@settings(max_examples=30, deadline=None)
@given(st.permutations(range(6)), st.integers(0, 1000), st.floats(-3, 3))
def test_the_order_of_the_labels_does_not_matter_to_decoding(order: list[int], seed: int, alpha: float) -> None:
    odds = np.array(random_odds(5, 6, seed))
    full = random_prior(6, seed).couplings[np.ix_(order, order)]
    straight = random_prior(6, seed)
    shuffled = Ising(straight.theta[order], np.triu(full, 1))
    assert (decode_map(odds[:, order], shuffled, [alpha])[0] == decode_map(odds, straight, [alpha])[0][:, order]).all()
    assert posterior_marginals(odds[:, order], shuffled, alpha) == pytest.approx(
        posterior_marginals(odds, straight, alpha)[:, order], abs=1e-12
    )


def test_alpha_weighs_the_prior_and_never_the_evidence() -> None:
    prior = Ising(np.array([-1.0]), np.zeros((1, 1)))
    assert decode_map([[1.5]], prior, [0, 1, 2, 5])[:, 0, 0].tolist() == [1, 1, 0, 0]


def test_a_pair_counts_once() -> None:
    prior = Ising(np.array([-1.0, -1.0]), np.array([[0.0, 3.0], [0.0, 0.0]]))
    assert decode_map([[0.0, -1.5]], prior, [1.0])[0].tolist() == [[0, 0]]
    assert decode_map([[0.0, -0.5]], prior, [1.0])[0].tolist() == [[1, 1]]


@pytest.mark.parametrize("k", [1, 2, 4, 7])
def test_posterior_marginals_equal_plain_enumeration(k: int) -> None:
    prior, odds = random_prior(k, k), random_odds(4, k, k)
    for alpha in (0.0, 0.5, 2.0, -0.3):
        expected = [plain_marginals(row, prior, alpha) for row in odds]
        assert posterior_marginals(odds, prior, alpha) == pytest.approx(np.array(expected), abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.integers(0, 4), st.integers(0, 1), max_size=5), st.integers(0, 1000))
def test_clamped_marginals_equal_the_enumeration_of_what_is_left(clamps: dict[int, int], seed: int) -> None:
    prior, odds = random_prior(5, seed), random_odds(3, 5, seed)
    expected = [plain_marginals(row, prior, 0.8, clamps) for row in odds]
    assert posterior_marginals(odds, prior, 0.8, clamps) == pytest.approx(np.array(expected), abs=1e-12)


def test_marginals_over_alphas_are_the_posterior_marginals_of_each_alpha() -> None:
    odds, prior = np.array([[1.2, -0.3, 0.0, 4.0]]), random_prior(4, 3)
    path = marginals_over_alphas(odds[0], prior, PAPER_ALPHAS)
    for found, alpha in zip(path, PAPER_ALPHAS, strict=True):
        assert found == pytest.approx(posterior_marginals(odds, prior, alpha)[0], abs=1e-12)


@pytest.mark.parametrize("clamps", [{5: 1}, {-1: 0}, {0: 2}])
def test_a_clamp_on_no_label_or_to_no_answer_is_refused(clamps: dict[int, int]) -> None:
    with pytest.raises(ValueError, match="clamp"):
        posterior_marginals([[0.0] * 5], random_prior(5, 0), 1.0, clamps)


def test_large_log_odds_give_probabilities_and_no_nan() -> None:
    marginals = posterior_marginals([[800.0, -800.0, 0.0]], random_prior(3, 0, 0.0), 1.0)
    assert marginals.tolist() == [[1.0, 0.0, 0.5]]


@pytest.mark.parametrize("alpha", [0.0, 0.5, 2.0])
def test_the_terms_of_a_label_add_up_to_what_turning_it_on_changes(alpha: float) -> None:
    prior, odds = random_prior(6, 3), random_odds(1, 6, 3)[0]
    for vector in itertools.product((0, 1), repeat=6):
        for label in range(6):
            on, off = list(vector), list(vector)
            on[label], off[label] = 1, 0
            change = plain_score(odds, prior, alpha, tuple(on)) - plain_score(odds, prior, alpha, tuple(off))
            terms = explain_label(odds, prior, alpha, vector, label)
            assert sum(term.value for term in terms) == pytest.approx(change)
            assert [abs(t.value) for t in terms] == sorted((abs(t.value) for t in terms), reverse=True)
            assert {t.neighbour for t in terms if t.source == "neighbour"} == set(np.flatnonzero(off))


def test_twenty_labels_without_couplings_decode_label_by_label() -> None:
    odds = np.array(random_odds(2, 20, 7))
    prior = Ising(np.linspace(-2, 2, 20), np.zeros((20, 20)))
    assert (decode_map(odds, prior, [0.5])[0] == (odds + 0.5 * prior.theta > 0)).all()
    expected = 1 / (1 + np.exp(-(odds + 0.5 * prior.theta)))
    assert posterior_marginals(odds, prior, 0.5) == pytest.approx(expected)


def test_twenty_labels_with_couplings_decode_to_a_vector_that_no_change_of_three_labels_betters() -> None:
    odds, prior = random_odds(1, 20, 8), random_prior(20, 8, 0.7)
    best = decode_map(odds, prior, [1.0])[0, 0]
    rivals = []
    for size in (1, 2, 3):
        for changed in itertools.combinations(range(20), size):
            rival = best.copy()
            rival[list(changed)] ^= 1
            rivals.append(rival)
    peak = plain_score(odds[0], prior, 1.0, tuple(best.tolist()))
    assert max(plain_score(odds[0], prior, 1.0, tuple(rival.tolist())) for rival in rivals) < peak


def test_no_record_and_no_alpha_are_decoded_to_nothing() -> None:
    assert decode_map(np.empty((0, 3)), random_prior(3, 0), [1.0]).shape == (1, 0, 3)
    assert decode_map([[1.0]], random_prior(1, 0), []).shape == (0, 1, 1)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_logit_that_is_not_finite_is_refused_with_its_row(bad: float) -> None:
    with pytest.raises(ValueError, match="row 1"):
        log_odds_of([[[0.0, 0.0]], [[bad, 0.0]], [[bad, 0.0]]])
    with pytest.raises(ValueError, match="row 0"):
        decode_map([[bad]], random_prior(1, 0), [1.0])


def test_log_odds_are_yes_minus_no() -> None:
    assert log_odds_of([[[2.0, 0.5], [-1.0, 1.0]]]).tolist() == [[1.5, -2.0]]


@pytest.mark.parametrize("alpha", [math.nan, math.inf, 1e308])
def test_an_alpha_that_is_no_weight_is_refused(alpha: float) -> None:
    with pytest.raises(ValueError, match="alpha"):
        decode_map([[1.0, 1.0]], Ising(np.full(2, 10.0), np.zeros((2, 2))), [alpha])


TRAIN = {
    "t1": {"joy": 1, "fear": 0, "anger": 0},
    "t2": {"fear": 1, "joy": 0, "anger": 1},
    "t3": {"joy": 0, "fear": 1, "anger": 1},
    "t4": {"joy": 1, "fear": 0, "anger": 1},
}
SCORES = {
    "a": {"anger": (0.2, 0.0), "joy": (1.0, 1.0), "fear": (-1.0, 2.0)},
    "b": {"joy": (0.0, 1.0), "fear": (3.0, 0.0), "anger": (0.0, 0.5)},
}


def test_the_report_equals_plain_python_from_the_counts_on() -> None:
    report = decode_report(TRAIN, SCORES, None, [0, 0.5, 2], "paper", 0.5, ["marginals"])
    assert report["labels"] == ["joy", "fear", "anger"]
    # n_joy = 2 of 4, n_anger = 3, never joy with fear; s = 0.5 makes the denominator 5.
    assert report["theta"] == pytest.approx([0.0, 0.0, math.log(3.5 / 1.5)])
    assert report["theta_pairs"][0] == pytest.approx([0, math.log(0.05 / 0.25), math.log(0.25 / (0.5 * 0.7))])
    assert report["theta_pairs"][1] == pytest.approx([0, 0, math.log(0.45 / (0.5 * 0.7))])
    assert report["theta_pairs"][2] == [0, 0, 0]
    prior = Ising(np.array(report["theta"]), np.array(report["theta_pairs"]))
    odds = {"a": [0.0, -3.0, 0.2], "b": [-1.0, 3.0, -0.5]}
    for alpha, result in zip([0, 0.5, 2], report["results"], strict=True):
        assert result["alpha"] == alpha
        assert result["predictions"] == {key: plain_map(row, prior, alpha) for key, row in odds.items()}
        for key, row in odds.items():
            assert result["marginals"][key] == pytest.approx(plain_marginals(row, prior, alpha))


def test_the_report_scores_against_gold_where_some_is_given() -> None:
    report = decode_report(TRAIN, SCORES, {"b": {"joy": 0, "fear": 1, "anger": 1}}, [0.0])
    result = report["results"][0]
    assert result["n"] == 1
    assert result["lexical_accuracy"] == pytest.approx(2 / 3)
    assert result["vector_accuracy"] == 0
    assert "lexical_accuracy" not in decode_report(TRAIN, SCORES)["results"][0]
    assert [r["alpha"] for r in decode_report(TRAIN, SCORES)["results"]] == list(PAPER_ALPHAS)


def test_the_exact_prior_of_a_report_matches_the_training_data_whatever_the_smoothing() -> None:
    rows = [[1, 1], [1, 0], [0, 1], [0, 0], [0, 0]]
    train = {str(i): {"x": row[0], "y": row[1]} for i, row in enumerate(rows)}
    report = decode_report(train, {}, None, [1.0], "exact", 0.5)
    prior = Ising(np.array(report["theta"]), np.array(report["theta_pairs"]))
    assert prior.moments() == pytest.approx(np.array([[0.4, 0.2], [0.2, 0.4]]), abs=1e-9)
    assert report["notes"] == {}
    smoothed = decode_report(train, {}, None, [1.0], "exact-smoothed", 0.5)
    assert smoothed["theta"] != pytest.approx(report["theta"])


def test_an_exact_prior_without_a_finite_maximum_says_so_in_its_notes() -> None:
    assert "theta" in decode_report(TRAIN, {}, None, [1.0], "exact", 0.5)["notes"]
    assert decode_report(TRAIN, {}, None, [1.0], "exact-smoothed", 0.5)["notes"] == {}


@pytest.mark.parametrize("prior", list(PRIORS))
def test_every_prior_gives_a_document_without_nan_or_infinity(prior: str) -> None:
    for train in (TRAIN, {"one": TRAIN["t1"]}, {"z": {"joy": 0, "fear": 0, "anger": 0}}):
        report = decode_report(train, SCORES, {"a": TRAIN["t1"]}, PAPER_ALPHAS, prior, 0.5, ["marginals"])
        json.dumps(report, allow_nan=False)


def test_couplings_only_leaves_an_isolated_label_to_its_evidence() -> None:
    train, scores = {"a": {"x": 0}, "b": {"x": 0}, "c": {"x": 1}}, {"q": {"x": (0.1, 0.0)}}
    assert decode_report(train, scores, None, [5], "paper")["results"][0]["predictions"] == {"q": [0]}
    assert decode_report(train, scores, None, [5], "paper-couplings")["results"][0]["predictions"] == {"q": [1]}


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_logit_that_is_not_finite_is_refused_with_its_id(bad: float) -> None:
    with pytest.raises(BadInput) as refusal:
        decode_report(TRAIN, SCORES | {"culprit": SCORES["a"] | {"fear": (bad, 0.0)}})
    assert len(refusal.value.problems) == 1
    assert refusal.value.problems[0].startswith("culprit: ")
    assert "fear" in refusal.value.problems[0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"train": {}}, "training record"),
        ({"train": {"t": {"joy": 1}, "u": {"fear": 1}}, "scores": {}}, "u: "),
        ({"train": {"t": {"joy": 2}}, "scores": {}}, "t: "),
        ({"scores": {"s": {"joy": (0, 0), "fear": (0, 0)}}}, "s: "),
        ({"scores": {"s": {"joy": (0, 0), "fear": (0, 0), "anger": 1.0}}}, "s: "),
        ({"scores": {"s": {"joy": (0, 0), "fear": (0, 0), "anger": (1e308, -1e308)}}}, "s: "),
        ({"gold": {"nobody": TRAIN["t1"]}}, "nobody: "),
        ({"prior": "ouija"}, "ouija"),
        ({"smoothing": 0.0}, "smoothing"),
        ({"alphas": [math.nan]}, "alpha"),
        ({"output": ["tables"]}, "tables"),
        ({"train": {"t": {str(i): 0 for i in range(21)}}, "scores": {}}, "21 labels"),
    ],
)
def test_what_cannot_be_decoded_is_refused_in_a_line_that_says_what(change: dict[str, object], said: str) -> None:
    arguments: dict[str, object] = {"train": TRAIN, "scores": SCORES} | change
    with pytest.raises(BadInput, match=said):
        decode_report(**arguments)  # type: ignore[arg-type]


def test_fits_by_both_readings_decode_alike_where_labels_are_independent() -> None:
    rows = [[a, b] for a in (0, 0, 1) for b in (0, 1, 1)]
    odds = random_odds(40, 2, 1)
    paper, exact = fit_paper(rows, 0), fit_exact(rows)
    assert (decode_map(odds, paper, PAPER_ALPHAS) == decode_map(odds, exact, PAPER_ALPHAS)).all()
    assert (decode_map(odds, couplings_only(paper), [1.0]) == (np.array(odds) > 0)).all()


def test_a_document_says_how_it_was_decoded() -> None:
    plain = decode_report(TRAIN, SCORES)
    assert (plain["smoothing"], plain["couplings_only"], "statistics" in plain) == (0.5, False, False)
    exact = decode_report(TRAIN, SCORES, prior="exact", output=["statistics"])
    assert (exact["smoothing"], exact["couplings_only"], exact["statistics"]["n"]) == (None, False, len(TRAIN))
    assert decode_report(TRAIN, SCORES, prior="exact-couplings")["smoothing"] is None
    assert decode_report(TRAIN, SCORES, prior="paper-couplings")["couplings_only"] is True
    assert decode_report(TRAIN, SCORES, couplings_only=True)["couplings_only"] is True


def test_a_temperature_is_fitted_where_there_is_gold_and_labels_are_1_to_20() -> None:
    with pytest.raises(BadInput, match="there are none"):
        decode_report(TRAIN, SCORES, temperature="fit")
    fitted = decode_report(TRAIN, SCORES, {"a": TRAIN["t1"]}, temperature="fit")
    assert isinstance(fitted["temperature"], float)
    assert set(fitted["notes"]) == {"temperature"}
    for names in ([], [str(at) for at in range(21)]):
        with pytest.raises(BadInput, match=f"^{len(names)} labels: exact decoding works for 1 to 20"):
            decode_report({"t": dict.fromkeys(names, 1)}, {})


@pytest.mark.parametrize("target", ["hamming_loss", "macro_f1", "vector_accuracy"])
def test_a_document_of_folds_has_the_figure_that_chose_beside_each_choice(target: Target) -> None:
    draw = random.Random(4)
    gold = {str(at): {"joy": draw.randint(0, 1), "fear": draw.randint(0, 1)} for at in range(8)}
    sure = {1: (1.0, 0.0), 0: (0.0, 0.4)}
    scores = {key: {name: sure[bit ^ (draw.random() < 0.2)] for name, bit in row.items()} for key, row in gold.items()}
    grid = Grid(priors=("paper",), alphas=(0.0, 1.0), target=target)
    told = decode_folds_report(scores | {"more": scores["0"]}, gold, grid, 2)
    assert (told["n"], told["unlabelled"], told["labels"], told["target"]) == (8, 1, ["joy", "fear"], target)
    assert set(told["folds"]) == set(gold)
    assert [fold["n"] for fold in told["by_fold"]] == [4, 4]
    assert told["in_sample"]["chosen"][target] == pytest.approx(told["in_sample"][target])
    assert told["alone"]["predictions"] == told["results"][0]["predictions"]
    assert told["chosen"][target] == pytest.approx(
        next(one[target] for one in told["results"] if one["alpha"] == told["chosen"]["alpha"])
    )
    for wrong, says in (({}, "there are none"), ({"0": {"joy": 2, "fear": 0}}, "^0: ")):
        with pytest.raises(BadInput, match=says):
            decode_folds_report(scores, wrong, grid, 2)
    with pytest.raises(BadInput, match="at least four"):
        decode_folds_report(scores, {key: gold[key] for key in "012"}, grid, 2)
