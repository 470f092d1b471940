"""Many samples' F1 at once: the same figures as one by one."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from emotui.metrics import span_batch
from emotui.metrics.span_batch import span_scores
from emotui.metrics.spans import span_score

SPAN = st.one_of(
    st.lists(
        st.sampled_from(["so", "so", "sad", "I", "The", "a|b", "été", "“x”", "|", "...", "it's", "\n"]), max_size=6
    ),
    st.lists(st.sampled_from(["on", "and"]), min_size=20, max_size=30),
).map(" ".join)
SAMPLES = st.lists(st.tuples(st.lists(SPAN, max_size=4), st.lists(SPAN, max_size=4)), max_size=6)


def scored(samples: list[tuple[list[str], list[str]]]) -> list[float]:
    return span_scores([gold for gold, _ in samples], [predicted for _, predicted in samples]).tolist()


def test_conventions_hold_in_bulk() -> None:
    samples: list[tuple[list[str], list[str]]] = [
        ([], []),
        (["sad"], []),
        ([], ["sad"]),
        (["the"], ["..."]),
        (["so so happy today"], ["So happy, happy!"]),
        (["x y", "x"], ["x y", "y"]),
        (["so so so"], ["so so so so"]),
    ]
    assert scored(samples) == pytest.approx([1, 0, 0, 1, 4 / 7, 2 / 3, 6 / 7])


@settings(deadline=None)
@given(SAMPLES)
@example([(["a"], ["b"]), (["so sad"] * 5, ["so", "sad"] * 4)])
def test_bulk_scores_are_those_of_single_samples(samples: list[tuple[list[str], list[str]]]) -> None:
    assert scored(samples) == pytest.approx([span_score(gold, predicted) for gold, predicted in samples], abs=1e-12)


def test_blocks_do_not_change_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    samples = [([f"w{i} so", "sad"], ["so sad", f"w{i}"][: i % 3]) for i in range(20)]
    whole = scored(samples)
    monkeypatch.setattr(span_batch, "_BLOCK", 3)
    assert scored(samples) == whole == pytest.approx([span_score(g, p) for g, p in samples])


def test_no_samples_have_no_scores_and_unequal_lists_are_refused() -> None:
    assert np.array_equal(span_scores([], []), np.zeros(0))
    with pytest.raises(ValueError, match="1 samples of gold spans, 2 of predicted ones"):
        span_scores([["a"]], [["a"], ["b"]])
