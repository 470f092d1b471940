"""The list of samples against the straightforward way over plain Python values."""

import itertools
import math
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from emotui.store.listing import _by_value
from emotui.store.query import MARKS, SORTS, Bounds, ListQuery, bits_to_marks, counted_marks, marks_to_bits
from emotui.store.rows import SampleRow
from emotui.store.store import Store
from tests.store.store_samples import failure, result, sample, score

TEXTS = (
    "I was so HAPPY today",
    "100% sure, under_score",
    "naïve ÉTUDE",
    "a\\b 'quoted' \"twice\"",
    "",
    "ελπίδα ΕΛΠΊΔΑ",
)
SCORES: list[tuple[float | None, float | None, str]] = [
    *[(0.25, None, "H"), (0.75, 0.5, "XM"), (0.5, 0.5, ""), (1.0, 0.0, "!")],
    (None, None, "!"),
]
SAMPLES: list[SampleRow] = [
    sample(
        f"s{(number * 7) % 30:02d}",
        TEXTS[number % 6] + "x" * (number % 4),
        (None, "sad", "happy", "fear")[number % 4],
        ("positive", None, "negative")[number % 3],
        (("sad", "fear"), ("happy",), (), ("fear", "sad", "fear"))[number % 4],
        (("positive",), (), ("negative", "neutral"))[number % 3],
    )
    for number in range(30)
]
# The second data set begins at 6, so that places and numbers differ.
FIRST = 6
RESULTS = {
    FIRST + place: [SCORES[(place + repeat) % 5] for repeat in range(place % 3)]
    for place in range(30)
    if place % 5 != 4
}


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with tempfile.TemporaryDirectory() as folder:
        made = Store.open(Path(folder) / "workspace.duckdb")
        made.datasets.add("other", "spans", [sample(f"o{number}", "happy", "sad") for number in range(5)], "other", "o")
        made.datasets.add("listed", "spans", SAMPLES, "listed", "l")
        made.runs.start("other", "o", "spans", "model", 2, {}, 1)
        made.results.commit("other", [result(FIRST, scored=score(0.9, 0.9, "N"))])
        made.runs.start("run", "r", "spans", "model", 2, {}, 1)
        for number, scores in RESULTS.items():
            rows = [result(number, repeat, 0, score(*scored)) for repeat, scored in enumerate(scores)]
            made.results.commit("run", [*rows, failure(number, 9)])
        yield made


def mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def straightforward(query: ListQuery) -> list[int]:
    """The same list by plain Python."""
    lines: list[tuple[int, Any]] = []
    for place, row in enumerate(SAMPLES):
        number = FIRST + place
        scores = RESULTS.get(number, []) if query.run == "run" else []
        f1, sim = mean([score[0] for score in scores]), mean([score[1] for score in scores])
        marks = {letter for _, _, letters in scores for letter in letters}
        if (
            query.text.lower() not in row.text.lower()
            or (query.emotions and not set(query.emotions) & set(row.emotions))
            or (query.valences and not set(query.valences) & set(row.valences))
            or (query.marks and not set(query.marks) & marks)
            or any(
                value is None or not (bounds.low or 0) <= value <= (1 if bounds.high is None else bounds.high)
                for bounds in query.bounds
                for value in [{"f1": f1, "sim": sim}.get(bounds.metric)]
            )
        ):
            continue
        keys = {
            **{"file": number, "id": row.id, "emotion": row.emotion, "length": len(row.text)},
            **{"f1": f1, "sim": sim, "unheard": None},
        }
        lines.append((number, keys[query.sort]))
    known = sorted((line for line in lines if line[1] is not None), key=lambda line: line[1], reverse=query.descending)
    if query.descending:
        # Ties stay in file order, which a reversed sort of Python keeps too.
        assert all(a[0] < b[0] for a, b in itertools.pairwise(known) if a[1] == b[1])
    return [number for number, _ in [*known, *(line for line in lines if line[1] is None)]]


QUERIES = st.builds(
    ListQuery,
    dataset=st.just(2),
    run=st.sampled_from([None, "run", "no such run"]),
    text=st.sampled_from(["", "HAPPY", "happy", "%", "_", "\\", "'", "é", "x", "nowhere", "ελπ", "h%y"]),
    emotions=st.lists(st.sampled_from(["sad", "fear", "happy", "no'ne"]), max_size=2).map(tuple),
    valences=st.lists(st.sampled_from(["positive", "negative", "neutral"]), max_size=2).map(tuple),
    marks=st.lists(st.sampled_from(list(MARKS)), max_size=2, unique=True).map("".join),
    bounds=st.lists(
        st.builds(
            Bounds,
            st.sampled_from(["f1", "f1", "sim", "unheard"]),
            st.sampled_from([None, 0.0, 0.5, 0.75]),
            st.sampled_from([None, 0.5, 1.0]),
        ),
        max_size=2,
    ).map(tuple),
    sort=st.sampled_from([*SORTS, "f1", "sim", "unheard"]),
    descending=st.booleans(),
).filter(lambda query: query.run is not None or query.sort in SORTS)


