"""One span taken out of one text: as a run of the evidence task asks it, each variant once."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from emotui.backends.host import Cancelled
from emotui.errors import ModelError
from emotui.records import PLUTCHIK, Mark, SpanSample
from emotui.tasks.evidence.task import Prediction
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.why.removal import AT_ONCE
from emotui.workbench.workspace import Workspace
from tests.backends.installed_kind import install_kind

WORD = "word:weep"

TEXT = "Since she left I weep every night, and nobody in this house asks me why."
WEEP = (TEXT.index("weep"), TEXT.index("weep") + 4)
HOUSE = (TEXT.index("house"), TEXT.index("house") + 5)


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    install_kind(monkeypatch, "word", "tests.backends.one_word_backend:load")
    opened = Workspace.open(tmp_path / "w.duckdb")
    yield opened
    opened.close()


@pytest.fixture
def asked(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that the model is asked about, as they come."""
    return _heard(workspace, monkeypatch)


def _heard(workspace: Workspace, monkeypatch: pytest.MonkeyPatch, spec: str = WORD) -> list[str]:
    found: list[str] = []
    model = workspace.model(spec)
    ask = model.ask

    def heard(requests: Sequence[Any], **how: Any) -> Any:
        found.extend(one.text for one in requests)
        return ask(requests, **how)

    monkeypatch.setattr(model, "ask", heard)
    return found


def test_the_word_that_a_model_goes_by_matters_and_another_one_does_not(workspace: Workspace) -> None:
    weep, house = (workspace.removal().take_away(WORD, TEXT, place, key="1") for place in (WEEP, HOUSE))
    assert (weep.explains, weep.drop, weep.matters) == ("sadness", pytest.approx(0.7), True)
    assert (weep.masked["sadness"], weep.deleted["sadness"], weep.alone["sadness"]) == (0.2, 0.2, 0.9)
    assert weep.forms == (TEXT.replace("weep", "…"), TEXT.replace("weep ", ""), "weep")
    assert weep.random_drops == (0.0,) * 14
    assert (house.drop, house.matters) == (0.0, False)
    assert house.random_drops[-1] == pytest.approx(0.7)
    assert house.above_random == pytest.approx(-0.7 / 14)


def test_the_label_of_a_span_is_followed_too_and_nothing_is_asked_for_it(
    workspace: Workspace, asked: list[str]
) -> None:
    plain = workspace.removal().take_away(WORD, TEXT, WEEP, key="1")
    asked.clear()
    found = workspace.removal().take_away(WORD, TEXT, WEEP, key="1", label="Neutral")
    assert asked == []
    assert (found.explains, found.marked) == ("sadness", "neutral")
    assert (found.whole["neutral"], found.masked["neutral"]) == (pytest.approx(0.1), pytest.approx(0.8))
    assert found.marked_random == (pytest.approx(0.1),) * 14
    assert found.random == plain.random
    for label in ("sadness", "hunger"):  # the likeliest one is told anyhow; the other one is none of the model's
        assert workspace.removal().take_away(WORD, TEXT, WEEP, key="1", label=label) == plain


def test_each_variant_is_asked_once_and_kept(workspace: Workspace, asked: list[str]) -> None:
    first = workspace.removal().take_away(WORD, TEXT, WEEP)
    n = len(asked)
    assert workspace.removal().take_away(WORD, TEXT, WEEP) == first
    assert len(asked) == n == len(set(asked))
    workspace.removal().take_away(WORD, TEXT, HOUSE)  # the whole text, and without each other word, it is known by now
    assert set(asked[n:]) == {"house", TEXT.replace("house ", "")}


@pytest.mark.parametrize("spec", [WORD, f"{WORD},score"])
def test_what_was_answered_is_asked_in_no_later_session(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, spec: str
) -> None:
    first = workspace.removal().take_away(spec, TEXT, WEEP)
    workspace.close()
    with contextlib.closing(Workspace.open(workspace.store.path)) as later:
        asked = _heard(later, monkeypatch, spec)
        assert later.removal().take_away(spec, TEXT, WEEP) == first
        assert asked == []
        later.removal().take_away(spec, TEXT, HOUSE)
        assert len(asked) == len(set(asked)) == 2
        later.removal().take_away(f"word:house{spec.removeprefix(WORD)}", TEXT, WEEP)  # another model knows none of it


def test_a_store_that_is_read_only_has_answers_while_it_is_open(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.close()
    with contextlib.closing(Workspace.open(workspace.store.path, read_only=True)) as later:
        asked = _heard(later, monkeypatch)
        first = later.removal().take_away(WORD, TEXT, WEEP)
        n = len(asked)
        assert later.removal().take_away(WORD, TEXT, WEEP) == first
        assert len(asked) == n > 0


def test_a_long_text_has_twenty_random_stretches(workspace: Workspace) -> None:
    assert len(workspace.removal().take_away(WORD, " ".join([TEXT] * 5), WEEP).random) == 20


def test_a_whole_text_leaves_room_for_none(workspace: Workspace) -> None:
    found = workspace.removal().take_away(WORD, "I weep", (0, 6))
    assert (found.random, found.above_random, found.matters) == ((), None, False)


def test_a_model_that_says_yes_or_no_is_asked_about_plutchiks_eight(workspace: Workspace) -> None:
    found = workspace.removal().take_away(f"{WORD},score", TEXT, WEEP)
    assert tuple(found.whole) == PLUTCHIK
    assert (found.explains, found.matters) == ("sadness", True)


def test_a_cancel_ends_it_and_what_was_answered_stays(workspace: Workspace, asked: list[str]) -> None:
    looks, long = iter((False, True)), " ".join([TEXT] * 5)
    workspace.model(WORD).load()
    with pytest.raises(Cancelled):
        workspace.removal().take_away(WORD, long, WEEP, cancelled=lambda: next(looks))
    n = len(asked)
    workspace.removal().take_away(WORD, long, WEEP)
    assert n == AT_ONCE
    assert len(asked) == len(set(asked)) > n


def test_a_variant_without_an_answer_is_told(workspace: Workspace) -> None:
    for _ in range(2):
        with pytest.raises(ModelError, match="longer than the context"):
            workspace.removal().take_away(WORD, "REFUSE to weep", (10, 14))


def test_a_model_that_only_writes_has_no_probability_to_follow(workspace: Workspace) -> None:
    with pytest.raises(ModelError, match="probability"):
        workspace.removal().take_away(f"{WORD},write", TEXT, WEEP)


def test_a_span_by_itself_has_the_figures_of_a_run_over_all_of_them(workspace: Workspace) -> None:
    text = "I never cried so much as on the day when my brother told me that he would leave us for good."
    marks = (Mark(2, 20, "sad"), Mark(44, 60, "sad"))
    dataset = add_samples(workspace.store, "spans", "d", [SpanSample(id="a", text=text, spans=marks)], "here")
    run = workspace.run_model("embedded", dataset.dataset, task="evidence")
    (row,) = workspace.store.results.of_run(run.run)
    said = msgspec.json.decode(row.prediction or "", type=Prediction)
    for trial, mark in zip(said.spans, marks, strict=True):
        found = workspace.removal().take_away("embedded", text, mark.place, key="a")
        assert found.forms[0].count("[MASK]") == len(text[slice(*mark.place)].split())
        assert (found.explains, len(found.random)) == (trial.explains, len(trial.random))
        whole = [found.masked[found.explains], *found.random]
        assert whole == pytest.approx([trial.masked[trial.explains], *trial.random], abs=1e-4)
