"""Pushing over a dataset: a model whose labels are linear in its states, and a tiny one that writes."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from emotui.backends.base import Push, Pushed, States, hidden_states_of
from emotui.errors import BadInput, ModelError
from emotui.records import LabelsGold
from emotui.store.query import Dataset
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.why.pushing import find_push
from emotui.workbench.workspace import Workspace
from tests.conftest import Emotui
from tests.paths import TESTS

LABELS, SIZE, N = ("joy", "fear"), 24, 60
LABELLED = np.random.default_rng(7).random((N, 2)) < 0.5


class Linear:
    """States are the labels, 2 apart, in the first two numbers, and noise; answers follow these two alone."""

    spec = "hf:linear"

    def __init__(self, labels: Mapping[str, tuple[str, ...]] | None = None) -> None:
        self.labels = labels or {}
        self.pushes: list[Push] = []
        self.states = 0.3 * np.random.default_rng(8).normal(size=(N, SIZE))
        self.states[:, :2] += 2 * LABELLED

    def load(self) -> Any:
        return SimpleNamespace(capabilities=("classify", "states", "push"), labels=self.labels)

    def ask(self, requests: Any, cancelled: Any = None) -> list[Any]:
        return [self._answer(one) for one in requests]

    def _answer(self, one: Any) -> Any:
        state = self.states[int(one.text.split()[-1])]
        if isinstance(one, States):
            return hidden_states_of(state[None, None].astype(np.float32), one.layers or (0,), 3)
        self.pushes.append(one)
        pushed = state + one.strength * np.frombuffer(one.direction, np.float32)
        names = next(iter(self.labels.values()), LABELS)
        return Pushed(dict(zip(names, (1 / (1 + np.exp(1 - pushed[:2]))).tolist(), strict=True)))


@pytest.fixture
def made(tmp_path: Path) -> Iterator[tuple[Workspace, Dataset]]:
    opened = Workspace.open(tmp_path / "w.duckdb")
    gold = [
        LabelsGold(id=f"t{at}", text=f"text {at}", labels=tuple(np.array(LABELS)[row].tolist()))
        for at, row in enumerate(LABELLED)
    ]
    yield opened, add_samples(opened.store, "labels", "mine", gold, "test")
    opened.close()


@pytest.mark.parametrize("kind", ["means", "probe"])
def test_a_labels_direction_raises_that_label_and_random_ones_do_nothing_on_average(
    made: tuple[Workspace, Dataset], kind: Any
) -> None:
    model: Any = Linear()
    found = find_push(made[0].store, model, made[1], "joy", 1, (1.0, -1.0, 0.0), kind=kind, draws=40)
    assert (found["n"], found["fitted_on"], found["layer"]) == (50, N, 1)
    up, down, none = (found["by_strength"][key] for key in ("1", "-1", "0"))
    assert up["joy"]["change"] > 0.2 > -0.2 > down["joy"]["change"]
    assert abs(up["fear"]["change"]) < 0.25 * up["joy"]["change"]
    assert abs(up["joy"]["random"]) < 0.15 * up["joy"]["change"]
    assert up["joy"]["low"] < 0 < up["joy"]["high"]
    low, high = found["ci95"]["by_strength.1.joy.above_random"]
    assert 0 < low < up["joy"]["above_random"] < high
    assert {row[name] for row in none.values() for name in ("change", "random", "low", "high")} == {0.0}
    assert found["length"] == pytest.approx(2, abs=0.4)
    assert "perplexity" not in found


def test_each_text_is_pushed_by_a_direction_of_other_texts_and_random_ones_are_as_long(
    made: tuple[Workspace, Dataset],
) -> None:
    model: Any = Linear()
    find_push(made[0].store, model, made[1], "fear", 2, draws=2, texts=N)
    own = model.pushes[N : 2 * N]
    assert len(model.pushes) == 4 * N
    for direction in {one.direction for one in own}:
        held = [int(one.text.split()[-1]) for one in own if one.direction == direction]
        rest = np.delete(np.arange(N), held)
        there = LABELLED[rest, 1]
        expected = model.states[rest][there].mean(0) - model.states[rest][~there].mean(0)
        assert np.frombuffer(direction, np.float32) == pytest.approx(expected, abs=2e-3)
    lengths = [np.linalg.norm(np.frombuffer(one.direction, np.float32)) for one in model.pushes[N:]]
    assert lengths[:N] == pytest.approx(lengths[N : 2 * N], rel=1e-4)
    again: Any = Linear()
    find_push(made[0].store, again, made[1], "fear", 2, draws=2, texts=N)
    assert again.pushes == model.pushes


def test_an_unknown_label_and_a_model_that_cannot_write_are_refused(made: tuple[Workspace, Dataset]) -> None:
    model: Any = Linear()
    with pytest.raises(BadInput, match="there is no label 'rage'"):
        find_push(made[0].store, model, made[1], "rage", 1)
    with pytest.raises(BadInput, match="writes nothing"):
        find_push(made[0].store, model, made[1], "joy", 1, prompt="Go on.")


def test_a_model_with_labels_of_its_own_answers_about_all_of_them(made: tuple[Workspace, Dataset]) -> None:
    model: Any = Linear({"own": ("glee", "fear")})
    found = find_push(made[0].store, model, made[1], "joy", 1, draws=1, texts=4)
    assert {one.labels for one in model.pushes} == {None}
    assert list(found["by_strength"]["1"]) == ["glee", "fear"]


def test_a_model_that_answers_about_other_labels_when_it_is_pushed_is_refused(
    made: tuple[Workspace, Dataset], monkeypatch: pytest.MonkeyPatch
) -> None:
    model: Any = Linear()
    ask = model.ask
    strange = lambda one: Pushed({"rage": 1.0}) if getattr(one, "strength", 0) else ask([one])[0]  # noqa: E731
    monkeypatch.setattr(model, "ask", lambda requests, **_: [strange(one) for one in requests])
    with pytest.raises(ModelError, match="other labels when it is pushed"):
        find_push(made[0].store, model, made[1], "joy", 1, draws=1)


def test_a_model_that_writes_is_pushed_with_perplexity_beside(emotui: Emotui, tmp_path: Path) -> None:
    tiny, db = f"hf:{TESTS / 'tiny' / 'model' / 'hf'}#threads=1", str(tmp_path / "w.duckdb")
    asked = ("lens", "push", "joy", "--model", tiny, "--layer", "2", "--texts", "4", "--draws", "2", "--db", db)
    found = json.loads(emotui(*asked, "--limit", "80", "--strength", "0,4", "--write", "Once", "--json").out)
    assert found["perplexity"]["0"] == {"times": 1.0, "random": 1.0}
    assert found["perplexity"]["4"]["times"] != 1
    assert {row["change"] for row in found["by_strength"]["0"].values()} == {0.0}
    assert [one["direction"] for one in found["written"]] == ["none", "label", "random"]
    printed = emotui(*asked, "--limit", "80").out
    assert "strength 1" in printed
    assert "least, most" in printed
    assert "give numbers" in emotui(*asked, "--strength", "much").err
    assert "there is no layer 9" in emotui("lens", "push", "joy", "--model", tiny, "--layer", "9", "--db", db).err
    assert "push" in emotui("lens", "push", "joy", "--model", "embedded", "--layer", "1", "--db", db).err
