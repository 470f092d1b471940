"""A text that kills the model that embeds costs itself: what goes by its embedding is undefined, all else is there."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from emotui.backends.base import Embed, ModelCard
from emotui.backends.host import ModelProcess
from emotui.errors import Unanswered
from emotui.metrics.span_report import span_report
from emotui.records import Mark, MaskedGold, SpanPrediction, SpanSample
from emotui.store.store import Store
from emotui.tasks.embedding import MOST_IN_A_ROW, embedded
from emotui.tasks.generation.embedding import eans_of, nearest_label, once
from emotui.tasks.masked.examples import nearest_examples
from emotui.workbench.datasets.label_maps import nearest
from emotui.workbench.models.kept_embeddings import kept_embeddings

pytestmark = pytest.mark.faults


class Fragile:
    """Embeds a text as its length and 1; dies over a text with KILL."""

    def ask(self, requests: Sequence[Embed], *, cancelled: object = None) -> np.ndarray:
        if any("KILL" in request.text for request in requests):
            raise Unanswered("was killed", slow=False)
        return np.array([[len(request.text), 1.0] for request in requests], dtype=np.float32)


def vectors(texts: Sequence[str]) -> np.ndarray:
    found = embedded(cast(ModelProcess, Fragile()), texts)
    unit: np.ndarray = found / np.linalg.norm(found, axis=1, keepdims=True)
    return unit


@pytest.mark.parametrize("texts", [["aa", "KILL", "b"], ["KILL"], ["KILL", "KILL", "a"], []])
def test_its_row_is_of_nan(texts: list[str]) -> None:
    found = embedded(cast(ModelProcess, Fragile()), texts)
    assert len(found) == len(texts)
    for text, row in zip(texts, found, strict=True):
        assert np.array_equal(row, [np.nan, np.nan] if text == "KILL" else [len(text), 1], equal_nan=True)


def test_where_one_text_after_the_other_is_too_much_it_is_the_model() -> None:
    with pytest.raises(Unanswered):
        vectors(["KILL"] * MOST_IN_A_ROW)


def test_sim_is_the_mean_of_the_others_and_says_how_many_have_none() -> None:
    gold = [SpanSample(id=str(n), text=f"glad word{n} KILL", spans=(Mark(0, 4),)) for n in range(3)]
    said = [SpanPrediction(id=str(n), spans=(span,)) for n, span in enumerate(["KILL", "word1", "glad"])]
    found = span_report(gold, said, vectors, frozenset())
    glad, word = np.array([4, 1]) / np.sqrt(17), np.array([5, 1]) / np.sqrt(26)
    assert found["sim"] == pytest.approx((glad @ word + 1) / 2, abs=1e-6)
    assert found["notes"]["sim"].startswith("1 of 3 answers have none")  # type: ignore[index]


def test_a_span_that_stands_on_both_sides_is_like_itself_without_an_embedding() -> None:
    gold = [SpanSample(id="1", text="KILL", spans=(Mark(0, 4),))]
    assert span_report(gold, [SpanPrediction(id="1", spans=("KILL",))], vectors, frozenset())["sim"] == 1.0


def test_relations_and_the_nearest_of_three_sentences_lack_for_it_alone() -> None:
    first, second = eans_of([("a", "b", "KILL", "joy"), ("aa", "bb", "cc", "joy")], once(vectors))
    assert first == {}
    assert all(map(np.isfinite, second.values()))
    assert [bool(one) for one in nearest_label(["KILL", "a"], vectors)] == [False, True]


def test_it_is_the_nearest_of_none_and_has_none() -> None:
    texts = [f"{'x' * n} MASK" for n in range(6)] + ["KILL MASK"]
    samples = [MaskedGold(id=str(n), text=text, labels=(f"word{n}",)) for n, text in enumerate(texts)]
    found = {one.id: one.examples for one in nearest_examples(samples, samples, vectors(texts), vectors(texts), 6)}
    assert found["6"] == ()
    assert all("KILL" not in str(example) for examples in found.values() for example in examples)
    assert len(found["0"]) == 5


def test_a_label_is_left_out_of_those_that_are_like_labels_of_gold() -> None:
    assert list(
        nearest(["KILL", "glad"], ["joy", "sad"], lambda texts: vectors([t.replace("kill", "KILL") for t in texts]))
    ) == ["glad"]


def test_it_is_not_kept_in_a_store(tmp_path: Path) -> None:
    class Loaded(Fragile):
        def load(self) -> ModelCard:
            return ModelCard("fragile", "fragile", ("embed",), {"version": "1"})

    store = Store.open(tmp_path / "w.duckdb")
    found = kept_embeddings(cast(ModelProcess, Loaded()), ["a", "KILL"], store)
    assert np.isnan(found[1]).all()
    assert kept_embeddings(cast(ModelProcess, Loaded()), ["a"], store).tolist() == [found[0].tolist()]
    with pytest.raises(Unanswered):
        kept_embeddings(cast(ModelProcess, Loaded()), ["KILL 1", "KILL 2", "KILL 3"], store)
