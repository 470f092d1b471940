"""Predictions made elsewhere stand in Browse beside the runs of models."""

from pathlib import Path

from emotui.screens.browse.place import Browse
from emotui.workbench.runs.elsewhere import Said, keep_said
from tests.screens.browse_workspace import sample_records, workspace
from tests.screens.driving import frame, opened, press, screen_text


async def test_a_source_from_a_file_is_chosen_and_shown_as_a_run_is(tmp_path: Path) -> None:
    source = workspace(tmp_path / "w.duckdb")
    (dataset,) = source.datasets()
    first = sample_records()[0]
    words = " ".join(first.text.split()[:2])
    number, _ = next(source.store.samples.of_dataset(dataset.dataset, 0, 1))
    said = [Said(number, 0, {"spans": [{"start": 0, "end": len(words), "label": "joy"}]})]
    keep_said(source.store, dataset, "theirs", "file", said, sim=False)
    async with opened(source) as pilot:
        await press(pilot, "r")
        chooser = screen_text(pilot)
        assert "theirs" in chooser
        assert "a file" in chooser
        await press(pilot, "escape")
        session = frame(pilot).session
        assert session.run_shown is not None
        assert session.run_shown.model == "theirs"
        evidence = frame(pilot).query_one(Browse).evidence
        assert evidence is not None
        assert evidence.repeats[0].detail is not None
        assert tuple(evidence.repeats[0].detail.predicted) == (words,)