def test_a_sample_is_found_by_its_id_where_no_text_holds_the_words(store: Store) -> None:
    (number,) = store.listing.order(ListQuery(2, text="S07")).tolist()
    assert SAMPLES[number - FIRST].id == "s07"
    assert store.listing.order(ListQuery(2, text="s07", emotions=("no'ne",))).tolist() == []
    assert store.listing.order(ListQuery(2, text="s0")).tolist() == [], "no part of an id"


@given(query=QUERIES)
@hypothesis_settings(deadline=None, max_examples=150)
def test_any_query_gives_what_the_straightforward_way_gives(store: Store, query: ListQuery) -> None:
    order = store.listing.order(query)
    assert order.dtype == "int64"
    assert order.tolist() == straightforward(query)


def test_counts_of_a_filter_are_how_many_samples_it_keeps(store: Store) -> None:
    counts = store.samples.label_counts(2)
    for name in ("sad", "fear", "happy"):
        assert counts["emotions"][name] == len(store.listing.order(ListQuery(2, emotions=(name,))))
    for name in ("positive", "negative", "neutral"):
        assert counts["valences"][name] == len(store.listing.order(ListQuery(2, valences=(name,))))
    marks = counted_marks(store.listing.marks(2, "run"))
    assert marks == {mark: len(store.listing.order(ListQuery(2, "run", marks=mark))) for mark in MARKS}
    assert marks["X"] > 0
    assert store.samples.label_counts(9) == {"emotions": {}, "valences": {}}


@given(
    values=st.lists(st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 1.0, -1.0, math.nan]) | st.floats(-3, 3), max_size=40),
    descending=st.booleans(),
)
def test_sorting_by_a_value_keeps_ties_in_their_order_and_nothing_known_last(
    values: list[float], descending: bool
) -> None:
    rounded = np.array([round(value, 9) for value in values], dtype=np.float64)
    order = _by_value(np.arange(len(values)) + 5, rounded, descending).tolist()
    known = [place for place in range(len(values)) if not math.isnan(rounded[place])]
    known.sort(key=lambda place: -rounded[place] if descending else rounded[place])
    unknown = [place for place in range(len(values)) if math.isnan(rounded[place])]
    assert order == [place + 5 for place in known + unknown]


@given(numbers=st.lists(st.integers(-1, 45), max_size=12), run=st.sampled_from([None, "run"]))
@hypothesis_settings(deadline=None, max_examples=40)
def test_a_page_has_the_lines_asked_for_in_their_order(store: Store, numbers: list[int], run: str | None) -> None:
    page = store.list_rows.page(numbers, run)
    assert [row.sample for row in page] == [number for number in numbers if 1 <= number < FIRST + 30]
    for row in page:
        if row.sample < FIRST:
            continue
        expected = SAMPLES[row.sample - FIRST]
        scores = RESULTS.get(row.sample, []) if run else []
        assert (row.id, row.emotion, row.valence) == (expected.id, expected.emotion, expected.valence)
        assert row.values.get("f1") == mean([score[0] for score in scores])
        assert row.values.get("sim") == mean([score[1] for score in scores])
        assert set(row.marks) == {letter for _, _, letters in scores for letter in letters}


def test_an_unknown_dataset_has_an_empty_list(store: Store) -> None:
    assert store.listing.order(ListQuery(9)).tolist() == []
    assert store.listing.order(ListQuery(9, sort="f1", run="run", marks="H", text="a")).tolist() == []


def test_a_preview_is_one_line_and_the_beginning_only(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "workspace.duckdb")
    store.datasets.add("long", "spans", [sample("1", "a\n\n b\t" + "c" * 1_000_000)], "long", "l")
    preview = store.list_rows.page([1], None)[0].preview
    assert preview.startswith("a b cc")
    assert len(preview) <= 200


def test_an_unknown_sort_or_mark_is_refused(store: Store) -> None:
    with pytest.raises(ValueError, match="cannot sort by 'colour'"):
        store.listing.order(ListQuery(2, sort="colour"))
    with pytest.raises(ValueError, match="no kind of error has the letter 'Q'"):
        store.listing.order(ListQuery(2, run="run", marks="Q"))


@given(st.sets(st.sampled_from(list(MARKS))))
def test_marks_survive_as_numbers(marks: set[str]) -> None:
    kept = bits_to_marks(marks_to_bits("".join(marks)))
    assert kept == "".join(letter for letter in MARKS if letter in marks)


@pytest.mark.slow
def test_very_long_texts_are_added_found_and_read(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "workspace.duckdb")
    long = [SampleRow(str(n), f"{n} " * 250_000, None, None, (), (), b'"' + b"x" * 500_000 + b'"') for n in range(200)]
    store.datasets.add("long", "spans", long, "long", "l")
    assert sum(len(record) for _, record in store.samples.of_dataset(1)) == 200 * 500_002
    assert store.listing.order(ListQuery(1, text="199 199")).tolist() == [200]
    assert len(store.list_rows.page(range(1, 201), None)) == 200
