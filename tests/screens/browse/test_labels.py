"""Labelled spans that overlap, a text that nobody has labelled, and one in which there is nothing."""

import re
from pathlib import Path

import msgspec
import pytest

from emotui.metrics.span_scoring import score_pairs
from emotui.records import Mark, SpanPrediction, SpanSample
from emotui.screens.app import EmotuiApp
from emotui.screens.browse.requests import TurnsPage
from emotui.screens.browse.score import Score
from emotui.screens.widgets.line import Line
from emotui.screens.widgets.tiered_text import TieredText
from emotui.store.rows import ResultRow
from emotui.tasks.spans.task import Prediction, score_row
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.workspace import FIRST_START, Workspace
from tests.screens.album import Album, at_rest
from tests.screens.browse_workspace import embed
from tests.screens.driving import frame, opened, press, screen_text, shown_id, stave
from tests.screens.labelled_workspace import GOLD, SAID, TEXT, labelled_workspace

AFRAID = TEXT.rindex("afraid")


async def test_a_predicted_span_is_drawn_at_its_own_offsets_and_not_inside_an_earlier_word(tmp_path: Path) -> None:
    async with opened(labelled_workspace(tmp_path / "w.duckdb")) as pilot:
        (inline,) = [tier for tier in stave(pilot).score.tiers if tier.inline and tier.role == "predicted"]
        assert (AFRAID, AFRAID + 6) in inline.spans
        assert TEXT[:AFRAID].endswith("so ")
        bars = [tier for tier in stave(pilot).score.tiers if tier.bars]
        assert [tier.role for tier in bars] == ["gold", "gold", "predicted", "predicted"]
        drawn = [(place, label) for tier in bars if tier.role == "predicted" for place, label in tier.labels]
        assert sorted(drawn) == sorted((mark.place, mark.label) for mark in SAID[1:])
        await press(pilot, "a")
        drawn = [
            (place, label) for tier in stave(pilot).score.tiers if tier.role == "gold" for place, label in tier.labels
        ]
        assert sorted(drawn) == sorted((mark.place, mark.label) for mark in GOLD)
        by_name = {
            tier.name: tier.labels
            for tier in stave(pilot).score.tiers
            if tier.role == "annotator" and tier.bars is None
        }
        assert by_name == {"A1": ((GOLD[0].place, "fear"),)}


async def test_unlabelled_is_not_empty(tmp_path: Path) -> None:
    async with opened(labelled_workspace(tmp_path / "w.duckdb")) as pilot:
        score = frame(pilot).query_one(Score)
        assert "anger≠sadness" in screen_text(pilot)
        assert sorted(one.said for one in score.things if one.said) == sorted(TEXT[m.start : m.end] for m in SAID)
        await press(pilot, "j")
        assert shown_id(pilot) == "unlabelled"
        assert "No gold yet" in screen_text(pilot)
        assert [one.marks for one in score.things] == [""] * len(SAID)
        await press(pilot, "j")
        assert "There is nothing to mark here." in screen_text(pilot)
        assert "No gold yet" not in screen_text(pilot)


@pytest.mark.parametrize("label", [None, "angry"])
async def test_a_label_that_gold_has_nothing_to_compare_with_stands_beside_golds_emotion(
    tmp_path: Path, label: str | None
) -> None:
    sample = SpanSample(id="helped", text="thank you for helping", spans=(Mark(0, 9, label),), emotion="angry")
    opened_source = Workspace.open(tmp_path / "w.duckdb")
    opened_source.set_setting(FIRST_START, "done")
    dataset = add_samples(opened_source.store, "spans", "few", [sample], "tests").dataset
    opened_source.store.runs.start("m-1", "m-1", "spans", "m", dataset, {"seed": 0, "repeats": 1, "way": ""}, 1)
    said = Prediction(("thank you",), ((0, 9),), ("gratitude",), (0.9,))
    predicted = SpanPrediction(id="helped", spans=(Mark(0, 9, "gratitude"),))
    (detail,) = score_pairs([(sample, predicted, 0)], embed, frozenset())
    row = ResultRow(
        sample=opened_source.store.samples.file_order(dataset).start,
        repeat=0,
        attempt=0,
        prompt=None,
        raw="[]",
        error=None,
        seconds=0.0,
        prediction=msgspec.json.encode(said),
        score=score_row(detail),
    )
    opened_source.store.results.commit("m-1", [row])
    opened_source.store.runs.set_state("m-1", "done")
    async with opened(opened_source, (120, 35)) as pilot:
        text = " ".join(screen_text(pilot).split())
        if label is None:
            assert "label gratitude gold emotion angry" in text
            assert "L not scored: gold has angry of the text, no label of a span." in text
            assert " F1 label unscored " in text, "the head says so beside a score of 1"
        else:
            assert "label angry≠gratitude" in text
            assert "not scored" not in text
            assert "gold emotion" not in text


