"""A blind study of two sources: majorities, unanimity, kappa and codes, worked out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.metrics.agreement import fleiss_kappa, uneven_fleiss_kappa
from emotui.metrics.blind_study import VERDICTS, Verdict, majority_of, study_report


def test_a_majority_is_more_than_any_other_and_three_that_differ_have_none() -> None:
    assert majority_of(["a", "b", "a"]) == "a"
    assert majority_of(["a", "b", "both"]) == "all_differ"
    assert majority_of(["a", "b", "a", "b"]) == "tied"
    assert majority_of(["neither"]) == "neither"
    assert majority_of(["a", "b"]) == "all_differ"


def three() -> dict[str, dict[str, Verdict]]:
    def coder(*verdicts: str) -> dict[str, Verdict]:
        return {f"t{place}": Verdict(one) for place, one in enumerate(verdicts)}

    return {"A": coder("a", "a", "b", "both"), "B": coder("a", "b", "b", "a"), "C": coder("a", "b", "a", "b")}


def test_a_study_of_three_coders_by_hand() -> None:
    report = study_report(three(), 4)
    assert report["complete"] == 4
    assert {name: one["n"] for name, one in report["majority"].items()} == {
        "a": 1, "b": 2, "both": 0, "neither": 0, "all_differ": 1,
    }  # fmt: skip
    assert report["unanimous"] == {"n": 1, "share": 0.25}
    # Observed: (1 + 1/3 + 1/3 + 0) / 4 = 5/12. By chance: (6² + 5² + 1²) / 12² = 62/144. Kappa: (60 - 62) / (144 - 62).
    assert report["fleiss_kappa"] == pytest.approx(-2 / 82)


def test_texts_that_one_coder_left_are_not_counted_in_what_all_say() -> None:
    said = three()
    del said["C"]["t0"]
    report = study_report(said, 4)
    assert report["complete"] == 3
    assert report["unanimous"]["n"] == 0
    assert report["coders"]["C"]["n"] == 3


def test_codes_are_shares_of_the_assignments_under_their_verdict() -> None:
    said = {
        "A": {
            "t0": Verdict("a", True, ("3", "2"), ("tone",)),
            "t1": Verdict("a", False, ("3",)),
            "t2": Verdict("b", False, ("3",)),
            "t3": Verdict("both", True, ("11",)),
        }
    }
    report = study_report(said, 4, ["1", "2", "3"])
    assert [row["code"] for row in report["codes"]] == ["1", "2", "3", "11"]
    third = report["codes"][2]
    assert third["counts"] == {"a": 2, "b": 1, "both": 0, "neither": 0}
    assert third["shares"]["a"] == pytest.approx(2 / 3)
    assert third["shares"]["neither"] is None
    assert report["totals"] == {"a": 3, "b": 1, "both": 1, "neither": 0}
    assert report["open"] == {"tone": 1}
    # a stood first in t0, second in t1 and t2: the first was preferred in t0 and t2.
    assert report["coders"]["A"]["first_preferred"] == pytest.approx(2 / 3)


@given(st.lists(st.lists(st.sampled_from(VERDICTS), min_size=3, max_size=3), max_size=20))
def test_majorities_add_up_and_unanimous_texts_are_among_them(rows: list[list[str]]) -> None:
    said = {name: {str(at): Verdict(row[c]) for at, row in enumerate(rows)} for c, name in enumerate("ABC")}
    report = study_report(said, len(rows))
    assert sum(one["n"] for one in report["majority"].values()) == report["complete"] == len(rows)
    assert report["unanimous"]["n"] <= len(rows) - report["majority"]["all_differ"]["n"]


def test_what_is_undefined_says_why_and_a_tie_has_a_row_where_there_is_one() -> None:
    assert study_report(three(), 4)["notes"] == {}
    nobody = study_report({}, 2)
    assert (nobody["complete"], nobody["coders"], nobody["unanimous"], nobody["fleiss_kappa"]) == (0, {}, None, None)
    assert set(nobody["notes"]) == {"fleiss_kappa", "fleiss_kappa_all", "unanimous"}
    assert nobody["majority"]["a"] == {"n": 0, "share": None}
    apart = study_report({"A": {"t0": Verdict("a")}, "B": {"t1": Verdict("b")}}, 2)
    assert (apart["complete"], apart["fleiss_kappa"]) == (0, None)
    assert set(apart["notes"]) == {"fleiss_kappa", "fleiss_kappa_all"}
    said = {name: {"t0": Verdict(verdict)} for name, verdict in zip("ABCD", "aabb", strict=True)}
    assert study_report(said, 1)["majority"]["tied"] == {"n": 1, "share": 1.0}
    assert "tied" not in study_report(three(), 4)["majority"]


def test_own_codes_stand_by_how_often_they_were_given_and_then_by_name() -> None:
    said = {"A": {str(at): Verdict("a", open=("wit", "tone") if at else ("wit", "ads")) for at in range(2)}}
    report = study_report(said, 2)
    assert list(report["open"].items()) == [("wit", 2), ("ads", 1), ("tone", 1)]
    assert report["coders"]["A"]["first_preferred"] == 1.0  # a stands first where nothing is said


@given(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=12))
def test_with_as_many_ratings_everywhere_the_uneven_kappa_is_fleiss(rows: list[list[int]]) -> None:
    counts = [[row.count(name) for name in range(4)] for row in rows]
    assert uneven_fleiss_kappa(counts) == pytest.approx(fleiss_kappa(counts))


def test_a_text_that_fewer_coders_answered_counts_by_its_own_pairs() -> None:
    # Pairs that agree: all of two, none of one, one of three: mean 4/9. Shares: (1 + 1/2 + 2/3 + 0) / 4 and the rest.
    a = (1 + 1 / 2 + 2 / 3) / 4
    chance = a**2 + (1 - a) ** 2
    found = uneven_fleiss_kappa([[2, 0], [1, 1], [2, 1], [0, 1], [0, 0]])
    assert found == pytest.approx((4 / 9 - chance) / (1 - chance))
    assert uneven_fleiss_kappa([[1, 0], [0, 1]]) is None
