"""Browse: one sample with its evidence, moved to, overlaid and copied."""

from pathlib import Path
from unittest.mock import patch

import pytest

from emotui.screens.browse.score import Score
from emotui.workbench.files.view import FileView
from emotui.workbench.workspace import Workspace
from tests.screens.browse_workspace import NOT_IN_TEXT, list_query, sample_records, workspace
from tests.screens.driving import click, frame, opened, press, screen_text, shown_id, stave


@pytest.fixture
def source(tmp_path: Path) -> Workspace:
    return workspace(tmp_path / "workspace.duckdb")


async def test_the_first_sample_is_shown_with_its_gold_and_predicted_spans(source: Workspace) -> None:
    first = sample_records()[0]
    async with opened(source) as pilot:
        assert shown_id(pilot) == first.id
        tiers = {voice.role: voice.spans for voice in stave(pilot).score.tiers}
        assert tiers == {"gold": first.places, "predicted": first.places}
        assert f"span 1 of {len(first.places)}" in screen_text(pilot)


async def test_j_and_k_move_through_the_samples_from_any_pane(source: Workspace) -> None:
    ids = [sample.id for sample in sample_records()]
    async with opened(source) as pilot:
        await press(pilot, "j", "j")
        assert shown_id(pilot) == ids[2]
        await press(pilot, "tab", "j")
        assert pilot.app.focused is stave(pilot)
        assert shown_id(pilot) == ids[3]
        await press(pilot, "k")
        assert shown_id(pilot) == ids[2]


async def test_g_and_G_go_to_the_ends_and_the_list_stops_there(source: Workspace) -> None:
    ids = [sample.id for sample in sample_records()]
    async with opened(source) as pilot:
        await press(pilot, "G", "j")
        assert shown_id(pilot) == ids[-1]
        await press(pilot, "g", "k")
        assert shown_id(pilot) == ids[0]


async def test_o_cycles_the_overlays_and_a_goes_to_the_annotators(source: Workspace) -> None:
    async with opened(source) as pilot:
        seen = []
        for _ in range(4):
            seen.append(sorted(voice.role for voice in stave(pilot).score.tiers))
            await press(pilot, "o")
        assert seen == [
            ["gold", "predicted"],
            ["gold"],
            ["predicted"],
            ["gold", "predicted"],
        ]
        await press(pilot, "a")
        drawn = sorted(voice.role for voice in stave(pilot).score.tiers)
        assert drawn == ["annotator", "annotator", "annotator", "gold", "predicted"]
        assert stave(pilot).score.rows
        assert "A1" in screen_text(pilot)
        await press(pilot, "a")
        assert not stave(pilot).score.rows


@pytest.mark.parametrize("key", ["a", "O", "o"])
async def test_what_a_key_shows_in_the_text_comes_before_a_list_that_covers_it(source: Workspace, key: str) -> None:
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "l")
        assert frame(pilot).folding.covers
        await press(pilot, key)
        assert not frame(pilot).folding.covers
        await press(pilot, "enter")
        assert not frame(pilot).folding.covers
        assert "Enter opens a text from the list" in screen_text(pilot)


async def test_O_shows_the_raw_output_and_the_prompt_as_they_were_kept(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "O")
        text = screen_text(pilot)
        assert "raw output and prompt" in text
        assert "Mark what shows an emotion:␊" not in text
        assert "Mark what shows an emotion:" in text
        await press(pilot, "O")
        assert "raw output and prompt" not in screen_text(pilot)


async def test_what_is_not_in_the_text_has_a_line_of_its_own_and_is_not_drawn_in_the_text(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "j", "j", "j")
        (made_up,) = [one for one in frame(pilot).query_one(Score).things if one.said == NOT_IN_TEXT]
        assert "H" in made_up.marks
        assert made_up.start is None
        assert NOT_IN_TEXT in screen_text(pilot)
        text = stave(pilot).score.text
        drawn = [text[a:b] for voice in stave(pilot).score.tiers for a, b in voice.spans]
        assert NOT_IN_TEXT not in drawn


async def test_under_a_hallucinated_span_stands_the_passage_that_is_nearest_to_it(tmp_path: Path) -> None:
    gold, said = tmp_path / "gold.jsonl", tmp_path / "said.jsonl"
    text = "The bus was late. I kept thinking that nobody had noticed I was gone."
    gold.write_text(f'{{"id": "a", "text": "{text}", "spans": [[18, 68]]}}\n', encoding="utf-8")
    said.write_text('{"id": "a", "spans": ["nobody noticed I was gone", "sheer despair"]}\n', encoding="utf-8")
    source = FileView(str(gold), [str(said)], warn=lambda line: None)
    async with opened(source) as pilot:
        near = {one.said: one.near for one in frame(pilot).query_one(Score).things}
        found = near["nobody noticed I was gone"]
        assert found is not None
        assert (found.text, round(found.f1, 3)) == ("nobody had noticed I was gone.", 0.909)
        assert near["sheer despair"] is None
        assert "near nobody had noticed I was gone." in screen_text(pilot)
        await press(pilot, "tab", "tab")
        assert "near nothing in the text" in screen_text(pilot)
        await press(pilot, "q")


