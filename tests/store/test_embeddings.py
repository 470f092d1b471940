"""Vectors of texts are kept by what made them, and a text is embedded once."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from emotui.backends.base import Embed, ModelCard
from emotui.store.store import Store
from emotui.workbench.slices.near import kept_embeddings


class Counting:
    """Stands in for the process of a model: a text's vector is its length and 1."""

    def __init__(self, version: str) -> None:
        self.version, self.asked = version, list[str]()

    def load(self) -> ModelCard:
        return ModelCard("some:model", "some", ("embed",), {"version": self.version})

    def ask(self, requests: Sequence[Embed], cancelled: object = None) -> np.ndarray:
        self.asked += [one.text for one in requests]
        return np.array([(len(one.text), 1) for one in requests], np.float32)


def test_what_is_known_of_a_model_and_a_text_stays_as_it_is(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "w.duckdb")
    store.embeddings.keep("one", {"a": b"1", "b": b"2"})
    store.embeddings.keep("one", {"a": b"other", "c": b"3"})
    store.embeddings.keep("two", {"a": b"4"})
    store.embeddings.keep("two", {})
    assert store.embeddings.known("one", ["a", "b", "c", "d"]) == {"a": b"1", "b": b"2", "c": b"3"}
    assert store.embeddings.known("two", ["a", "b"]) == {"a": b"4"}
    assert store.embeddings.known("two", []) == {}


def test_a_text_is_embedded_once_by_each_model_and_stands_in_its_place(tmp_path: Path) -> None:
    store, model = Store.open(tmp_path / "w.duckdb"), Counting("1")
    texts = ["aaa", "a", "aaa", "aa"]
    vectors = kept_embeddings(model, texts, store)  # type: ignore[arg-type]
    assert model.asked == ["aaa", "a", "aa"]
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert np.allclose(vectors[:, 0] / vectors[:, 1], [3, 1, 3, 2])
    again = kept_embeddings(model, [*texts, "aaaa"], store)  # type: ignore[arg-type]
    assert model.asked == ["aaa", "a", "aa", "aaaa"]
    assert (again[:4] == vectors).all()
    other = Counting("2")
    kept_embeddings(other, ["a"], store)  # type: ignore[arg-type]
    assert other.asked == ["a"]
    assert kept_embeddings(model, [], store).shape[0] == 0  # type: ignore[arg-type]


def test_a_store_that_is_read_only_is_read_and_nothing_is_kept(tmp_path: Path) -> None:
    model = Counting("1")
    kept_embeddings(model, ["a"], Store.open(tmp_path / "w.duckdb"))  # type: ignore[arg-type]
    store = Store.open(tmp_path / "w.duckdb", read_only=True)
    kept_embeddings(model, ["a", "bb"], store)  # type: ignore[arg-type]
    kept_embeddings(model, ["a", "bb"], store)  # type: ignore[arg-type]
    assert model.asked == ["a", "bb", "bb"]
