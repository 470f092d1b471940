"""Cells that hold several labels, and tags whose names nobody tells: read right, or told, or refused."""

import json
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.errors import BadInput
from emotui.formats import read as own_file
from emotui.formats.beside import lifted
from emotui.formats.json_document import present
from emotui.formats.layouts.layout import ReadOptions
from emotui.formats.layouts.registry import rows, take
from emotui.formats.layouts.tables.several import outside_of, several_in
from emotui.formats.rows import Flaw
from emotui.records import ClassGold, LabelsGold, SpanSample
from tests.conftest import Emotui
from tests.formats.layouts.reading_rows import read


def _table(folder: Path, *cells: str, header: str = "Text,Emotion") -> Path:
    file = folder / "mine.csv"
    rows = [f'text number {number},"{cell}"' for number, cell in enumerate(cells)]
    file.write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    return file


def _told(file: Path) -> tuple[str, ...]:
    return take(str(file), None, ReadOptions()).options.remarks


@pytest.mark.parametrize(
    "cell", ["joy, sadness", "joy; sadness", "joy|sadness", "joy / sadness", "joy+sadness", "joy and sadness"]
)
def test_a_cell_of_labels_that_stand_alone_elsewhere_is_several_labels(tmp_path: Path, cell: str) -> None:
    file = _table(tmp_path, "joy", "sadness", cell)
    assert [row.get("label", row.get("labels")) for row in read(file)] == ["joy", "sadness", ["joy", "sadness"]]
    assert _told(file) == (f"Emotion: 1 cell holds several labels, as '{cell}': each is read as such",)


def test_emotions_between_commas_need_not_stand_alone_and_a_slash_may_be_in_the_name_of_a_class(tmp_path: Path) -> None:
    file = _table(tmp_path, "fear, disgust", "joy", "shame/guilt")
    assert [row.get("label", row.get("labels")) for row in read(file)] == [["fear", "disgust"], "joy", "shame/guilt"]


def test_a_part_is_spelt_as_the_label_that_stands_alone(tmp_path: Path) -> None:
    assert read(_table(tmp_path, "Joy", "Sadness", "joy, SADNESS"))[2]["labels"] == ["Joy", "Sadness"]


@pytest.mark.parametrize(
    ("ending", "kind"),
    [*product(("csv", "tsv", "jsonl"), (ClassGold, LabelsGold)), ("jsonl", SpanSample)],
    ids=lambda one: one if isinstance(one, str) else one.__name__,
)
def test_in_files_of_the_projects_own_a_label_that_holds_several_is_several(
    tmp_path: Path, ending: str, kind: type[ClassGold | LabelsGold | SpanSample]
) -> None:
    file = tmp_path / f"gold.{ending}"
    labels = ["joy", "sadness", "joy,  sadness", "joy, joy", "Nice, France"]
    if ending == "jsonl":
        lines = [json.dumps({"id": str(n), "text": f"text {n}", "label": label}) for n, label in enumerate(labels)]
    else:
        part = {"csv": ",", "tsv": "\t"}[ending]
        lines = [
            part.join(("id", "text", "label")),
            *(f'{n}{part}text {n}{part}"{one}"' for n, one in enumerate(labels)),
        ]
    file.write_text("\n".join([*lines, ""]), encoding="utf-8")
    got = own_file(file, kind)
    said = [lifted(kind, present(record)) for record in got.records]
    labels = [one["label"] if "label" in one else list(one["labels"]) for one in said]
    assert labels == ["joy", "sadness", ["joy", "sadness"], "joy", "Nice, France"]
    assert got.remarks == (
        f"{file}: label: 2 cells hold several labels, as 'joy, sadness': each is read as such",
        f"{file}: label: 1 cell such as 'Nice, France' is one label, for not all of its parts are labels elsewhere",
    )


def test_a_text_of_several_labels_is_not_scored_as_a_class_of_its_own(emotui: Emotui, tmp_path: Path) -> None:
    gold, said = tmp_path / "gold.csv", tmp_path / "said.jsonl"
    gold.write_text('id,text,label\n1,Oh.,"joy, sadness"\n2,Ha.,joy\n3,Oh no.,sadness\n', encoding="utf-8")
    said.write_text("".join(f'{{"id": "{n}", "label": "joy"}}\n' for n in (1, 2, 3)), encoding="utf-8")
    done = emotui("score", "class", "--gold", gold, "--pred", said, "--json")
    assert (done.document["n"], done.document["unlabelled"]) == (2, 1)
    assert done.document["confusion"] == {"joy": {"joy": 1}, "sadness": {"joy": 1}}
    assert "gold.csv: label: 1 cell holds several labels, as 'joy, sadness'" in done.err
    ran = emotui("run", "class", "--dataset", gold, "--db", tmp_path / "w.duckdb", "--json")
    assert (ran.document["metrics"]["n"], ran.document["metrics"]["unlabelled"]) == (2, 1)
    assert "gold.csv: label: 1 cell holds several labels, as 'joy, sadness'" in ran.err
    (dataset,) = emotui("datasets", "--db", tmp_path / "w.duckdb", "--json").document
    assert dataset["said"] == {"label": 2, "labels": 1}


