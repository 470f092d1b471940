"""`emotui turns`: along conversations and people, as a user would."""

import json
from pathlib import Path

import pytest

from emotui.workbench.workspace import Workspace
from tests.conftest import Emotui

CALM, STORM = {"joy": 0.9, "anger": 0.1}, {"joy": 0.2, "anger": 0.8}


def _talks(folder: Path) -> None:
    """Ten conversations in which anger follows joy; the model is late by a turn in every second one."""
    gold, said = [], []
    for talk in range(10):
        for turn in range(4):
            key, angry = f"{talk}-{turn}", turn > 1
            gold.append({"id": key, "text": f"text {key}", "labels": ["anger"] if angry else ["joy"]})
            gold[-1] |= {"conversation": talk, "turn": 4 - turn, "speaker": "A" if turn % 2 else "B"}
            late = angry and not (turn == 2 and talk % 2)
            said.append({"id": key, "labels": STORM if late else CALM})
    for name, rows in (("talks.jsonl", gold), ("said.jsonl", said)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def run(emotui: Emotui, tmp_path: Path) -> str:
    _talks(tmp_path)
    assert emotui("import", "talks.jsonl", "--db", "w.duckdb").status == 0
    done = emotui(
        "import", "predictions", "said.jsonl", "--dataset", "talks", "--source", "late", "--db", "w.duckdb", "--json"
    )
    assert done.status == 0, done.err
    return Workspace.open(tmp_path / "w.duckdb").store.runs.all()[0].run


def test_changes_are_counted_along_the_turns_whatever_their_order_in_the_file(emotui: Emotui, run: str) -> None:
    found = json.loads(emotui("turns", run, "--db", "w.duckdb", "--json").out)
    assert (found["by"], found["sequences"], found["texts"], found["left_out"]) == ("conversation", 10, 40, 0)
    changes = found["changes"]
    assert (changes["steps"], changes["gold"], changes["predicted"]) == (30, 10, 10)
    assert (changes["precision"], changes["recall"], changes["same"]) == (0.5, 0.5, 0.5)
    # By turn the talks begin in anger: what comes is joy.
    assert changes["by_label"]["joy"]["comes"] == {
        "gold": 10,
        "predicted": 10,
        "precision": 0.5,
        "recall": 0.5,
        "f1": 0.5,
    }
    by_speaker = json.loads(emotui("turns", run, "--by", "speaker", "--db", "w.duckdb", "--json").out)
    assert by_speaker["sequences"] == 2


def test_a_strip_shows_both_sides_of_every_text_in_order(emotui: Emotui, run: str) -> None:
    shown = emotui("turns", run, "--db", "w.duckdb", "--show", "1", "--decode")
    assert shown.status == 0, shown.err
    lines = shown.out.splitlines()
    assert "anger  ●○··   " in "\n".join(lines)
    assert "  joy  ·×●●   " in "\n".join(lines)
    assert "● both  ○ gold alone  × model alone  · neither" in shown.out
    assert "Decoded over turns, 5 folds" in shown.out


def test_numbers_of_people_are_followed_over_time(emotui: Emotui, tmp_path: Path) -> None:
    rows = [
        {
            "id": str(day),
            "text": f"day {day}",
            "values": {"valence": value},
            "user": "u",
            "timestamp": f"2026-01-{day:02}",
        }
        for day, value in ((3, 2), (1, 0), (2, 1))
    ]
    (tmp_path / "days.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    said = [{"id": row["id"], "values": {"valence": 3}} for row in rows]
    (tmp_path / "flat.jsonl").write_text("".join(json.dumps(row) + "\n" for row in said), encoding="utf-8")
    emotui("import", "days.jsonl", "--db", "w.duckdb")
    emotui("import", "predictions", "flat.jsonl", "--dataset", "days", "--source", "flat", "--db", "w.duckdb")
    run = Workspace.open(tmp_path / "w.duckdb").store.runs.all()[0].run
    found = json.loads(emotui("turns", run, "--db", "w.duckdb", "--json").out)
    valence = found["changes"]["valence"]
    assert (found["by"], valence["steps"], valence["mae"], valence["direction"]) == ("user", 2, 1, 0)
    assert emotui("turns", run, "--decode", "--db", "w.duckdb").err.count("\n") == 1
    strip = emotui("turns", run, "--show", "u", "--db", "w.duckdb").out
    assert "gold     0    1    2" in strip


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (("--by", "nothing"), "no text has such a column"),
        (("--label", "hope"), "neither gold nor the run gives this label"),
        (("--show", "99"), "no sequence of this name"),
        (("--folds", "3"), "--folds goes with --decode"),
        (("--decode", "--by", "speaker"), "at least four"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line(emotui: Emotui, run: str, more: tuple[str, ...], why: str) -> None:
    refused = emotui("turns", run, "--db", "w.duckdb", *more)
    assert refused.status == 2
    assert why in refused.err
    assert refused.err.count("\n") == 1


def test_the_sample_conversations_come_when_they_are_asked_for(emotui: Emotui) -> None:
    run = json.loads(emotui("run", "labels", "--dataset", "dialogues", "--db", "w.duckdb", "--json").out)
    assert run["n"] == 42
    found = json.loads(emotui("turns", run["run"], "--db", "w.duckdb", "--decode", "--json").out)
    assert (found["sequences"], found["decoded"]["folds"]) == (5, 5)
    diaries = emotui("run", "labels", "--dataset", "diaries", "--db", "w.duckdb", "--json")
    assert diaries.status == 0, diaries.err
    assert json.loads(diaries.out)["n"] == 24
