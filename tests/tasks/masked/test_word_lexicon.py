"""Words that people tie to ten dimensions: the records they annotate, and the lexicon that comes of it."""

import csv
import json
from pathlib import Path

from emotui.metrics.masked import DIMENSIONS
from emotui.store.store import Store
from emotui.tasks.masked.word_vectors import read_lexicon
from emotui.workbench.annotate.desk import Desk
from emotui.workbench.annotate.events import Accept, SetNumber
from emotui.workbench.masked.annotated_words import choice_for, question
from tests.conftest import Emotui


def test_a_check_holds_a_word_of_the_same_family_at_the_place_that_gold_says() -> None:
    choice = choice_for("cheerful", 0)
    assert choice is not None
    record = question(choice, 0)
    assert record.text is not None
    assert record.values is not None
    lines = record.text.splitlines()
    assert (record.id, lines[0]) == ("cheerful", "cheerful")
    assert f"{record.values['nearest']:g} {choice.near}" in lines
    assert [line[0] for line in lines[3:]] == ["1", "2", "3", "4"]
    assert question(choice, 0) == record
    assert choice_for("zzq", 0) is None


def test_what_is_no_word_with_its_choices_is_told_with_its_line(emotui: Emotui, tmp_path: Path) -> None:
    (tmp_path / "w.txt").write_text("cheerful\nzzq\n\njoy,glad\nbearable, tolerable, spoon, spoon, ladder\ncheerful\n")
    done = emotui("masked", "questions", "--words", "w.txt", "--to", "q.jsonl")
    assert (done.status, done.err.splitlines()) == (
        2,
        [
            "w.txt:2: zzq is not on emotui's list: write it as word,near,other,other,other",
            "w.txt:4: neither a word nor word,near,other,other,other",
            "w.txt:5: a word stands twice among its choices",
            "w.txt:6: cheerful stands here twice",
        ],
    )
    assert not (tmp_path / "q.jsonl").exists()


def rate(db: Path, name: str, nearest: int, **levels: int) -> None:
    work = Desk(Store.open(db)).begin("words", name)
    numbers = dict.fromkeys(DIMENSIONS, 0) | levels | {"nearest": nearest}
    work.do(work.order[0], *(SetNumber(key, float(value)) for key, value in numbers.items()), Accept())


def test_what_people_say_of_words_becomes_a_lexicon_that_scoring_reads(emotui: Emotui, tmp_path: Path) -> None:
    (tmp_path / "w.txt").write_text("bearable, tolerable, spoon, lorry, ladder\n")
    assert emotui("masked", "questions", "--words", "w.txt", "--to", "q.jsonl", "--json").document == {"words": 1}
    right = int(json.loads((tmp_path / "q.jsonl").read_text())["values"]["nearest"])
    emotui("import", "values", "q.jsonl", "--name", "words", "--db", "w.duckdb")
    asked = ("masked", "lexicon", "words", "--to", "mine.csv", "--force", "--db", "w.duckdb")
    assert "nobody has annotated words yet" in emotui(*asked).err
    dealt = ("annotate", "protocol", "words", "express-words", "--annotators", "a,b,c", "--db", "w.duckdb")
    assert emotui(*dealt).status == 0
    rate(tmp_path / "w.duckdb", "a", right, trust=2, positive=2)
    rate(tmp_path / "w.duckdb", "b", right, trust=1, positive=3, emotion=1)
    rate(tmp_path / "w.duckdb", "c", 1 + right % 4, trust=3, anger=3)  # whose word-choice check is wrong
    told = emotui(*asked, "--json").document
    assert (told["words"], told["failed_checks"], told["written"]) == (1, 1, 1)
    row = told["by_word"][0]
    assert (row["people"], row["halved"], row["emotion"]) == (2, ["trust"], 1)
    only_positive = tuple(int(name == "positive") for name in DIMENSIONS)
    assert read_lexicon(str(tmp_path / "mine.csv")).vectors == {"bearable": only_positive}
    assert emotui(*asked, "--least", "3").err.strip() == "no word has an answer that counts: nothing is written"
    assert emotui(*asked, "--with-emolex", "--json").document["written"] > 6000
    with (tmp_path / "mine.csv").open() as file:
        words = {line["word"]: line for line in csv.DictReader(file)}
    assert (words["bearable"]["positive"], words["happy"]["joy"]) == ("1", "1")
    (tmp_path / "g.jsonl").write_text('{"id": "1", "labels": ["bearable"]}\n')
    scored = emotui("score", "masked", "--gold", "g.jsonl", "--pred", "g.jsonl", "--lexicon", "mine.csv", "--json")
    assert (scored.document["f1_v"], scored.document["gold_words"]["known"]) == (1, 1)


def test_only_a_dataset_of_words_with_numbers_becomes_a_lexicon(emotui: Emotui, tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").write_text('{"id": "1", "text": "I am <mask>.", "labels": ["glad"]}\n')
    emotui("import", "masked", "m.jsonl", "--name", "m", "--db", "w.duckdb")
    done = emotui("masked", "lexicon", "m", "--to", "l.csv", "--db", "w.duckdb")
    assert (done.status, done.err.strip()) == (2, "m is of masked: import what `emotui masked questions` writes")
