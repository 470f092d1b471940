"""The long sample posts keep the promises of sample_data/README_masked.md."""

import json
import re
from importlib.resources import files
from typing import Any

import pytest

MASK = "<mask>"


@pytest.fixture(scope="module")
def posts() -> list[dict[str, Any]]:
    text = files("emotui.sample_data").joinpath("masked_posts.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9']+", text.replace(MASK, " ").lower())


def test_there_are_80_posts_of_150_to_400_words_with_one_to_four_masks(posts: list[dict[str, Any]]) -> None:
    assert [post["id"] for post in posts] == [f"long-{number:03d}" for number in range(1, 81)]
    assert [post["id"] for post in posts if not 150 <= len(post["text"].split()) <= 400] == []
    assert [post["id"] for post in posts if not 1 <= len(post["labels"]) <= 4] == []
    assert [post["id"] for post in posts if post["text"].count(MASK) != len(post["labels"])] == []


def test_posts_are_of_many_lengths_up_to_400_words(posts: list[dict[str, Any]]) -> None:
    lengths = sorted(len(post["text"].split()) for post in posts)
    assert sum(length >= 280 for length in lengths) >= 10
    assert lengths[0] < 200
    assert lengths[-1] >= 390


def test_a_masked_word_stands_nowhere_else_in_its_post(posts: list[dict[str, Any]]) -> None:
    assert [post["id"] for post in posts if set(post["labels"]) & set(words(post["text"]))] == []


def test_the_words_are_many_and_none_is_common(posts: list[dict[str, Any]]) -> None:
    labels = [label for post in posts for label in post["labels"]]
    assert len(set(labels)) >= 150
    assert max(map(labels.count, labels)) <= 6


def test_no_two_posts_share_a_run_of_six_words(posts: list[dict[str, Any]]) -> None:
    first_seen: dict[tuple[str, ...], str] = {}
    for post in posts:
        tokens = words(post["text"])
        for at in range(len(tokens) - 5):
            assert first_seen.setdefault(tuple(tokens[at : at + 6]), post["id"]) == post["id"], tokens[at : at + 6]
