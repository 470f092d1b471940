"""Suggestions of whole texts on the screen: shown, taken, refused, and going on from text to text."""

import threading
from pathlib import Path

from emotui.records import LabelsGold
from emotui.workbench.annotate.fitted import Fitted
from emotui.workbench.annotate.traces import answer_traces
from emotui.workbench.datasets.sets import dataset_named
from emotui.workbench.runs.elsewhere import FILE, Said, keep_said
from emotui.workbench.workspace import Workspace
from tests.screens.annotate.test_labels import place, workspace
from tests.screens.driving import opened, press, screen_text, settle

SCHEME = """
name = "two"
auto_accept = true
[[groups]]
name = "emotion"
of = "text"
[[groups.labels]]
name = "joy"
key = "J"
[[groups.labels]]
name = "fear"
key = "F"
"""


def _suggested(tmp_path: Path, n: int = 4) -> Workspace:
    """Texts of which a file says joy, but of the last one, of which it says what the scheme does not have."""
    source = workspace(tmp_path, "labels", *(LabelsGold(id=str(at), text=f"text {at}") for at in range(n)))
    (tmp_path / "s.toml").write_text(SCHEME, encoding="utf-8")
    source.annotating().keep_scheme("some", str(tmp_path / "s.toml"))
    dataset = dataset_named(source.store, "some")
    numbers = list(source.store.samples.file_order(dataset.dataset))
    said = [Said(at, 0, {"labels": ["joy"] if at != numbers[-1] else ["awe"]}) for at in numbers]
    keep_said(source.store, dataset, "theirs", FILE, said)
    return source


async def test_a_suggested_label_is_taken_by_enter_and_the_next_text_comes_with_its_own(tmp_path: Path) -> None:
    source = _suggested(tmp_path)
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "2", "b", "enter")
        assert "theirs joy" in screen_text(pilot)
        assert "Enter takes it, x does not" in screen_text(pilot)
        await press(pilot, "enter")
        assert place(pilot).at_work.text.id == "1"
        assert "theirs joy" in screen_text(pilot), "the same source goes on"
        await press(pilot, "F")
        assert place(pilot).at_work.text.id == "2"
        await press(pilot, "x")
        assert "theirs joy" not in screen_text(pilot)
        assert place(pilot).at_work.said.labels is None
        await press(pilot, "F")
        assert place(pilot).at_work.text.id == "3"
        assert "theirs" not in screen_text(pilot).splitlines()[5], (
            "of what the scheme does not have nothing is suggested"
        )
    found = dataset_named(source.store, "some")
    traces = {one.id: one for one in answer_traces(source.store, found, None)}
    assert [(traces[at].taken, traces[at].refused, traces[at].followed) for at in "012"] == [
        (1, 0, True),
        (0, 0, False),
        (0, 1, False),
    ]


async def test_a_label_that_was_taken_and_then_changed_is_mended(tmp_path: Path) -> None:
    source = _suggested(tmp_path)
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "2", "b", "enter", "enter", "k", "F")
        assert place(pilot).at_work.said.labels == ("fear",)
    (trace,) = answer_traces(source.store, dataset_named(source.store, "some"), None)
    assert (trace.taken, trace.mended, trace.followed) == (0, 1, False)


async def test_what_is_pressed_before_the_list_of_sources_opens_is_meant_for_it(tmp_path: Path) -> None:
    source = _suggested(tmp_path)
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "2")
        annotate, opens = place(pilot), threading.Event()
        sources = annotate._sources._call
        annotate._sources._call = lambda sample: sources(sample) if opens.wait(10) else ()
        await pilot.press("b", "enter")
        assert not annotate.at_work.said.accepted
        assert annotate.choosing
        opens.set()
        await settle(pilot, work=True)
        assert annotate.at_work.said.suggestion is not None
        assert not annotate.at_work.said.accepted


async def test_heads_are_fitted_from_twenty_answers_on_and_again_after_twenty_more(tmp_path: Path) -> None:
    source = _suggested(tmp_path)
    fits: list[int] = []
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "2", "b")
        words = screen_text(pilot)
        assert "heads of your own" in words
        assert "from 20 answers on; so far 0" in words
        await press(pilot, "escape")
        annotate = place(pilot)
        annotate.fit = lambda: fits.append(annotate.at_work.progress.accepted)  # type: ignore[method-assign]
        annotate._fitted = annotate.bench_of, Fitted("r", "like ann", -18, 4, "right", 1.0, 0.5)
        await press(pilot, "J", "J", "J")
        assert fits[:1] == [2]