async def test_labelled_spans_of_gold_make_wrong_labels_countable(tmp_path: Path) -> None:
    source = labelled_workspace(tmp_path / "w.duckdb")
    run = source.store.runs.all()[0]
    assert "L" in source.filter_counts(run.dataset, run.run)["marks"]


async def test_overlapping_labels(album: Album, tmp_path: Path) -> None:
    async with at_rest(EmotuiApp(lambda: labelled_workspace(tmp_path / "w.duckdb"), poll=None)) as pilot:
        await album.take_at_sizes(pilot, "")


async def test_overlapping_labels_without_colour(album: Album, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with at_rest(EmotuiApp(lambda: labelled_workspace(tmp_path / "w.duckdb"), poll=None)) as pilot:
        await press(pilot, "a")
        await album.take(pilot)


async def test_own_columns_stand_under_the_title_and_turns_around_the_text(tmp_path: Path) -> None:
    source = Workspace.open(tmp_path / "w.duckdb")
    source.set_setting(FIRST_START, "done")
    talk = [
        SpanSample(id=str(n), text=f"[b]turn[/b] {n}", meta=said if n else {})
        for n, said in enumerate([{"dialogue": 4, "speaker": "Ann\x1b", "day": None}] * 5)
    ]
    add_samples(source.store, "spans", "talk", talk, "tests")
    async with opened(source, (120, 40)) as pilot:
        assert not frame(pilot).query("#own-columns")
        await press(pilot, "j", "j", "j")
        assert frame(pilot).query_one("#own-columns", Line).text == " dialogue 4  speaker Ann\x1b  day –"
        before, after = (frame(pilot).query_one(name, TurnsPage) for name in ("#turns-before", "#turns-after"))
        assert [line.split() for line in before.text.splitlines()] == [["Ann␛", "[b]turn[/b]", str(n)] for n in (1, 2)]
        assert [line.split() for line in after.text.splitlines()] == [["Ann␛", "[b]turn[/b]", "4"]]
        await press(pilot, "O")
        raw = frame(pilot).query_one("#raw", TieredText)
        assert raw.score.text == "dialogue: 4\nspeaker: Ann\x1b\nday: –"
        await press(pilot, "O", "g")
        assert not before.display
        assert not after.display
        await pilot.resize_terminal(80, 24)
        await press(pilot, "j", "j", "j")
        assert [line.split()[-1] for line in before.text.splitlines()] == ["2"]


async def test_the_list_shows_the_labels_of_spans_where_a_text_has_no_emotion_of_its_own(tmp_path: Path) -> None:
    source = labelled_workspace(tmp_path / "w.duckdb")
    assert [row.emotion for row in source.page([1, 2, 3], None)] == ["fear, joy, anger", None, None]


@pytest.mark.parametrize("size", [(80, 24), (160, 45)], ids=str)
async def test_the_names_of_figures_end_where_the_figures_end(tmp_path: Path, size: tuple[int, int]) -> None:
    async with opened(labelled_workspace(tmp_path / "w.duckdb"), size) as pilot:
        lines = screen_text(pilot).splitlines()
        (heading,) = [at for at, line in enumerate(lines) if "run marker" in line]
        end, label = lines[heading].index(" F1 ") + 3, lines[heading].index("label")
        noted = [line for line in lines[heading + 1 :] if re.fullmatch(r"[ 1]\.\d\d", line[end - 4 : end])]
        assert [line[label:].split()[0].split("≠")[0] for line in noted] == ["fear", "joy", "anger"]
