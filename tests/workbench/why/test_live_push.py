"""One text that is pushed while a person looks at it: its figures are those of `emotui lens push`, and none is kept."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emotui.backends.base import HiddenStates, Push, States, hidden_states_of
from emotui.backends.host import Cancelled
from emotui.errors import BadInput, ModelError
from emotui.records import LabelsGold
from emotui.store.query import Dataset
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.why.lens import Gold
from emotui.workbench.why.live_push import DRAWS, Aimed, PushedText, read_directions
from emotui.workbench.why.pushing import aim_of
from emotui.workbench.workspace import Workspace
from tests.backends.installed_kind import install_kind
from tests.paths import TESTS
from tests.workbench.why.layered_backend import DEPTH, KNOWS

BLIP = "layered:blip"
TEXT = "a door in the rain"
N = 60


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Workspace, Dataset]]:
    install_kind(monkeypatch, "layered", "tests.workbench.why.layered_backend:load")
    install_kind(monkeypatch, "word", "tests.backends.one_word_backend:load")
    opened = Workspace.open(tmp_path / "w.duckdb")
    gold = [
        LabelsGold(
            id=str(at), text=f"{'blip' if at % 2 else 'blop'} rain {at}", labels=("joy" if at % 2 else "sadness",)
        )
        for at in range(N)
    ]
    yield opened, add_samples(opened.store, "labels", "mine", gold, "test")
    opened.close()


@pytest.fixture
def asked(made: tuple[Workspace, Dataset], monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the model is asked, as it comes."""
    found: list[Any] = []
    model = made[0].model(BLIP)
    ask = model.ask

    def heard(requests: Sequence[Any], **how: Any) -> Any:
        found.extend(requests)
        return ask(requests, **how)

    monkeypatch.setattr(model, "ask", heard)
    return found


def pushed(made: tuple[Workspace, Dataset], aimed: Aimed, text: str = TEXT, **more: Any) -> PushedText:
    return made[0].pushes().push(BLIP, made[1], text, aimed, **more)


def test_directions_are_those_of_the_command_for_every_fold_label_and_layer() -> None:
    draw = np.random.default_rng(5)
    y = (draw.random((40, 2)) < 0.5).astype(np.float64)
    states = draw.normal(size=(40, 3, 6)).astype(np.float32)
    texts = tuple(f"text {at}" for at in range(40))
    gold = Gold(texts, texts, (None,) * 40, ("joy", "fear"), y, {})
    each = [hidden_states_of(one[:, None], (0, 1, 2), 2) for one in states]
    found = read_directions(gold, lambda some: [each[texts.index(one)] for one in some])
    for layer in range(3):
        alone: list[HiddenStates] = [hidden_states_of(one[layer : layer + 1, None], (layer,), 2) for one in states]
        for label in range(2):
            aim = aim_of(gold, alone, label, "means", DRAWS, 0)
            assert found.own[layer, :, label] == pytest.approx(aim.own, abs=1e-4)
            assert (found.folds == aim.folds).all()
            assert found.random == pytest.approx(aim.random)
            assert found.state_length[layer] == pytest.approx(aim.state_length, rel=1e-5)


def test_a_labels_direction_raises_it_at_the_layer_that_knows_it_and_random_ones_do_less(
    made: tuple[Workspace, Dataset],
) -> None:
    found = pushed(made, Aimed("joy", KNOWS, 2.0))
    assert (found.aimed, set(found.labels), found.depth) == (Aimed("joy", KNOWS, 2.0), {"joy", "sadness"}, DEPTH)
    assert (found.n, found.left_out, len(found.random)) == (N, 0, DRAWS)
    assert found.plain["joy"] == pytest.approx(0.2)
    # The word is one of three: its number, 4, is a third of that in the mean over the text.
    assert found.pushed["joy"] == pytest.approx(1 / (1 + 4 * np.exp(-2 * 4 / 3)), abs=0.02)
    assert np.mean([one["joy"] for one in found.random]) < found.pushed["joy"] - 0.3
    assert found.perplexity == found.written == ()
    assert pushed(made, Aimed("joy", KNOWS - 1, 2.0)).pushed == pytest.approx(found.plain)