async def test_each_sentence_of_a_passage_has_its_emotion_and_valence_and_each_neutral_hit_its_letter(
    source: Workspace,
) -> None:
    numbers = list(source.order(list_query(source)))
    passages = [place for place, sample in enumerate(sample_records()) if sample.sentences]
    async with opened(source) as pilot:
        seen_hit = False
        for place in passages:
            sample = sample_records()[place]
            assert shown_id(pilot) == sample.id
            detail = source.evidence(int(numbers[place]), "rule-1").repeats[0].detail
            assert detail is not None
            hits = sorted(span for index in detail.neutral_hits if (span := detail.located[index]))
            things = frame(pilot).query_one(Score).things
            assert sorted(one.said_place for one in things if "N" in one.marks and one.said_place) == hits
            seen_hit |= bool(hits)
            for sentence, chip in zip(sample.sentences, stave(pilot).score.chips, strict=True):
                sign = {"positive": "+", "negative": "−"}.get(sentence.valence or "", "")
                assert chip.label.split()[1:] == [part for part in (sentence.emotion, sign) if part]
            await press(pilot, "j")
        assert seen_hit


async def test_full_stop_shows_the_next_of_several_answers(tmp_path: Path) -> None:
    gold, said = tmp_path / "gold.jsonl", tmp_path / "said.jsonl"
    gold.write_text('{"id": "a", "text": "I wept and laughed", "spans": [[2, 6]]}\n', encoding="utf-8")
    said.write_text(
        '{"id": "a", "spans": ["wept"], "repeat": 0}\n{"id": "a", "spans": ["laughed"], "repeat": 1}\n',
        encoding="utf-8",
    )
    source = FileView(str(gold), [str(said)], warn=lambda line: None)
    async with opened(source) as pilot:
        seen = []
        for _ in range(3):
            seen.append([voice.spans for voice in stave(pilot).score.tiers if voice.role == "predicted"])
            assert f"answer {len(seen) if len(seen) < 3 else 1} of 2" in screen_text(pilot)
            await press(pilot, "full_stop")
        assert seen == [[((2, 6),)], [((11, 18),)], [((2, 6),)]]
        await press(pilot, "q")


async def test_y_copies_the_sample_with_its_spans(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "y")
        copied = pilot.app.clipboard
        first = sample_records()[0]
        assert first.text in copied
        for start, end in first.places:
            assert f"gold: {first.text[start:end]}" in copied


async def test_tab_walks_the_spans_then_goes_on_and_a_click_puts_the_cursor_on_one(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "j", "j")
        score = frame(pilot).query_one(Score)
        n, here = len(score.things), score.cursor
        assert score.things[here].marks
        assert not any(one.marks for one in score.things[:here])
        await press(pilot, "tab")
        assert pilot.app.focused is score
        seen = [here]
        while pilot.app.focused is score:
            await press(pilot, "tab")
            seen.append(score.cursor)
        assert seen == [*range(here, n), n - 1]
        await press(pilot, "shift+tab", "shift+tab")
        assert score.cursor == n - 2
        await press(pilot, "right", "left", "left")
        assert score.cursor == n - 3
        assert f"span {n - 2} of {n}" in screen_text(pilot)
        lines = screen_text(pilot).splitlines()
        words = " ".join(sample_records()[2].text.split()[:3])
        (line,) = [at for at, said in enumerate(lines) if f"  {words}" in said[score.region.x :][:40]][:1]
        await click(pilot, offset=(lines[line].index(words, score.region.x) + 1, line))
        assert score.thing is not None
        assert score.thing.said == words


async def test_a_low_pane_keeps_five_lines_of_text_under_which_only_the_cursors_bars_stand(source: Workspace) -> None:
    async with opened(source, (80, 24)) as pilot:
        await press(pilot, "a", "O")
        view = frame(pilot).query_one(Score)
        top = view.scroll_offset.y
        rows = view._layout_now.rows[top : top + view.lines_in_sight]
        assert sum(row.voice < 0 for row in rows) >= min(5, sum(row.voice < 0 for row in view._layout_now.rows))
        assert any(row.voice >= 0 for row in rows)


async def test_a_line_of_which_all_or_most_of_the_bars_have_room_is_shown(source: Workspace) -> None:
    async with opened(source, (160, 45)) as pilot:
        await press(pilot, "a")
        view = frame(pilot).query_one(Score)
        rows = view._layout_now.rows
        first = next(at for at in range(4, len(rows) - 2) if [row.voice < 0 for row in rows[at : at + 3]] == [1, 0, 0])
        _, ends = view._with_bars(first)
        for room in (ends, ends - 1):
            with patch.object(Score, "lines_in_sight", room):
                assert not view._is_part(first)
