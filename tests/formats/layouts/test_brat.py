"""brat's standoff is read with all of its kinds of annotation, and rows survive being written for it."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.formats.layouts.layout import ReadOptions
from emotui.formats.layouts.tools.brat import LAYOUT
from emotui.formats.rows import Flaw, UnreadableFile
from tests.formats.layouts.made import TEXTS, read_all, recognised, spans_of, written_and_read

TEXT = "😀 Sony, a joint venture, was shaken and afraid.\r\nIt fell.\n"
ANN = """T1\tOrganization 2 6\tSony
T2\tEmotion 29 35;40 46\tshaken afraid
T3\tFall 52 56\tfell
E1\tFall:T3 Theme:T1 Cause:T2
A1\tNegation E1
A2\tConfidence T2 L1
R1\tFelt Arg1:T1 Arg2:T2\t
R2\tOf Whole:T2 Part:T1
*\tEquiv T1 T3
N1\tReference T1 Wikipedia:534366\tSony
#1\tAnnotatorNotes T2\tis this one?
#2\tAnnotatorNotes R1\tnot sure
"""


def _folder(tmp_path: Path, **files: str) -> Path:
    for name, content in files.items():
        stem, ending = name.rsplit("_", 1)
        (tmp_path / f"{stem}.{ending}").write_bytes(content.encode())
    return tmp_path


def test_every_kind_of_annotation_is_kept_with_its_span(tmp_path: Path) -> None:
    folder = _folder(tmp_path, a_txt=TEXT, a_ann=ANN)
    assert recognised(LAYOUT, folder)
    (row,) = read_all(LAYOUT, folder)
    assert isinstance(row, dict)
    sony, shaken, fell = row["spans"]
    assert (row["id"], row["text"]) == ("a", TEXT)
    assert (sony["start"], sony["end"], sony["label"]) == (2, 6, "Organization")
    assert sony["attributes"] == {
        "id": "T1",
        "references": [["Reference", "Wikipedia:534366", "Sony"]],
        "relations": [{"to": "T2", "type": "Felt"}, {"to": "T3", "type": "Equiv", "equal": True}],
    }
    assert (shaken["start"], shaken["end"]) == (29, 46)
    assert shaken["attributes"] == {
        "fragments": [[29, 35], [40, 46]],
        "id": "T2",
        "Confidence": "L1",
        "notes": [["AnnotatorNotes", "is this one?"]],
        "relations": [{"to": "T1", "type": "Of", "roles": ["Whole", "Part"]}],
    }
    arguments = [["Theme", "T1"], ["Cause", "T2"]]
    event = {"id": "E1", "type": "Fall", "arguments": arguments, "attributes": {"Negation": True}}
    assert fell["attributes"]["events"] == [event]
    assert row["meta"] == {"comments": ["#2\tAnnotatorNotes R1\tnot sure"]}


def test_relations_events_and_notes_survive_being_written(tmp_path: Path) -> None:
    (row,) = read_all(LAYOUT, _folder(tmp_path, a_txt=TEXT, a_ann=ANN))
    assert isinstance(row, dict)
    assert written_and_read(LAYOUT, tmp_path / "out", [row]) == ([], [row])


def test_a_text_without_ann_is_unlabelled_and_one_with_an_empty_one_has_no_spans(tmp_path: Path) -> None:
    folder = _folder(tmp_path, a_txt="x", b_txt="", b_ann="")
    (folder / "sub").mkdir()
    _folder(folder / "sub", c_txt="y", c_ann="\n")
    rows = read_all(LAYOUT, folder)
    assert rows == [
        {"id": "a", "text": "x"},
        {"id": "b", "text": "", "spans": []},
        {"id": "sub/c", "text": "y", "spans": []},
    ]


@pytest.mark.parametrize(("start", "end"), [(3, 7), (4, 8), (7, 11)])
def test_offsets_in_code_points_utf16_units_or_bytes_are_told_by_the_texts_that_they_claim(
    tmp_path: Path, start: int, end: int
) -> None:
    (row,) = read_all(LAYOUT, _folder(tmp_path, a_txt="😀é sad é", a_ann=f"T1\tX {start} {end}\tsad "))
    assert isinstance(row, dict)
    assert row["spans"] == [{"start": 3, "end": 7, "label": "X"}]


@pytest.mark.parametrize("ending", ["txt", "ann"])
def test_one_pair_is_read_by_either_of_its_names(tmp_path: Path, ending: str) -> None:
    _folder(tmp_path, a_txt="ab", a_ann="T1\tX 0 1\ta\n")
    assert recognised(LAYOUT, tmp_path / f"a.{ending}")
    assert read_all(LAYOUT, tmp_path / f"a.{ending}") == [
        {"id": "a", "text": "ab", "spans": [{"start": 0, "end": 1, "label": "X"}]}
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("T1\tX 0 2\tbc", "'T1': span [0, 2]: the file has 'bc' there, but its text has 'ab'"),
        ("T1\tX 0 9\tab", "'T1': span [0, 9] is not within the text, which has 3 characters"),
        ("T1\tX 0 1;\ta", "span 'T1' must be a type and offsets, not 'X 0 1;'"),
        ("R1\tX Arg1:T1 Arg2:T2", "a relation names 'T1', which is neither a span nor an event of the file"),
        ("E1\tX:T9", "the trigger of event 'E1' is no span of the file"),
        ("A1\tX T9", "'A1' is about 'T9', which is neither a span nor an event of the file"),
        ("\x1b[2J", r"there is no tab in '\x1b[2J'"),
    ],
)
def test_a_bad_line_is_a_flaw_with_its_number(tmp_path: Path, line: str, reason: str) -> None:
    _folder(tmp_path, a_txt="abc", a_ann="\n" + line)
    ((number, flaw),) = LAYOUT.rows(tmp_path / "a.ann", ReadOptions())
    assert flaw == Flaw(reason)
    assert number == 2
    (flaw,) = read_all(LAYOUT, tmp_path)
    assert isinstance(flaw, Flaw)
    assert flaw.reason.startswith("'a.ann', line ")


def test_a_folder_without_texts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=r"no \.txt file"):
        read_all(LAYOUT, tmp_path)


WORDS = st.text("abé😀-", min_size=1, max_size=5)
ATTRIBUTES = st.dictionaries(WORDS, WORDS | st.just(True), max_size=2)


@st.composite
def files(draw: Callable[..., Any]) -> list[dict[str, Any]]:
    rows = []
    for number in range(draw(st.integers(1, 3))):
        text = draw(TEXTS) + draw(st.sampled_from(["", "\n", "\r\nx", "\ufeff"]))
        row: dict[str, Any] = {"id": f"{number}", "text": text}
        if draw(st.booleans()):
            row["spans"] = draw(spans_of(text, labels=WORDS, attributes=ATTRIBUTES))
        rows.append(row)
    return rows


@given(files())
def test_what_is_written_reads_back_equal(rows: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert written_and_read(LAYOUT, Path(folder) / "x", rows) == ([], rows)


def test_what_cannot_be_held_is_named(tmp_path: Path) -> None:
    span = {"start": 0, "end": 1, "label": "very happy", "score": 0.5, "attributes": {"notes": "n", "relations": 3}}
    row = {"id": "../x", "text": "ab", "spans": [span], "label": "joy", "meta": {"a": 1}}
    lost, read = written_and_read(LAYOUT, tmp_path / "out", [row])
    assert [line.split(" (")[0] for line in lost] == [
        "ids that are no names of files, or none",
        "a label of the whole text",
        "own columns",
        "labels with white space or one of : ; ,",
        "scores",
        "attributes of spans that are no single word",
    ]
    said = {"start": 0, "end": 1, "label": "very_happy"}
    assert read == [{"id": "text-1", "text": "ab", "spans": [said]}]


@pytest.mark.parametrize("ending", [".txt", ".ann"])
def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path, ending: str) -> None:
    (tmp_path / "secret").write_text("T1\tjoy 0 1\ts\n")
    (tmp_path / "corpus").mkdir()
    folder = _folder(tmp_path / "corpus", a_txt="so", a_ann="", b_txt="so", b_ann="", c_txt="no")
    (folder / f"b{ending}").unlink()
    (folder / f"b{ending}").symlink_to(tmp_path / "secret")
    (folder / "c.ann").symlink_to(folder / "a.ann")  # it stays in the folder
    first, linked, third = read_all(LAYOUT, folder)
    assert first == {"id": "a", "text": "so", "spans": []}
    assert linked == Flaw(f"'b{ending}' is a link to a file outside the folder: copy the file into it")
    assert third == {"id": "c", "text": "no", "spans": []}


def test_a_folder_may_itself_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    folder = _folder(tmp_path / "corpus", a_txt="so", a_ann="")
    (tmp_path / "link").symlink_to(folder)
    assert read_all(LAYOUT, tmp_path / "link") == [{"id": "a", "text": "so", "spans": []}]
