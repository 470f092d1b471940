"""The sample self-expressions keep the promises made in sample_data/README_masked.md."""

import json
import re
from collections import Counter
from importlib.resources import files
from typing import Any

import pytest

MASK = "<mask>"


@pytest.fixture(scope="module")
def posts() -> list[dict[str, Any]]:
    text = files("emotui.sample_data").joinpath("masked.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def words(text: str) -> list[str]:
    """Lower-cased words; apostrophes belong to a word, a mask is none."""
    return re.findall(r"[a-z0-9']+", text.replace(MASK, " ").lower())


def test_there_are_at_least_80_posts_with_ids_of_their_own(posts: list[dict[str, Any]]) -> None:
    assert len(posts) >= 80
    assert [post["id"] for post in posts] == [f"m-{i:03d}" for i in range(1, len(posts) + 1)]


def test_there_is_one_label_a_mask_and_one_to_three_masks(posts: list[dict[str, Any]]) -> None:
    for post in posts:
        assert post["text"].count(MASK) == len(post["labels"]) <= 3, post["id"]
        assert post["labels"], post["id"]
    assert {len(post["labels"]) for post in posts} == {1, 2, 3}


def test_a_post_has_20_to_60_words(posts: list[dict[str, Any]]) -> None:
    assert {p["id"]: n for p in posts if not 20 <= (n := len(p["text"].split())) <= 60} == {}


def test_a_post_is_in_the_first_person(posts: list[dict[str, Any]]) -> None:
    first = {"i", "i'm", "i've", "i'd", "i'll", "me", "my", "we", "we're"}
    assert [post["id"] for post in posts if not first & set(words(post["text"]))] == []


def test_a_label_is_one_lower_case_word(posts: list[dict[str, Any]]) -> None:
    assert [label for post in posts for label in post["labels"] if not re.fullmatch(r"[a-z]+", label)] == []


def test_a_masked_word_does_not_stand_elsewhere_in_its_post(posts: list[dict[str, Any]]) -> None:
    assert [p["id"] for p in posts if set(p["labels"]) & set(words(p["text"]))] == []


def test_labels_are_fine_grained(posts: list[dict[str, Any]]) -> None:
    counts = Counter(label for post in posts for label in post["labels"])
    assert len(counts) >= 80
    assert max(counts.values()) <= 4
    assert any(n > 1 for n in counts.values())


def test_no_two_posts_share_a_run_of_six_words(posts: list[dict[str, Any]]) -> None:
    first_seen: dict[tuple[str, ...], str] = {}
    for post in posts:
        tokens = words(post["text"])
        for i in range(len(tokens) - 5):
            owner = first_seen.setdefault(tuple(tokens[i : i + 6]), post["id"])
            assert owner == post["id"], (owner, post["id"], tokens[i : i + 6])
