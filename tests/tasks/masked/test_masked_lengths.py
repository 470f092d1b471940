"""Segments against full posts: the same masks, asked about and scored twice."""

import json
from pathlib import Path

import pytest

from tests.conftest import Emotui

LONG = " ".join(["I feel sad.", *["The train was late again and nobody said a word."] * 70, "I am happy."])


@pytest.fixture
def posts(tmp_path: Path) -> Path:
    path = tmp_path / "posts.jsonl"
    rows = [{"id": "short", "text": "I feel lonely here."}, {"id": "long", "text": LONG}]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def test_both_are_built_of_one_file_and_scored_over_the_same_masks(emotui: Emotui, posts: Path) -> None:
    told = emotui("masked", "lengths", "--posts", posts, "--published", "--json").document
    segments, whole = told["settings"]["segments"], told["settings"]["full posts"]
    assert (segments["n"], whole["n"]) == (3, 2)
    assert segments["masks"] == whole["masks"] == 3
    assert whole["mean_words"] == (4 + len(LONG.split())) / 2
    assert segments["mean_words"] < whole["mean_words"]
    assert [row["words"] for row in told["published"]["rows"]] == [353, 1353]
    shown = emotui("masked", "lengths", "--posts", posts).out
    assert "segments" in shown
    assert "GPT-4o" not in shown


def test_posts_that_cannot_be_built_are_told_with_their_lines(emotui: Emotui, tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text('{"id": "a", "text": "I feel <mask>."}\n')
    done = emotui("masked", "lengths", "--posts", "p.jsonl")
    assert (done.status, done.err.strip()) == (2, "p.jsonl:1: there is a <mask> in the text already")
