"""Which answers flip when the same is asked in other words, of models whose answers are known."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emotui.backends.host import ModelProcess
from emotui.backends.words import word_places
from emotui.errors import BadInput
from emotui.records import LabelsGold
from emotui.store.query import Dataset
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.why import asking
from emotui.workbench.why.steady import find_flips, mistyped
from emotui.workbench.why.words import find_words
from emotui.workbench.workspace import Workspace
from tests.backends.installed_kind import install_kind
from tests.conftest import Emotui


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    install_kind(monkeypatch, "word", "tests.backends.one_word_backend:load")
    opened = Workspace.open(tmp_path / "w.duckdb")
    yield opened
    opened.close()


def _dataset(workspace: Workspace, samples: list[LabelsGold]) -> Dataset:
    found = workspace.store.datasets.get(add_samples(workspace.store, "labels", "mine", samples, "test").dataset)
    assert found is not None
    return found


def _gold(key: str, text: str, *annotators: tuple[str, ...]) -> LabelsGold:
    said = {f"A{at}": labels for at, labels in enumerate(annotators)}
    return LabelsGold(id=key, text=text, labels=("sadness" if key == "a" else "neutral",), annotators=said)


def test_a_typing_error_in_the_one_word_flips_the_answer_and_is_told_by_text(workspace: Workspace) -> None:
    dataset = _dataset(workspace, [_gold("a", "I am crying"), _gold("b", "We sing")])
    found = find_flips(workspace, "word:crying", dataset)
    typos = found["factors"]["typos"]
    # In three rounds the only word that can be mistyped is mistyped, each time in another way or the same.
    assert typos["variants"] == 3
    assert typos["flips"] == pytest.approx(0.5)
    assert typos["labels_changed"] == pytest.approx(0.5)
    assert typos["likeliest"] == pytest.approx(0.5)
    assert typos["moved"] == pytest.approx(0.35)
    assert found["flipped"] == {"a": {"plain": ["sadness"], "typos": [["neutral"]] * 3}}
    assert "not shown to the model" in found["notes"]["factors.order"]
    assert "labels of its own" in found["notes"]["factors.names"]
    assert found["people"] is None


def test_other_names_of_labels_are_asked_and_answers_come_back_under_the_old_ones(workspace: Workspace) -> None:
    dataset = _dataset(workspace, [_gold("a", "I weep"), _gold("b", "We sing")])
    # This model says yes where the question holds the word sadness: to "sorrow and sadness" too, to "gloom" not.
    same = find_flips(workspace, "word:weep,score", dataset, names={"sadness": "sadness or sorrow"}, way="score")
    assert same["factors"]["names"]["flips"] == 0
    other = find_flips(workspace, "word:weep,score", dataset, names={"sadness": "gloom"}, way="score")
    assert other["factors"]["names"]["flips"] == pytest.approx(0.5)
    assert other["flipped"]["a"]["names"] == [[]]
    # It cannot write, so that no other method is compared, which is told.
    assert "nothing to write" in other["notes"]["factors.prompt.zero-shot"]
    with pytest.raises(BadInput, match="no label of the question"):
        find_flips(workspace, "word:weep,score", dataset, names={"joy": "glee"}, way="score")


def test_a_way_of_asking_that_knows_other_labels_is_left_out_and_told(workspace: Workspace) -> None:
    texts = ("Thank you so much!", "I am furious.")
    samples = [LabelsGold(id=str(n), text=text, labels=("gratitude",)) for n, text in enumerate(texts)]
    found = find_flips(workspace, "embedded", _dataset(workspace, samples))
    assert found["labels"] == ["gratitude"]
    assert "embedded has no label 'gratitude'" in found["notes"]["factors.prompt.heads"]
    assert "prompt" not in found["factors"]


def test_a_label_of_gold_that_the_model_has_not_is_left_out_and_told(workspace: Workspace) -> None:
    texts = {"He wept with joy.": "joy", "She was furious.": "anger", "Whatever it was, it passed.": "other-emotion"}
    samples = [LabelsGold(id=str(n), text=text, labels=(name,)) for n, (text, name) in enumerate(texts.items())]
    dataset = _dataset(workspace, samples)
    for found in (find_flips(workspace, "embedded", dataset), find_words(workspace, "embedded", dataset, least=2)):
        assert found["labels"] == ["joy", "anger"]
        assert found["notes"]["labels"].endswith("was not asked about it: other-emotion")
    other = [LabelsGold(id="n", text="So.", labels=("other-emotion",))]
    nothing = workspace.store.datasets.get(add_samples(workspace.store, "labels", "other", other, "test").dataset)
    assert nothing is not None
    with pytest.raises(BadInput, match="embedded has no label 'other-emotion'"):
        find_flips(workspace, "embedded", nothing)


def test_people_stand_beside_with_the_same_figures(workspace: Workspace) -> None:
    samples = [_gold("a", "I weep", ("sadness",), ("sadness",), ("neutral",)), _gold("b", "We sing")]
    found = find_flips(workspace, "word:weep", _dataset(workspace, samples))
    # Two of three pairs differ, each in both of the two labels.
    assert found["people"] == {
        "n": 1,
        "pairs": 3,
        "flips": pytest.approx(2 / 3),
        "labels_changed": pytest.approx(2 / 3),
    }


def test_a_model_that_names_the_label_it_is_shown_first_flips_with_every_other_order(workspace: Workspace) -> None:
    dataset = _dataset(workspace, [_gold("a", "I weep"), _gold("b", "We sing")])
    labels = ["sadness", "joy", "fear", "calm"]
    found = find_flips(workspace, "word:first,write", dataset, options={"labels": labels}, variants=20)
    order = found["factors"]["order"]
    # Three of four orders begin with another label; an answer then differs in that label and in the first.
    assert order["flips"] == pytest.approx(0.75, abs=0.25)
    assert order["labels_changed"] == pytest.approx(order["flips"] / 2)
    assert "likeliest" not in order
    assert found["factors"]["names"]["flips"] == 0
    assert found["factors"]["typos"]["flips"] == 0
    assert found["factors"]["prompt"]["flips"] == 0
    assert set(map(tuple, found["flipped"]["a"]["order"])) <= {("joy",), ("fear",), ("calm",)}


@settings(deadline=None)
@given(st.text(max_size=200), st.integers(0, 5))
def test_a_typing_error_keeps_every_letter_and_the_ends_of_words(text: str, seed: int) -> None:
    found = mistyped(text, seed)
    assert sorted(found) == sorted(text)
    assert found == mistyped(text, seed)
    changed = [place for place in word_places(text) if found[slice(*place)] != text[slice(*place)]]
    assert len(changed) <= max(1, len(word_places(text)) // 20)
    assert all((found[a], found[b - 1]) == (text[a], text[b - 1]) for a, b in changed)


def test_one_word_of_twenty_is_mistyped() -> None:
    text = " ".join(["sentence"] * 60)
    changed = [a for a, b in zip(text.split(), mistyped(text, 1).split(), strict=True) if a != b]
    assert len(changed) == 3


def test_answers_are_kept_as_they_come_and_nothing_is_asked_twice(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = _dataset(workspace, [_gold("a" * at, f"I am crying{' so' * at}") for at in range(1, 20)])
    asked: list[str] = []
    plain = asking.asked_twice

    def counted(model: ModelProcess, requests: Sequence[Any]) -> Any:
        if dies and len(asked) >= 16:
            raise KeyboardInterrupt
        asked.extend(one.text for one in requests)
        return plain(model, requests)

    monkeypatch.setattr(asking, "asked_twice", counted)
    dies = True
    with pytest.raises(KeyboardInterrupt):
        find_flips(workspace, "word:crying", dataset)
    assert len(asked) == 16
    dies = False
    found = find_flips(workspace, "word:crying", dataset)
    assert len(asked) == len(set(asked)) >= 2 * 19, "what was answered before it was killed is not asked again"
    before = len(asked)
    assert find_flips(workspace, "word:crying", dataset) == found
    assert len(asked) == before
    find_words(workspace, "word:crying", dataset, least=2, filler="neutral")
    with_words = len(asked)
    find_words(workspace, "word:crying", dataset, least=2, filler="neutral")
    assert len(asked) == with_words > before
    find_flips(workspace, "word:so", dataset, variants=1)
    assert len(asked) > with_words, "another model is asked anew"


def test_the_figures_are_read_again_without_a_model(workspace: Workspace, emotui: Emotui) -> None:
    dataset = _dataset(workspace, [_gold("a", "I am crying"), _gold("b", "We are not")])
    found = {
        "steady": find_flips(workspace, "word:crying", dataset),
        "words": find_words(workspace, "word:crying", dataset, least=1),
    }
    find_words(workspace, "word:crying", dataset, least=1, only="we")  # a word by itself takes the place of nothing
    db = workspace.store.path
    workspace.close()
    for command, document in found.items():
        kept = emotui(command, "--kept", "--model", "word:crying", "--dataset", "mine", "--db", db, "--json")
        assert kept.document == document
        other = emotui(command, "--kept", "--dataset", "mine", "--db", db)
        assert (other.status, "nothing is kept of embedded over mine" in other.err) == (2, True)
        assert emotui(command, "--kept", "--db", db).status == 2, "the sample scenes are not there"
        refused = emotui(command, "--kept", "--limit", "3", "--db", db)
        assert (refused.status, "as it was asked for" in refused.err) == (2, True)
