"""People in tables: their ids are no texts, their columns no emotions, and names beside answers are read or kept."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.formats.layouts.layout import ReadOptions
from emotui.formats.layouts.registry import take
from emotui.formats.layouts.tables.names import APPRAISALS
from emotui.formats.layouts.tables.several import is_person, said_by
from emotui.formats.rows import Flaw
from emotui.workbench.datasets.foreign import Wish, read_foreign
from emotui.workbench.datasets.importing import described
from tests.formats.layouts.reading_rows import columns, flaws, read


def _csv(folder: Path, text: str) -> Path:
    file = folder / "mine.csv"
    file.write_text(text, encoding="utf-8")
    return file


def _json(folder: Path, *records: dict[str, Any]) -> Path:
    file = folder / "mine.json"
    file.write_text(json.dumps(records))
    return file


@pytest.mark.parametrize(
    ("column", "ids"),
    [
        ("worker", ["A2XYZABCDEFG1HIJKLMN", "A2XYZABCDEFG1HIJKLMO"]),
        ("who", ["5c6f3a9c7d11114222833301", "5c6f3a9c7d11114222833302"]),
        ("prolific_id", ["somebody called one", "somebody called two"]),
        ("Rater", ["ann.somebody@example.org", "bob.somebody@example.org"]),
        ("speaker", ["Maria Gonzalez-Fernandez de la Torre", "Johann Sebastian Mustermann"]),
        ("Name", ["Maria Gonzalez-Fernandez de la Torre", "Johann Sebastian Mustermann"]),
        ("link", ["https://example.org/a/long/path", "https://example.org/b/long/path"]),
        ("session", ["123e4567-e89b-12d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174001"]),
    ],
)
def test_what_names_people_or_places_is_not_taken_for_the_text(tmp_path: Path, column: str, ids: list[str]) -> None:
    file = _csv(tmp_path, f"{column},what was said,emotion\n{ids[0]},so good,joy\n{ids[1]},so bad,fear\n")
    assert columns(file)["text"] == "what was said"
    assert [row["meta"][column] for row in read(file)] == ids


def test_a_short_text_under_a_usual_name_goes_before_a_long_id(tmp_path: Path) -> None:
    file = _csv(tmp_path, "Reddit Post,Worker ID\nsad,A2XYZABCDEFG1HIJKLMN\nbad,A2XYZABCDEFG1HIJKLMO\n")
    assert columns(file)["text"] == "Reddit Post"


def test_where_there_are_ids_alone_there_is_no_text(tmp_path: Path) -> None:
    file = _csv(tmp_path, "worker,mark\nA2XYZABCDEFG1HIJKLMN,x\nA2XYZABCDEFG1HIJKLMO,y\n")
    assert "text" not in columns(file)


@pytest.mark.parametrize(
    "name", ["annotator_1", "Annotator-1", "Rater 2", "coder3", "worker_12", "ann1", "labeller_4", "rater b"]
)
def test_columns_of_people_are_known_by_their_names(name: str) -> None:
    assert is_person(name)


@pytest.mark.parametrize("name", ["annotator", "annotators", "anger", "joy_1", "text1", "anna", "raters"])
def test_other_columns_are_no_people(name: str) -> None:
    assert not is_person(name)


def test_a_column_a_person_with_labels_is_what_each_says(tmp_path: Path) -> None:
    file = _csv(
        tmp_path, 'text,annotator_1,annotator_2\nso good,joy,"joy, trust"\nso bad,,fear\nwell,trust,\nhm,fear,joy\n'
    )
    assert [row.get("annotators") for row in read(file)] == [
        {"annotator_1": {"label": "joy"}, "annotator_2": {"labels": ["joy", "trust"]}},
        {"annotator_2": {"label": "fear"}},
        {"annotator_1": {"label": "trust"}},
        {"annotator_1": {"label": "fear"}, "annotator_2": {"label": "joy"}},
    ]


def test_a_column_a_person_with_lists_of_places_is_the_spans_of_each(tmp_path: Path) -> None:
    file = _csv(tmp_path, 'text,annotator_1,annotator_2\nso good,"[[3, 7, ""joy""]]",[]\nso bad,,"[[3, 6]]"\n')
    assert [row["annotators"] for row in read(file)] == [
        {"annotator_1": {"spans": [{"start": 3, "end": 7, "label": "joy"}]}, "annotator_2": {"spans": []}},
        {"annotator_2": {"spans": [{"start": 3, "end": 6}]}},
    ]


ASKED = "nr,text,emotion,annotator_1,annotator_4\n0,good,joy,1,0\n1,good,fear,0,\n2,bad,joy,0,0\n3,bad,fear,1,{top}\n"


def test_numbers_of_people_are_of_the_emotion_that_the_row_is_about(tmp_path: Path) -> None:
    good, bad = read(_csv(tmp_path, ASKED.format(top=1)))
    assert good["annotators"] == {
        "annotator_1": {"labels": {"joy": 1, "fear": 0}},
        "annotator_4": {"values": {"joy": 0}},  # not asked about fear: as a label, it would be denied
    }
    assert bad["annotators"]["annotator_4"] == {"labels": {"joy": 0, "fear": 1}}
    assert "label" not in good


def test_intensities_of_people_are_numbers(tmp_path: Path) -> None:
    _, bad = read(_csv(tmp_path, ASKED.format(top=3)))
    assert bad["annotators"]["annotator_4"] == {"values": {"joy": 0, "fear": 3}}


def test_a_second_row_of_one_text_and_emotion_is_refused(tmp_path: Path) -> None:
    file = _csv(tmp_path, "text,emotion,rater1,rater2\na b,joy,1,0\na b,joy,0,1\nc d,joy,0,1\n")
    assert flaws(file) == [(3, "is the second row of this text that says 'joy'")]


@pytest.mark.parametrize("more", ["", ",joy,fear"])
def test_numbers_of_people_about_nothing_are_no_labels_and_are_told(tmp_path: Path, more: str) -> None:
    numbers = ",1,0" * bool(more)
    file = _csv(tmp_path, f"text{more},annotator_1,annotator_2\nso good{numbers},1,0\nso bad{numbers},0,0\n")
    assert all(row["meta"].keys() == {"annotator_1", "annotator_2"} for row in read(file))
    assert [row.get("labels") for row in read(file)] == [{"joy": 1, "fear": 0} if more else None] * 2
    told = take(str(file), None, ReadOptions()).options.remarks
    assert told == (
        "annotator_1, annotator_2 hold numbers, and no column says of what: kept as own columns, not taken for labels",
    )


@pytest.mark.parametrize("names", ["Ann1,Ann2", ["Ann1", "Ann2"]])
@pytest.mark.parametrize("first", ["text", "annotators"])
def test_names_of_annotators_alone_are_kept_as_an_own_column(tmp_path: Path, names: object, first: str) -> None:
    record = {"text": "so good", "annotators": names, "label": "joy"}
    record = {first: record[first], **record}
    (row,) = read(_json(tmp_path, record))
    assert row == {"text": "so good", "label": "joy", "meta": {"annotators": names}}


@pytest.mark.parametrize("names", ["Ann1, Ann2", ["Ann1", "Ann2"]])
@pytest.mark.parametrize("answers", ["0,1", [0, 1], {"Ann1": "0", "Ann2": "1"}])
def test_names_with_their_answers_beside_them_are_what_each_says(
    tmp_path: Path, names: object, answers: object
) -> None:
    record = {"annotations": answers, "annotators": names, "text": "so good"}
    (row,) = read(_json(tmp_path, record))
    assert row == {"text": "so good", "annotators": {"Ann1": {"label": "0"}, "Ann2": {"label": "1"}}}


def test_an_object_of_annotators_may_say_anything_in_any_order(tmp_path: Path) -> None:
    said = {"A": "joy", "B": ["joy", "fear"], "C": {"label": "joy"}, "D": [[0, 2]], "E": None, "F": []}
    (row,) = read(_json(tmp_path, {"annotators": said, "annotations": "kept", "text": "so good"}))
    assert row["annotators"] == {
        "A": {"label": "joy"},
        "B": {"labels": ["joy", "fear"]},
        "C": {"label": "joy"},
        "D": [[0, 2]],
        "F": [],
    }
    assert row["meta"] == {"annotations": "kept"}


def test_names_and_answers_that_do_not_fit_are_a_fault_of_their_row(tmp_path: Path) -> None:
    file = _json(
        tmp_path,
        {"text": "a", "annotators": "A,B", "annotations": "1"},
        {"text": "b", "annotators": "A,A", "annotations": "1,2"},
        {"text": "c", "annotators": 7},
        {"text": "d", "annotators": {"A": [[1]], "B": True}},
    )
    assert flaws(file) == [
        (1, "'annotators': 2 people and 1 answers under `annotations`"),
        (2, "'annotators': 'A' stands twice"),
        (3, "'annotators': must be an object of what each person says, or names, not 7"),
        (4, "'annotators': 'B' says True, which is neither a label nor spans"),
    ]


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(ANY, ANY)
def test_whatever_stands_under_annotators_is_read_or_refused(people: object, answers: object) -> None:
    found = said_by(people, answers)
    assert found is None or isinstance(found, Flaw) or all(isinstance(one, dict | list) for one in found.values())


def test_own_columns_in_which_rows_of_a_text_differ_are_all_kept(tmp_path: Path) -> None:
    file = _csv(tmp_path, "id,text,worker,label,age\n1,a b,ann,joy,30\n1,a b,bob,joy,41\n2,c d,ann,fear,30\n")
    first, second = read(file)
    assert first["meta"] == {"age": "30", "age (bob)": "41"}
    assert second["meta"] == {"age": "30"}


def test_what_says_how_texts_were_collected_is_no_label_though_it_is_0_and_1(tmp_path: Path) -> None:
    file = _csv(tmp_path, "text,collection_phase,is_words,round\nso good,1,0,0\nso bad,0,1,1\n")
    assert not any(key.startswith("labels") for key in columns(file))
    assert [row["meta"] for row in read(file)] == [
        {"collection_phase": "1", "is_words": "0", "round": "0"},
        {"collection_phase": "0", "is_words": "1", "round": "1"},
    ]
    beside = _csv(tmp_path, "text,joy,fear,is_words\nso good,1,0,0\nso bad,0,1,1\n")
    assert [row["labels"] for row in read(beside)] == [{"joy": 1, "fear": 0}, {"joy": 0, "fear": 1}]


# The shapes of published corpora in which people disagree (the texts are ours).


@pytest.mark.parametrize(
    ("text", "person", "joy"),
    [("text", "annotator_{}", "joy"), ("text_content", "Annotator-{}", "Bucurie"), ("text", "annotator_{}", "Joy")],
)
def test_brighters_single_answers_are_of_people_and_the_vote_is_gold(
    tmp_path: Path, text: str, person: str, joy: str
) -> None:
    people = ",".join(person.format(number) for number in (1, 2, 5))
    rows = (f"0,Ploaie iar,{joy},0.0,1.0,,0.0", "1,Ploaie iar,fear,1.0,1.0,1.0,1.0", f"2,Soare,{joy},1.0,0.0,1.0,1.0")
    first, second = read(_csv(tmp_path, "\n".join((f",{text},emotion,{people},majority_vote", *rows)) + "\n"))
    assert first["labels"] == {joy: 0, "fear": 1}
    assert first["annotators"] == {
        person.format(1): {"labels": {joy: 0, "fear": 1}},
        person.format(2): {"labels": {joy: 1, "fear": 1}},
        person.format(5): {"values": {"fear": 1}},  # not asked about joy
    }
    assert second["labels"] == {joy: 1}
    assert "meta" not in second


def test_a_vote_on_intensities_is_a_number(tmp_path: Path) -> None:
    rows = "7,a b,joy,0,3,2,2\n7,a b,fear,0,0,1,0\n8,c d,joy,1,1,1,1\n"
    file = _csv(tmp_path, "text_id,text,emotion,annotator_1,annotator_2,annotator_9,majority_vote\n" + rows)
    first, _ = read(file)
    assert (first["id"], first["values"]) == ("7", {"joy": 2, "fear": 0})
    assert first["annotators"]["annotator_9"] == {"values": {"joy": 2, "fear": 1}}


def test_a_vote_in_shares_is_no_gold_of_0_and_1(tmp_path: Path) -> None:
    file = _csv(tmp_path, "text,emotion,rater1,rater2,majority_vote\na b,joy,1,0,0.5\na b,fear,0,0,0\nc d,joy,1,1,1\n")
    assert "majority" not in columns(file)
    assert "labels" not in read(file)[0]


def test_lewidi_2023_has_one_label_a_person_and_the_hard_label_as_gold(tmp_path: Path) -> None:
    record = {
        "text": "You again!",
        "annotation task": "offensiveness detection",
        "number of annotations": 3,
        "annotations": "0,0,1",
        "annotators": "Ann7,Ann2,Ann9",
        "lang": "en",
        "hard_label": "0",
        "soft_label": {"0": 0.67, "1": 0.33},
        "split": "train",
        "other_info": {},
    }
    file = tmp_path / "released.json"
    file.write_text(
        json.dumps({"1": record, "2": {**record, "text": "Oh.", "annotations": "1,1,1", "hard_label": "1"}})
    )
    first, second = read(file)
    assert (first["id"], first["text"], first["label"], second["label"]) == ("1", "You again!", "0", "1")
    assert first["annotators"] == {"Ann7": {"label": "0"}, "Ann2": {"label": "0"}, "Ann9": {"label": "1"}}
    assert first["meta"]["soft_label"] == {"0": 0.67, "1": 0.33}


PARTS = [("context", "response"), ("post", "reply"), ("question1", "question2"), ("premise", "hypothesis")]


@pytest.mark.parametrize(("one", "other"), PARTS)
@pytest.mark.parametrize("answers", [{"Ann1": "-3", "Ann6": "5"}, {"Ann1": -3, "Ann6": 5}])
def test_lewidi_2025_has_texts_in_two_parts_and_answers_by_name(
    tmp_path: Path, one: str, other: str, answers: dict[str, object]
) -> None:
    record = {
        "annotations": answers,
        "annotators": "Ann1,Ann6",
        "text": {one: "How was it?", other: "Wet."},
        "soft_label": {"-3.0": 0.5, "5.0": 0.5},
    }
    file = tmp_path / "released.json"
    file.write_text(json.dumps({"12": record}))
    (row,) = read(file)
    assert (row["id"], row["text"]) == ("12", "How was it?\nWet.")
    assert row["annotators"] == {"Ann1": {"label": "-3"}, "Ann6": {"label": "5"}}
    assert row["meta"]["parts"] == {one: [0, 11], other: [12, 16]}


def test_lewidi_2025_has_several_labels_a_person_where_their_parts_stand_alone_elsewhere(tmp_path: Path) -> None:
    text = {"premise": "It rains.", "hypothesis": "It is wet."}
    answers = [{"A": "entailment,neutral", "B": "neutral"}, {"A": "entailment", "B": "neutral, contradiction"}]
    records = {str(at): {"text": text, "annotators": "A,B", "annotations": each} for at, each in enumerate(answers)}
    file = tmp_path / "released.json"
    file.write_text(json.dumps(records))
    first, second = read(file)
    assert first["annotators"] == {"A": {"labels": ["entailment", "neutral"]}, "B": {"label": "neutral"}}
    # Nobody says contradiction alone.
    assert second["annotators"]["B"] == {"label": "neutral, contradiction"}
    told = "\n".join(take(str(file), None, ReadOptions()).options.remarks)
    assert "annotators: 1 cell holds several labels, as 'entailment,neutral'" in told
    assert "1 cell such as 'neutral, contradiction' is one label" in told


def test_covidets_dimensions_are_numbers_of_each_worker_and_na_is_none(tmp_path: Path) -> None:
    names = "Reddit ID,Reddit Post,Worker ID,dim1,dim1_rationale,dim2,dim2_rationale,dim24,dim24_rationale"
    rows = (
        "ab1,We are locked in.,A1XYZ,9,no choice,NA,NA,1,so it was",
        "ab1,We are locked in.,B2XYZ,7,they said so,3,a bit,NA,NA",
        "cd2,Home at last.,A1XYZ,1,mine,2,two,4,four",
    )
    first, second = read(_csv(tmp_path, "\n".join((names, *rows)) + "\n"))
    assert (first["id"], first["text"], second["id"]) == ("ab1", "We are locked in.", "cd2")
    assert first["annotators"] == {
        "A1XYZ": {"values": {"dim1": 9, "dim24": 1}},
        "B2XYZ": {"values": {"dim1": 7, "dim2": 3}},
    }
    assert first["meta"]["dim1_rationale"] == "no choice"
    assert first["meta"]["dim1_rationale (B2XYZ)"] == "they said so"
    assert not {"values", "label", "labels"} & first.keys()


def test_crowd_envent_has_an_emotion_and_21_numbers_of_one_text_under_their_own_names(tmp_path: Path) -> None:
    appraisals = sorted(APPRAISALS - {"control", "certainty", "responsibility"})
    names = [
        "text_id",
        "emotion",
        "generated_text",
        "hidden_emo_text",
        "prolific_id",
        "round_number",
        *appraisals,
        "age",
    ]
    cells = ["4", "no-emotion", "I waited for the bus.", "I waited for the ...", "5f1a9c", "2", *["3"] * 21, "44"]
    (row,) = read(_csv(tmp_path, ",".join(names) + "\n" + ",".join(cells) + "\n"))
    assert (row["text"], row["label"]) == ("I waited for the bus.", "no-emotion")
    assert row["values"] == dict.fromkeys(appraisals, 3.0)
    assert row["meta"].keys() == {"hidden_emo_text", "prolific_id", "round_number", "age"}
    cells[2:4] = "I was so sad of it.", "I was so [...] of it."
    (row,) = read(_csv(tmp_path, ",".join(names) + "\n" + ",".join(cells) + "\n"))
    assert row["text"] == "I was so sad of it."


READERS = """text_id,text,emotion,original_emotion,prolific_id,suddenness,effort
7,I waited for it.,joy,fear,r1,1,2
7,I waited for it.,fear,fear,r2,3,4
9,It never came.,fear,sadness,r1,5,1
"""


def test_readers_of_one_text_are_its_annotators_under_the_id_that_repeats_with_it(tmp_path: Path) -> None:
    file = _csv(tmp_path, READERS)
    first, second = read(file)
    assert (first["id"], second["id"], first["meta"]["original_emotion"]) == ("7", "9", "fear")
    assert first["annotators"] == {
        "r1": {"label": "joy", "values": {"suddenness": 1.0, "effort": 2.0}},
        "r2": {"label": "fear", "values": {"suddenness": 3.0, "effort": 4.0}},
    }
    remarks = take(str(file), None, ReadOptions()).options.remarks
    assert "prolific_id: each row of a text is what that person says of it" in remarks


def test_who_wrote_the_same_words_as_somebody_else_is_no_reader(tmp_path: Path) -> None:
    rows = ("I was glad,joy,p1", "I was glad,joy,p2", "He left me,fear,p3", "She came,joy,p4")
    found = read(_csv(tmp_path, "\n".join(("text,emotion,prolific_id", *rows)) + "\n"))
    assert [row["meta"]["prolific_id"] for row in found] == ["p1", "p2", "p3", "p4"]
    # Nor is an id one that stands beside several texts.
    file = _csv(tmp_path, READERS.replace("9,It", "7,It"))
    assert "id" not in columns(file)


def test_texts_that_repeat_without_anybody_named_are_told(tmp_path: Path) -> None:
    file = _csv(tmp_path, "text,emotion\nI was glad,joy\nI was glad,fear\nHe left,fear\nHe left,joy\n")
    assert take(str(file), None, ReadOptions()).options.remarks == (
        "4 rows have 2 texts between them, and each row is a record: if they are what several people say, "
        "--map annotator=COLUMN,id=COLUMN makes one record of the rows of a text",
    )


def test_who_was_asked_about_a_part_of_the_labels_denies_none_of_the_others_in_a_record(tmp_path: Path) -> None:
    found = read_foreign([str(_csv(tmp_path, ASKED.format(top="1")))], Wish())
    good, bad = found.samples
    assert good.annotators == {"annotator_1": ("joy",)}
    assert good.meta["annotators"] == {"annotator_4": {"values": {"joy": 0}}}
    assert bad.annotators == {"annotator_1": ("fear",), "annotator_4": ("fear",)}
    (told,) = (line for line in described(found) if "empty cells" in line)
    assert "1 answer of people to a part of the labels of a text (empty cells): kept as numbers" in told


@pytest.mark.parametrize(
    ("column", "said", "gold"),
    [("label", {"mia": ("joy",)}, None), ("gold_label", {}, "joy"), ("majority_label", {}, "joy")],
)
def test_the_rows_of_one_annotator_are_that_persons_answers_and_gold_where_the_column_says_so(
    tmp_path: Path, column: str, said: object, gold: str | None
) -> None:
    file = _csv(tmp_path, f"id,text,annotator,{column}\n1,so good,mia,joy\n2,so bad,mia,anger\n")
    found = read_foreign([str(file)], Wish())
    assert (found.samples[0].annotators, found.samples[0].label) == (said, gold)
    told = any("annotator: what a row says is that person's answer" in line for line in described(found))
    assert told is bool(said)


def test_who_wrote_a_rephrasing_is_no_annotator_of_its_text(tmp_path: Path) -> None:
    rows = [
        {"id": f"r{n}", "text": f"I am {n}.", "label": "joy", "contrast": "I am.", "predicted": "joy", "annotator": who}
        for n, who in enumerate(["root", "root", "ann", "root"])
    ]
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = read_foreign([str(path)], Wish("rephrase"))
    assert [one.label for one in found.samples] == ["joy"] * 4
