"""The sample texts keep the promises made in sample_data/README_generation.md."""

import re
from collections import Counter
from importlib.resources import as_file, files

import pytest

from emotui.formats import read
from emotui.metrics.human_labels import majority_label
from emotui.records import Generation

EMOTIONS = ("joy", "contentment", "disappointment", "disgust", "confusion", "surprise", "neutral")


@pytest.fixture(scope="module")
def records() -> list[Generation]:
    with as_file(files("emotui.sample_data") / "generation.jsonl") as path:
        return list(read(path, Generation).records)


def test_seventy_texts_have_ten_of_each_emotion_by_three_writers(records: list[Generation]) -> None:
    assert len(records) == 210
    assert [one.id for one in records[::3]] == [f"g-{number:03d}" for number in range(1, 71)]
    assert [one.target for one in records[::3]] == list(EMOTIONS) * 10
    writers = Counter(one.model for one in records)
    assert set(writers.values()) == {70}
    assert all(name.endswith("(illustration)") for name in writers)


def test_no_two_texts_are_the_same_but_where_a_step_changes_nothing(records: list[Generation]) -> None:
    assert len({one.original for one in records}) == 70
    assert len({one.neutral for one in records}) == len({one.emotional for one in records}) == 210


def test_five_raters_see_each_emotional_text_and_four_neutral_ones_an_emotion(records: list[Generation]) -> None:
    assert {len(one.human) for one in records} == {5}
    rated = [one for one in records if one.human_neutral]
    assert {len(one.human_neutral) for one in rated} == {5}
    assert Counter(one.target for one in rated) == dict.fromkeys(EMOTIONS, 12)
    assert {label for one in records for label in (*one.human, *one.human_neutral)} == set(EMOTIONS)


def test_the_table_of_the_page_is_right(records: list[Generation]) -> None:
    page = files("emotui.sample_data").joinpath("README_generation.md").read_text(encoding="utf-8")
    for name in dict.fromkeys(one.model for one in records):
        own = [one for one in records if one.model == name]
        seen = sum(majority_label(one.human, one.target) == one.target for one in own)
        rated = [one for one in own if one.human_neutral]
        neutral = sum(majority_label(one.human_neutral, "neutral") == "neutral" for one in rated)
        assert re.search(
            rf"^\| {re.escape(name)} \|.*\| {seen} of {len(own)} \| {neutral} of {len(rated)} \|$", page, re.MULTILINE
        )
