"""`emotui map-labels`: kept with the dataset, applied when its runs are scored, guessed but never by itself."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from emotui.workbench.datasets.label_maps import as_toml, guessed, nearest
from tests.conftest import Emotui

GOLD = {"a": [[0, 5, "happy"]], "b": [[4, 8, "sad"]]}
MARKS = "select marks from scores"
SAID = {"a": [[0, 5, "joy"]], "b": [[4, 8, "Fear"]]}


@pytest.fixture
def store(emotui: Emotui, tmp_path: Path) -> Path:
    """A dataset `gold.jsonl` and a source `theirs` in a store."""
    texts = {"a": "happy dog", "b": "the fear ran"}
    for name, spans in (("gold", GOLD), ("said", SAID)):
        rows = [{"id": key, "spans": spans[key]} | ({"text": texts[key]} if name == "gold" else {}) for key in texts]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert emotui("import", "spans", "gold.jsonl", "--name", "mine").status == 0
    said = emotui("import", "predictions", "said.jsonl", "--dataset", "mine", "--source", "theirs", "--no-sim")
    assert said.status == 0, said.err
    return tmp_path


def figures(emotui: Emotui) -> dict:
    return emotui("rescore", "theirs", "--no-sim", "--json").document["metrics"]


def test_a_mapping_is_applied_when_a_source_is_scored_again_and_named_in_its_notes(emotui: Emotui, store: Path) -> None:
    before = figures(emotui)
    assert before["labels"]["accuracy"] == 0
    assert "labels" not in before.get("notes", {})
    kept = emotui("map-labels", "mine", "--set", "joy=happy", "--json").document
    assert kept["mapping"] == {"joy": "happy"}
    after = figures(emotui)
    assert after["labels"]["confusion"] == {"happy": {"happy": 1}, "sad": {"Fear": 1}}
    assert after["labelled_f1"] == pytest.approx(0.5)
    assert after["f1"] == before["f1"]
    assert kept["hash"] in after["notes"]["labels"]
    assert emotui("map-labels", "mine", "--clear").status == 0
    assert figures(emotui) == before


def test_scores_of_another_mapping_say_so_until_they_are_renewed(emotui: Emotui, store: Path) -> None:
    emotui("map-labels", "mine", "--set", "joy=happy")
    again = ("import", "predictions", "said.jsonl", "--dataset", "mine", "--source", "theirs", "--no-sim", "--json")
    assert "emotui rescore theirs" in emotui(*again).document["metrics"]["notes"]["labels"]


def test_the_marks_of_wrong_labels_follow_the_mapping(emotui: Emotui, store: Path) -> None:
    emotui("map-labels", "mine", "--set", "joy=happy", "--set", "Fear=sad")
    assert figures(emotui)["labels"]["accuracy"] == 1
    assert "L" not in emotui("sql", MARKS).out
    emotui("map-labels", "mine", "--set", "Fear=happy")
    figures(emotui)
    assert emotui("sql", MARKS).out.count("L") == 1


def test_a_guess_is_printed_as_toml_and_nothing_is_kept(emotui: Emotui, store: Path) -> None:
    said = emotui("map-labels", "mine", "--guess", "--run", "theirs")
    assert said.out == '# "Fear" = (no guess)\n"joy" = "happy"\n'
    assert emotui("map-labels", "mine", "--json").document["mapping"] == {}
    assert emotui("map-labels", "mine", "--guess", "--to", "map.toml").status == 0
    assert emotui("map-labels", "mine", "--from", "map.toml", "--json").document["mapping"] == {"joy": "happy"}
    assert emotui("map-labels", "mine").out == '"joy" = "happy"\n'


@pytest.mark.parametrize(
    ("theirs", "own", "expected"),
    [
        ("Joy", ("joy", "happy"), "joy"),
        ("no-emotion", ("no emotion",), "no emotion"),
        ("amusement", ("happy", "sad"), "happy"),
        ("happy", ("joy", "love"), "joy"),
        ("happy", ("love", "pride"), None),
        ("zeal", ("joy",), None),
    ],
)
def test_a_guess_is_an_equal_name_or_the_one_label_of_the_same_emotion(
    theirs: str, own: tuple[str, ...], expected: str | None
) -> None:
    assert guessed([theirs], own) == {theirs: expected}


def test_labels_of_both_sides_need_no_guess() -> None:
    assert guessed(["joy", "joy"], ["joy"]) == {}


def test_a_mapping_is_written_so_that_any_label_is_read_again(tmp_path: Path) -> None:
    from emotui.backends.relabelled import read_label_map

    mapping = {'a "b" \\ c\n': "é😀\x7f", "x.y": "z"}
    (tmp_path / "m.toml").write_text(as_toml(mapping), encoding="utf-8")
    assert read_label_map(str(tmp_path / "m.toml")) == mapping


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--set", "joy"), "--set takes THEIRS=OURS"),
        (("--set", "joy=zeal"), "the gold spans of mine have no label 'zeal' (there: happy, sad)"),
        (("--run", "theirs"), "add --guess"),
        (("--guess", "--clear"), "--guess keeps nothing"),
        (("--from", "nowhere.toml"), "nowhere.toml"),
    ],
)
def test_what_is_no_mapping_changes_nothing(emotui: Emotui, store: Path, options: tuple[str, ...], why: str) -> None:
    emotui("map-labels", "mine", "--set", "joy=happy")
    bad = emotui("map-labels", "mine", *options)
    assert bad.status == 2
    assert why in bad.err
    assert emotui("map-labels", "mine", "--json").document["mapping"] == {"joy": "happy"}


def test_a_mapping_of_one_source_goes_before_that_of_all_and_is_of_no_other(emotui: Emotui, store: Path) -> None:
    emotui("map-labels", "mine", "--set", "joy=sad", "--set", "Fear=sad")
    emotui("map-labels", "mine", "--source", "theirs", "--set", "joy=happy")
    assert figures(emotui)["labels"]["accuracy"] == 1
    assert emotui("map-labels", "mine", "--json").document["mapping"] == {"joy": "sad", "Fear": "sad"}
    assert emotui("map-labels", "mine", "--source", "theirs", "--json").document["mapping"] == {"joy": "happy"}
    emotui("map-labels", "mine", "--source", "somebody else", "--set", "joy=sad")
    after = figures(emotui)
    assert after["labels"]["accuracy"] == 1
    assert "another mapping" not in after["notes"]["labels"]


def test_the_nearest_label_stands_beside_the_guess_by_name_and_is_not_taken_for_it() -> None:
    directions = {"joy": (1.0, 0.0), "happy": (0.8, 0.6), "sad": (0.0, 1.0), "zeal": (0.28, 0.96)}

    def embed(texts: Sequence[str]) -> np.ndarray:
        return np.array([directions[text.removeprefix("I feel ").removesuffix(".")] for text in texts])

    near = nearest(["joy", "zeal", "sad"], ["happy", "sad"], embed)
    assert near == {"joy": ("happy", pytest.approx(0.8)), "zeal": ("sad", pytest.approx(0.96))}
    lines = as_toml(guessed(["joy", "zeal"], ["happy", "sad"]), near).splitlines()
    assert lines[0] == '"joy" = "happy"  # nearest by embedding: "happy" 0.80'
    assert lines[1] == '# "zeal" = (no guess)  # nearest by embedding: "sad" 0.96'
    assert nearest(["joy"], ["joy"], embed) == {}
