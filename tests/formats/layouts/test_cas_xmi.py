"""CAS is read beside its type system, never with entities of its own, and rows survive being written so."""

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cassis
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emotui.errors import BadInput
from emotui.formats.layouts.layout import ReadOptions
from emotui.formats.layouts.tools.cas_xmi import LAYOUT, _Layers, _types, read_document
from emotui.formats.rows import Flaw, UnreadableFile
from tests.formats.layouts.made import NAMES, NUMBERS, TEXTS, read_all, recognised, written_and_read

XMI = """<?xml version="1.0" encoding="UTF-8"?><xmi:XMI xmlns:tcas="http:///uima/tcas.ecore"
 xmlns:xmi="http://www.omg.org/XMI" xmlns:cas="http:///uima/cas.ecore" xmlns:custom="http:///webanno/custom.ecore"
 xmlns:pos="http:///de/tudarmstadt/ukp/dkpro/core/api/lexmorph/type/pos.ecore"
 xmlns:other="http:///not/declared.ecore" xmi:version="2.0">
    <cas:NULL xmi:id="0"/>
    <tcas:DocumentAnnotation xmi:id="1" sofa="2" begin="0" end="14" language="en"/>
    <pos:POS xmi:id="4" sofa="2" begin="2" end="6" PosValue="VB"/>
    <other:Thing xmi:id="5" sofa="2" begin="2" end="6"/>
    <custom:Emotion xmi:id="6" sofa="2" begin="2" end="6" Label="joy" strength="high"/>
    <custom:Emotion xmi:id="7" sofa="2" begin="10" end="12" Label="fun"/>
    <custom:Cause xmi:id="8" sofa="2" begin="10" end="12" Dependent="7" Governor="6" kind="by"/>
    <cas:Sofa xmi:id="2" sofaNum="1" sofaID="_InitialView" mimeType="text/plain" sofaString="I like it &#128522; ."/>
    <cas:View sofa="2" members="1 4 5 6 7 8"/>
</xmi:XMI>
"""
FEATURE = "<featureDescription><name>{}</name><rangeTypeName>uima.{}</rangeTypeName></featureDescription>"


def _type(name: str, **features: str) -> str:
    inner = "".join(FEATURE.format(feature, of_range) for feature, of_range in features.items())
    return (
        f"<typeDescription><name>{name}</name><supertypeName>uima.tcas.Annotation</supertypeName>"
        f"<features>{inner}</features></typeDescription>"
    )


TYPES = (
    '<?xml version="1.0" encoding="UTF-8"?><typeSystemDescription xmlns="http://uima.apache.org/resourceSpecifier"><types>'
    + _type("webanno.custom.Emotion", Label="cas.String", strength="cas.String")
    + _type("webanno.custom.Cause", Governor="tcas.Annotation", Dependent="tcas.Annotation", kind="cas.String")
    + _type("de.tudarmstadt.ukp.dkpro.core.api.lexmorph.type.pos.POS", PosValue="cas.String")
    + "</types></typeSystemDescription>"
)


def _rows(tmp_path: Path, xmi: str = XMI, types: str = TYPES, **options: Any) -> list[Any]:
    (tmp_path / "doc.xmi").write_text(xmi, encoding="utf-8")
    (tmp_path / "TypeSystem.xml").write_text(types, encoding="utf-8")
    return read_all(LAYOUT, tmp_path / "doc.xmi", **options)


def test_annotations_are_spans_with_their_layer_their_features_and_their_relations(tmp_path: Path) -> None:
    (row,) = _rows(tmp_path)
    assert recognised(LAYOUT, tmp_path / "doc.xmi")
    assert recognised(LAYOUT, tmp_path)
    joy = {"layer": "webanno.custom.Emotion", "strength": "high", "id": "s1", "relations": [{"to": "s2", "type": "by"}]}
    fun = {"layer": "webanno.custom.Emotion", "id": "s2"}
    assert row == {
        "id": "doc",
        "text": "I like it 😊 .",
        "spans": [
            {"start": 2, "end": 6, "label": "joy", "attributes": joy},
            {"start": 10, "end": 11, "label": "fun", "attributes": fun},
        ],
    }
    assert read_all(LAYOUT, tmp_path) == [row]


