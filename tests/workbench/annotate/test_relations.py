"""Spans of several parts, and relations between spans: kept, undone, written, read, merged, compared."""

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.errors import BadInput
from emotui.metrics.span_pairs import span_pair
from emotui.records import Mark, SpanSample, ties
from emotui.workbench.annotate.adjudicating import fresh, merged
from emotui.workbench.annotate.answers import Answer, SpanMark, keys_of, spans_of
from emotui.workbench.annotate.events import (
    Accept,
    AddSpan,
    Event,
    LabelSpan,
    MoveBorder,
    RemoveSpan,
    SetAttribute,
)
from emotui.workbench.annotate.marks import Said, apply
from emotui.workbench.annotate.scheme import Scheme, read_scheme
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.workspace import FIRST_START, Workspace
from tests.conftest import Emotui

TEXT = "We lost the game and I cried, cried all night."
SCHEME = """name = "causes"
parts = true
[[groups]]
name = "label"
labels = [{ name = "cause", key = "C" }, { name = "sad", key = "S" }]
[[relations]]
name = "causes"
key = "R"
from = ["cause"]
to = ["sad"]
"""
MADE: tuple[Event, ...] = (
    AddSpan(SpanMark(id="a", start=0, end=16, label="cause")),
    AddSpan(SpanMark(id="b", start=21, end=28, label="sad")),
    SetAttribute("b", "fragments", [[21, 28], [36, 45]]),
    SetAttribute("a", "relations", [{"to": "b", "type": "causes"}]),
)


def scheme(path: Path) -> Scheme:
    (path / "causes.toml").write_text(SCHEME)
    return read_scheme(str(path / "causes.toml"))


def workspace(path: Path) -> Workspace:
    source = Workspace.open(path / "w.duckdb")
    source.set_setting(FIRST_START, "done")
    add_samples(source.store, "spans", "some", [SpanSample(id="x", text=TEXT)], "a test")
    scheme(path)
    source.annotating().keep_scheme("some", str(path / "causes.toml"))
    return source


def answer(*events: Event) -> Answer:
    said = Said()
    for event in events:
        said = apply(said, event)
    return said.answer


def test_borders_move_the_outer_parts_and_what_lies_outside_goes() -> None:
    def parts(*more: Event) -> tuple[tuple[int, int], ...]:
        found = answer(*MADE, *more).span("b")
        assert found is not None
        assert (found.start, found.end) == (found.parts[0][0], found.parts[-1][1])
        return found.parts

    assert parts() == ((21, 28), (36, 45))
    assert parts(MoveBorder("b", 23, 46)) == ((23, 28), (36, 46))
    assert parts(MoveBorder("b", 30, 46)) == ((30, 46),)
    assert parts(SetAttribute("b", "fragments", [[0, 2], [21, 28], [36, 45]]), MoveBorder("b", 1, 27)) == (
        (1, 2),
        (21, 27),
    )


def test_a_relation_goes_with_either_of_its_ends() -> None:
    assert answer(*MADE).ties == {((((0, 16),), "cause"), (((21, 28), (36, 45)), "sad"), "causes")}
    assert answer(*MADE, RemoveSpan("b")).ties == frozenset()
    found = answer(*MADE, RemoveSpan("b")).span("a")
    assert found is not None
    assert found.attributes == {}


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (SetAttribute("a", "relations", [{"to": "a", "type": "causes"}]), "between two spans"),
        (SetAttribute("a", "relations", [{"to": "c", "type": "causes"}]), "between two spans"),
        (SetAttribute("a", "relations", [{"to": "b", "type": "follows"}]), "no relation 'follows'"),
        (SetAttribute("b", "relations", [{"to": "a", "type": "causes"}]), "causes begins in cause, not in sad"),
        (SetAttribute("b", "fragments", [[21, 28], [27, 45]]), "stand apart"),
        (SetAttribute("b", "fragments", [[21, 28]]), "stand apart"),
    ],
)
def test_what_the_scheme_does_not_have_is_refused(tmp_path: Path, event: Event, why: str) -> None:
    work = workspace(tmp_path).annotating().begin("some", "ann")
    number = next(iter(work.order))
    work.do(number, *MADE)
    with pytest.raises(BadInput, match=why):
        work.do(number, event)


def test_undo_takes_a_relation_and_a_part_back(tmp_path: Path) -> None:
    work = workspace(tmp_path).annotating().begin("some", "ann")
    number = next(iter(work.order))
    for event in MADE:
        work.do(number, event)
    work.undo()
    assert work.said(number).answer.ties == frozenset()
    work.undo()
    found = work.said(number).answer.span("b")
    assert found is not None
    assert found.parts == ((21, 28),)
    work.redo()
    work.redo()
    assert len(work.said(number).answer.ties) == 1


def test_what_is_written_is_read_as_the_same_and_identities_are_the_files_own(tmp_path: Path) -> None:
    made = answer(*MADE)
    keys = keys_of(SpanSample(id="x", text=TEXT), made, scheme(tmp_path))
    assert keys["spans"] == [
        {"start": 0, "end": 16, "label": "cause", "attributes": {"relations": [{"to": "T1", "type": "causes"}]}},
        {"start": 21, "end": 45, "label": "sad", "attributes": {"fragments": [[21, 28], [36, 45]], "id": "T1"}},
    ]
    marks = [Mark(one["start"], one["end"], one["label"], None, one["attributes"]) for one in keys["spans"]]
    read = Answer(spans=spans_of(marks))
    assert read.same_as(made)
    assert fresh(read).same_as(made)
    assert keys_of(SpanSample(id="x", text=TEXT), fresh(read), scheme(tmp_path)) == keys