def test_a_cell_with_a_part_that_is_no_label_stays_one_label_and_is_told(tmp_path: Path) -> None:
    file = _table(tmp_path, "Nice, France", "Rome, Italy", "joy")
    assert [row["label"] for row in read(file)] == ["Nice, France", "Rome, Italy", "joy"]
    assert _told(file) == (
        "Emotion: 2 cells such as 'Nice, France' are one label each, for not all of its parts are labels elsewhere "
        "(--map labels=COLUMN parts them)",
    )


def test_labels_that_differ_in_case_alone_are_told(tmp_path: Path) -> None:
    assert _told(_table(tmp_path, "Joy", "joy", "fear")) == (
        "Emotion: 'Joy' and 'joy' are different labels here, for their case differs",
    )


def test_a_label_that_is_named_twice_in_a_cell_or_beside_nothing_is_one(tmp_path: Path) -> None:
    assert [row["label"] for row in read(_table(tmp_path, "joy", "joy, joy", "joy;"))] == ["joy"] * 3


def test_a_slash_parts_labels_of_a_column_of_several_too(tmp_path: Path) -> None:
    file = _table(tmp_path, "joy, fear", "joy/fear", "w/o", "n/a", header="text,labels")
    # What stands for a missing answer is not parted either.
    assert [row.get("labels") for row in read(file)] == [["joy", "fear"], ["joy", "fear"], ["w/o"], None]


def test_numbers_of_labels_between_commas_are_several_labels(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text(json.dumps([{"text": f"t {n}", "label": one} for n, one in enumerate(["0", "1", "0,1"])]))
    assert read(file, label_names=("joy", "fear"))[2]["labels"] == ["joy", "fear"]


@given(st.lists(st.sampled_from(["a", "b", "a, b", "b|c", "a/b", "c, d", "A"]), max_size=8))
def test_what_is_parted_is_parted_into_labels_that_stand_alone(cells: list[str]) -> None:
    found = several_in(cells)
    assert all(set(parts) <= set(cells) for parts in found.labels.values())
    assert not set(found.whole) & set(found.labels)


TOKENS = [
    {"id": "a", "tokens": ["so", "very", "happy"], "ner_tags": [0, 1, 2]},
    {"id": "b", "tokens": ["bad"], "ner_tags": [1]},
]


def _tokens(folder: Path, rows: list[dict[str, object]]) -> Path:
    file = folder / "tokens.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_tags_that_are_numbers_without_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="the tags in 'ner_tags' are numbers without names: name them in their order"):
        read(_tokens(tmp_path, TOKENS))
    digits = [{**row, "ner_tags": [str(tag) for tag in row["ner_tags"]]} for row in TOKENS]  # type: ignore[attr-defined]
    with pytest.raises(BadInput, match="without names"):
        read(_tokens(tmp_path, digits))


def test_tags_are_read_with_the_names_that_a_person_gives(tmp_path: Path) -> None:
    first, second = read(_tokens(tmp_path, TOKENS), label_names=("O", "B-joy", "I-joy"))
    assert (first["text"], first["spans"]) == ("so very happy", [{"start": 3, "end": 13, "label": "joy"}])
    assert second["spans"] == [{"start": 0, "end": 3, "label": "joy"}]


def test_tags_without_names_are_left_out_where_a_person_says_so(tmp_path: Path) -> None:
    rows = [{**row, "text": " ".join(row["tokens"])} for row in TOKENS]  # type: ignore[arg-type]
    assert read(_tokens(tmp_path, rows), columns={"tokens": "", "tags": ""})[1]["text"] == "bad"


def test_tags_that_are_words_need_no_names(tmp_path: Path) -> None:
    (row,) = read(_tokens(tmp_path, [{"tokens": ["so", "bad"], "tags": ["O", "B-fear"]}]))
    assert row["spans"] == [{"start": 3, "end": 6, "label": "fear"}]


def test_a_parquet_file_of_datasets_tells_the_names_of_its_tags(tmp_path: Path) -> None:
    import duckdb

    file = tmp_path / "tokens.parquet"
    feature = {"feature": {"names": ["O", "B-joy", "I-joy"], "_type": "ClassLabel"}, "_type": "Sequence"}
    described = json.dumps({"info": {"features": {"tags": feature}}})
    rows = "SELECT ['so', 'glad'] AS tokens, [0, 1] AS tags"
    duckdb.execute(f"COPY ({rows}) TO '{file}' (FORMAT parquet, KV_METADATA {{huggingface: '{described}'}})")
    assert read(file)[0]["spans"] == [{"start": 3, "end": 7, "label": "joy"}]
    duckdb.execute(f"COPY ({rows}) TO '{file}' (FORMAT parquet)")
    with pytest.raises(BadInput, match="without names"):
        read(file)


_CLASSES = ["O", "B-joy", "I-joy"]
_FEATURES = {"ner_tags": {"feature": {"names": _CLASSES, "_type": "ClassLabel"}, "_type": "List"}}
_CARD = """---
dataset_info:
- config_name: raw
  features:
  - name: text
    dtype: string
- config_name: tokens
  features:
  - name: ner_tags
    sequence:
      class_label:
        names: {'0': O, '1': B-joy, '2': I-joy}
---
"""


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("dataset_info.json", json.dumps({"features": _FEATURES})),
        ("dataset_infos.json", json.dumps({"default": {"features": _FEATURES}})),
        ("README.md", _CARD),
    ],
)
def test_names_of_tags_are_read_from_what_describes_the_data_set_beside_a_file(
    tmp_path: Path, name: str, told: str
) -> None:
    (tmp_path / name).write_text(told)
    first, second = read(_tokens(tmp_path, TOKENS))
    assert first["spans"] == [{"start": 3, "end": 13, "label": "joy"}]
    assert second["spans"] == [{"start": 0, "end": 3, "label": "joy"}]


