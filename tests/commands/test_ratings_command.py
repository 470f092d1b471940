"""`emotui ratings`: a crowd platform's table, attention checks, and what the raters come to."""

import json
from pathlib import Path

import pytest

from tests.conftest import Emotui

RECORDS = [
    {"id": key, "model": model, "target": target, "original": "o", "neutral": "n", "emotional": "e"}
    for model in ("a", "b")
    for key, target in (("1", "joy"), ("2", "disgust"))
]
LONG = """Participant_ID,item,Response,seconds
P1,a/1,JOY,3
P1,a/2,disgust,3
P1,check,Confusion,1
P2,a/1,joy,9
P2,a/2,neutral,9
P2,check,joy,1
P3,a/1,surprise,4
P3,a/1/neutral,neutral,4
P3,check,confusion,1
P4,b/2,disgust,2
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(one) + "\n" for one in RECORDS))
    (tmp_path / "long.csv").write_text("\ufeff" + LONG, encoding="utf-8")
    (tmp_path / "checks.csv").write_text("item,label\ncheck,confusion\n")
    return tmp_path


def test_who_fails_a_check_is_set_aside_and_the_other_labels_join_the_texts(emotui: Emotui, folder: Path) -> None:
    asked = ("ratings", "long.csv", "--records", "r.jsonl", "--checks", "checks.csv", "--wanted", "2")
    got = emotui(*asked, "--to", "out.jsonl", "--json").document
    assert (got["raters"], got["ratings"], got["unrated"]) == (4, 5, 1)
    assert got["set_aside"] == [{"rater": "P2", "checks": 1, "failed": 1}]
    assert got["short"] == [
        {"id": "1", "model": "a", "version": "neutral", "lacks": 1},
        {"id": "2", "model": "a", "version": "emotional", "lacks": 1},
        {"id": "2", "model": "b", "version": "emotional", "lacks": 1},
    ]
    assert "1 of 4 raters answered no attention check" in got["notes"]["set_aside"]
    assert "surprise" in got["notes"]["labels"]
    written = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    assert [one.get("human") for one in written] == [["joy", "surprise"], ["disgust"], None, ["disgust"]]
    assert written[0]["human_neutral"] == ["neutral"]
    human = got["models"]["a"]["human"]
    assert (human["n"], human["ties"]) == (2, 1)
    # A tie is no majority: one of two texts is seen as the target.
    assert human["accuracy"] == 0.5
    assert got["models"]["a"]["human_neutral"]["f1"] == 1
    scored = emotui("score", "generation", "--records", "out.jsonl", "--json").document
    assert scored["models"]["a"]["human_f1"] == human["human_f1"]
    assert "a: human" in emotui(*asked).out
    allowed = emotui(*asked, "--allowed", "1", "--json").document
    assert allowed["set_aside"] == []
    assert allowed["ratings"] == 7


def test_a_table_may_have_a_column_an_item_and_a_cell_may_be_empty(emotui: Emotui, folder: Path) -> None:
    (folder / "wide.tsv").write_text("who\ta/1\tb/1\tcheck\tage\nP1\tjoy\t\tconfusion\t30\nP2\tneutral\tjoy\tjoy\t31\n")
    asked = ("ratings", "wide.tsv", "--records", "r.jsonl", "--checks", "checks.csv", "--rater", "who", "--json")
    got = emotui(*asked).document
    assert (got["raters"], got["ratings"]) == (2, 1)
    neutral = emotui(*asked, "--neutral").document
    assert list(neutral["models"]["a"]) == ["human_neutral"]


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ("Participant_ID,item,Response\nP1,c/9,joy\n", "t.csv:2: 'c/9' is neither a text of the records"),
        ("Participant_ID,item,Response\nP1,1,joy\n", "t.csv:2: '1' is neither a text of the records"),
        ("Participant_ID,item,Response\nP1,a/1,\n", "t.csv:2: the label of a/1 is empty"),
        ("Participant_ID,item,Response\n,a/1,joy\n", "t.csv:2: the rater is missing"),
        ("Participant_ID,item,Response\nP1,a/1,joy\nP1,a/1,joy\n", "t.csv:3: P1 has rated a/1 already, at t.csv:2"),
        ("Participant_ID,item,Response\nP1,a/1\n", "t.csv:2: has 2 cells where the header has 3"),
        ("item,Response\na/1,joy\n", "t.csv:1: there is no column rater"),
        ("Participant_ID,x\nP1,joy\n", "t.csv:1: there is neither a column of items"),
        ("Participant_ID,item,Response\n", "t.csv:1: there is no rating"),
    ],
)
def test_a_bad_table_is_told_by_its_line(emotui: Emotui, folder: Path, table: str, why: str) -> None:
    (folder / "t.csv").write_text(table)
    got = emotui("ratings", "t.csv", "--records", "r.jsonl", "--json", "--to", "no.jsonl")
    assert got.status == 2
    assert got.err.startswith(why)
    assert not (folder / "no.jsonl").exists()


def test_a_rater_with_one_rating_counts_like_any_other(emotui: Emotui, folder: Path) -> None:
    (folder / "one.csv").write_text("rater,item,label\nP1,a/1,joy\n")
    got = emotui("ratings", "one.csv", "--records", "r.jsonl", "--json").document
    assert got["ratings"] == 1
    assert got["models"]["a"]["human"]["human_f1"] == 1
    assert got["models"]["a"]["human"]["krippendorff_alpha"] is None
    assert "two ratings" in got["models"]["a"]["human"]["notes"]["krippendorff_alpha"]


def test_the_subset_of_texts_to_rate_and_how_metrics_on_it_go_with_all(emotui: Emotui, folder: Path) -> None:
    rows = ["id,label,video,start,labels"]
    rows += [
        f"{at},{'joy' if at % 2 else 'Disgust'},v{at // 6},{at},joy|joy|{'joy' if at == 3 else 'fear'}"
        for at in range(12)
    ]
    (folder / "texts.csv").write_text("\n".join(rows) + "\n")
    asked = ("ratings", "subset", "texts.csv", "--source", "video", "--order", "start")
    found = emotui(*asked, "--json").document
    assert found["ids"] == ["0", "1", "4", "5", "6", "7", "10", "11"]
    assert (found["n"], found["sources"], found["emotions"]) == (12, 2, 2)
    agreed = emotui(*asked, "--annotations", "labels", "--least", "0.7", "--json").document
    assert agreed["agreed"] == ["3"]
    assert "3" in agreed["ids"]
    records = [
        {"id": str(at), "label": "joy", "text": "t", "meta": {"video": "v", "labels": ["joy", "joy"]}}
        for at in (1, 2, 3)
    ]
    (folder / "texts.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
    asked = ("ratings", "subset", "texts.jsonl", "--source", "video", "--annotations", "labels", "--to", "ids.txt")
    assert emotui(*asked).status == 0
    assert (folder / "ids.txt").read_text().split() == ["1", "2", "3"]
    got = emotui("ratings", "subset", "texts.csv", "--source", "film")
    assert (got.status, got.err.split(":")[1]) == (2, "2")
    (folder / "some.txt").write_text("1\n")
    scored = ("score", "generation", "--records", "r.jsonl", "--json", "--subset")
    got = emotui(*scored, "some.txt").document["subset"]
    assert (got["texts"], got["models"], got["pearson"]["r3_m"]) == (1, 2, None)
    assert emotui(*scored, "ids.txt").err == "ids.txt: no record has the id '3'\n"
