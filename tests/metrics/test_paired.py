"""Paired comparison: hand-worked figures, the whole bootstrap distribution of a tiny sample, scipy beside it."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata, wilcoxon

from emotui.errors import BadInput
from emotui.metrics.paired import Alternative, cohens_d, compared, paired_report, wilcoxon_p


def test_means_and_effect_size_worked_by_hand() -> None:
    # Differences 1, 2, 3: mean 2, standard deviation 1.
    report = paired_report({"x": 2.0, "y": 4.0, "z": 6.0}, {"z": 3.0, "y": 2.0, "x": 1.0})
    assert report["n"] == 3
    assert (report["mean_a"], report["mean_b"], report["mean_difference"]) == (4.0, 2.0, 2.0)
    assert report["cohens_d"] == pytest.approx(2.0)
    # Exact signed-rank: all three ranks on one side, 2 of the 8 sign patterns.
    assert report["wilcoxon_p"] == pytest.approx(0.25)
    # Student's t with 2 degrees of freedom: 2 +- 4.303 / sqrt(3).
    assert report["ci95"] == pytest.approx([2 - 4.30265 / math.sqrt(3), 2 + 4.30265 / math.sqrt(3)], abs=1e-5)
    assert report["notes"] == {"ci95": "Student's t over 3 samples: fewer than 30"}


def test_the_signed_rank_test_equals_the_enumeration_of_all_signs() -> None:
    differences = [0.3, -1.1, 2.4, 0.9, -0.2, 1.7, 3.1]
    ranks = np.argsort(np.argsort(np.abs(differences))) + 1
    middle = ranks.sum() / 2
    seen = abs(ranks[np.array(differences) > 0].sum() - middle)
    as_far = sum(
        abs(ranks[np.array(signs, dtype=bool)].sum() - middle) >= seen for signs in itertools.product((0, 1), repeat=7)
    )
    assert wilcoxon_p(differences) == pytest.approx(as_far / 2**7)
    assert wilcoxon_p([*differences, 0.0]) == pytest.approx(float(wilcoxon([*differences, 0.0]).pvalue))


@pytest.mark.parametrize("n", [1, 2, 7, 10])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_with_ties_too_the_signed_rank_test_is_over_all_signs(n: int, alternative: Alternative) -> None:
    differences = np.random.default_rng(n).integers(-3, 4, n) / 10 + 0.05
    ranks = rankdata(np.abs(differences).round(9))
    seen = ranks[differences > 0].sum()
    sums = np.array([ranks[np.array(signs, dtype=bool)].sum() for signs in itertools.product((0, 1), repeat=n)])
    below, above = (sums <= seen).mean(), (sums >= seen).mean()
    by_hand = {"less": below, "greater": above, "two-sided": min(1.0, 2 * min(below, above))}[alternative]
    assert wilcoxon_p(differences, alternative) == pytest.approx(by_hand)


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=60))
def test_the_signed_rank_test_says_the_same_with_all_signs_turned(tenths: list[int]) -> None:
    differences = np.array(tenths) / 10
    two_sided, turned = wilcoxon_p(differences), wilcoxon_p(-differences)
    assert (two_sided is None) == (not differences.any())
    if two_sided is not None:
        assert two_sided == pytest.approx(turned)
        assert wilcoxon_p(differences, "less") == pytest.approx(wilcoxon_p(-differences, "greater"))
        assert 0 < two_sided <= 1


def test_many_differences_have_scipys_normal_approximation() -> None:
    differences = np.random.default_rng(5).normal(0.1, 1, 80)
    assert wilcoxon_p(differences) == pytest.approx(wilcoxon(differences, method="asymptotic").pvalue)
    assert wilcoxon_p(differences[:50]) == pytest.approx(wilcoxon(differences[:50], method="exact").pvalue)


def test_the_seed_decides_the_interval_and_the_order_of_the_files_does_not() -> None:
    draw = np.random.default_rng(4)
    a, b = ({str(i): float(value) for i, value in enumerate(draw.normal(size=40))} for _ in range(2))
    report = paired_report(a, b, seed=7)
    assert paired_report(dict(reversed(a.items())), b, seed=7) == report
    assert paired_report(a, b, seed=8)["ci95"] != report["ci95"]
    assert report["ci95"][0] < report["mean_difference"] < report["ci95"][1]


def test_swapping_the_files_turns_the_signs() -> None:
    a, b = {"1": 0.5, "2": 0.9, "3": 0.1}, {"1": 0.25, "2": 0.5, "3": 0.3}
    one, other = paired_report(a, b), paired_report(b, a)
    assert other["mean_difference"] == pytest.approx(-one["mean_difference"])
    assert other["cohens_d"] == pytest.approx(-one["cohens_d"])
    assert other["wilcoxon_p"] == pytest.approx(one["wilcoxon_p"])


def test_equal_scores_have_no_p_value_and_no_effect_size_and_say_why() -> None:
    report = paired_report({"1": 0.5, "2": 0.7}, {"1": 0.5, "2": 0.7})
    assert report["wilcoxon_p"] is None
    assert report["cohens_d"] is None
    assert report["ci95"] is None
    assert set(report["notes"]) == {"wilcoxon_p", "cohens_d", "ci95"}


def test_differences_that_are_equal_but_for_rounding_have_no_effect_size() -> None:
    assert cohens_d(np.array([0.3, 0.2]) - np.array([0.2, 0.1])) is None


@pytest.mark.parametrize("scores", [{}, {"1": 0.5}])
def test_too_few_pairs_leave_figures_undefined_with_their_cause(scores: dict[str, float]) -> None:
    report = json.loads(json.dumps(paired_report(scores, dict.fromkeys(scores, 0.25)), allow_nan=False))
    undefined = {name for name, value in report.items() if value is None}
    assert {"ci95", "cohens_d"} <= undefined
    assert undefined == set(report["notes"])
    assert (report["n"], report["won"], report["lost"], report["tied"]) == (len(scores), len(scores), 0, 0)


def test_ids_in_one_file_only_are_refused_unless_inner() -> None:
    a, b = {"both": 1.0, "left": 2.0}, {"both": 0.0, "right": 3.0}
    with pytest.raises(BadInput) as refusal:
        paired_report(a, b)
    assert [line.split(":")[0] for line in refusal.value.problems] == ["left", "right"]
    assert paired_report(a, b, inner=True)["n"] == 1


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_score_that_is_not_finite_is_refused_with_its_id(bad: float) -> None:
    with pytest.raises(BadInput, match=r"^culprit: "):
        paired_report({"culprit": bad}, {"culprit": 1.0})


def test_samples_of_one_passage_are_drawn_and_ranked_together() -> None:
    draw = np.random.default_rng(6)
    shared = np.repeat(draw.normal(0.1, 1, 40), 5)
    a = {f"{i:03}": float(x) for i, x in enumerate(shared + draw.normal(0, 0.1, 200))}
    b, groups = dict.fromkeys(a, 0.0), {f"{i:03}": str(i // 5) for i in range(200)}
    alone, grouped = paired_report(a, b), paired_report(a, b, groups=groups)
    assert grouped["groups"] == 40
    assert grouped["mean_difference"] == alone["mean_difference"]
    width = {name: one["ci95"][1] - one["ci95"][0] for name, one in (("alone", alone), ("grouped", grouped))}
    # Five equal samples of a passage say as much as one: the interval is as wide as that of 40 samples.
    assert width["grouped"] / width["alone"] == pytest.approx(math.sqrt(5), rel=0.1)
    means = np.array(list(a.values())).reshape(40, 5).mean(axis=1)
    assert grouped["wilcoxon_p"] == pytest.approx(float(wilcoxon(means).pvalue))
    assert grouped["smallest_difference"] > 2 * alone["smallest_difference"]


def test_a_group_is_ranked_by_the_mean_of_its_differences_however_many_they_are() -> None:
    # Means 1, -2, 3, -4 and 0.5; their sums would be ranked otherwise.
    by_group = {"p": [1.0], "q": [-2.0] * 3, "r": [2.0, 4.0], "s": [-4.0], "t": [0.5] * 9}
    a = {f"{name}{at}": one for name, each in by_group.items() for at, one in enumerate(each)}
    report = paired_report(a, dict.fromkeys(a, 0.0), groups={key: key[0] for key in a})
    assert report["wilcoxon_p"] == pytest.approx(float(wilcoxon([1, -2, 3, -4, 0.5]).pvalue))
    assert report["wilcoxon_p"] != pytest.approx(float(wilcoxon([1, -6, 6, -4, 4.5]).pvalue))


def test_scores_of_right_and_wrong_have_mcnemars_test_and_are_counted() -> None:
    a = {str(i): float(i < 11) for i in range(20)}
    b = {str(i): float(i >= 17) for i in range(20)}
    report = paired_report(a, b)
    assert (report["won"], report["lost"], report["tied"]) == (11, 3, 6)
    assert report["mcnemar_p"] == pytest.approx(0.057373046875)
    assert "6 differences of 0 are left out" in report["conventions"]["wilcoxon_p"]
    assert "mcnemar_p" not in paired_report(a, b | {"0": 0.5})
    assert "mcnemar_p" in paired_report(a, a)["notes"]


def test_two_differences_have_an_effect_and_what_has_none_says_why() -> None:
    assert cohens_d([1.0, 2.0]) == pytest.approx(1.5 / math.sqrt(0.5))
    with np.errstate(all="ignore"):
        assert cohens_d([1e308, 1.5e308]) is None
    one = paired_report({"x": 1.0}, {"x": 2.0})
    assert "there is one pair only" in " ".join(one["notes"].values())
    same = paired_report({"x": 1.0, "y": 3.0}, {"x": 2.0, "y": 2.0}, groups={"x": "p", "y": "p"})
    assert "all pairs are of one group" in " ".join(same["notes"].values())


def test_differences_within_rounding_are_ties_and_what_is_drawn_is_told() -> None:
    a, b = {"x": 0.0, "y": 1e-12, "z": 2.0}, {"x": 1e-12, "y": 0.0, "z": 1.0}
    report = paired_report(a, b)
    assert (report["won"], report["lost"], report["tied"]) == (1, 0, 2)
    assert "signed-rank over pairs" in json.dumps(report)
    assert "signed-rank over groups" in json.dumps(paired_report(a, b, groups={"x": "p", "y": "p", "z": "q"}))
    first, second = np.arange(40.0), np.arange(40.0)[::-1] / 2
    assert compared(first, second) == compared(first, second, seed=0) != compared(first, second, seed=1)


def test_twelve_ties_that_rounding_parts_have_no_p_value_and_no_interval() -> None:
    # .1 + .2 is .3 on paper, and 5.6e-17 more in binary: twelve such pairs once had p = 4.9e-4.
    ids = [str(at) for at in range(12)]
    report = paired_report(dict.fromkeys(ids, 0.1 + 0.2), dict.fromkeys(ids, 0.3))
    assert (report["wilcoxon_p"], report["ci95"], report["tied"]) == (None, None, 12)
    assert wilcoxon_p([0.1 + 0.2 - 0.3] * 12) is None


def test_differences_that_are_equal_on_paper_have_one_rank() -> None:
    binary = [0.3 - 0.2, 0.2 - 0.1, 0.1 - 0.2, 0.5 - 0.3, 0.9 - 0.7, 0.6 - 0.2, 0.2 - 0.5]
    assert wilcoxon_p(binary) == pytest.approx(float(wilcoxon([1, 1, -1, 2, 2, 4, -3]).pvalue))
