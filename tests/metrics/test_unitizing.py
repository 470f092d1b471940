"""Unitizing alpha: the published example, its definition by brute force, and what always holds."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emotui.metrics.unitizing import MarkedText, unitizing_alpha, units
from emotui.records import Mark


def marks(*units: tuple[int, int, str]) -> list[Mark]:
    """From the figure's first and last character, counted from 1."""
    return [Mark(first - 1, last, label) for first, last, label in units]


# Krippendorff 2019, Content Analysis, 4th edition, Figure 12.11: a continuum of 60, three observers.
PUBLISHED = MarkedText(
    60,
    {
        "Alex": marks((1, 7, "1"), (8, 13, "2"), (31, 32, "5"), (33, 37, "6"), (38, 44, "6"), (45, 60, "7")),
        "Paul": marks((1, 7, "1"), (8, 13, "3"), (14, 21, "5"), (33, 44, "6")),
        "Suzan": marks((1, 7, "1"), (8, 13, "4"), (14, 21, "5"), (33, 37, "6"), (38, 41, "6"), (42, 44, "6")),
    },
)


def test_the_published_example_has_its_published_values() -> None:
    found = unitizing_alpha([PUBLISHED])
    assert found.u_alpha.value == pytest.approx(0.510, abs=5e-4)
    assert found.coding.value == pytest.approx(0.724, abs=5e-4)
    assert found.binary.value == pytest.approx(0.413, abs=1e-3)
    by_label = {label: figure.value for label, figure in found.by_label.items()}
    assert {label: by_label[label] for label in "156"} == {"1": 1.0, "5": 1.0, "6": 1.0}
    assert {label: by_label[label] for label in "234"} == {"2": 0.0, "3": 0.0, "4": 0.0}
    assert by_label["7"] is None
    assert found.by_label["7"].why == "no other annotator marked anything where this label stands"


def by_definition(text: MarkedText) -> float | None:
    """1 - D_o / D_e, character by character: observed over pairs of annotators, expected over pairs of sections.

    Two characters of one unit are never paired by chance; a gap is as many sections as it has characters.
    """
    divided = [units(spans, text.length) for spans in text.spans.values()]
    values = [[value for start, end, value in one for _ in range(start, end)] for one in divided]
    m = len(values)
    observed = sum(a[i] != b[i] for a, b in permutations(values, 2) for i in range(text.length)) / (m - 1)
    sections: list[tuple[str | None, int]] = []
    for one in divided:
        for start, end, value in one:
            sections += [(None, 1)] * (end - start) if value is None else [(value, end - start)]
    pairs = [(a[0] != b[0], a[1] * b[1]) for a, b in permutations(sections, 2)]
    unlike, whole = sum(size for differ, size in pairs if differ), sum(size for _, size in pairs)
    if unlike == 0:
        return None
    return 1 - (observed / (m * text.length)) / (unlike / whole)


spans = st.lists(
    st.tuples(st.integers(0, 9), st.integers(1, 5), st.sampled_from(["joy", "fear"])).map(
        lambda one: Mark(one[0], min(one[0] + one[1], 10), one[2])
    ),
    max_size=3,
)
texts = st.tuples(spans, spans, spans).map(lambda said: MarkedText(10, dict(zip("abc", said, strict=True))))


@given(texts)
def test_u_alpha_equals_its_definition(text: MarkedText) -> None:
    found, expected = unitizing_alpha([text]).u_alpha, by_definition(text)
    assert found.value == (None if expected is None else pytest.approx(expected))
    assert (found.value is None) == (found.why is not None)


@given(texts)
def test_the_order_of_annotators_changes_nothing(text: MarkedText) -> None:
    found = unitizing_alpha([text])
    for order in permutations(text.spans):
        other = unitizing_alpha([MarkedText(10, {name: text.spans[name] for name in order})])
        for a, b in ((found.u_alpha, other.u_alpha), (found.binary, other.binary), (found.coding, other.coding)):
            assert a.value == (None if b.value is None else pytest.approx(b.value))


@given(spans)
def test_annotators_who_mark_the_same_agree_completely_or_there_is_nothing_to_tell_apart(own: list[Mark]) -> None:
    text = MarkedText(10, {"a": own, "b": list(reversed(own)), "c": own})
    found = unitizing_alpha([text])
    for figure in (found.u_alpha, found.binary, found.coding):
        assert figure.value is None or figure.value == pytest.approx(1)
    assert found.unlike == [0]


def test_a_stretch_under_two_spans_is_a_unit_of_both_labels_and_is_told() -> None:
    nested = [Mark(0, 8, "joy"), Mark(4, 6, "trust")]
    assert units(nested, 10) == [(0, 4, "joy"), (4, 6, "joy + trust"), (6, 8, "joy"), (8, 10, None)]
    assert units([*nested, Mark(9, 9, "awe")], 10)[-1] == (8, 10, None)  # an empty span divides no gap
    assert unitizing_alpha([MarkedText(10, {"a": nested, "b": []})]).overlapping == 2


def test_a_text_counts_with_the_annotators_who_looked_at_it() -> None:
    both = MarkedText(10, {"a": [Mark(0, 4, "joy")], "b": [Mark(0, 5, "joy")]})
    alone = MarkedText(10, {"a": [Mark(3, 9, "fear")]})
    found, without = unitizing_alpha([both, alone]), unitizing_alpha([both])
    assert (found.u_alpha, found.binary, found.by_label) == (without.u_alpha, without.binary, without.by_label)
    assert unitizing_alpha([alone]).u_alpha.why == "no text was marked by two annotators"


def test_where_nobody_marked_anything_nothing_is_defined() -> None:
    found = unitizing_alpha([MarkedText(10, {"a": [], "b": []})])
    assert found.u_alpha.why == found.binary.why == "nobody marked anything"
    assert found.coding.value is None


def test_intervals_come_from_drawing_texts() -> None:
    texts = [
        MarkedText(20, {"a": [Mark(i % 7, i % 7 + 5, "joy")], "b": [Mark(i % 5, i % 5 + 5, "joy")]}) for i in range(30)
    ]
    found = unitizing_alpha(texts, resamples=200)
    assert found.u_alpha.low is not None
    assert found.u_alpha.value is not None
    assert found.u_alpha.low < found.u_alpha.value < (found.u_alpha.high or 0)
    assert unitizing_alpha([texts[0]], resamples=200).u_alpha.why == "no interval: it is over one sample alone"


def test_the_unlike_share_of_a_text_is_a_mean_over_pairs_of_annotators() -> None:
    text = MarkedText(10, {"a": [Mark(0, 4)], "b": [Mark(0, 4)], "c": []})
    found = unitizing_alpha([text, MarkedText(10, {"a": []})])
    assert found.unlike == [pytest.approx(0.4 * 2 / 3), None]
    assert found.unlike_labels == [0, None]


def test_a_label_is_over_the_texts_that_it_stands_in() -> None:
    glad = MarkedText(10, {"a": [Mark(0, 4, "joy")], "b": [Mark(0, 5, "joy")]})
    sad = MarkedText(10, {"a": [Mark(0, 4, "woe")], "b": [Mark(0, 5, "woe")]})
    assert {label: figure.n for label, figure in unitizing_alpha([glad, sad, sad]).by_label.items()} == {
        "joy": 1,
        "woe": 2,
    }
