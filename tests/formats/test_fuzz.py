"""No input ends in anything but records or a refusal, and what is written comes back equal."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emotui.errors import BadInput
from emotui.formats import ENDINGS, fingerprint, read, write
from emotui.records import (
    Attempt,
    Chain,
    ClassGold,
    ClassPrediction,
    Generation,
    GenerationGold,
    LabelsGold,
    LabelsPrediction,
    Mark,
    MaskedGold,
    MaskedPrediction,
    Rating,
    Rewriting,
    SampleNote,
    SampleScore,
    ScenesGold,
    ScenesPrediction,
    Sentence,
    SpanPrediction,
    SpanSample,
    Text,
    ValuesGold,
    ValuesPrediction,
)
from tests.effort import times, tried

pytestmark = pytest.mark.fuzz

TEXT_ENDINGS = (".jsonl", ".csv", ".tsv")
# Whatever UTF-8 can hold, with what trips tables up made likely.
text = st.text(
    st.one_of(st.characters(codec="utf-8"), st.sampled_from(",\t\r\n\"'\0\x1b[]|*; \ufeff\u2028")), max_size=12
)
name = text.filter(bool)
number = st.floats(allow_nan=False, allow_infinity=False)
labels = st.dictionaries(name, st.integers(0, 1), min_size=1, max_size=3)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | number | text,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(text, inner, max_size=2),
    max_leaves=4,
)
meta = st.dictionaries(text, json_values, max_size=2)


def marks(length: int) -> st.SearchStrategy[tuple[Mark, ...]]:
    """Marks in a text of `length` characters that may overlap; none of one place and one label twice."""
    if length == 0:
        return st.just(())
    one = st.builds(
        lambda a, b, label, score, attributes: Mark(min(a, b), max(a, b) + 1, label, score, attributes),
        st.integers(0, length - 1),
        st.integers(0, length - 1),
        st.none() | name.filter(str.strip),
        st.none() | number,
        st.just({}) | meta,
    )
    return st.lists(one, max_size=3, unique_by=lambda mark: (mark.start, mark.end, mark.label)).map(tuple)


@st.composite
def offsets(draw: st.DrawFn, length: int) -> tuple[tuple[int, int], ...]:
    """Spans in a text of `length` characters that do not overlap."""
    cuts = sorted(draw(st.sets(st.integers(0, length), max_size=6)))
    return tuple(zip(cuts[::2], cuts[1::2], strict=False))


@st.composite
def span_samples(draw: st.DrawFn) -> SpanSample:
    content = draw(text)
    sentences = tuple(
        Sentence(start=start, end=end, emotion=draw(st.none() | name), valence=draw(st.none() | name))
        for start, end in draw(offsets(len(content)))
    )
    return SpanSample(
        id=draw(name),
        text=content,
        spans=draw(st.none() | marks(len(content))),
        emotion=draw(st.none() | name),
        valence=draw(st.none() | name),
        sentences=sentences,
        annotators=draw(st.dictionaries(text, marks(len(content)), max_size=2)),
        subject=draw(st.none() | name),
        meta=draw(meta),
    )


@st.composite
def scene_predictions(draw: st.DrawFn) -> ScenesPrediction:
    known = draw(labels)
    if draw(st.integers(0, 9)) == 0:
        return ScenesPrediction(id=draw(name), labels={})
    scores = {label: (draw(number), draw(number)) for label in known}
    confidence = {label: draw(st.integers(1, 5)) for label in known if draw(st.booleans())}
    which = draw(st.sampled_from("lsb"))
    return ScenesPrediction(
        id=draw(name),
        labels=None if which == "s" else known,
        scores=None if which == "l" else scores,
        confidence=confidence,
    )


span_predictions = st.one_of(
    st.builds(SpanPrediction, id=name, spans=st.lists(text, max_size=3).map(tuple), repeat=st.integers(0, 2**31 - 1)),
    st.builds(SpanPrediction, id=name, spans=marks(9)),
    st.builds(lambda id, mark, said: SpanPrediction(id=id, spans=(*mark, said)), id=name, mark=marks(9), said=text),
    st.builds(
        SpanPrediction, id=name, output=text, style=st.sampled_from(["retrieve", "highlight"]), cot=st.booleans()
    ),
)
word = name.filter(str.strip)
word_lists = st.lists(word, max_size=3, unique=True).map(tuple)
words = st.lists(name.filter(str.strip), max_size=3).map(tuple)
numbers = st.dictionaries(word, number, max_size=3)
probabilities = st.dictionaries(text, st.floats(0, 1), min_size=1, max_size=3)
attempts = st.lists(
    st.builds(
        Attempt,
        text=text.filter(str.strip),
        predicted=name.filter(str.strip),
        confidence=st.none() | st.floats(0, 1),
        suggested=st.booleans(),
        similarity=st.none() | st.floats(-1, 1),
    ),
    max_size=2,
)
KINDS: dict[type[msgspec.Struct], st.SearchStrategy[Any]] = {
    SpanSample: span_samples(),
    SpanPrediction: span_predictions,
    ScenesGold: st.builds(
        ScenesGold, id=name, labels=labels, text=st.none() | name, subject=st.none() | name, meta=meta
    ),
    ScenesPrediction: scene_predictions(),
    MaskedGold: st.builds(MaskedGold, id=name, labels=words, text=st.none() | name, meta=meta),
    MaskedPrediction: st.builds(MaskedPrediction, id=name, labels=words, setting=st.none() | name),
    ClassGold: st.builds(ClassGold, id=name, text=text, label=name, subject=st.none() | name, meta=meta),
    ClassPrediction: st.one_of(
        st.builds(ClassPrediction, id=name, label=text),
        st.builds(ClassPrediction, id=name, label=st.none() | name, probs=probabilities),
    ),
    LabelsGold: st.one_of(
        st.builds(LabelsGold, id=name, text=st.none() | name, labels=st.none() | word_lists, meta=meta),
        st.builds(LabelsGold, id=name, labels=st.dictionaries(word, st.integers(0, 1), min_size=1, max_size=3)),
        st.builds(LabelsGold, id=name, label=word),
    ),
    LabelsPrediction: st.one_of(
        st.builds(LabelsPrediction, id=name, labels=word_lists),
        st.builds(
            lambda id, labels, given: LabelsPrediction(id=id, labels=labels, given=tuple(labels) if given else None),
            name,
            st.dictionaries(word, st.floats(0, 1), max_size=3),
            st.booleans(),
        ),
    ),
    ValuesGold: st.builds(
        ValuesGold, id=name, text=st.none() | name, values=st.none() | numbers.filter(bool), meta=meta
    ),
    ValuesPrediction: st.builds(ValuesPrediction, id=name, values=numbers),
    Chain: st.builds(
        Chain,
        id=name,
        text=text.filter(str.strip),
        label=name,
        attempts=attempts.map(tuple),
        predicted=st.none() | name,
        skipped=st.booleans(),
        annotator=st.none() | name,
        model=st.none() | name,
        identity=st.none() | name,
    ),
    Generation: st.builds(
        Generation,
        id=name,
        model=name,
        target=name,
        original=text.filter(str.strip),
        neutral=text,
        emotional=text,
        human=st.lists(name.filter(str.strip)).map(tuple),
        human_neutral=st.lists(name.filter(str.strip)).map(tuple),
        failed=st.just(True),
    ),
    GenerationGold: st.builds(GenerationGold, id=name, text=name, label=name, subject=st.none() | name),
    Rewriting: st.builds(Rewriting, id=name, neutral=text, emotional=text),
    Rating: st.builds(Rating, item=name, rater=name, label=name),
    SampleNote: st.builds(
        SampleNote, id=name, annotator=st.none() | name.filter(str.strip), note=text, codes=word_lists
    ),
    SampleScore: st.builds(SampleScore, id=name, score=number),
    Text: st.builds(Text, id=name, text=text, subject=st.none() | name),
}
kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as made:
        yield Path(made)


def readable(path: Path, kind: type[Any]) -> None:
    """Reads the file or is refused with lines that name it; anything else fails the test."""
    tried("bad inputs")
    for skip_bad in (False, True):
        try:
            found = read(path, kind, skip_bad=skip_bad)
        except BadInput as refusal:
            problems = refusal.problems
        else:
            assert all(isinstance(record, kind) for record in found.records)
            assert len(found.records) == len(found.lines) > 0
            assert skip_bad or not found.skipped
            continue
        assert problems
        for problem in problems:
            assert problem.startswith((str(path), "... and "))
            assert problem.isprintable()


@kinds
@pytest.mark.parametrize("ending", TEXT_ENDINGS)
@given(pick=st.data())
@settings(max_examples=times(15, 1500), deadline=None)
def test_what_is_written_as_text_reads_back_equal(
    folder: Path, kind: type[Any], ending: str, pick: st.DataObject
) -> None:
    record = pick.draw(KINDS[kind])
    path = folder / f"record{ending}"
    write(path, [record])
    found = read(path, kind)
    assert found.records == [record]
    assert fingerprint(found.records) == fingerprint([record])


@kinds
@given(pick=st.data())
@settings(max_examples=times(3, 300), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_written_as_parquet_reads_back_equal(folder: Path, kind: type[Any], pick: st.DataObject) -> None:
    record = pick.draw(KINDS[kind])
    write(folder / "record.parquet", [record])
    assert read(folder / "record.parquet", kind).records == [record]


@given(content=st.binary(max_size=200), kind=st.sampled_from(list(KINDS)), ending=st.sampled_from(TEXT_ENDINGS))
@settings(max_examples=times(200, 20000), deadline=None)
def test_any_bytes_are_records_or_a_refusal(folder: Path, content: bytes, kind: type[Any], ending: str) -> None:
    path = folder / f"bytes{ending}"
    path.write_bytes(content)
    readable(path, kind)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@kinds
@given(pick=st.data())
@settings(max_examples=times(30, 3000), deadline=None)
def test_any_json_in_any_field_is_a_record_or_a_refusal(folder: Path, kind: type[Any], pick: st.DataObject) -> None:
    fields = list(kind.__struct_fields__)
    row = json.loads(msgspec.json.encode(pick.draw(KINDS[kind])))
    for field in pick.draw(st.lists(st.sampled_from(fields), min_size=1, max_size=3)):
        row[field] = pick.draw(json_values)
    path = folder / "fields.jsonl"
    # Python writes NaN, lone surrogates and huge numbers, which JSON readers must refuse or take.
    path.write_text(json.dumps(row), encoding="utf-8", newline="\n")
    readable(path, kind)


@kinds
@pytest.mark.parametrize("ending", TEXT_ENDINGS)
@given(pick=st.data())
@settings(max_examples=times(10, 1000), deadline=None)
def test_a_damaged_file_is_records_or_a_refusal(
    folder: Path, kind: type[Any], ending: str, pick: st.DataObject
) -> None:
    path = folder / f"damaged{ending}"
    write(path, pick.draw(st.lists(KINDS[kind], min_size=1, max_size=3)))
    content = bytearray(path.read_bytes())
    for _ in range(pick.draw(st.integers(1, 4))):
        start = pick.draw(st.integers(0, len(content)))
        stop = min(len(content), start + pick.draw(st.integers(0, 6)))
        content[start:stop] = pick.draw(st.binary(max_size=3) | st.sampled_from([b'"', b"\n", b",", b"{", b"\xff"]))
    path.write_bytes(content)
    readable(path, kind)


@given(pick=st.data())
@settings(max_examples=times(25, 2500), deadline=None)
def test_a_damaged_parquet_file_is_records_or_a_refusal(folder: Path, pick: st.DataObject) -> None:
    path = folder / "damaged.parquet"
    if not (whole := folder / "whole.parquet").exists():
        write(whole, [SpanSample(id=str(n), text="so very glad", spans=(Mark(3, 7),)) for n in range(20)])
    content = bytearray(whole.read_bytes())
    for _ in range(pick.draw(st.integers(1, 4))):
        content[pick.draw(st.integers(0, len(content) - 1))] = pick.draw(st.integers(0, 255))
    path.write_bytes(content[: pick.draw(st.sampled_from([None, None, len(content) // 2]))])
    readable(path, SpanSample)


def test_every_kind_and_every_ending_is_tried() -> None:
    import emotui.records

    parts = {Sentence, Attempt, Mark}
    every = {value for value in vars(emotui.records).values() if isinstance(value, type)}
    assert {kind for kind in every if issubclass(kind, msgspec.Struct)} - parts == set(KINDS)
    assert {*TEXT_ENDINGS, ".parquet"} == set(ENDINGS)
