"""Excel, JSON, plain text, Parquet and the folders of `datasets`."""

import gzip
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from emotui.errors import BadInput
from emotui.formats.layouts.layout import ReadOptions
from emotui.formats.layouts.registry import take
from emotui.formats.rows import said_by_library
from tests.formats.layouts.reading_rows import flaws, read, taken_for

FEATURES = {
    "text": {"dtype": "string", "_type": "Value"},
    "label": {"names": ["joy", "fear"], "_type": "ClassLabel"},
}


def workbook(path: Path, *rows: list[Any]) -> Path:
    """A workbook with an empty first sheet and these rows in the second."""
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.create_sheet("data")
    for row in rows:
        sheet.append(row)
    book.save(path)
    return path


def parquet(path: Path, columns: dict[str, list[Any]], features: object = None) -> Path:
    """A Parquet file as `datasets` writes it."""
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.table(columns)
    if features is not None:
        table = table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})
    path.parent.mkdir(parents=True, exist_ok=True)
    pyarrow.parquet.write_table(table, path)
    return path


def arrow(path: Path, columns: dict[str, list[Any]]) -> None:
    """An Arrow stream as `save_to_disk` writes it."""
    import pyarrow
    import pyarrow.ipc

    table = pyarrow.table(columns)
    path.parent.mkdir(parents=True, exist_ok=True)
    with pyarrow.OSFile(str(path), "wb") as out, pyarrow.ipc.new_stream(out, table.schema) as stream:
        stream.write_table(table)


def test_the_first_sheet_that_is_not_empty_is_read(tmp_path: Path) -> None:
    file = workbook(tmp_path / "mine.xlsx", ["Nr", "Text", "Emotion"], [1, "so gut", "joy"], [None], [2, "x", None])
    assert taken_for(file) == "xlsx"
    assert read(file)[0] == {
        "id": "1",
        "text": "so gut",
        "label": "joy",
    }


def test_a_page_of_notes_before_the_data_is_passed_over_and_named(tmp_path: Path) -> None:
    from openpyxl import Workbook

    from emotui.formats.layouts.tables.excel import EXCEL

    book = Workbook()
    book.active.title = "Notes"
    book.active.append(["What this is"])
    sheet = book.create_sheet("Data")
    for row in (["Text", "Emotion"], ["so gut", "joy"]):
        sheet.append(row)
    file = tmp_path / "mine.xlsx"
    book.save(file)
    assert read(file) == [{"text": "so gut", "label": "joy"}]
    why = EXCEL.recognise(file, file.read_bytes())
    assert why is not None
    assert "the sheet 'Data' is read ('Notes'" in why


def test_what_is_no_workbook_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.xlsx"
    file.write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(BadInput, match="not a workbook of Excel"):
        read(file)