def test_an_answer_with_other_parts_or_relations_is_another_one() -> None:
    whole = answer(*MADE)
    assert not answer(*MADE[:3]).same_as(whole)
    assert not answer(*MADE, SetAttribute("b", "fragments", [[21, 27], [36, 45]])).same_as(whole)
    assert not answer(*MADE, LabelSpan("a", None)).same_as(whole)


def test_a_majority_keeps_the_relations_that_most_have() -> None:
    with_it, without = answer(*MADE), answer(*MADE[:3])
    assert merged([with_it, without]).ties == with_it.ties
    assert merged([with_it, without, without], "majority").ties == frozenset()
    assert merged([with_it, fresh(with_it), without], "majority").ties == with_it.ties
    assert merged([with_it, without], "majority").places == with_it.places


def test_a_record_with_parts_and_relations_comes_in_and_goes_out(emotui: Emotui, tmp_path: Path) -> None:
    record = {
        "id": "x",
        "text": TEXT,
        "spans": [[0, 16, "cause"], {"parts": [[36, 45], [21, 28]], "label": "sad"}],
        "relations": [{"from": 0, "to": 1, "label": "causes"}],
    }
    (tmp_path / "in.jsonl").write_text(json.dumps(record))
    assert emotui("import", "in.jsonl", "--name", "mine", "--db", "w.duckdb").status == 0
    assert emotui("export", "mine", "--to", "out.jsonl", "--db", "w.duckdb").status == 0
    out = json.loads((tmp_path / "out.jsonl").read_text())
    assert out["spans"] == [
        {"start": 0, "end": 16, "label": "cause", "attributes": {"relations": [{"to": "T2", "type": "causes"}]}},
        {"start": 21, "end": 45, "label": "sad", "attributes": {"id": "T2", "fragments": [[21, 28], [36, 45]]}},
    ]
    (tmp_path / "bad.jsonl").write_text(json.dumps({**record, "relations": [{"from": 0, "to": 2}]}))
    refused = emotui("import", "bad.jsonl", "--name", "bad", "--db", "w.duckdb")
    assert (refused.status, "bad.jsonl:1: `relations[0]` must have `from` and `to`" in refused.err) == (2, True)
    # As records, too, which `score` reads without an import.
    (tmp_path / "pred.jsonl").write_text(json.dumps({"id": "x", "spans": [{"parts": [[36, 45], [21, 28]]}]}))
    scored = emotui("score", "spans", "--gold", "in.jsonl", "--pred", "pred.jsonl", "--no-sim", "--json")
    assert scored.status == 0


def test_two_annotators_relations_agree_as_far_as_their_exports_do(emotui: Emotui, tmp_path: Path) -> None:
    source = workspace(tmp_path)
    for name, events in (("ann", MADE), ("bob", (*MADE[:2], MADE[3]))):
        work = source.annotating().begin("some", name)
        work.do(next(iter(work.order)), *events, Accept())
        work.publish()
    source.close()
    done = emotui("agreement", "--dataset", "some", "--no-gamma", "--json", "--db", "w.duckdb")
    (pair,) = json.loads(done.out)["pairs"]
    # Parts: two of ann's three are bob's, who has two. The relation ends in another stretch.
    figures = {name: pair["figures"][name]["value"] for name in ("parts_f1", "relation_f1")}
    assert figures == {"parts_f1": pytest.approx(2 * 2 / 5), "relation_f1": 0.0}


SPANS = st.lists(st.sampled_from([(s, e) for s, e in combinations(range(5), 2)]), max_size=4, unique=True)


@given(
    st.lists(
        st.tuples(SPANS, SPANS, st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3))), st.booleans()),
        min_size=1,
        max_size=4,
    )
)
def test_relation_f1_is_twice_what_is_shared_over_all(texts: list[tuple[Any, Any, set[tuple[int, int]], bool]]) -> None:
    def marks(places: list[tuple[int, int]], pairs: set[tuple[int, int]]) -> list[Mark]:
        return [
            Mark(s, e, None, None, {"id": n, "relations": [{"to": b, "type": "r"} for a, b in pairs if a == n]})
            for n, (s, e) in enumerate(places)
        ]

    both, shared, total = [], 0, 0
    for first, second, pairs, swap in texts:
        mine, theirs = marks(first, pairs), marks(second, {(b, a) for a, b in pairs} if swap else pairs)
        both.append(("abcdef", mine, theirs))
        a, b = (
            {(places[i], places[j]) for i, j in one if i < len(places) and j < len(places)}
            for places, one in ((first, pairs), (second, {(j, i) for i, j in pairs} if swap else pairs))
        )
        assert len(ties(mine)) == len(a)
        shared, total = shared + len(a & b), total + len(a) + len(b)
    found = span_pair("a", "b", both).relation_f1
    assert (found is None) == (total == 0)
    if found is not None:
        assert found.value == pytest.approx(2 * shared / total)
