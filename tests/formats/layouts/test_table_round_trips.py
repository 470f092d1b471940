"""What is written as a table or the like reads back equal, and damaged files give rows, flaws or one refusal."""

import gc
import random
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emotui.errors import BadInput
from emotui.formats.layouts.layout import ReadOptions, TextRow
from emotui.formats.layouts.registry import layout_named, take
from emotui.formats.layouts.registry import rows as rows_of
from emotui.formats.layouts.tables.writing import write_long
from emotui.formats.rows import Flaw
from tests.formats.layouts.made import NAMES, NUMBERS, spans_of

FULL = ("jsonl", "json", "table", "parquet", "xlsx", "datasets")
ENDINGS = {
    "jsonl": ".jsonl",
    "json": ".json",
    "parquet": ".parquet",
    "xlsx": ".xlsx",
    "text": ".txt",
    "datasets": "",
    "goemotions": ".tsv",
}
LABELS = st.sampled_from(["joy", "fear", "très content", "so-so", "anger (mild)"])
WORDS = st.text("abcé日😀 ,;\"'|_", min_size=1, max_size=20).map(lambda text: f"It was {text} then")
LIKE_ESCAPED = st.sampled_from(["\r\n", "\r", "\t", "_x000D_", "__x0041_x00e9_"])
"""What lines end in, and what a workbook writes for it, in the words of a text itself."""
META = st.dictionaries(
    st.sampled_from(["page", "who", "Länge"]), st.integers(0, 9) | st.text("ab é", max_size=4), min_size=1
)


@st.composite
def full_rows(draw: Any) -> list[TextRow]:
    """Rows with everything that may be said of a text, each thing of some of them."""
    found = []
    for number in range(draw(st.integers(1, 4))):
        text = draw(WORDS) + "".join(draw(st.lists(LIKE_ESCAPED | WORDS, max_size=3)))
        row: TextRow = {"id": f"t{number}", "text": text}
        more: Mapping[str, Any] = {
            "spans": spans_of(text, LABELS, scores=True, attributes=st.just({}) | st.just({"by": "A"})),
            "labels": st.lists(LABELS, unique=True, max_size=3),
            "values": st.dictionaries(st.sampled_from(["valence", "own scale"]), NUMBERS, min_size=1),
            "meta": META,
            "subject": st.just("the narrator"),
            "annotators": st.dictionaries(st.sampled_from(["ann", "bob"]), st.just({"labels": ["joy"]}), min_size=1),
        }
        row |= {key: draw(made) for key, made in more.items() if draw(st.booleans())}
        found.append(row)
    return found


def back(name: str, rows: list[TextRow]) -> tuple[list[str], list[TextRow]]:
    """What is lost, and the rows as they read back by the layout's name."""
    layout = layout_named(name)
    assert layout is not None
    assert layout.write is not None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"x{ENDINGS.get(name, '.csv')}"
        lost = list(layout.write(path, rows))
        found = [row for _, row in rows_of(take(str(path), name, ReadOptions()))]
    assert not [row for row in found if isinstance(row, Flaw)], found
    return lost, [row for row in found if not isinstance(row, Flaw)]


@pytest.mark.parametrize("name", FULL)
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(rows=full_rows())
def test_layouts_of_everything_lose_nothing(name: str, rows: list[TextRow]) -> None:
    assert back(name, rows) == ([], rows)


def test_a_text_that_no_workbook_holds_is_told_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    complaints: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", complaints.append)
    layout = layout_named("xlsx")
    assert layout is not None
    assert layout.write is not None
    for text, why in (("x" * 32_768, "row 2 has 32,768 characters"), ("a\x1f", "row 2 has a control character")):
        with pytest.raises(ValueError, match=why):
            layout.write(tmp_path / "x.xlsx", [{"id": "1", "text": "so glad"}, {"id": "2", "text": text}])
        gc.collect()
    assert complaints == []


def test_what_a_workbook_escapes_is_read_as_the_character(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["id", "text", "label"], ["1", "so_x000D_\nglad _xD83D_", "joy"], ["2", "_x005F_x000D_", "joy"]):
        book.active.append(row)
    book.save(tmp_path / "x.xlsx")
    found = [row for _, row in rows_of(take(str(tmp_path / "x.xlsx"), None, ReadOptions()))]
    assert [row["text"] for row in found if not isinstance(row, Flaw)] == ["so\r\nglad _xD83D_", "_x000D_"]


def labels_there(row: TextRow) -> set[str] | None:
    """The labels of a row, in whichever form they stand."""
    said = row.get("labels")
    return (
        {name for name, value in said.items() if value}
        if isinstance(said, dict)
        else None
        if said is None
        else set(said)
    )


