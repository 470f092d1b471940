"""WebAnno TSV is read as WebAnno and INCEpTION write it, and rows survive being written for them."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.formats.layouts.tools.webanno.layout import LAYOUT
from emotui.formats.rows import Flaw, UnreadableFile
from tests.formats.layouts.made import NAMES, TEXTS, read_all, recognised, written_and_read

STACKED = """#FORMAT=WebAnno TSV 3.3
#T_SP=webanno.custom.Span|value


#Text=aaaaaa bbbbbb cccccc
1-1\t0-6\taaaaaa\t2a[1]|2b[2]\t
1-1.1\t3-6\taaa\t9a[7]\t
1-2\t7-13\tbbbbbb\t2a[1]|9a[7]\t
1-2.1\t9-13\tbbbb\t5a\t
1-3\t14-20\tcccccc\t_\t
1-3.1\t14-17\tccc\t9a[7]\t
"""
EMOJI = """#FORMAT=WebAnno TSV 3.3
#T_SP=webanno.custom.Emotion|Label|strength


#Sentence.id=s1
#Text=I like it 😊 .
1-1\t0-1\tI\t_\t_\t
1-2\t2-6\tlike\tjoy\t*\t
1-3\t7-9\tit\t_\t_\t
1-4\t10-12\t😊\t*\thigh\\_er\t
1-5\t13-14\t.\t_\t_\t

#Text=Two
#Text=lines\\t\\\\
2-1\t15-18\tTwo\tjoy[3]\t*[3]\t
2-2\t19-26\tlines\\t\\\\\tjoy[3]\t*[3]\t
"""
ACROSS = """#FORMAT=WebAnno TSV 3.2
#T_SP=webanno.custom.Span|value


#Text=He loves .
1-1\t0-2\tHe\t_\t
1-2\t3-8\tloves\t*[1]\t
1-3\t9-10\t.\t*[1]\t

#Text=She not
2-1\t12-15\tShe\t*[1]\t
2-2\t16-19\tnot\tx\t
"""
RELATIONS = """#FORMAT=WebAnno TSV 3.3
#T_SP=webanno.custom.Cue|value
#T_CH=webanno.custom.CorefLink|referenceType|referenceRelation
#T_RL=webanno.custom.Rel|value|BT_webanno.custom.Cue


#Text=This is a test .
1-1\t0-4\tThis\ta[1]|b[2]\tpr[1]\tcoref->1-1\t_\t_\t
1-2\t5-7\tis\t_\t_\t_\t_\t_\t
1-3\t8-9\ta\t_\tpr[1]\t*->1-2\t_\t_\t
1-4\t10-14\ttest\tc\t_\t_\tcauses|*\t1-1[2_0]|1-1[1_0]\t
1-5\t15-16\t.\t_\t_\t_\t_\t_\t
"""


def _rows(tmp_path: Path, content: str, **options: Any) -> list[Any]:
    (tmp_path / "x.tsv").write_bytes(content.encode())
    assert recognised(LAYOUT, tmp_path / "x.tsv")
    return read_all(LAYOUT, tmp_path / "x.tsv", **options)


def test_stacked_spans_go_on_by_their_number_over_tokens_and_parts_of_them(tmp_path: Path) -> None:
    (row,) = _rows(tmp_path, STACKED)
    assert row["spans"] == [
        {"start": 0, "end": 13, "label": "2a"},
        {"start": 0, "end": 6, "label": "2b"},
        {"start": 3, "end": 17, "label": "9a"},
        {"start": 9, "end": 13, "label": "5a"},
    ]


def test_offsets_are_utf16_and_the_layer_and_its_features_are_attributes(tmp_path: Path) -> None:
    first, second = _rows(tmp_path, EMOJI)
    layer = "webanno.custom.Emotion"
    assert first == {
        "id": "s1",
        "text": "I like it 😊 .",
        "spans": [
            {"start": 2, "end": 6, "label": "joy", "attributes": {"layer": layer}},
            {"start": 10, "end": 11, "attributes": {"layer": layer, "strength": "high_er"}},
        ],
    }
    assert second["text"] == "Two\nlines\t\\"
    assert [(span["start"], span["end"]) for span in second["spans"]] == [(0, 11)]


def test_columns_that_leave_annotations_out_are_told_apart_by_their_numbers(tmp_path: Path) -> None:
    file = """#FORMAT=WebAnno TSV 3.2
