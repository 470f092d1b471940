"""Tables with a column a label, and labels in one cell however they are written."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emotui.errors import BadInput
from emotui.formats import read
from emotui.formats.columns import LabelColumns
from emotui.records import LabelsGold, LabelsPrediction, ScenesGold, ScenesPrediction


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as made:
        yield Path(made)


def table(folder: Path, content: str, ending: str = ".csv") -> Path:
    path = folder / f"table{ending}"
    path.write_text(content, encoding="utf-8", newline="")
    return path


@pytest.mark.parametrize(("yes", "no"), [("1", "0"), ("1.0", "0.0"), ("true", "false"), (" True ", "FALSE")])
@pytest.mark.parametrize("kind", [LabelsGold, ScenesGold, LabelsPrediction, ScenesPrediction])
def test_a_column_a_label_is_read_as_labels(folder: Path, kind: Any, yes: str, no: str) -> None:
    path = table(folder, f"id,text,joy,anger\n1,a,{yes},{no}\n2,b,{no},{no}\n")
    assert [record.labels for record in read(path, kind).records] == [{"joy": 1, "anger": 0}, {"joy": 0, "anger": 0}]


def test_text_columns_are_no_labels_and_a_column_counts_by_its_first_cell_with_something_in_it(folder: Path) -> None:
    path = table(folder, "id\tauthor\tjoy\tanger\tnote\n1\tx7\t1\t\t\n2\t12\t0\t1\t\n", ".tsv")
    assert [record.labels for record in read(path, LabelsGold).records] == [{"joy": 1}, {"joy": 0, "anger": 1}]


def test_numbers_from_the_threshold_on_are_there(folder: Path) -> None:
    path = table(folder, "id,joy,anger,fear\n1,0,2,3\n2,1,1.9,0\n")
    found = read(path, LabelsGold, columns=LabelColumns(threshold=2))
    assert [record.labels for record in found.records] == [
        {"joy": 0, "anger": 1, "fear": 1},
        {"joy": 0, "anger": 0, "fear": 0},
    ]


def test_a_column_of_other_numbers_is_one_clear_line(folder: Path) -> None:
    path = table(folder, "id,rater,joy\n1,37,0\n2,38,1\n3,41,1\n")
    with pytest.raises(BadInput) as refusal:
        read(path, LabelsGold)
    (problem,) = refusal.value.problems
    assert problem.startswith(f"{path}:2: 'rater' is 37.0, and a label is 0 or 1: name the columns")


def test_named_columns_are_the_labels_and_no_others(folder: Path) -> None:
    path = table(folder, "id,rater,joy\n1,37,0\n2,38,x\n")
    found = read(path, LabelsGold, columns=LabelColumns(("joy",)), skip_bad=True)
    assert [record.labels for record in found.records] == [{"joy": 0}]
    assert found.skipped == (f"{path}:3: 'joy' must be a number, or true or false, not 'x'",)
    for names, what in ((("fear",), "there is no column"), (("id",), "cannot be a label")):
        with pytest.raises(BadInput, match=what):
            read(path, LabelsGold, columns=LabelColumns(names))


def test_predicted_columns_may_hold_probabilities(folder: Path) -> None:
    path = table(folder, "id,joy,anger\n1,0.25,1\n")
    assert read(path, LabelsPrediction).records[0].labels == {"joy": 0.25, "anger": 1.0}
    with pytest.raises(BadInput, match="a label is from 0 to 1"):
        read(table(folder, "id,joy\n1,1.5\n"), LabelsPrediction)


def test_where_labels_stand_in_one_cell_other_columns_are_none(folder: Path) -> None:
    path = table(folder, 'id,labels,rater\n1,"[""joy""]",37\n')
    assert read(path, LabelsGold).records[0].labels == ("joy",)
    with pytest.raises(BadInput, match="leave --labels out"):
        read(path, LabelsGold, columns=LabelColumns(("rater",)))


def test_a_label_column_that_comes_twice_is_refused(folder: Path) -> None:
    with pytest.raises(BadInput, match="'joy' comes twice"):
        read(table(folder, "id,joy,joy\n1,0,1\n"), LabelsGold)


def test_a_table_without_any_label_holds_unlabelled_texts_and_no_scenes(folder: Path) -> None:
    path = table(folder, "id,text\n1,a\n")
    assert read(path, LabelsGold).records == [LabelsGold(id="1", text="a")]
    with pytest.raises(BadInput, match="no column `labels`"):
        read(path, ScenesGold)


@pytest.mark.parametrize(
    ("columns", "values"),
    [
        ("joy integer, anger tinyint", "1, 0"),
        ("joy double, anger float", "1.0, 0.0"),
        ("joy boolean, anger decimal(3, 1)", "true, 0.0"),
    ],
)
def test_parquet_columns_of_numbers_and_booleans_are_labels(folder: Path, columns: str, values: str) -> None:
    path = folder / "table.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"create table t(id varchar, author varchar, {columns})")
        connection.execute(f"insert into t values ('1', 'x', {values})")
        connection.execute(f"copy t to '{path}' (format parquet)")
    assert read(path, LabelsGold).records[0].labels == {"joy": 1, "anger": 0}
    assert read(path, ScenesGold).records[0].labels == {"joy": 1, "anger": 0}


@pytest.mark.parametrize(
    "cell",
    ['"[""joy"", ""anger""]"', "\"['joy', 'anger']\"", '"joy,anger"', '"joy, anger"'],
)
def test_labels_in_one_cell_may_be_json_python_or_names_between_commas(folder: Path, cell: str) -> None:
    assert read(table(folder, f"id,labels\n1,{cell}\n"), LabelsGold).records[0].labels == ("joy", "anger")


def test_an_empty_list_is_no_label_and_an_empty_cell_says_nothing(folder: Path) -> None:
    first, second = read(table(folder, "id,text,labels\n1,a,[]\n2,b,\n"), LabelsGold).records
    assert first.said == ()
    assert second.said is None


def test_one_label_counts_as_a_list_of_one(folder: Path) -> None:
    path = folder / "one.jsonl"
    path.write_text('{"id": 1, "label": "joy"}\n{"id": 2, "labels": ["joy"]}\n{"id": 3}\n')
    assert [record.said for record in read(path, LabelsGold).records] == [("joy",), ("joy",), None]


def test_one_label_beside_several_is_another_thing_said_and_kept(folder: Path) -> None:
    path = folder / "both.jsonl"
    path.write_text('{"id": 1, "label": "joy", "labels": []}\n')
    (record,) = read(path, LabelsGold).records
    assert record.said == ()
    assert record.meta == {"label": "joy"}


@pytest.mark.parametrize(
    ("labels", "what"),
    [
        ('["joy", "joy"]', "stands twice"),
        ('["joy", " "]', "empty label"),
        ('{"joy": 2}', "must be 0 or 1"),
        ("3", "must be a list or an object, not 3"),
    ],
)
def test_labels_that_are_none_are_named_with_their_line(folder: Path, labels: str, what: str) -> None:
    path = folder / "bad.jsonl"
    path.write_text(f'{{"id": 1, "labels": []}}\n{{"id": 2, "labels": {labels}}}\n')
    with pytest.raises(BadInput, match=rf"bad.jsonl:2: .*{what}"):
        read(path, LabelsGold)


def test_labels_given_beside_probabilities_are_among_them(folder: Path) -> None:
    path = folder / "given.jsonl"
    path.write_text('{"id": 1, "labels": {"joy": 0.3, "fear": 0.2}, "given": ["joy"]}\n')
    assert read(path, LabelsPrediction).records[0].given == ("joy",)
    for line, what in (
        ('{"id": 1, "labels": ["joy"], "given": ["joy"]}', "beside probabilities"),
        ('{"id": 1, "labels": {"joy": 0.3}, "given": ["fear"]}', "not among the labels"),
    ):
        path.write_text(line)
        with pytest.raises(BadInput, match=f"given.jsonl:1: `given`.*{what}"):
            read(path, LabelsPrediction)


cells = st.one_of(
    st.sampled_from(
        ["0", "1", "0.0", "1.0", "true", "", "2", "3", "-1", "1e999", "nan", "inf", "[1", "['a']", "{1: 2}"]
    ),
    st.text(st.characters(codec="utf-8", exclude_characters='",\r\n'), max_size=4),
)


@given(
    header=st.lists(st.sampled_from(["id", "text", "labels", "label", "joy", "anger", ""]), max_size=5),
    rows=st.lists(st.lists(cells, max_size=5), max_size=4),
    kind=st.sampled_from([LabelsGold, LabelsPrediction, ScenesGold, ScenesPrediction]),
    columns=st.builds(
        LabelColumns,
        names=st.none() | st.lists(st.sampled_from(["joy", "anger", "id"]), max_size=2, unique=True).map(tuple),
        threshold=st.none() | st.sampled_from([0.0, 1.0, 2.5]),
    ),
)
@settings(max_examples=300, deadline=None)
def test_any_cells_are_records_or_a_refusal(
    folder: Path, header: list[str], rows: list[list[str]], kind: Any, columns: LabelColumns
) -> None:
    path = table(folder, "\n".join(",".join(row) for row in [header, *rows]))
    problems: tuple[str, ...] = ()
    try:
        assert all(isinstance(record, kind) for record in read(path, kind, columns=columns).records)
    except BadInput as refusal:
        problems = refusal.problems
    assert all(problem.startswith((str(path), "... and ")) and problem.isprintable() for problem in problems)