@settings(max_examples=25)
@given(st.lists(st.lists(LABELS, unique=True, max_size=3) | st.none(), min_size=1, max_size=5))
def test_wide_tables_keep_labels_and_what_is_unlabelled(said: list[list[str] | None]) -> None:
    rows = [
        {"id": f"t{n}", "text": f"text {n}"} | ({} if one is None else {"labels": one}) for n, one in enumerate(said)
    ]
    lost, found = back("wide", rows)
    assert [labels_there(row) for row in found] == [None if one is None else set(one) for one in said]
    assert lost == []


@settings(max_examples=25)
@given(st.data())
def test_long_tables_keep_spans(data: st.DataObject) -> None:
    rows: list[TextRow] = []
    for number in range(data.draw(st.integers(1, 4))):
        text = data.draw(WORDS)
        marks = data.draw(spans_of(text, NAMES.filter(str.strip), scores=True, attributes=st.just({"by": "A"})))
        rows.append({"id": f"t{number}", "text": text, "spans": marks})
    assert back("long", rows) == ([], rows)


def test_a_table_of_spans_has_no_column_without_anything_in_it(tmp_path: Path) -> None:
    marked: TextRow = {"id": "a", "text": "Hooray", "spans": [{"start": 0, "end": 6}]}
    write_long(tmp_path / "bare.csv", [marked])
    assert (tmp_path / "bare.csv").read_text().splitlines() == ["id,text,start,end,span", "a,Hooray,0,6,Hooray"]
    scored: TextRow = {"id": "b", "text": "Oh", "spans": [{"start": 0, "end": 2, "score": 0.0}]}
    write_long(tmp_path / "scored.csv", [marked, scored])
    assert (tmp_path / "scored.csv").read_text().splitlines()[0] == "id,text,start,end,span,span_score"
    assert (tmp_path / "scored.csv").read_text().splitlines()[2] == "b,Oh,0,2,Oh,0.0"


def test_a_table_of_spans_is_not_written_of_texts_that_have_labels_alone() -> None:
    with pytest.raises(ValueError, match="nothing marks one in these texts: --format wide or table"):
        back("long", [{"id": "a", "text": "Hooray", "label": "joy"}])
    with pytest.raises(ValueError, match="nothing marks one in these texts"):
        back("long", [{"id": "a", "text": "Hooray", "label": "joy", "annotators": {"ann": {"labels": ["joy"]}}}])
    lost, found = back("long", [{"id": "a", "text": "Hooray"}])
    assert (lost, found) == (
        ["texts of which nothing is said (1: read as texts without spans)"],
        [{"id": "a", "text": "Hooray", "spans": []}],
    )


@settings(max_examples=25)
@given(st.lists(st.lists(st.sampled_from(["joy", "fear"]), min_size=1, unique=True), min_size=1, max_size=4))
def test_goemotions_files_keep_labels(said: list[list[str]]) -> None:
    rows = [{"id": f"e{n}bbqej", "text": f'Say "{n}', "labels": one} for n, one in enumerate(said)]
    assert back("goemotions", rows) == ([], rows)


def test_plain_text_says_that_it_holds_texts_alone() -> None:
    lost, found = back("text", [{"id": "a", "text": "one\ntwo", "labels": ["joy"]}, {"id": "b", "text": "three"}])
    assert [row["text"] for row in found] == ["one two", "three"]
    assert lost[-1] == "line ends inside texts (1: written as spaces)"
    assert len(lost) == 3


SEEDS = {
    "mine.csv": b'id,text,labels,start,end\n1,"so, it was","[""joy""]",0,2\n2,then,[],,\n',
    "mine.tsv": b"text\tlabel\nI felt it\tjoy\n",
    "semeval.txt": b"ID\tTweet\tAffect Dimension\tIntensity Score\n2017-En-3\tSo glad\tjoy\t0.7\n",
    "train.tsv": b"text\t3,5\teebbqej\nother\t2\ted00q6i\n",
    "mine.jsonl": b'{"text": "I fear it", "spans": [{"start": 2, "end": 6}], "annotators": {"a": {}}}\n',
    "mine.json": b'[{"text": "one", "label": "joy"}, {"text": "two", "labels": {"joy": 1}}]',
    "mine.txt": b"One.\nTwo.\n\nThree.\n",
    "reman.xml": b'<corpus><document doc_id="1"><text>I weep</text><adjudicated><spans>'
    b'<span annotation_id="1" cbegin="2" cend="6" type="sadness">weep</span></spans>'
    b"<relations/></adjudicated></document></corpus>",
    "reman.jsonl": b'{"doc_id": "1", "text": "I weep", "emotion_spans": [{"start": 2, "end": 6, "type": "joy"}]}\n',
    "ecf.json": b'[{"conversation_ID": 1, "conversation": [{"utterance_ID": 1, "text": "Won!", "emotion": "joy"}], '
    b'"emotion-cause_pairs": [["1_joy", "1_Won"]]}]',
    "dimabsa.jsonl": b'{"ID": "1", "Text": "good soup", "Triplet": '
    b'[{"Aspect": "soup", "Opinion": "good", "VA": "7.0#6.5"}]}\n',
    "raters.csv": b"id,text,rater,label\n1,one,ann,joy\n1,one,bob,fear\n",
}


