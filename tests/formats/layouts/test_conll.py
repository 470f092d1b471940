"""Columns of tokens and tags are read in every scheme, and rows survive being written so."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.formats.layouts.tools.conll import LAYOUT
from emotui.formats.rows import Flaw
from tests.formats.layouts.made import NAMES, NUMBERS, TEXTS, read_all, recognised, written_and_read

CONLL_2003 = """-DOCSTART- -X- -X- O

EU NNP B-NP B-ORG
rejects VBZ B-VP O
German JJ B-NP B-MISC
call NN I-NP I-MISC
. . O O

Peter NNP B-NP B-PER
Blackburn NNP I-NP I-PER
"""
GERMEVAL = """#\thttp://de.wikipedia.org/wiki/Manfred_Korfmann [2009-10-17]
1\tUni\tB-ORG\tO
2\tKöln\tI-ORG\tB-LOC
3\t#\tO\tO
"""
UNIVERSAL = """# sent_id = weblog-7
# text = 😀 I'm sad.
# speaker = Ann
1\t😀\t_\t_\t_\t_\t_\t_\t_\tNER=O
2-3\tI'm\t_\t_\t_\t_\t_\t_\t_\t_
2\tI\tI\tPRON\t_\t_\t_\t_\t_\tNER=B-PER
3\tm\tbe\tAUX\t_\t_\t_\t_\t_\tNER=O
4\tsad\tsad\tADJ\t_\t_\t0\t_\t_\tNER=B-fear|SpaceAfter=No
4.1\tnow\t_\t_\t_\t_\t_\t_\t_\t_
5\t.\t.\tPUNCT\t_\t_\t4\t_\t_\tNER=I-fear
"""


def _rows(tmp_path: Path, content: str, **options: Any) -> list[Any]:
    (tmp_path / "x.txt").write_bytes(content.encode())
    return read_all(LAYOUT, tmp_path / "x.txt", **options)


def _held(row: Any) -> list[tuple[str, str | None]]:
    return [(row["text"][span["start"] : span["end"]], span.get("label")) for span in row["spans"]]


def test_conll_2003_is_read_by_its_last_column_and_joined_by_spaces(tmp_path: Path) -> None:
    first, second = _rows(tmp_path, CONLL_2003)
    assert recognised(LAYOUT, tmp_path / "x.txt")
    assert first["text"] == "EU rejects German call ."
    assert _held(first) == [("EU", "ORG"), ("German call", "MISC")]
    assert _held(second) == [("Peter Blackburn", "PER")]
    (chunks, _) = _rows(tmp_path, CONLL_2003, columns={"spans": "3"})
    assert len(chunks["spans"]) == 3


def test_two_columns_of_tags_beside_numbered_tokens_are_nested_spans(tmp_path: Path) -> None:
    (row,) = _rows(tmp_path, GERMEVAL)
    assert recognised(LAYOUT, tmp_path / "x.txt")
    assert row["text"] == "Uni Köln #"
    assert _held(row) == [("Uni Köln", "ORG"), ("Köln", "LOC")]
    assert row["meta"] == {"comments": "#\thttp://de.wikipedia.org/wiki/Manfred_Korfmann [2009-10-17]"}


@pytest.mark.parametrize("with_text", [True, False])
def test_conll_u_is_joined_by_its_text_or_by_space_after(tmp_path: Path, with_text: bool) -> None:
    content = UNIVERSAL if with_text else UNIVERSAL.replace("# text = 😀 I'm sad.\n", "")
    (row,) = _rows(tmp_path, content)
    assert (row["id"], row["text"], row["meta"]) == ("weblog-7", "😀 I'm sad.", {"speaker": "Ann"})
    assert _held(row) == [("I'm", "PER"), ("sad.", "fear")]


@pytest.mark.parametrize(
    ("tags", "held"),
    [
        ("B-x I-x B-x O", [("a b", "x"), ("c", "x")]),
        ("I-x I-x B-x O", [("a b", "x"), ("c", "x")]),
        ("B-x L-x U-x O", [("a b", "x"), ("c", "x")]),
        ("B-x E-x S-x O", [("a b", "x"), ("c", "x")]),
        ("S-x I-x E-x O", [("a", "x"), ("b c", "x")]),
        ("B-x I-y O I-y", [("a", "x"), ("b", "y"), ("d", "y")]),
        ("B I O B", [("a b", None), ("d", None)]),
        ("joy joy O fear", [("a b", "joy"), ("d", "fear")]),
        ("O O O O", []),
    ],
)
def test_spans_are_read_in_each_scheme(tmp_path: Path, tags: str, held: list[Any]) -> None:
    lines = [f"{token}\t{tag}" for token, tag in zip("abcd", tags.split(), strict=True)]
    (row,) = _rows(tmp_path, "\r\n".join(lines))
    assert _held(row) == held


def test_tokens_without_tags_are_unlabelled(tmp_path: Path) -> None:
    assert _rows(tmp_path, "a\t_\nb\t_\n\n# text = \n") == [{"text": "a b"}, {"text": ""}]
    assert _rows(tmp_path, "a\nb\n") == [{"text": "a b"}]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("a\tO\nb\n", "line 2 has 1 column where the file has 2"),
        ("# text = a c\na\tO\nb\tO\n", "its text has ' c' where the token 'b' should stand"),
        ("a\t(x*\n", "'(x*' is no tag such as B-joy, I-joy or O"),
        ("# id = 4\n", "has comments, but neither tokens nor `# text =`"),
    ],
)
def test_a_bad_sentence_says_why(tmp_path: Path, content: str, reason: str) -> None:
    assert _rows(tmp_path, content) == [Flaw(reason)]


@st.composite
def files(draw: Callable[..., Any]) -> list[dict[str, Any]]:
    rows = []
    for number in range(draw(st.integers(1, 3))):
        text = draw(TEXTS)
        row: dict[str, Any] = {"text": text}
        if draw(st.booleans()):
            row["id"] = f"s {number}"
        if text.strip() and draw(st.booleans()):
            borders = sorted(draw(st.lists(st.integers(0, len(text)), max_size=6)))
            row["spans"] = [
                {"start": start, "end": end, "label": draw(NAMES)}
                for start, end in zip(borders[::2], borders[1::2], strict=False)
                if text[start:end] == text[start:end].strip() != ""
            ]
        for key in draw(st.lists(st.sampled_from(["label", "subject", "emotion"]), unique=True)):
            row[key] = draw(NAMES)
        if draw(st.booleans()):
            row["values"] = draw(st.dictionaries(NAMES, NUMBERS, max_size=2))
        if meta := draw(st.dictionaries(NAMES, TEXTS, max_size=2)):
            row["meta"] = meta
        rows.append(row)
    return rows


@given(files())
def test_what_is_written_reads_back_equal(rows: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert written_and_read(LAYOUT, Path(folder) / "x.conll", rows) == ([], rows)


def test_what_cannot_be_held_is_named_and_the_rest_is(tmp_path: Path) -> None:
    spans = [
        {"start": 0, "end": 4, "label": "x", "score": 0.5},
        {"start": 2, "end": 3, "label": "y"},
        {"start": 5, "end": 7, "label": "z\t"},
    ]
    row = {"id": "1", "text": "# ab\n c ", "spans": spans, "meta": {"n": 1}, "sentences": [{"start": 0, "end": 1}]}
    lost, read = written_and_read(LAYOUT, tmp_path / "x.conll", [row])
    assert lost == [
        "sentences (1: left out)",
        "line breaks (1: written as spaces)",
        "own columns that are no text, or are named like a field of it (1: left out)",
        "scores (1: left out)",
        "spans that overlap (1: left out)",
        "white space at the ends of spans (1: left out)",
        "tabs and line breaks in labels (1: written as spaces)",
    ]
    kept = [{"start": 0, "end": 4, "label": "x"}, {"start": 6, "end": 7, "label": "z "}]
    assert read == [{"id": "1", "text": "# ab  c ", "spans": kept}]
