"""A text that kills a model that measures costs itself: what that model says is undefined of it, all else is there."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from emotui.backends.base import (
    Classification,
    Classify,
    Embed,
    Generate,
    Generation,
    ModelCard,
    Rank,
    Ranked,
    Request,
)
from emotui.backends.host import ModelProcess
from emotui.errors import Unanswered
from emotui.metrics.eas import EAS_EMOTIONS
from emotui.metrics.eps import EPS_LABELS
from emotui.metrics.span_report import span_report
from emotui.records import Generation as Versions
from emotui.records import Mark, MaskedGold, SpanPrediction, SpanSample
from emotui.store.store import Store
from emotui.tasks.asking import MOST_IN_A_ROW, embedded
from emotui.tasks.generation.measuring import eas_by_model, eps_by_nli, perplexities
from emotui.tasks.generation.options import eans_of, nearest_label, once
from emotui.tasks.generation.recognising import recognise
from emotui.tasks.masked.examples import nearest_examples
from emotui.workbench.datasets.label_maps import nearest
from emotui.workbench.slices.near import kept_embeddings

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


class Measuring:
    """Whatever it is asked about, it dies over KILL; else it says the first label, 50 of each emotion, and 1 token."""

    spec, limit, pid = "fragile", 600.0, 1

    def __init__(self, *capabilities: str) -> None:
        self._can = capabilities

    def load(self) -> ModelCard:
        return ModelCard("fragile", "fragile", self._can, {"version": "1"})

    def ask(self, requests: Sequence[Request], *, cancelled: object = None) -> list[object]:
        if any("KILL" in str(request) for request in requests):
            raise Unanswered("was killed", slow=False)
        return [self._answer(request) for request in requests]

    def _answer(self, request: Request) -> object:
        match request:
            case Classify(labels=labels):
                assert labels
                return Classification({label: float(label == labels[0]) for label in labels}, labels[0], False)
            case Generate():
                return Generation(str(dict.fromkeys(EAS_EMOTIONS, 50)).replace("'", '"'), 1, 1, "stop")
            case Rank():
                return Ranked((-1.0,), (1,), (True,))
        raise AssertionError(request)


def measuring(*capabilities: str) -> ModelProcess:
    return cast(ModelProcess, Measuring(*capabilities))


def test_the_further_models_of_a_score_say_nothing_of_it_alone() -> None:
    texts = ["glad", "KILL", "sad"]
    assert eps_by_nli(measuring("classify"), texts) == [EPS_LABELS[0], None, EPS_LABELS[0]]
    first, deadly, last = eas_by_model(measuring("generate"), texts)
    assert (first, deadly) == (last, None)
    assert first is not None
    read = perplexities(measuring("rank"), texts, 128)
    assert read.of == {"glad": pytest.approx(np.e), "KILL": None, "sad": pytest.approx(np.e)}
    records = [Versions(id=text, original="o", neutral="n", emotional=text, target="joy", model="m") for text in texts]
    said = recognise(measuring("classify"), records, {})
    assert (said.found, said.unread) == (("joy", None, "joy"), 1)


def test_where_each_text_is_too_much_for_a_further_model_it_is_the_model() -> None:
    with pytest.raises(Unanswered):
        eps_by_nli(measuring("classify"), [f"KILL {n}" for n in range(MOST_IN_A_ROW)])
