"""A text by layer and word, where the truth is known: one layer has one word."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from msgspec.structs import replace

from emotui.backends.base import States
from emotui.backends.host import Cancelled
from emotui.backends.words import word_places
from emotui.errors import BadInput, ModelError
from emotui.records import LabelsGold
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.why import heat
from emotui.workbench.why.heat import Heat, fit, together
from emotui.workbench.why.lens import Gold
from emotui.workbench.workspace import Workspace
from tests.backends.installed_kind import install_kind
from tests.conftest import Emotui
from tests.paths import TESTS
from tests.workbench.why.layered_backend import KNOWS, Layered

BLIP = "layered:blip"
TEXT = "two doors and a blip of rain"


def _texts(n: int = 80) -> list[tuple[str, bool]]:
    draw = random.Random(3)
    plain = ["door", "rain", "lead", "stone", "seven", "table", "paper", "wall"]
    return [
        (" ".join([*draw.sample(plain, 4), *(["blip"] if at % 2 else ["blop"]), str(at)]), bool(at % 2))
        for at in range(n)
    ]


def _samples(n: int = 80) -> list[LabelsGold]:
    return [
        LabelsGold(id=str(at), text=text, labels=("joy",) if there else ("sadness",))
        for at, (text, there) in enumerate(_texts(n))
    ]


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    install_kind(monkeypatch, "layered", "tests.workbench.why.layered_backend:load")
    install_kind(monkeypatch, "word", "tests.backends.one_word_backend:load")
    made = Workspace.open(tmp_path / "w.duckdb")
    samples = _samples()
    add_samples(made.store, "labels", "mine", samples, "made here")
    add_samples(made.store, "labels", "few", samples[:12], "made here")
    yield made
    made.close()


def _read(source: Workspace, text: str = TEXT, spec: str = BLIP, name: str = "mine") -> Heat:
    dataset = source.store.datasets.get(name)
    assert dataset is not None
    return source.layers().read(spec, dataset, text)


def test_the_layer_that_has_the_word_beats_its_controls_and_the_word_stands_out_there(source: Workspace) -> None:
    found = _read(source)
    joy = found.labels.index("joy")
    assert found.clear[joy] == (False, False, True, False)
    assert found.auc[joy][KNOWS] == 1
    scores = found.scores[joy][KNOWS]
    words = [TEXT[start:end] for start, end in found.words]
    assert words == TEXT.split()
    assert max(scores) == scores[words.index("blip")] > 1.5
    assert sorted(scores)[-2] < 0
    assert (found.likeliest, found.best(joy)) == (joy, KNOWS)
    assert found.said == ()


def test_a_text_has_the_mean_of_the_scores_of_its_words(source: Workspace) -> None:
    model = Layered("blip")
    gold = _gold()
    fitted = fit(gold, model.states([_asked(text) for text in gold.texts]))
    words, whole = model.states([_asked(TEXT, "words"), _asked(TEXT)])
    assert fitted.scores(TEXT, words).mean(1) == pytest.approx(fitted.scores(TEXT, whole)[:, 0], abs=1e-3)


def _asked(text: str, over: Literal["text", "words"] = "text") -> States:
    return States(text, None, over)


def _gold(texts: list[tuple[str, bool]] | None = None, shared: dict[int, str] | None = None) -> Gold:
    rows = texts or _texts()
    table = np.array([[float(there), float(not there)] for _, there in rows])
    groups = tuple((shared or {}).get(at) for at in range(len(rows)))
    ids = tuple(map(str, range(len(rows))))
    return Gold(ids, tuple(text for text, _ in rows), groups, ("joy", "sadness"), table, {})


def test_what_gold_says_of_the_text_that_is_shown_and_of_its_passage_moves_no_score_of_it() -> None:
    model = Layered("blip")
    rows = _texts()
    rows.append((f"  {rows[7][0].upper()} ", True))  # the same words under another id
    gold = _gold(rows, {7: "p", 30: "p"})
    states = model.states([_asked(text) for text in gold.texts])
    flipped = gold.table.copy()
    flipped[[7, 30, 80]] = 1 - flipped[[7, 30, 80]]
    other = replace(gold, table=flipped)
    text = rows[7][0]
    words = model.states([_asked(text, "words")])[0]
    own = fit(gold, states)
    assert own.fold_of(text) is not None
    assert (fit(other, states).scores(text, words) == own.scores(text, words)).all()
    elsewhere = rows[8][0]
    if own.fold_of(elsewhere) != own.fold_of(text):
        words = model.states([_asked(elsewhere, "words")])[0]
        assert (fit(other, states).scores(elsewhere, words) != own.scores(elsewhere, words)).any()


def test_texts_of_one_passage_and_texts_with_the_same_words_are_held_out_together() -> None:
    gold = _gold([("a b", True), ("A  b", False), ("c", True), ("d", True), ("e", False)], {1: "p", 2: "p"})
    first, second, third, fourth, fifth = together(gold)
    assert first == second == third
    assert len({first, fourth, fifth}) == 3


def test_a_text_of_the_dataset_is_read_by_probes_of_the_others(source: Workspace) -> None:
    found = _read(source, _texts()[0][0])
    assert found.left_out > 0
    assert found.n + found.left_out == 80
    assert (_read(source).n, _read(source).left_out) == (80, 0)


def test_a_fit_is_kept_and_a_cancelled_one_is_not(source: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = source.store.datasets.get("mine")
    assert dataset is not None
    source.model(BLIP).load()
    looks = iter([False, False, True])
    with pytest.raises(Cancelled):
        source.layers().read(BLIP, dataset, TEXT, cancelled=lambda: next(looks, True))
    steps: list[str] = []
    source.layers().read(BLIP, dataset, TEXT, progress=steps.append)
    assert any(step.startswith("reading 16 of 80") for step in steps)
    steps.clear()
    source.layers().read(BLIP, dataset, "rain", progress=steps.append)
    assert not any(step.startswith(("reading", "fitting", "measuring")) for step in steps)


def test_a_later_session_reads_by_the_kept_probes_until_gold_changes(source: Workspace, tmp_path: Path) -> None:
    first, seen = _read(source), _read(source, _texts()[0][0])
    source.close()
    again = Workspace.open(tmp_path / "w.duckdb")
    dataset = again.store.datasets.get("mine")
    assert dataset is not None
    steps: list[str] = []
    found = again.layers().read(BLIP, dataset, TEXT, progress=steps.append)
    assert not any(step.startswith(("reading", "fitting", "measuring")) for step in steps)
    _alike(found, first)
    _alike(again.layers().read(BLIP, dataset, _texts()[0][0]), seen)
    steps.clear()
    again.layers().read(BLIP, dataset, TEXT, layers=(2,), progress=steps.append)
    assert any(step.startswith("fitting") for step in steps)  # others were asked for
    gold = again.store.datasets.get(add_samples(again.store, "labels", "more", _samples(60), "made here").dataset)
    assert gold is not None
    steps.clear()
    again.layers().read(BLIP, gold, TEXT, progress=steps.append)
    assert any(step.startswith("fitting") for step in steps)
    again.close()


def _alike(one: Heat, other: Heat) -> None:
    """They differ by the rounding of what is kept alone."""
    for name in ("scores", "whole", "auc"):
        assert np.allclose(getattr(one, name), getattr(other, name), atol=1e-4)
    for name in ("labels", "layers", "words", "clear", "n", "left_out"):
        assert getattr(one, name) == getattr(other, name)


def test_what_cannot_be_read_is_told(source: Workspace) -> None:
    with pytest.raises(BadInput, match="a probe needs more texts"):
        _read(source, name="few")
    with pytest.raises(ModelError, match="cannot states"):
        _read(source, spec="word:weep")
    with pytest.raises(BadInput, match="no word in the text"):
        _read(source, " … ")


def test_a_model_that_writes_is_also_read_out_at_each_layer(emotui: Emotui, tmp_path: Path) -> None:
    tiny = f"hf:{TESTS / 'tiny' / 'model' / 'hf'}#threads=1"
    db = str(tmp_path / "store.duckdb")
    found = json.loads(emotui("lens", "--model", tiny, "--limit", "60", "--text", "I weep", "--db", db, "--json").out)
    assert [word["word"] for word in found["words"]] == ["I", "weep"]
    assert all(0 < row["said"] < 1 for row in found["by_layer"].values())


def test_the_command_prints_words_by_layers(emotui: Emotui, tmp_path: Path) -> None:
    db = str(tmp_path / "store.duckdb")
    text = "They shouted at me and I shouted back."
    more = ("--layers", "2,4", "--db", db)
    found = json.loads(emotui("lens", "--text", text, "--label", "anger", *more, "--json").out)
    assert (found["label"], found["dataset"], found["n"]) == ("anger", "scenes", 181)
    assert list(found["by_layer"]) == ["0", "2", "4"]
    assert [tuple(word["place"]) for word in found["words"]] == word_places(text)
    assert all(list(word["scores"]) == ["0", "2", "4"] for word in found["words"])
    shown = emotui("lens", "--text", text, "--label", "anger", "--limit", "60", *more).out
    assert "shouted" in shown
    assert "beats controls" in shown
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(heat, "_asked", lambda *_: pytest.fail("texts are read for a label that is not there"))
        assert "no label 'rage'" in emotui("lens", "--text", text, "--label", "rage", *more).err
    assert "--label" in emotui("lens", "--label", "anger", *more).err
    assert "--text" in emotui("lens", "--values", "--text", text, *more).err
