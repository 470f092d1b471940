"""The sample scenarios keep the promises made in sample_data/README_scenes.md."""

import json
from collections import Counter
from importlib.resources import files
from itertools import combinations
from typing import Any

import pytest

LABELS = ["joy", "trust", "fear", "surprise", "sadness", "disgust", "anger", "anticipation"]
ANNOTATORS = ["A1", "A2", "A3"]
LONGEST_SHARED_RUN = 7


@pytest.fixture(scope="module")
def scenes() -> list[dict[str, Any]]:
    text = files("emotui.sample_data").joinpath("scenes.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def words(text: str) -> list[str]:
    """Lower-cased words without the punctuation around them."""
    stripped = (word.strip(".,;:!?\"'()").lower() for word in text.split())
    return [word for word in stripped if word]


def fleiss_kappa(yes_votes: list[int], raters: int) -> float:
    """Fleiss kappa of yes/no votes, from how many of the raters said yes to each item."""
    n = len(yes_votes)
    agreement = sum(k * (k - 1) + (raters - k) * (raters - k - 1) for k in yes_votes) / (n * raters * (raters - 1))
    share = sum(yes_votes) / (n * raters)
    chance = share**2 + (1 - share) ** 2
    return (agreement - chance) / (1 - chance)


def test_there_are_at_least_160_scenarios_with_ids_of_their_own(scenes: list[dict[str, Any]]) -> None:
    assert len(scenes) >= 160
    assert [scene["id"] for scene in scenes] == [f"s-{i:03d}" for i in range(1, len(scenes) + 1)]


def test_a_scenario_has_60_to_130_words(scenes: list[dict[str, Any]]) -> None:
    assert {s["id"]: n for s in scenes if not 60 <= (n := len(s["text"].split())) <= 130} == {}


def test_the_subject_occurs_in_the_text_and_in_one_scenario_only(scenes: list[dict[str, Any]]) -> None:
    assert [s["id"] for s in scenes if s["subject"] not in s["text"]] == []
    assert [name for name, n in Counter(s["subject"] for s in scenes).items() if n > 1] == []


def test_every_vector_has_the_eight_labels_in_the_order_of_the_paper(scenes: list[dict[str, Any]]) -> None:
    for scene in scenes:
        assert list(scene["annotators"]) == ANNOTATORS, scene["id"]
        for vector in [scene["labels"], *scene["annotators"].values()]:
            assert list(vector) == LABELS, scene["id"]
            assert set(vector.values()) <= {0, 1}, scene["id"]


def test_the_gold_is_the_majority_of_the_three_annotators(scenes: list[dict[str, Any]]) -> None:
    for scene in scenes:
        for label in LABELS:
            votes = sum(vector[label] for vector in scene["annotators"].values())
            assert scene["labels"][label] == int(votes >= 2), (scene["id"], label)


def test_two_to_three_in_five_scenarios_hold_several_emotions_and_a_few_hold_none(scenes: list[dict[str, Any]]) -> None:
    sizes = [sum(scene["labels"].values()) for scene in scenes]
    assert 0.40 <= sum(size > 1 for size in sizes) / len(sizes) <= 0.50
    assert 3 <= sizes.count(0) <= 12


@pytest.mark.parametrize("label", LABELS)
def test_every_label_has_at_least_12_positives(scenes: list[dict[str, Any]], label: str) -> None:
    assert sum(scene["labels"][label] for scene in scenes) >= 12


def test_annotators_agree_well_but_not_fully(scenes: list[dict[str, Any]]) -> None:
    votes = [sum(v[label] for v in scene["annotators"].values()) for scene in scenes for label in LABELS]
    assert 0.5 <= fleiss_kappa(votes, len(ANNOTATORS)) <= 0.8


def test_kappa_here_follows_the_textbook_formula() -> None:
    # Votes 3, 0, 2 of 3: mean agreement (1 + 1 + 1/3) / 3 = 7/9, share of yes 5/9, chance 41/81; (63 - 41) / (81 - 41).
    assert fleiss_kappa([3, 0, 2], raters=3) == pytest.approx(22 / 40)


def test_emotions_that_go_together_in_life_go_together_here(scenes: list[dict[str, Any]]) -> None:
    pairs: Counter[tuple[str, str]] = Counter()
    for scene in scenes:
        pairs.update(combinations([label for label in LABELS if scene["labels"][label]], 2))
    for usual, unusual in [
        (("joy", "trust"), ("trust", "disgust")),
        (("joy", "anticipation"), ("joy", "disgust")),
        (("fear", "sadness"), ("joy", "fear")),
        (("disgust", "anger"), ("trust", "anger")),
    ]:
        assert pairs[usual] >= 5 > pairs[unusual]


def test_no_two_scenarios_share_a_run_of_eight_words(scenes: list[dict[str, Any]]) -> None:
    first_seen: dict[tuple[str, ...], str] = {}
    run = LONGEST_SHARED_RUN + 1
    for scene in scenes:
        tokens = words(scene["text"])
        for i in range(len(tokens) - run + 1):
            owner = first_seen.setdefault(tuple(tokens[i : i + run]), scene["id"])
            assert owner == scene["id"], (owner, scene["id"], tokens[i : i + run])


def test_the_figures_in_the_account_are_those_of_the_file(scenes: list[dict[str, Any]]) -> None:
    account = files("emotui.sample_data").joinpath("README_scenes.md").read_text(encoding="utf-8")
    sizes = Counter(sum(scene["labels"].values()) for scene in scenes)
    lengths = [len(scene["text"].split()) for scene in scenes]
    votes = {label: [sum(v[label] for v in s["annotators"].values()) for s in scenes] for label in LABELS}
    assert f"{len(scenes)} short scenarios" in account
    assert f"{min(lengths)} to {max(lengths)} words" in account
    assert f"none in {sizes[0]} scenarios, one in {sizes[1]}, two in {sizes[2]}, three in {sizes[3]}." in account
    assert f"{fleiss_kappa([n for label in LABELS for n in votes[label]], 3):.2f}." in account
    for label in LABELS:
        positives = sum(n >= 2 for n in votes[label])
        assert f"| {label} | {positives} | {fleiss_kappa(votes[label], 3):.2f} |" in account


def test_emotion_words_are_rare(scenes: list[dict[str, Any]]) -> None:
    named = {*LABELS, "happy", "sad", "afraid", "scared", "angry", "furious", "disgusted", "surprised", "frightened"}
    assert sum(bool(named & set(words(scene["text"]))) for scene in scenes) <= len(scenes) // 20