def test_by_default_it_is_the_first_label_and_the_middle_layer_and_at_0_nothing_is_pushed(
    made: tuple[Workspace, Dataset], asked: list[Any]
) -> None:
    found = pushed(made, Aimed(strength=0.0))
    assert (found.aimed.label, found.aimed.layer) == (found.labels[0], DEPTH // 2)
    assert found.pushed == found.plain
    assert found.random == ()
    assert [one.strength for one in asked if isinstance(one, Push)] == [0.0]


def test_directions_are_fitted_once_and_a_text_of_the_dataset_is_pushed_by_one_of_other_texts(
    made: tuple[Workspace, Dataset], asked: list[Any]
) -> None:
    outside = pushed(made, Aimed("joy", KNOWS, 2.0))
    inside = pushed(made, Aimed("joy", KNOWS, 2.0), "Blip rain 1")
    pushed(made, Aimed("sadness", 1, -1.0))
    assert sum(isinstance(one, States) for one in asked) == N
    assert outside.left_out == 0 < inside.left_out
    assert inside.n + inside.left_out == N
    own = [one.direction for one in asked if isinstance(one, Push) and one.strength == 2.0]
    assert own[0] != own[1 + DRAWS]


def test_nothing_that_is_answered_so_is_kept_and_later_answers_are_the_models_own(
    made: tuple[Workspace, Dataset],
) -> None:
    workspace, dataset = made
    before = workspace.store.settings.beginning(""), workspace.store.runs.all(dataset.dataset)
    plain = workspace.removal().take_away(BLIP, "blip of rain", (0, 4)).whole
    kept = workspace.store.settings.beginning("")
    pushed(made, Aimed("joy", KNOWS, 8.0), "blip of rain")
    assert workspace.store.settings.beginning("") == kept
    assert workspace.store.runs.all(dataset.dataset) == before[1]
    later = Workspace.open(workspace.store.path)
    assert later.removal().take_away(BLIP, "blip of rain", (8, 12)).whole == plain
    later.close()


def test_a_cancel_ends_it_between_two_questions_and_parts_are_told_as_they_come(
    made: tuple[Workspace, Dataset],
) -> None:
    with pytest.raises(Cancelled):
        pushed(made, Aimed(), cancelled=lambda: True)
    steps: list[str] = []
    parts: list[PushedText] = []
    whole = pushed(made, Aimed(), progress=steps.append, on_part=parts.append)
    assert f"directions: {N} of {N} texts" in steps
    assert [len(one.random) for one in parts] == list(range(DRAWS))
    assert parts[0].pushed == whole.pushed


def test_what_cannot_be_pushed_is_told_in_a_line(made: tuple[Workspace, Dataset]) -> None:
    with pytest.raises(BadInput, match="there is no rage: the labels of mine are"):
        pushed(made, Aimed("rage"))
    with pytest.raises(BadInput, match="there is no layer 9"):
        pushed(made, Aimed("joy", 9))
    with pytest.raises(BadInput, match="no text"):
        pushed(made, Aimed(), " ")
    with pytest.raises(ModelError, match="push"):
        made[0].pushes().push("word:weep", made[1], TEXT, Aimed())


def test_a_model_that_writes_has_perplexity_beside_and_writes_where_it_is_asked_to(
    made: tuple[Workspace, Dataset],
) -> None:
    tiny = f"hf:{TESTS / 'tiny' / 'model' / 'hf'}#threads=1"
    found = made[0].pushes().push(tiny, made[1], TEXT, Aimed("joy", 2, 8.0, writes=True))
    assert set(found.plain) == {"joy", "sadness"}
    assert sum(found.pushed.values()) == pytest.approx(1)
    assert len(found.perplexity) == 2 + DRAWS
    assert found.perplexity[0] != found.perplexity[1]
    assert len(found.written) == 2