def test_gold_spans_in_words_are_placed_where_there_is_one_place(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text('{"text": "I am glad, so glad", "spans": ["so glad"]}\n')
    assert read(file)[0]["spans"] == [{"start": 11, "end": 18}]
    file.write_text('{"text": "I am glad, so glad", "spans": ["glad"]}\n{"text": "I am", "spans": ["sad"]}\n')
    assert [why.split(" in the text")[0] for _, why in flaws(file)] == [
        "'spans': the span 'glad' stands 2 times",
        "'spans': the span 'sad' stands nowhere",
    ]
    file.write_text('{"text": "The steak or the tea", "spans": ["tea"]}\n{"text": "steak", "spans": ["tea"]}\n')
    assert [row["spans"] for row in read(file)] == [[{"start": 17, "end": 20}], [{"start": 1, "end": 4}]]


def test_json_lines_may_have_any_fields(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text('{"sentence": "one", "emotions": ["joy"], "n": 3}\n\n{"sentence": "two", "emotions": []}\n')
    assert read(file) == [{"text": "one", "labels": ["joy"], "meta": {"n": 3}}, {"text": "two", "labels": []}]


@pytest.mark.parametrize(
    "document",
    [
        '[{"tweet": "one thing", "label": "joy"}, {"tweet": "another", "label": "fear"}]',
        '{"data": [{"tweet": "one thing", "label": "joy"}, {"tweet": "another", "label": "fear"}]}',
        '{"tweet": ["one thing", "another"], "label": ["joy", "fear"]}',
        '{"tweet": {"0": "one thing", "1": "another"}, "label": {"0": "joy", "1": "fear"}}',
    ],
)
def test_json_may_be_a_list_or_columns_as_pandas_writes_them(tmp_path: Path, document: str) -> None:
    file = tmp_path / "mine.json"
    file.write_text(document)
    assert [(row["text"], row["label"]) for row in read(file)] == [("one thing", "joy"), ("another", "fear")]


def test_spans_may_stand_in_several_forms(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    objects = {"start": [2], "end": [6], "label": ["fear"]}
    forms: list[object] = [[[2, 6, "fear"]], [{"start": 2, "end": 6, "type": "fear"}], objects]
    file.write_text("".join(json.dumps({"text": "I fear it", "spans": form}) + "\n" for form in forms))
    assert [row["spans"] for row in read(file, "jsonl")] == [[{"start": 2, "end": 6, "label": "fear"}]] * 3


def test_plain_text_has_a_text_a_line_or_paragraphs(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text("One, two.\nThree, four.\n\nFive.\n")
    assert [row["text"] for row in read(file)] == ["One, two.", "Three, four.", "Five."]
    file.write_text("One,\ntwo.\n\nThree,\nfour.\n")
    assert [row["text"] for row in read(file)] == ["One,\ntwo.", "Three,\nfour."]


def test_prose_with_commas_is_no_table(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text("He came, saw, and left.\nShe said, no, never, again.\nIt, too, went.\n")
    assert taken_for(file) == "text"


def test_parquet_has_the_names_of_its_labels(tmp_path: Path) -> None:
    columns = {"text": ["one two", "three"], "label": [1, -1], "day": [3, 4]}
    file = parquet(tmp_path / "mine.parquet", columns, FEATURES)
    assert read(file) == [
        {"text": "one two", "label": "fear", "meta": {"day": 3}},
        {"text": "three", "meta": {"day": 4}},
    ]


def test_parquet_may_hold_sequences_of_labels_and_tokens_with_tags(tmp_path: Path) -> None:
    names = {"feature": {"names": ["O", "B-cue", "I-cue"], "_type": "ClassLabel"}, "_type": "Sequence"}
    columns = {"tokens": [["I", "am", "so", "afraid"]], "ner_tags": [[0, 0, 1, 2]]}
    file = parquet(tmp_path / "tokens.parquet", columns, {"ner_tags": names})
    assert read(file) == [{"text": "I am so afraid", "spans": [{"start": 5, "end": 14, "label": "cue"}]}]
    several = {"feature": {"names": ["joy", "fear"], "_type": "ClassLabel"}, "_type": "List"}
    file = parquet(tmp_path / "several.parquet", {"text": ["so it was"], "labels": [[0, 1]]}, {"labels": several})
    assert read(file) == [{"text": "so it was", "labels": ["joy", "fear"]}]


def test_a_folder_of_save_to_disk_is_read_with_its_splits(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    for split, text in (("train", "one thing"), ("test", "another")):
        arrow(folder / split / "data-00000-of-00001.arrow", {"text": [text], "label": [0]})
        (folder / split / "dataset_info.json").write_text(json.dumps({"features": FEATURES}))
        (folder / split / "state.json").write_text('{"_data_files": []}')
    (folder / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    assert taken_for(folder) == "datasets"
    assert read(folder) == [
        {"text": "another", "label": "joy", "meta": {"split": "test"}},
        {"text": "one thing", "label": "joy", "meta": {"split": "train"}},
    ]


def test_a_folder_of_shards_takes_the_names_from_its_card(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    parquet(folder / "data" / "train-00000-of-00001.parquet", {"text": ["one thing"], "label": [1]})
    (folder / "README.md").write_text(
        "---\ndataset_info:\n  features:\n  - name: text\n    dtype: string\n  - name: label\n    dtype:\n"
        "      class_label:\n        names:\n          '0': joy\n          '1': fear\n---\n# Mine\n"
    )
    assert read(folder) == [{"text": "one thing", "label": "fear"}]


def test_without_pyarrow_one_line_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arrow(tmp_path / "mine" / "data-00000-of-00001.arrow", {"text": ["one"]})
    (tmp_path / "mine" / "state.json").write_text("{}")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(BadInput, match="pip install 'pyarrow>="):
        read(tmp_path / "mine")


def test_a_span_that_says_another_text_names_both(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text('{"text": "I fear it", "spans": [{"start": 0, "end": 4, "text": "fear"}]}\n')
    ((line, why),) = flaws(file, "jsonl")
    assert (line, why) == (1, "'spans': the span [0, 4] is said to be 'fear', and 'I fe' stands there")


def test_a_workbook_whose_cell_names_a_text_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    whole, cut = workbook(tmp_path / "whole.xlsx", ["Text", "Emotion"], ["so gut", "joy"]), tmp_path / "cut.xlsx"
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(cut, "w") as new:
        for part in old.namelist():
            content = old.read(part)
            new.writestr(part, content.replace(b't="inlineStr"><is><t>joy</t></is>', b't="s"><v>99</v>'))
    with pytest.raises(BadInput, match="not a readable workbook: a cell names a text or style that is not in it"):
        take(str(cut), None, ReadOptions())


def test_what_a_library_says_of_its_own_code_stands_behind_the_kind_of_error() -> None:
    assert said_by_library(IndexError("list index out of range")) == "IndexError: list index out of range"
    assert said_by_library(ValueError("no such\nthing")) == "no such"
    assert said_by_library(KeyError()) == "KeyError"


def test_packed_files_and_empty_folders_are_told_by_what_they_are(tmp_path: Path) -> None:
    packed = tmp_path / "mine.csv.gz"
    packed.write_bytes(gzip.compress(b"id,text,label\n1,So glad,joy\n"))
    with pytest.raises(BadInput, match=r"mine.csv.gz: is packed by gzip: unpack it"):
        take(str(packed), None, ReadOptions())
    (tmp_path / "mine").mkdir()
    with pytest.raises(BadInput, match="there is no file in the folder"):
        take(str(tmp_path / "mine"), None, ReadOptions())
