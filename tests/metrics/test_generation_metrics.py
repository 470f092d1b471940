"""EPS, EAS, ERS, EAnS and perplexity against their definitions, and what raters come to."""

import math
from collections import Counter
from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.metrics.eans import EANS, eans
from emotui.metrics.eas import EAS_EMOTIONS, eas, mean_eas
from emotui.metrics.eps import EPS_LABELS, eps, eps_label
from emotui.metrics.ers import class_f1_of_recall, ers, ers_report, metric_of, weighted_f1
from emotui.metrics.fluency import perplexity, words_and_characters
from emotui.metrics.human_labels import (
    human_report,
    majority_label,
    majority_share,
    neutral_report,
    of_people,
)
from emotui.metrics.metric import Metric
from emotui.metrics.metric_trust import LOWER_IS_BETTER
from emotui.metrics.rating_subset import Candidate, agreed_upon, chosen, representative
from emotui.metrics.rewriting import is_refusal, leaks, unchanged
from emotui.metrics.thirteen import REGISTRY


def test_each_metric_of_the_registry_has_a_file_that_says_its_section_and_its_reading() -> None:
    assert [metric.name for metric in REGISTRY] == [
        *("eps_emotionless", "eps_neutral", "eps_emotional", "eas", "ers"),
        *("r1_m", "r2_m", "r3_m", "r1_c", "r2_c", "r3_c"),
    ]
    assert {metric.name for metric in REGISTRY if not metric.higher_is_better} == LOWER_IS_BETTER - {"ppl"}
    for metric in REGISTRY:
        module = import_module(f"emotui.metrics.{metric.name}")
        assert module.METRIC is metric
        told = getattr(module, metric.name).__doc__
        assert "section 5." in told
        assert "Reading: " in told
        assert "section 5." in metric.help
    assert metric_of("hf:a:b").name == "ers:hf:a:b"


labels = st.sampled_from(("joy", "disgust", "neutral"))


def test_eps_is_the_share_of_each_of_three_labels() -> None:
    assert eps(["emotional", "neutral", "emotional", "emotional"]) == {
        "emotionless": 0.0,
        "neutral": 0.25,
        "emotional": 0.75,
    }
    assert eps([]) is None
    assert eps_label({"emotional": 0.4, "neutral": 0.4, "emotionless": 0.2}) == "neutral"
    with pytest.raises(ValueError, match="emotional"):
        eps_label({"emotionless": 0.5, "neutral": 0.5})


@given(st.lists(st.sampled_from(EPS_LABELS), min_size=1))
def test_the_three_shares_sum_to_one(found: list[str]) -> None:
    shares = eps(found)
    assert shares is not None
    assert sum(shares.values()) == pytest.approx(1)


def test_eas_squares_each_of_six_ratings() -> None:
    assert eas(dict.fromkeys(EAS_EMOTIONS, 100)) == 6
    assert eas(dict.fromkeys(EAS_EMOTIONS, 0) | {"joy": 50, "fear": 10}) == pytest.approx(0.25 + 0.01)
    assert mean_eas([1, 2]) == 1.5
    assert mean_eas([]) is None
    with pytest.raises(ValueError, match="surprise"):
        eas(dict.fromkeys(EAS_EMOTIONS[:-1], 0))
    with pytest.raises(ValueError, match="joy"):
        eas(dict.fromkeys(EAS_EMOTIONS, 0) | {"joy": 101})


def test_ers_by_emotion_against_plain_counts() -> None:
    targets = ["joy", "joy", "joy", "disgust", "neutral"]
    found = ["joy", "neutral", None, "joy", "neutral"]
    report = ers_report(targets, found)
    assert report["accuracy"] == ers(targets, found) == 2 / 5
    assert report["by_emotion"]["joy"] == {"precision": 1 / 2, "recall": 1 / 3, "f1": 2 / 5, "support": 3}
    assert report["by_emotion"]["disgust"] == {"precision": None, "recall": 0, "f1": 0, "support": 1}
    assert report["by_emotion"]["neutral"] == {"precision": 1 / 2, "recall": 1, "f1": 2 / 3, "support": 1}
    assert report["macro"]["f1"] == pytest.approx((2 / 5 + 0 + 2 / 3) / 3)
    assert report["weighted"]["f1"] == weighted_f1(targets, found) == pytest.approx((3 * 2 / 5 + 0 + 2 / 3) / 5)
    assert ers([], []) is None
    assert weighted_f1([], []) is None


@given(st.lists(st.tuples(labels, st.none() | labels), min_size=1, max_size=30))
def test_weighted_f1_is_scikit_learns(pairs: list[tuple[str, str | None]]) -> None:
    from sklearn.metrics import f1_score

    targets, found = [a for a, _ in pairs], [b for _, b in pairs]
    theirs = f1_score(targets, [one or "" for one in found], average="weighted", zero_division=0)
    assert weighted_f1(targets, found) == pytest.approx(theirs)


def test_table_7_prints_the_f1_of_a_class_that_all_texts_are_gold_of() -> None:
    printed = {54: 0.7826, 76: 0.9500, 60: 0.8333, 53: 0.7737}
    for count, f1 in printed.items():
        assert round(class_f1_of_recall(count / 84), 4) == f1


