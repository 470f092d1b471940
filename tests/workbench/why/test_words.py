"""Which words and spans move which answers, asked of a model that goes by one word."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from emotui.errors import BadInput
from emotui.records import LabelsGold, Mark, SpanSample
from emotui.store.query import Dataset
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.why.words import find_spans, find_words
from emotui.workbench.workspace import Workspace
from tests.backends.installed_kind import install_kind

WORD = "word:weep"
PLACES = ("kitchen", "garden", "street", "office", "train", "school")


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    install_kind(monkeypatch, "word", "tests.backends.one_word_backend:load")
    opened = Workspace.open(tmp_path / "w.duckdb")
    yield opened
    opened.close()


@pytest.fixture
def dataset(workspace: Workspace) -> Dataset:
    """Six texts with the word and two without it."""
    texts = [f"Every night I Weep in the {place} and nobody asks" for place in PLACES]
    texts += ["Every night I sing in the kitchen and nobody asks", "I sing"]
    samples = [LabelsGold(id=str(at), text=text) for at, text in enumerate(texts)]
    number = add_samples(workspace.store, "labels", "mine", samples, "test").dataset
    found = workspace.store.datasets.get(number)
    assert found is not None
    return found


def test_the_word_that_the_model_goes_by_moves_its_label_and_no_other_word_does(
    workspace: Workspace, dataset: Dataset
) -> None:
    found = find_words(workspace, WORD, dataset)
    top = found["effects"][0]
    assert (top["word"], top["n"]) == ("weep", 6)
    by_label = {one["label"]: one for one in found["effects"] if one["word"] == "weep"}
    assert by_label["sadness"]["drop"] == pytest.approx(0.7)
    assert by_label["sadness"]["texts"] == dict.fromkeys("012345", pytest.approx(0.7))
    assert by_label["sadness"]["q"] == 0
    others = [one for one in found["effects"] if one["word"] != "weep"]
    assert {one["word"] for one in others} == {"every", "night", "i", "in", "the", "and", "nobody", "asks"}
    assert all(one["drop"] == pytest.approx(0) for one in others)
    # Each text, and each text without each frequent word, once.
    assert found["asked"] == len({*range(8)}) + 6 * 9 + 8 + 1


def test_words_are_masked_by_the_models_own_token_where_it_has_one(workspace: Workspace, dataset: Dataset) -> None:
    own, neutral = (find_words(workspace, "embedded", dataset, only="weep", filler=one) for one in (None, "neutral"))
    assert (own["filler"], neutral["filler"]) == ("[MASK]", "…")
    assert "masked ([MASK])" in own["convention"]
    assert own["effects"][0]["drop"] != neutral["effects"][0]["drop"]
    assert find_words(workspace, WORD, dataset, only="weep")["filler"] == "…"
    with pytest.raises(BadInput, match="no mask token of its own"):
        find_words(workspace, WORD, dataset, filler="own")


def test_one_word_and_one_label_can_be_asked_for(workspace: Workspace, dataset: Dataset) -> None:
    found = find_words(workspace, WORD, dataset, only="Weep", label="neutral")
    (one,) = found["effects"]
    assert (one["word"], one["label"]) == ("weep", "neutral")
    assert one["drop"] == pytest.approx(-0.7)
    with pytest.raises(BadInput, match="'kitchen' stands in 2 texts: words in 5 or more are asked for"):
        find_words(workspace, WORD, dataset, only="kitchen")
    with pytest.raises(BadInput, match="not asked about 'joy': its labels are sadness, neutral"):
        find_words(workspace, WORD, dataset, label="joy")
    with pytest.raises(BadInput, match="no word stands in 9 texts or more"):
        find_words(workspace, WORD, dataset, least=9)


def test_spans_of_the_same_words_are_one_with_what_random_stretches_do_beside(workspace: Workspace) -> None:
    def sample(key: str, text: str, *words: str) -> SpanSample:
        places = [(text.index(one), text.index(one) + len(one)) for one in words]
        return SpanSample(id=key, text=text, spans=tuple(Mark(*place) for place in places))

    samples = [
        sample("a", "I weep in the dark house alone", "weep", "house"),
        sample("b", "They Weep in the old house again", "Weep"),
    ]
    number = add_samples(workspace.store, "spans", "marked", samples, "test").dataset
    run = workspace.run_model(WORD, number, task="evidence")
    weep, house = find_spans(workspace, run)
    assert (weep["span"], weep["label"], weep["n"], weep["matters"]) == ("weep", "sadness", 2, 2)
    assert weep["drop"] == weep["above"] == pytest.approx(0.7)
    assert set(weep["texts"]) == {"a", "b"}
    assert (house["span"], house["n"], house["matters"]) == ("house", 1, 0)
    assert house["drop"] == pytest.approx(0)
    # One of the six other words is weep.
    assert house["above"] == pytest.approx(-0.7 / 6)
    assert json.loads(json.dumps([weep, house]))