def test_a_layer_of_words_is_read_where_it_is_asked_for(tmp_path: Path) -> None:
    (row,) = _rows(tmp_path, columns={"spans": "POS"})
    assert [span["label"] for span in row["spans"]] == ["VB"]


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'
OUTER = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize("declared", [BOMB, OUTER])
@pytest.mark.parametrize("where", ["xmi", "types"])
def test_entities_are_refused_in_either_file(tmp_path: Path, declared: str, where: str) -> None:
    head = '<?xml version="1.0" encoding="UTF-8"?>'
    changed = {"xmi": XMI, "types": TYPES}
    changed[where] = changed[where].replace(head, head + declared)
    with pytest.raises(UnreadableFile, match="declares entities of its own"):
        _rows(tmp_path, **changed)


@pytest.mark.parametrize(
    ("xmi", "reason"),
    [
        (XMI.replace('begin="10"', 'begin="11"'), "begins or ends at 11, within a character or outside of the text"),
        (XMI.replace('end="12"', 'end="99"'), "begins or ends at 99, within a character or outside of the text"),
        (XMI[:-30], "is no CAS that can be read"),
        (XMI.replace("UTF-8", "UTF-7"), "is in the encoding 'UTF-7': save it as UTF-8"),
        (XMI.replace('members="1', 'members="77'), "is no CAS that can be read"),
        (XMI.replace('strength="high"', 'strength="high" depth="3"'), "its type system has no feature 'depth'"),
        (XMI.replace('begin="10"', 'begin="ten"'), "is no CAS that can be read"),
        (XMI.replace('xmi:id="6"', ""), "is no CAS that can be read"),
    ],
    ids=range(8),
)
def test_a_damaged_document_says_why_and_is_a_flaw_among_others(tmp_path: Path, xmi: str, reason: str) -> None:
    with pytest.raises(UnreadableFile, match=reason):
        _rows(tmp_path, xmi)
    (tmp_path / "a.xmi").write_text(XMI, encoding="utf-8")
    sound, damaged = read_all(LAYOUT, tmp_path)
    assert isinstance(sound, dict)
    assert isinstance(damaged, Flaw)
    assert damaged.reason.startswith("'doc': ")


def test_without_its_type_system_a_document_is_refused(tmp_path: Path) -> None:
    (tmp_path / "doc.xmi").write_text(XMI, encoding="utf-8")
    with pytest.raises(UnreadableFile, match=r"TypeSystem\.xml that was exported with it is not beside it"):
        read_all(LAYOUT, tmp_path / "doc.xmi")


def test_without_the_extra_reading_and_writing_say_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cassis", None)
    with pytest.raises(UnreadableFile, match=r"pip install 'dkpro-cassis>="):
        _rows(tmp_path)
    with pytest.raises(BadInput, match=r"pip install 'dkpro-cassis>="):
        written_and_read(LAYOUT, tmp_path / "out", [])


FEATURES = st.fixed_dictionaries(
    {},
    optional={
        "layer": st.just("webanno.custom.Emotion"),
        "strength": TEXTS,
        "n": st.integers(-5, 5),
        "p": st.floats(0, 1),
        "sure": st.booleans(),
    },
)


@st.composite
def files(draw: Callable[..., Any]) -> list[dict[str, Any]]:
    rows = []
    for number in range(draw(st.integers(1, 2))):
        text = draw(TEXTS) + draw(st.sampled_from(["", "\n", "\r\n"]))
        spans = []
        for _ in range(draw(st.integers(0, 3 if text else 0))):
            start = draw(st.integers(0, len(text) - 1))
            span: dict[str, Any] = {"start": start, "end": draw(st.integers(start + 1, len(text)))}
            if draw(st.booleans()):
                span["label"] = draw(NAMES)
            if draw(st.booleans()):
                span["score"] = float(draw(NUMBERS))
            if attributes := draw(FEATURES):
                span["attributes"] = attributes
            spans.append(span)
        rows.append({"id": str(number), "text": text, "spans": spans})
    return rows