def test_eans_against_the_definitions_in_plain_python() -> None:
    draw = np.random.default_rng(0)

    def unit() -> np.ndarray:
        rows = draw.normal(size=(4, 5))
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    original, neutral, emotional, target, none = (unit() for _ in range(5))

    def cos(a: list[float], b: list[float]) -> float:
        dot = sum(x * y for x, y in zip(a, b, strict=True))
        return dot / math.sqrt(sum(x * x for x in a)) / math.sqrt(sum(y * y for y in b))

    def manhattan(a: list[float], b: list[float]) -> float:
        return sum(abs(x - y) for x, y in zip(a, b, strict=True))

    for reading in ("table", "printed"):
        found = eans(original, neutral, emotional, target, none, reading)  # type: ignore[arg-type]
        assert tuple(found) == EANS
        for row in range(4):
            s_o, s_n, s_t, e_t, e_n = (one[row].tolist() for one in (original, neutral, emotional, target, none))
            analogy = [x - y + z for x, y, z in zip(e_t, s_t, s_n, strict=True)]
            first = (s_n, s_t) if reading == "table" else (e_n, e_t)
            for name, (a, b) in {"r1": first, "r2": (e_n, analogy), "r3": (s_o, s_t)}.items():
                assert found[f"{name}_c"][row] == pytest.approx(cos(a, b))
                assert found[f"{name}_m"][row] == pytest.approx(manhattan(a, b))


def test_a_text_that_was_left_as_it_is_lies_nowhere_else() -> None:
    row = np.array([[0.6, 0.8]])
    found = eans(row, row, row, row, row)
    assert (found["r1_c"], found["r1_m"]) == (pytest.approx(1), 0)
    zero = np.zeros((1, 2))
    assert eans(zero, row, zero, zero, row)["r3_c"] == 0


def test_perplexity_is_of_the_mean_token() -> None:
    assert perplexity(4 * math.log(1 / 8), 4) == pytest.approx(8)
    assert perplexity(0, 0) is None
    assert perplexity(-1e6, 1) is perplexity(-700.0, 1) is None
    assert perplexity(math.log(1 / 8), 1) == pytest.approx(8)
    assert perplexity(-699.0, 1) == math.exp(699)
    assert words_and_characters("two  words\n") == (2, 11)


def test_of_several_most_frequent_labels_a_stated_rule_decides() -> None:
    tied = ["joy", "joy", "disgust", "disgust", "neutral"]
    assert majority_label(tied, "joy", "none") is None
    assert majority_label(tied, "joy", "first") == "disgust"
    assert majority_label(tied, "joy", "target") == "joy"
    assert majority_label(tied, "neutral", "target") == "disgust"
    assert majority_label([], "joy", "target") is None
    assert majority_share(tied) == 2 / 5
    assert majority_share([]) is None


def test_what_raters_see_in_emotional_texts() -> None:
    report = human_report(
        ["joy", "joy", "neutral", "neutral"],
        [["joy"] * 5, ["neutral", "neutral", "neutral", "joy", "joy"], ["neutral"] * 4 + ["joy"], []],
    )
    assert (report["n"], report["ties"], report["accuracy"]) == (3, 0, 2 / 3)
    assert report["human_f1"] == pytest.approx((2 * 2 / 3 + 2 / 3) / 3)
    assert report["agreement"] == pytest.approx((1 + 0.6 + 0.8) / 3)
    assert report["by_emotion"]["joy"]["agreement"] == pytest.approx(0.8)
    assert report["notes"] == {}
    unlike = human_report(["joy", "neutral"], [["joy"] * 4, ["joy", "neutral", "neutral", "fear"]])
    assert [unlike["by_emotion"][name]["agreement"] for name in ("joy", "neutral")] == [1, 0.5]
    assert unlike["ties"] == 0  # two labels that came once each are no tie
    assert human_report(["joy"], [["joy"]])["notes"].keys() == {"krippendorff_alpha", "fleiss_kappa"}
    nobody = human_report(["joy"], [[]])
    assert nobody["human_f1"] is None
    assert {"human_f1", "accuracy", "agreement"} <= nobody["notes"].keys()
    assert of_people([["joy", "joy", "neutral", "joy"], []], ["joy", "joy"]) == [0.75, None]


def test_unequal_numbers_of_ratings_have_an_alpha_but_no_kappa() -> None:
    report = human_report(["joy", "joy"], [["joy", "joy", "neutral"], ["joy", "neutral"]])
    assert report["fleiss_kappa"] is None
    assert report["notes"]["fleiss_kappa"] == "texts have unequal numbers of ratings (2 to 3)"
    assert report["krippendorff_alpha"] is not None


