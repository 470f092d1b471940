"""Rating blind on the screen: nothing tells of models, a key is an answer, and what was answered stands."""

from pathlib import Path

from textual.geometry import Size

from emotui.screens.generate.rate import KEYS, RateScreen, asking
from emotui.store.store import Store
from emotui.workbench.generation.rating import rating_log
from tests.screens.driving import frame, opened, press, screen_text
from tests.screens.generate.workspace import workspace


def test_every_label_has_a_key_of_its_own_that_neither_takes_back_nor_leaves() -> None:
    assert len(set(KEYS)) == len(KEYS)
    assert not set("uq") & set(KEYS)


def test_labels_stand_in_two_columns_where_one_would_not_fit_under_the_text() -> None:
    labels = ("anger", "disgust", "fear", "joy", "neutral", "sadness", "surprise")
    high = asking("A text.", labels, "", Size(80, 22))
    low = asking("A text. " * 30, labels, "joy", Size(60, 13))
    text = ["".join(part.text for part in line) for line in low]
    assert len(low) <= 13
    assert any("▸ 4  joy" in line for line in text)
    assert sum("neutral" in "".join(part.text for part in line) for line in high) == 1


async def test_texts_are_rated_blind_kept_at_each_key_taken_back_and_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    async with opened(workspace(path), (80, 24)) as pilot:
        await press(pilot, "6", "f4")
        # Neutral versions: t-4 to t-6 of both writers have no labels yet.
        await press(pilot, "tab", "right", "enter")
        screen = pilot.app.screen
        assert isinstance(screen, RateScreen)
        text = screen_text(pilot)
        assert "We took the early train" in text or "Please choose the emotion" in text
        for told in ("ann", "bob", "Generate", "R3cos", "embedded", "palette", "t-4", "target"):
            assert told not in text
        await press(pilot, "ctrl+p", "question_mark", "j")
        assert pilot.app.screen is screen
        store = Store.open(path)
        dataset = store.datasets.all()[0].dataset
        assert rating_log(store, dataset).ratings == ()
        await press(pilot, "1", "2")
        assert [one.emotion for one in rating_log(store, dataset).ratings] == ["disgust", "joy"]
        await press(pilot, "u")
        assert [one.emotion for one in rating_log(store, dataset).ratings] == ["disgust"]
        await press(pilot, "escape")
        assert pilot.app.screen is frame(pilot)
        await press(pilot, "f4", "enter")
        again = pilot.app.screen
        assert isinstance(again, RateScreen)
        assert (again.at, len(again.answers)) == (1, 1)
        for _ in range(again.at, len(again.sitting.texts)):
            words = again.sitting.texts[again.at].removesuffix(".").split()
            asked = words[-1] if words[0] == "Please" else "neutral"
            await press(pilot, KEYS[again.sitting.labels.index(asked)])
        assert "This batch is done" in screen_text(pilot)
        await press(pilot, "escape", "j", "j", "j")
        place = frame(pilot).place
        assert "This batch" not in screen_text(pilot)
        assert place.busy is False
        assert len(rating_log(store, dataset).ratings) == len(again.sitting.texts)