def _in_order(spans: list[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(span, sort_keys=True) for span in spans)


@settings(max_examples=40)
@given(files())
def test_what_is_written_reads_back_equal(rows: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        lost, read = written_and_read(LAYOUT, Path(folder) / "x", rows)
    assert lost == []
    for row, back in zip(rows, read, strict=True):
        assert isinstance(back, dict)
        assert (back["id"], back["text"]) == (row["id"], row["text"])
        assert _in_order(back["spans"]) == _in_order(row["spans"])


def _by_cassis(file: Path) -> list[tuple[str, Any]]:
    """The views of a document with their annotations, as dkpro-cassis has them."""
    types = cassis.load_typesystem(file.with_name("TypeSystem.xml"))
    cas = cassis.load_cas_from_xmi(file, typesystem=types, lenient=True)
    views = [cas.get_view(sofa.sofaID) for sofa in cas.sofas]
    return [
        (
            str(view.sofa_string),
            sorted(
                (
                    one.type.name,
                    one.begin,
                    one.end,
                    json.dumps(
                        {
                            feature.name: one[feature.name]
                            for feature in one.type.all_features
                            if feature.name not in ("begin", "end", "sofa")
                            and isinstance(one[feature.name], str | int | float | bool)
                        },
                        sort_keys=True,
                    ),
                )
                for one in view.select_all_fs()
            ),
        )
        for view in views
        if view.sofa_string is not None
    ]


def _by_us(file: Path) -> list[tuple[str, Any]]:
    layers = _Layers(_types(file.with_name("TypeSystem.xml")), ReadOptions())
    return [
        (
            view.text,
            sorted((one.kind.name, one.start, one.end, json.dumps(one.said(), sort_keys=True)) for one in view.members),
        )
        for view in read_document(file.read_bytes(), layers.types)
        if view.text is not None
    ]


def test_a_document_is_read_as_cassis_reads_it(tmp_path: Path) -> None:
    second = (
        '<cas:Sofa xmi:id="20" sofaNum="2" sofaID="German" sofaString="&#128522;&#10;gut"/>'
        '<custom:Emotion xmi:id="21" sofa="20" begin="3" end="6" Label="Freude"/>'
        '<cas:View sofa="20" members="21 6"/><cas:View'
    )
    _rows(tmp_path, XMI.replace("<cas:View", second, 1))
    assert _by_us(tmp_path / "doc.xmi") == _by_cassis(tmp_path / "doc.xmi")
    assert [text for text, _ in _by_us(tmp_path / "doc.xmi")] == ["I like it 😊 .", "😊\ngut"]


@settings(max_examples=20)
@given(files())
def test_documents_are_read_as_cassis_reads_them(rows: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        written_and_read(LAYOUT, Path(folder) / "x", rows)
        for file in Path(folder).rglob("*.xmi"):
            assert _by_us(file) == _by_cassis(file)


def test_relations_survive_being_written_to_a_single_file(tmp_path: Path) -> None:
    rows = _rows(tmp_path)
    lost, read = written_and_read(LAYOUT, tmp_path / "out" / "doc.xmi", rows)
    assert (lost, read) == ([], rows)


def test_what_cannot_be_held_is_named(tmp_path: Path) -> None:
    spans = [{"start": 0, "end": 1, "attributes": {"begin": "x", "k": [1], "relations": [{"to": "q"}]}}]
    rows = [{"id": "1", "text": "a\x02", "spans": spans, "label": "joy"}, {"id": "2", "text": "b", "values": {"v": 1}}]
    lost, read = written_and_read(LAYOUT, tmp_path / "out", rows)
    assert lost == [
        "a label of the whole text (1: left out)",
        "control characters (1: written as spaces)",
        "attributes of spans that are no text or number, or are named as CAS names its own (2: left out)",
        "relations to what is no span (1: left out)",
        "numbers (1: left out)",
        "that nothing is said of a text (1: read back as no spans)",
    ]
    assert read == [{"id": "1", "text": "a ", "spans": [{"start": 0, "end": 1}]}, {"id": "2", "text": "b", "spans": []}]