def test_what_raters_see_in_neutral_texts() -> None:
    report = neutral_report([["neutral"] * 5, ["joy"] * 3 + ["neutral"] * 2, [], ["joy", "neutral"]])
    assert (report["n"], report["neutral"], report["ties"]) == (3, 1, 1)
    assert report["f1"] == pytest.approx(2 * (1 / 3) / (1 + 1 / 3))
    assert report["by_emotion"] == {"neutral": 1, "joy": 1}
    assert report["agreement"] == pytest.approx((1 + 3 / 5 + 1 / 2) / 3)
    assert "recall" not in report["notes"]
    assert neutral_report([])["f1"] is None
    assert {"recall", "f1", "agreement"} <= neutral_report([])["notes"].keys()


@given(st.lists(labels, min_size=1))
def test_the_majority_share_is_that_of_the_most_frequent_label(given_: list[str]) -> None:
    assert majority_share(given_) == max(Counter(given_).values()) / len(given_)


@pytest.mark.parametrize(
    "answer",
    [
        "I'm sorry, but I can't help with that.",
        "I cannot rewrite this text.",
        "As an AI, I do not have feelings.",
        "Sorry, I can't do that.",
        "I am unable to assist.",
    ],
)
def test_refusals_are_told_by_how_they_begin(answer: str) -> None:
    assert is_refusal(answer)


@pytest.mark.parametrize("text", ["I'm sorry that the film ends there.", "I can't wait for part two.", "Sorry sight!"])
def test_texts_that_only_begin_alike_are_no_refusals(text: str) -> None:
    assert not is_refusal(text)


@pytest.mark.parametrize(
    ("text", "label", "found"),
    [
        ("I was so disappointed, a Disappointment.", "disappointment", ["disappointed", "Disappointment"]),
        ("joyful and enjoyed it with joy", "joy", ["joyful", "joy"]),
        ("what a confusing plot", "confusion", ["confusing"]),
        ("surprisingly good, surprised", "surprise", ["surprisingly", "surprised"]),
        ("contents of the box, contented", "contentment", ["contents", "contented"]),
        ("a saddle", "sadness", []),
        ("raging, in rags", "rage", ["raging", "rags"]),  # three letters are left
        ("an awful day", "awe", []),  # two would be
        ("nothing here", "joy", []),
    ],
)
def test_a_leak_is_the_labels_word_or_a_form_of_it(text: str, label: str, found: list[str]) -> None:
    assert leaks(text, label) == found


def test_case_and_punctuation_change_no_text() -> None:
    assert unchanged("The film: good.", "the film, GOOD")
    assert not unchanged("The film is good.", "The film is bad.")


def test_the_first_and_the_last_of_each_source_and_emotion_are_chosen_and_those_agreed_upon() -> None:
    texts = [
        Candidate("a", "joy", "v1", 1),
        Candidate("b", "joy", "v1", 2),
        Candidate("c", "joy", "v1", 3),
        Candidate("d", "neutral", "v1", 2),
        Candidate("e", "joy", "v2", 9),
        Candidate("f", "joy", "v2", 5, ("joy", "joy", "neutral")),
        Candidate("g", "joy", "v2", 6, ("joy", "joy", "neutral")),
        Candidate("h", "joy", "v2", 7, ("joy", "neutral", "disgust")),
        Candidate("i", "joy", "v2", 8, ("joy",)),
    ]
    assert chosen(texts) == ["a", "c", "d", "e", "f", "g"]
    assert agreed_upon(texts) == ["f", "g"]
    assert agreed_upon(texts, 0.67) == []
    assert representative([1, 2, 3], [2, 4, 6]) == pytest.approx(1)


def test_ends_go_by_place_and_then_by_the_list_and_agreement_is_above_the_least_of_two_annotations_or_more() -> None:
    ties = [("a", 5), ("b", 2), ("c", 2), ("d", 7), ("e", 7), ("f", 3)]
    assert chosen([Candidate(key, "joy", "v", order) for key, order in ties]) == ["b", "e"]
    ends = [Candidate("first", "joy", "v", 0), Candidate("last", "joy", "v", 9)]
    golds = {"three of five": ("joy",) * 3 + ("anger", "fear"), "two of two": ("joy",) * 2, "none": ()}
    between = [Candidate(key, "joy", "v", 5, gold) for key, gold in golds.items()]
    assert chosen([*ends, *between]) == ["first", "last", "two of two"]
    assert agreed_upon(between) == ["two of two"]


def test_each_metric_has_its_papers_range_and_its_better_end() -> None:
    files = [import_module(f"emotui.metrics.{name}").METRIC for name in (*(one.name for one in REGISTRY), "fluency")]
    assert {one.name: (one.range, one.higher_is_better) for one in files} == {
        "eas": ((0, 6), True),
        "ers": ((0, 1), True),
        "ppl": ((1, None), False),
        "eps_emotional": ((0, 1), True),
        "eps_emotionless": ((0, 1), False),
        "eps_neutral": ((0, 1), False),
        **dict.fromkeys(("r1_c", "r2_c", "r3_c"), ((-1, 1), True)),
        **dict.fromkeys(("r1_m", "r2_m", "r3_m"), ((0, None), False)),
    }
    assert [one.name for one in files if one.yes_or_no] == ["ers"]
    plain = Metric("f2", (0, 1), higher_is_better=True, help="")
    assert (files[0].title, plain.title, plain.yes_or_no) == ("emotionless", "f2", False)