@pytest.mark.parametrize("name", SEEDS)
def test_damaged_files_give_rows_flaws_or_one_refusal(name: str, tmp_path: Path) -> None:
    chance = random.Random(name)
    signs = [b"\x00", b"\xff", b'"', b"\n", b",", b"\t", b"[", b"}", b"9", b"-", b"\xe2\x82", b"<", b"&", b"null"]
    file, refusals = tmp_path / name, list[str]()
    for _ in range(150):
        content = bytearray(SEEDS[name])
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(content) + 1)
            kind = chance.random()
            if kind < 0.4:
                content[at:at] = chance.choice(signs)
            elif kind < 0.7:
                del content[at : at + chance.randint(1, 9)]
            else:
                content[at : at + 1] = chance.choice(signs)
        file.write_bytes(bytes(content))
        try:
            found = list(rows_of(take(str(file), None, ReadOptions())))
        except BadInput as refusal:
            refusals.append(str(refusal))
            continue
        for line, row in found:
            assert isinstance(line, int)
            assert isinstance(row, dict | Flaw)
    assert [line for line in refusals if not line.startswith(f"{file}:") or "\n" in line] == []


@pytest.mark.parametrize("ending", [".xlsx", ".parquet"])
def test_damaged_binary_files_are_refused_in_one_line(ending: str, tmp_path: Path) -> None:
    layout = layout_named({".xlsx": "xlsx", ".parquet": "parquet"}[ending])
    assert layout is not None
    assert layout.write is not None
    file = tmp_path / f"mine{ending}"
    layout.write(file, [{"id": str(n), "text": f"text {n}"} for n in range(20)])
    whole, chance, refusals = file.read_bytes(), random.Random(ending), list[str]()
    for _ in range(40):
        at = chance.randrange(8, len(whole))
        file.write_bytes(whole[:at] + bytes([chance.randrange(256)]) + whole[at + chance.randint(0, 3) :])
        try:
            list(rows_of(take(str(file), None, ReadOptions())))
        except BadInput as refusal:
            refusals.append(str(refusal))
    assert [line for line in refusals if "\n" in line] == []


def test_a_damaged_folder_of_datasets_is_refused_in_one_line(tmp_path: Path) -> None:
    layout = layout_named("datasets")
    assert layout is not None
    assert layout.write is not None
    rows = [
        {"id": str(n), "text": f"text {n}", "label": "joy", "spans": [{"start": 0, "end": 4, "label": "x"}]}
        for n in range(20)
    ]
    layout.write(tmp_path / "d", rows)
    chance, refusals = random.Random("datasets"), list[str]()
    for file in sorted((tmp_path / "d").iterdir()):
        whole = file.read_bytes()
        for _ in range(25):
            at = chance.randrange(len(whole))
            file.write_bytes(whole[:at] + bytes([chance.randrange(256)]) + whole[at + chance.randint(0, 3) :])
            try:
                list(rows_of(take(str(tmp_path / "d"), None, ReadOptions())))
            except BadInput as refusal:
                refusals.append(str(refusal))
        file.write_bytes(whole)
    assert [line for line in refusals if "\n" in line] == []


@pytest.mark.slow
@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(rows=full_rows())
def test_the_library_datasets_opens_the_folder_with_its_names_and_structs(rows: list[TextRow]) -> None:
    datasets = pytest.importorskip("datasets")
    layout = layout_named("datasets")
    assert layout is not None
    assert layout.write is not None
    with tempfile.TemporaryDirectory() as folder:
        layout.write(Path(folder) / "d", rows)
        loaded = datasets.load_from_disk(f"{folder}/d")
        assert (loaded["id"][:], loaded["text"][:]) == ([one["id"] for one in rows], [one["text"] for one in rows])
        for row, there in zip(rows, loaded, strict=True):
            if (marks := row.get("spans")) is not None:
                assert [(one["start"], one["end"]) for one in there["spans"]] == [
                    (one["start"], one["end"]) for one in marks
                ]
                inner = loaded.features["spans"]
                label = (inner[0] if isinstance(inner, list) else inner.feature).get("label")
                assert [
                    None if one.get("label") is None else label.int2str(one["label"]) for one in there["spans"]
                ] == [one.get("label") for one in marks]
            if (labels := row.get("labels")) is not None:
                names = loaded.features["labels"].feature
                assert [names.int2str(one) for one in there["labels"]] == labels
        again = Path(folder) / "again"
        loaded.save_to_disk(str(again))
        assert [row for _, row in rows_of(take(str(again), None, ReadOptions()))] == rows