def test_a_folder_of_json_lines_that_a_card_describes_is_a_data_set(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    for n, split in enumerate(("train-00000-of-00001", "test-00000-of-00001")):
        (tmp_path / "data" / f"{split}.jsonl").write_text(json.dumps(TOKENS[n]) + "\n")
    with pytest.raises(BadInput, match="nothing is known that writes such a file"):
        take(str(tmp_path), None, ReadOptions())
    (tmp_path / "README.md").write_text(_CARD)
    taken = take(str(tmp_path), None, ReadOptions())
    assert (taken.layout.name, taken.why) == ("datasets", "it is a folder with 2 files of data and a card")
    first, second = read(tmp_path)
    assert [one["spans"] for one in (first, second)] == [
        [{"start": 0, "end": 3, "label": "joy"}],
        [{"start": 3, "end": 13, "label": "joy"}],
    ]
    assert [one["meta"]["split"] for one in (first, second)] == ["test", "train"]
    (tmp_path / "data" / "test-00000-of-00001.jsonl").write_text("{\n")
    (_, wrong), _ = rows(take(str(tmp_path), None, ReadOptions()))
    assert isinstance(wrong, Flaw)
    assert wrong.reason.startswith("test-00000-of-00001.jsonl:1: not JSON")


_LABELS = """---
dataset_info:
  features:
  - name: label
    dtype:
      class_label:
        names: {'0': sadness, '1': joy}
---
"""


@pytest.mark.parametrize(
    ("cells", "labels"),
    [(("1", "0", "1"), ["joy", "sadness", "joy"]), (("joy", "sadness", "1"), ["joy", "sadness", "joy"])],
)
def test_a_card_names_the_labels_of_csv(tmp_path: Path, cells: tuple[str, ...], labels: list[str]) -> None:
    (tmp_path / "README.md").write_text(_LABELS)
    rows = [f"text number {number},{cell}" for number, cell in enumerate(cells)]
    (tmp_path / "train.csv").write_text("\n".join(["text,label", *rows, ""]))
    assert [row["label"] for row in read(tmp_path / "train.csv")] == labels
    (tmp_path / "test.csv").write_text("text,label\nthe last,0\n")
    assert [(row["label"], row["meta"]["split"]) for row in read(tmp_path)] == [
        ("sadness", "test"),
        *((label, "train") for label in labels),
    ]


def test_names_of_a_column_on_which_two_configurations_differ_are_none(tmp_path: Path) -> None:
    other = {"ner_tags": {"feature": {"names": ["O", "B-fear", "I-fear"], "_type": "ClassLabel"}, "_type": "List"}}
    told = {"a": {"features": _FEATURES}, "b": {"features": other}}
    (tmp_path / "dataset_infos.json").write_text(json.dumps(told))
    with pytest.raises(BadInput, match="without names"):
        read(_tokens(tmp_path, TOKENS))


@pytest.mark.parametrize(
    ("names", "outside"),
    [
        (("none", "joy"), "none"),
        (("nothing here", "joy"), "nothing here"),
        (("O", "joy"), None),
        (("joy", "fear"), None),
        (("B-joy", "I-joy"), None),
        (("joy", "O"), None),
    ],
)
def test_the_tag_of_number_0_is_no_evidence_unless_it_names_some(names: tuple[str, ...], outside: str | None) -> None:
    assert outside_of(names) == outside