#T_SP=webanno.custom.Entity|kind|value


#Text=Mr Dot runs
1-1\t0-2\tMr\t*[37]\tDOT|x[37]\t
1-2\t3-6\tDot\t*[37]\tx[37]\t
1-3\t7-11\truns\t_\t_\t
"""
    (row,) = _rows(tmp_path, file)
    said = {(span["start"], span["end"]): json.dumps(span) for span in row["spans"]}
    assert said.keys() == {(0, 2), (0, 6)}
    assert "DOT" in said[0, 2]
    assert '"x"' in said[0, 6]


def test_a_file_that_counts_code_points_is_read_too(tmp_path: Path) -> None:
    first, _ = _rows(tmp_path, EMOJI.replace("10-12", "10-11").replace("13-14", "12-13"))
    assert [span["start"] for span in first["spans"]] == [2, 10]


def test_sentences_that_a_span_joins_are_one_row(tmp_path: Path) -> None:
    (row,) = _rows(tmp_path, ACROSS)
    assert row["text"] == "He loves .  She not"
    assert row["spans"] == [{"start": 3, "end": 15}, {"start": 16, "end": 19, "label": "x"}]


def test_relations_and_chains_are_attributes_of_their_spans(tmp_path: Path) -> None:
    (row,) = _rows(tmp_path, RELATIONS)
    cue = {"layer": "webanno.custom.Cue"}
    a, b, this, pronoun, test = sorted(row["spans"], key=lambda span: (span["start"], span["label"]))
    assert a["attributes"] == {**cue, "id": "s1", "relations": [{"to": "s5"}]}
    assert b["attributes"] == {**cue, "id": "s2", "relations": [{"to": "s5", "type": "causes"}]}
    assert this["attributes"] == {"layer": "webanno.custom.CorefLink", "referenceRelation": "coref", "chain": "1-1"}
    assert (pronoun["start"], pronoun["attributes"]["chain"]) == (8, "1-2")
    assert test["attributes"] == {**cue, "id": "s5"}


def test_layers_that_say_what_words_are_give_way_to_others_unless_they_are_asked_for(tmp_path: Path) -> None:
    pos = "de.tudarmstadt.ukp.dkpro.core.api.lexmorph.type.pos.POS"
    head = f"#FORMAT=WebAnno TSV 3.3\n#T_SP={pos}|PosValue\n#T_SP=webanno.custom.Span|value\n\n\n"
    content = head + "#Text=a\n1-1\t0-1\ta\tNN\tx\t\n"
    assert [span["label"] for span in _rows(tmp_path, content)[0]["spans"]] == ["x"]
    assert [span["label"] for span in _rows(tmp_path, content, columns={"spans": "POS"})[0]["spans"]] == ["NN"]


def test_a_file_without_layers_is_unlabelled(tmp_path: Path) -> None:
    assert _rows(tmp_path, "#FORMAT=WebAnno TSV 3.3\n\n\n#Text=a b\n1-1\t0-1\ta\t\n1-2\t2-3\tb\t\n") == [
        {"text": "a b"}
    ]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("#Text=ab\n1-1\t0-2\tcd\t_\t", "token 1-1 [0, 2]: the file has 'cd', but its text has 'ab' there"),
        ("#Text=ab\n1-1\t0-3\tab\t_\t", "token 1-1 [0, 3] is not within its sentence; the file has 'ab' there"),
        ("#Text=ab\n1-1\tx\tab\t_\t", "line 6 is no token: '1-1 x ab _ '"),
        ("#Text=ab\n1-1\t0-2\tab", "line 6 has 3 columns where the header declares 4"),
        ("1-1\t0-2\tab\t_\t", "has tokens, but no #Text="),
        ("#Text=ab\n1-1\t0-2\tab\t_\t\n1-1.1\t1-1\t\tx\t", "span [1, 1] is empty"),
    ],
)
def test_a_bad_sentence_says_why(tmp_path: Path, body: str, reason: str) -> None:
    head = "#FORMAT=WebAnno TSV 3.3\n#T_SP=webanno.custom.Span|value\n\n\n"
    assert _rows(tmp_path, head + body + "\n") == [Flaw(reason)]


def test_a_file_of_another_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_text("a\tb\n", encoding="utf-8")
    with pytest.raises(UnreadableFile, match="the first line must be"):
        read_all(LAYOUT, tmp_path / "x.tsv")


FEATURES = st.dictionaries(st.sampled_from(["strength", "cause", "layer2"]), TEXTS, max_size=2)
LAYERS = st.sampled_from([None, "webanno.custom.Emotion", "x.y"])


@st.composite
def files(draw: Callable[..., Any]) -> list[dict[str, Any]]:
    rows = []
    for number in range(draw(st.integers(1, 3))):
        text = draw(TEXTS) + draw(st.sampled_from(["", "\n", "\r", "\x02x"]))
        spans = []
        for _ in range(draw(st.integers(0, 3 if text else 0))):
            start = draw(st.integers(0, len(text) - 1))
            end = draw(st.integers(start + 1, len(text)))
            if text[start:end].strip() != text[start:end]:
                continue
            attributes = draw(FEATURES)
            if layer := draw(LAYERS):
                attributes["layer"] = layer
            span: dict[str, Any] = {"start": start, "end": end}
            if draw(st.booleans()):
                span["label"] = draw(NAMES)
            spans.append(span | ({"attributes": attributes} if attributes else {}))
        row = {"text": text, "spans": spans}
        rows.append(row | ({"id": f"s {number}"} if draw(st.booleans()) else {}))
    return rows


@given(files())
def test_what_is_written_reads_back_equal(rows: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        lost, read = written_and_read(LAYOUT, Path(folder) / "x.tsv", rows)
    assert lost == []
    assert len(read) == len(rows)
    for row, back in zip(rows, read, strict=True):
        assert isinstance(back, dict)
        assert {key: value for key, value in back.items() if key != "spans"} == {
            key: value for key, value in row.items() if key != "spans"
        }
        assert sorted(map(_in_order, back["spans"])) == sorted(map(_in_order, row["spans"]))


def _in_order(span: dict[str, Any]) -> str:
    return json.dumps(span, sort_keys=True)


def test_relations_survive_being_written(tmp_path: Path) -> None:
    cue = {"layer": "webanno.custom.Cue"}
    related = {**cue, "id": "s1", "relations": [{"to": "s2", "type": "ca|us*es"}, {"to": "s2"}]}
    spans = [
        {"start": 0, "end": 4, "label": "a", "attributes": related},
        {"start": 2, "end": 4, "label": "b", "attributes": {**cue, "id": "s2"}},
    ]
    rows = [{"text": "a bc", "spans": spans}]
    assert written_and_read(LAYOUT, tmp_path / "x.tsv", rows) == ([], rows)


def test_what_cannot_be_held_is_named(tmp_path: Path) -> None:
    spans = [
        {"start": 0, "end": 2, "label": "x", "score": 0.5, "attributes": {"n": 1, "relations": [{"to": "q"}]}},
        {"start": 1, "end": 2},
    ]
    rows = [{"text": "a b", "spans": spans, "label": "joy"}, {"text": "c", "meta": {"k": "v"}}]
    lost, read = written_and_read(LAYOUT, tmp_path / "x.tsv", rows)
    assert lost == [
        "a label of the whole text (1: left out)",
        "white space at the ends of spans (1: left out)",
        "scores (1: left out)",
        "attributes of spans that are no text (1: left out)",
        "spans of white space alone (1: left out)",
        "relations to what is no span of the same layer (1: left out)",
        "that nothing is said of a text (1: read back as no spans)",
        "own columns (1: left out)",
    ]
    assert read == [{"text": "a b", "spans": [{"start": 0, "end": 1, "label": "x"}]}, {"text": "c", "spans": []}]
