"""The blind study in the place: answers by keys, kept at once, and nothing on the screen says whose word is whose."""

from pathlib import Path

from emotui.screens.masked.place import Masked
from emotui.screens.masked.study_mode import ANSWER, CODE, lines, rows_of
from emotui.screens.masked.study_place import result_lines
from emotui.store.query import Dataset
from emotui.workbench.masked.study import Shown, begin_study, results
from emotui.workbench.masked.study_log import Answer, answers_of, express_codes
from emotui.workbench.workspace import Workspace
from tests.screens.driving import frame, listed, notified, opened, press, screen_text
from tests.screens.masked.workspace import WRITES, masked_workspace


def dataset(source: Workspace) -> Dataset:
    found = source.store.datasets.get("masked")
    assert found is not None
    return found


def test_codes_are_offered_once_there_is_an_answer_that_they_go_with() -> None:
    shown = Shown(1, 7, "t", ("I am ", " and ", "."), ("sad", "low"), ("glad", "gay"))
    assert [row.kind for row in rows_of(shown, express_codes())] == [ANSWER] * 4
    for answer, codes in (("first", 9), ("both", 1), ("neither", 1)):
        said = Shown(1, 7, "t", shown.pieces, shown.first, shown.second, Answer("s", answer, False))
        rows = rows_of(said, express_codes())
        assert sum(row.kind == CODE for row in rows) == codes
        assert [row.name for row in rows if row.on] == [answer]
    drawn = ["".join(part.text for part in line) for line in lines(rows_of(shown, ()), 1, 60)]
    assert drawn[1].startswith("  ← ○ first   [1] sad  [2] low")
    assert drawn[2].startswith("▸ → ○ second  [1] glad")


async def test_a_study_is_judged_by_keys_and_its_results_wait_for_the_last_answer(tmp_path: Path) -> None:
    source = masked_workspace(tmp_path)
    study = begin_study(source.store, dataset(source), "s", "gold", WRITES, most=3)
    async with opened(source, (120, 40)) as pilot:
        await press(pilot, "5", "o", "o", "f4", "enter")
        place = frame(pilot).query_one(Masked)
        mode = place.mode
        assert mode is not None
        assert mode.shown is not None
        texts = mode.coding.texts
        assert len(listed(pilot)) == 3
        assert mode.shown.sample == texts[0]

        def blind() -> None:
            text = screen_text(pilot).replace(source.title(), "")
            for name in ("gold", "writes", "fills", "F1", "few-shot"):
                assert name not in text, name

        blind()
        await press(pilot, "r", "y", "o", "e", "Q", "S")
        assert not pilot.app.screen.query("ChoiceDialog, ExportDialog, SqlDialog")
        await press(pilot, "right", *["down"] * 6, "space", "i", *"so", "enter")
        kept = answers_of(source.store, "s", place.session.annotator)
        assert [(one.answer, one.codes, one.rationale) for _, one in kept][-1] == ("second", ("2",), "so")
        await press(pilot, "u")
        assert mode.shown.answer is not None
        assert mode.shown.answer.rationale == ""
        await press(pilot, "ctrl+p")
        blind()
        await press(pilot, "escape", "f3")
        assert place.results is None
        assert any("wait for your answer" in told for told in notified(pilot))
        await press(pilot, "enter")
        assert mode.shown.sample == texts[1]
        await press(pilot, "equals_sign", "enter", "minus", "n")
        assert any("All 3 texts" in told for told in notified(pilot))
        blind()
        await press(pilot, "f3")
        assert place.mode is None
        text = screen_text(pilot)
        assert study.b_name in text
        assert "Fleiss kappa" in text
        await press(pilot, "escape")
        assert place.results is None
        assert len(listed(pilot)) == 12
        assert not frame(pilot).pane.blind


async def test_a_study_is_begun_in_the_place_and_gone_on_with(tmp_path: Path) -> None:
    source = masked_workspace(tmp_path)
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "5", "f3")
        assert "there is no blind study of this dataset yet: F4 begins one" in screen_text(pilot).splitlines()[-1]
        await press(pilot, "f4")
        assert "Begin a blind study of two sources: the first" in screen_text(pilot), "there is none to choose from"
        await press(pilot, "enter", "enter", "enter")
        place = frame(pilot).query_one(Masked)
        assert place.mode is not None
        assert place.mode.coding.name == "study"
        await press(pilot, "left", "enter", "escape", "f4", "enter")
        assert place.mode is not None
        assert len(place.mode.coding.answered) == 1
        assert place.mode.shown is not None
        assert place.mode.shown.sample == place.mode.coding.texts[1]


def test_results_stand_beside_the_papers_figures(tmp_path: Path) -> None:
    source = masked_workspace(tmp_path)
    begin_study(source.store, dataset(source), "s", "gold", WRITES)
    text = "\n".join("".join(part.text for part in line) for line in result_lines(results(source.store, "s"), 90))
    assert "89 of 213" in text
    assert "SD of 277, LLM of 300" in text
    assert "101  36.5%  58  19.3%" in text
