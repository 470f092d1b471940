"""Browse: what a person presses, and what is shown for it."""

from pathlib import Path

import msgspec
import pytest

from emotui.errors import StoreError
from emotui.records import Sentence, SpanSample
from emotui.screens.alignment_table import AlignmentTable
from emotui.screens.browse import Browse
from emotui.screens.figures import share
from emotui.screens.line import Line
from emotui.screens.sample_list import SampleList
from emotui.workbench.file_view import FileView
from emotui.workbench.source import BrowseSource
from emotui.workbench.workspace import Workspace
from tests.browse_workspace import NOT_IN_TEXT, SAMPLE_DATA, add_run, sample_records, workspace
from tests.screen_driving import frame, listed, notified, opened, press, screen_text, settle, shown_id, stave


@pytest.fixture
def source(tmp_path: Path) -> Workspace:
    return workspace(tmp_path / "workspace.duckdb")


async def test_the_first_sample_is_shown_with_its_gold_and_predicted_spans(source: Workspace) -> None:
    first = sample_records()[0]
    async with opened(source) as pilot:
        assert shown_id(pilot) == first.id
        voices = {voice.role: voice.spans for voice in stave(pilot).score.voices}
        assert voices == {"gold": first.spans, "predicted": first.spans}
        assert "alignment" in screen_text(pilot)


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


async def test_n_and_p_visit_just_the_samples_with_an_error(source: Workspace) -> None:
    wrong = [row.id for row in source.page(list(source.order(_query(source))), "rule-1") if row.marks]
    async with opened(source) as pilot:
        found = []
        for _ in wrong:
            await press(pilot, "n")
            found.append(shown_id(pilot))
        assert found == wrong
        await press(pilot, "n")
        assert shown_id(pilot) == wrong[-1]
        assert "No further error in this list" in notified(pilot)
        await press(pilot, "p")
        assert shown_id(pilot) == wrong[-2]


def _query(source: BrowseSource):  # type: ignore[no-untyped-def]
    from emotui.store.query import ListQuery

    return ListQuery(dataset=source.datasets()[0].dataset, run="rule-1")


async def test_o_cycles_the_overlays_and_a_goes_to_the_annotators(source: Workspace) -> None:
    async with opened(source) as pilot:
        seen = []
        for _ in range(4):
            seen.append(sorted(voice.role for voice in stave(pilot).score.voices))
            await press(pilot, "o")
        assert seen == [
            ["gold", "predicted"],
            ["gold"],
            ["predicted"],
            ["annotator", "annotator", "annotator", "gold", "predicted"],
        ]
        await press(pilot, "a")
        assert stave(pilot).score.rows
        assert "A1" in screen_text(pilot)
        await press(pilot, "a")
        assert not stave(pilot).score.rows


async def test_O_shows_the_raw_output_and_the_prompt_as_they_were_kept(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "O")
        text = screen_text(pilot)
        assert "raw output and prompt" in text
        assert "Mark what shows an emotion:␊" not in text
        assert "Mark what shows an emotion:" in text
        await press(pilot, "O")
        assert "raw output and prompt" not in screen_text(pilot)


async def test_what_is_not_in_the_text_is_named_in_the_alignment_and_not_drawn_in_the_text(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "j", "j", "j")
        rows = frame(pilot).query_one(AlignmentTable).rows
        made_up = [row for row in rows if row.predicted == NOT_IN_TEXT]
        assert len(made_up) == 1
        assert "H" in made_up[0].marks
        text = stave(pilot).score.text
        drawn = [text[a:b] for voice in stave(pilot).score.voices for a, b in voice.spans]
        assert NOT_IN_TEXT not in drawn


async def test_search_follows_each_letter_and_letters_are_text_while_one_types(source: Workspace) -> None:
    samples = sample_records()
    async with opened(source) as pilot:
        await press(pilot, "slash", "q", "u", "i")
        assert listed(pilot) == [sample.id for sample in samples if "qui" in sample.text.lower()]
        await press(pilot, "enter")
        assert pilot.app.focused is frame(pilot).query_one(SampleList)
        assert "“qui”" in screen_text(pilot)
        await press(pilot, "x")
        assert len(listed(pilot)) == len(samples)


async def test_escape_takes_back_what_was_typed_into_the_search(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "slash", "z", "z", "z")
        assert listed(pilot) == []
        assert "No sample fits" in screen_text(pilot)
        await press(pilot, "escape")
        assert len(listed(pilot)) == len(sample_records())


async def test_filter_keeps_the_samples_with_an_emotion_and_says_so(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "f")
        names = source.emotions(1)
        await press(pilot, *["right"] * names.index("sad"), "space", "enter")
        expected = [s.id for s in sample_records() if "sad" in {s.emotion, *(one.emotion for one in s.sentences)}]
        assert listed(pilot) == expected
        assert f"{len(expected)} of {len(sample_records())}  sad" in screen_text(pilot)


async def test_filter_by_f1_refuses_what_is_no_figure(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "f", "tab", "tab", "tab", "2", "enter")
        assert "figures from 0 to 1" in screen_text(pilot)
        await press(pilot, "backspace", "0", ".", "9", "enter")
        rows = source.page(list(source.order(_query(source))), "rule-1")
        assert listed(pilot) == [row.id for row in rows if row.f1 is not None and row.f1 >= 0.9]


async def test_sorting_again_by_the_same_turns_the_order_round_and_keeps_the_sample(source: Workspace) -> None:
    async with opened(source) as pilot:
        here = shown_id(pilot)
        await press(pilot, "s", "j", "enter")
        assert listed(pilot) == sorted(sample.id for sample in sample_records())
        assert shown_id(pilot) == here
        await press(pilot, "s", "enter")
        assert listed(pilot) == sorted((sample.id for sample in sample_records()), reverse=True)
        assert shown_id(pilot) == here


@pytest.fixture
def three_runs(source: Workspace) -> Workspace:
    samples, dataset = sample_records(), source.datasets()[0]
    add_run(source.store, dataset, samples, name="quiet-1", model="hf:org/quiet", way="retrieve", shift=4)
    add_run(source.store, dataset, samples, name="quiet-2", model="hf:org/quiet", way="highlight", shift=1)
    return source


async def _show_rule_beside_quiet(pilot) -> None:  # type: ignore[no-untyped-def]
    """The run `rule` over the list, the two others ticked."""
    names = [run.run for run in frame(pilot).overview.runs]
    down = ["j"] * names.index("rule-1") if frame(pilot).run_shown.run == names[0] else []
    await press(pilot, "r", *down, "enter")
    assert frame(pilot).run_shown.run == "rule-1"
    await press(pilot, "r", *["k"] * len(down), "space", "j", "space", "enter")


async def test_ticked_runs_stand_beside_the_one_over_the_list_with_a_row_each(three_runs: Workspace) -> None:
    async with opened(three_runs) as pilot:
        await _show_rule_beside_quiet(pilot)
        assert frame(pilot).run_shown.run == "rule-1"
        assert frame(pilot).state.beside == ("quiet-2", "quiet-1")
        voices = stave(pilot).score.voices
        assert stave(pilot).score.rows
        assert [voice.name for voice in voices][:4] == ["gold", "rule", "quiet high", "quiet ret"]
        assert [voice.name for voice in voices][4:] == list(sample_records()[0].annotators)
        assert [voice.inline for voice in voices[:4]] == [True, True, False, False]
        for name, voice in zip(("quiet-2", "quiet-1"), voices[2:4], strict=True):
            detail = three_runs.evidence(1, name).repeats[0].detail
            assert detail is not None
            assert voice.spans == tuple(span for span in detail.located if span)
        figures = [three_runs.evidence(1, name).repeats[0].detail for name in ("quiet-2", "quiet-1")]
        said = [share(detail.f1 if detail else None).strip() for detail in figures]
        assert f"beside it   quiet high {said[0]}   quiet ret {said[1]}" in screen_text(pilot)


async def test_runs_can_be_compared_without_one_over_the_list(three_runs: Workspace) -> None:
    async with opened(three_runs) as pilot:
        await press(pilot, "r", "j", "space", "j", "j", "enter")
        assert frame(pilot).run_shown is None
        assert [voice.name for voice in stave(pilot).score.voices][:2] == ["gold", "quiet"]
        await press(pilot, "a")
        assert [voice.name for voice in stave(pilot).score.voices] == ["gold"]
        await press(pilot, "a")
        assert stave(pilot).score.rows


async def test_what_is_compared_is_remembered_and_can_be_unticked(tmp_path: Path, three_runs: Workspace) -> None:
    async with opened(three_runs) as pilot:
        await _show_rule_beside_quiet(pilot)
        await press(pilot, "q")
    again = Workspace.open(tmp_path / "workspace.duckdb")
    async with opened(again) as pilot:
        assert [voice.name for voice in stave(pilot).score.voices][1:4] == ["rule", "quiet high", "quiet ret"]
        await press(pilot, "r", "k", "space", "k", "space", "j", "j", "enter")
        assert frame(pilot).state.beside == ()
        assert [voice.name for voice in stave(pilot).score.voices][:2] == ["gold", "rule"]
        assert "beside it" not in screen_text(pilot)


async def test_the_letter_of_an_error_goes_to_the_next_sample_that_has_it_and_round(source: Workspace) -> None:
    ids = {row.id: row.marks for row in source.page(list(source.order(_query(source))), "rule-1")}
    async with opened(source) as pilot:
        for letter in "HFN":
            await press(pilot, "g")
            having = [id for id, marks in ids.items() if letter in marks and id != shown_id(pilot)]
            for expected in having:
                await press(pilot, letter)
                assert shown_id(pilot) == expected
            await press(pilot, letter)
            if len(having) > 1:
                assert shown_id(pilot) == next(id for id, marks in ids.items() if letter in marks)
                assert "From the top again" in notified(pilot)
        assert any("H" in marks for marks in ids.values())
        assert any("N" in marks for marks in ids.values())


async def test_a_jump_brings_the_error_into_sight_in_text_and_alignment(tmp_path: Path) -> None:
    sentences = [f"Sentence {n} says that the bus number {n} was on time." for n in range(30)]
    text = " ".join(sentences)
    starts = [text.index(one) for one in sentences]
    gold = [SpanSample(id="short", text="Well, well.", spans=((0, 4),))]
    gold.append(
        SpanSample(
            id="long",
            text=text,
            spans=tuple((start, start + 10) for start in starts[:20]),
            sentences=tuple(
                Sentence(start=start, end=start + len(one), emotion="neutral" if n == 29 else "happy")
                for n, (start, one) in enumerate(zip(starts, sentences, strict=True))
            ),
        )
    )
    golds, said = tmp_path / "gold.jsonl", tmp_path / "said.jsonl"
    golds.write_bytes(b"\n".join(msgspec.json.encode(one) for one in gold))
    spans = [text[start : start + 10] for start in starts[:20]] + [sentences[29][:11], "the tram number 28 was on time"]
    said.write_bytes(msgspec.json.encode({"id": "long", "spans": spans}))
    async with opened(FileView(str(golds), [str(said)], warn=lambda line: None), (80, 24)) as pilot:
        table = frame(pilot).query_one(AlignmentTable)
        await press(pilot, "N")
        assert "Sentence 29" in "".join(
            s.text for y in range(stave(pilot).size.height) for s in stave(pilot).render_line(y)
        )
        in_sight = "".join(s.text for y in range(table.size.height) for s in table.render_line(y))
        assert "N neutral sentence" in in_sight
        await press(pilot, "k", "H")
        in_sight = "".join(s.text for y in range(table.size.height) for s in table.render_line(y))
        assert "the tram number 28" in in_sight
        assert "28 says" in "".join(
            s.text for y in range(stave(pilot).size.height) for s in stave(pilot).render_line(y)
        )
        await press(pilot, "q")


async def test_a_jump_to_a_kind_of_error_turns_to_the_answer_that_has_it_and_j_to_the_first(tmp_path: Path) -> None:
    gold, said = tmp_path / "gold.jsonl", tmp_path / "said.jsonl"
    gold.write_text(
        "".join(f'{{"id": "{id}", "text": "I wept and laughed", "spans": [[2, 6]]}}\n' for id in "abc"),
        encoding="utf-8",
    )
    said.write_text(
        "".join(
            f'{{"id": "{id}", "spans": ["{span}"], "repeat": {repeat}}}\n'
            for id in "abc"
            for repeat, span in enumerate(["wept", "despair"])
        ),
        encoding="utf-8",
    )
    async with opened(FileView(str(gold), [str(said)], warn=lambda line: None)) as pilot:
        browse = frame(pilot).query_one(Browse)
        assert browse.repeat == 0
        await press(pilot, "H")
        assert (shown_id(pilot), browse.repeat) == ("b", 1)
        await press(pilot, "j")
        assert (shown_id(pilot), browse.repeat) == ("c", 0)
        await press(pilot, "f", "tab", "tab", "space", "enter", "g")
        assert frame(pilot).state.marks == "H"
        assert (shown_id(pilot), browse.repeat) == ("a", 1)
        await press(pilot, "q")


async def test_runs_of_files_can_be_compared_too(tmp_path: Path) -> None:
    gold, one, other = tmp_path / "gold.jsonl", tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    gold.write_text('{"id": "a", "text": "I wept and laughed", "spans": [[2, 6]]}\n', encoding="utf-8")
    one.write_text('{"id": "a", "spans": ["wept"]}\n', encoding="utf-8")
    other.write_text('{"id": "a", "spans": ["laughed"]}\n', encoding="utf-8")
    async with opened(FileView(str(gold), [str(one), str(other)], warn=lambda line: None)) as pilot:
        await press(pilot, "r", "j", "space", "enter")
        assert {voice.name: voice.spans for voice in stave(pilot).score.voices} == {
            "gold": ((2, 6),),
            "one.jsonl": ((2, 6),),
            "other.jsonl": ((11, 18),),
        }
        await press(pilot, "q")


async def test_a_kind_of_error_that_nobody_made_is_said_to_be_missing(tmp_path: Path) -> None:
    async with opened(workspace(tmp_path / "w.duckdb", samples=sample_records(0, 2))) as pilot:
        here = shown_id(pilot)
        await press(pilot, "N")
        assert shown_id(pilot) == here
        assert "No sample of this list is marked N, neutral hit" in notified(pilot)


async def test_under_a_hallucinated_span_stands_the_passage_that_is_nearest_to_it(tmp_path: Path) -> None:
    gold, said = tmp_path / "gold.jsonl", tmp_path / "said.jsonl"
    text = "The bus was late. I kept thinking that nobody had noticed I was gone."
    gold.write_text(f'{{"id": "a", "text": "{text}", "spans": [[18, 68]]}}\n', encoding="utf-8")
    said.write_text('{"id": "a", "spans": ["nobody noticed I was gone", "sheer despair"]}\n', encoding="utf-8")
    source = FileView(str(gold), [str(said)], warn=lambda line: None)
    async with opened(source) as pilot:
        near = {row.predicted: row.near for row in frame(pilot).query_one(AlignmentTable).rows}
        found = near["nobody noticed I was gone"]
        assert found is not None
        assert (found.text, round(found.f1, 3)) == ("nobody had noticed I was gone.", 0.909)
        assert near["sheer despair"] is None
        drawn = screen_text(pilot)
        assert "≈ nobody had noticed I was gone." in drawn
        assert "≈ nothing near it" in drawn
        await press(pilot, "q")


async def test_each_sentence_of_a_passage_has_its_emotion_valence_and_how_it_went(source: Workspace) -> None:
    numbers = list(source.order(_query(source)))
    passages = [place for place, sample in enumerate(sample_records()) if sample.sentences]
    async with opened(source) as pilot:
        seen_hit = False
        for place in passages:
            sample = sample_records()[place]
            assert shown_id(pilot) == sample.id
            detail = source.evidence(int(numbers[place]), "rule-1").repeats[0].detail
            assert detail is not None
            hits = [detail.located[index] for index in detail.neutral_hits]
            for sentence, chip in zip(sample.sentences, stave(pilot).score.chips, strict=True):
                sign = {"positive": "+", "negative": "−"}.get(sentence.valence or "", "")
                assert chip.label.split()[1:] == [part for part in (sentence.emotion, sign) if part]
                hit = any(span and span[0] < sentence.end and sentence.start < span[1] for span in hits)
                assert (chip.tail == "N") == (hit and sentence.emotion == "neutral")
                seen_hit |= chip.tail == "N"
            await press(pilot, "j")
        assert seen_hit


async def test_the_run_can_be_none_and_then_gold_stands_alone(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "r", "j", "enter")
        assert frame(pilot).run_shown is None
        assert [voice.role for voice in stave(pilot).score.voices] == ["gold"]
        await press(pilot, "n")
        assert shown_id(pilot) == sample_records()[0].id


async def test_y_copies_the_sample_with_its_spans(source: Workspace) -> None:
    async with opened(source) as pilot:
        await press(pilot, "y")
        copied = pilot.app.clipboard
        first = sample_records()[0]
        assert first.text in copied
        for start, end in first.spans:
            assert f"gold: {first.text[start:end]}" in copied


async def test_filter_order_position_overlay_and_colours_survive_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "workspace.duckdb"
    async with opened(workspace(path)) as pilot:
        await press(pilot, "s", "j", "enter", "j", "j", "j", "o")
        await press(pilot, "slash", "t", "h", "e", "enter")
        frame(pilot).remember_theme("light")
        await settle(pilot)
        before = (shown_id(pilot), listed(pilot))
        await press(pilot, "q")
    async with opened(Workspace.open(path)) as pilot:
        assert (shown_id(pilot), listed(pilot)) == before
        assert frame(pilot).state.sort == "id"
        assert frame(pilot).query_one(Browse).overlay == "gold"
        assert pilot.app.theme == "light"


async def test_a_click_selects_a_sample_and_the_wheel_scrolls_without_selecting(source: Workspace) -> None:
    async with opened(source, (160, 20)) as pilot:
        rows = frame(pilot).query_one(SampleList)
        await pilot.click(SampleList, offset=(5, 4))
        await settle(pilot)
        assert rows.cursor == 4
        assert shown_id(pilot) == sample_records()[4].id
        rows.scroll_down(animate=False)
        rows.scroll_down(animate=False)
        await settle(pilot)
        assert rows.scroll_offset.y > 0
        assert rows.cursor == 4


async def test_a_click_on_the_footer_does_what_it_says(source: Workspace) -> None:
    async with opened(source) as pilot:
        line = next(i for i, text in enumerate(screen_text(pilot).split("\n")) if "j k move" in text)
        column = screen_text(pilot).split("\n")[line].index("overlay")
        await pilot.click(offset=(column, line))
        await settle(pilot)
        assert frame(pilot).query_one(Browse).overlay == "gold"


async def test_the_footer_offers_only_what_can_be_done(tmp_path: Path) -> None:
    async with opened(workspace(tmp_path / "w.duckdb", run=False), (200, 45)) as pilot:
        footer = frame(pilot).query_one("KeyBar", Line).text
        assert "overlay" in footer
        assert "next error" not in footer
        assert "clear filter" not in footer
        await press(pilot, "slash", "t", "h", "e", "enter")
        assert "clear filter" in frame(pilot).query_one("KeyBar", Line).text


async def test_rows_of_a_run_appear_as_they_come(tmp_path: Path) -> None:
    samples = sample_records()
    source = workspace(tmp_path / "w.duckdb", run=False)
    async with opened(source) as pilot:
        assert frame(pilot).run_shown is None
        frame(pilot)._follow()
        await settle(pilot)
        add_run(source.store, source.datasets()[0], samples, done=10)
        frame(pilot)._follow()
        await settle(pilot)
        assert frame(pilot).run_shown is not None
        scored = [
            row.f1 is not None
            for place in range(len(samples))
            if (row := frame(pilot).query_one(SampleList).row(place)) is not None
        ]
        assert scored == [True] * 10 + [False] * (len(samples) - 10)
        assert [voice.role for voice in stave(pilot).score.voices] == ["gold", "predicted"]


async def test_at_80_columns_the_list_folds_away_behind_a_key(source: Workspace) -> None:
    async with opened(source, (80, 24)) as pilot:
        rows = frame(pilot).query_one(SampleList)
        assert rows.region.width == 0
        await press(pilot, "j")
        assert shown_id(pilot) == sample_records()[1].id
        await press(pilot, "l")
        assert rows.region.width > 70
        await press(pilot, "down", "enter")
        assert rows.region.width == 0
        assert shown_id(pilot) == sample_records()[2].id


async def test_a_terminal_too_small_says_so_and_comes_back(source: Workspace) -> None:
    async with opened(source, (59, 24)) as pilot:
        assert "emotui needs 60x16" in screen_text(pilot)
        await pilot.resize_terminal(60, 16)
        await settle(pilot)
        assert "alignment" in screen_text(pilot)
        await pilot.resize_terminal(80, 15)
        await settle(pilot)
        assert "this is 80x15" in screen_text(pilot)


async def test_an_empty_workspace_says_how_to_fill_it(tmp_path: Path) -> None:
    async with opened(workspace(tmp_path / "w.duckdb", samples=[])) as pilot:
        assert "No samples yet" in screen_text(pilot)
        assert "emotui import spans FILE" in screen_text(pilot)


async def test_a_source_that_cannot_be_opened_is_said_in_the_frame() -> None:
    def fail() -> BrowseSource:
        raise StoreError("w.duckdb is held by process 12: close it there [red]first[/]")

    for size in ((160, 45), (80, 24)):
        async with opened(fail, size) as pilot:
            assert "w.duckdb is held by process 12: close it there [red]first[/]" in screen_text(pilot)
            await press(pilot, "q")


async def test_files_are_browsed_without_a_store(tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_bytes(b"\n".join((SAMPLE_DATA / "spans_sentences.jsonl").read_bytes().splitlines()[:5]))
    source = FileView(str(gold), warn=lambda line: None)
    async with opened(source) as pilot:
        assert len(listed(pilot)) == 5
        assert "gold.jsonl" in screen_text(pilot)
        assert "run a model" not in screen_text(pilot)


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
            seen.append([voice.spans for voice in stave(pilot).score.voices if voice.role == "predicted"])
            assert f"answer {len(seen) if len(seen) < 3 else 1} of 2" in screen_text(pilot)
            await press(pilot, "full_stop")
        assert seen == [[((2, 6),)], [((11, 18),)], [((2, 6),)]]
        await press(pilot, "q")


async def test_hostile_text_is_shown_literally_with_its_spans_in_place(tmp_path: Path) -> None:
    text = "[red]hot[/] \x1b[31mred\x1b[0m a\u200bb שלום cafe\u0301 👩\u200d👧 \u202edlrow end"
    place = text.index("end")
    samples = [SpanSample(id="[b]odd[/b]\x1b", text=text, spans=((place, place + 3), (0, 8)))]
    async with opened(workspace(tmp_path / "w.duckdb", samples=samples, run=False)) as pilot:
        drawn = screen_text(pilot)
        assert "[red]hot[/] ␛[31mred␛[0m a◦b שלום cafe\u0301 👩◦👧 ◂dlrow end" in drawn
        assert "[b]odd[/b]␛" in drawn
        underlined = _underlined(pilot)
        assert underlined == ["[red]hot", "end"]


def _underlined(pilot) -> list[str]:  # type: ignore[no-untyped-def]
    """Stretches of the text pane that are underlined."""
    view = stave(pilot)
    return [
        segment.text
        for y in range(view.size.height)
        for segment in view.render_line(y)
        if segment.style is not None and segment.style.underline
    ]


async def test_a_text_of_a_megabyte_is_laid_out_in_less_than_a_second(tmp_path: Path) -> None:
    import time

    text = "The long day went on. " * 50_000
    assert len(text) > 1_000_000
    samples = [SpanSample(id="long", text=text, spans=((1_000_000, 1_000_012),))]
    async with opened(workspace(tmp_path / "w.duckdb", samples=samples, run=False)) as pilot:
        view = stave(pilot)
        score = view.score
        view.show(type(score)(""))
        began = time.perf_counter()
        view.show(score)
        assert time.perf_counter() - began < 1
        await press(pilot, "tab", "end")
        assert view.scroll_offset.y > 10_000


async def test_without_colour_predicted_is_reversed_and_gold_underlined(
    source: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(source) as pilot:
        await press(pilot, "o")
        assert _underlined(pilot)
        assert not _reversed(pilot)
        await press(pilot, "o")
        assert _reversed(pilot)
        assert not _underlined(pilot)
        await press(pilot, "o", "o")
        assert _reversed(pilot)
        assert _underlined(pilot)
        colours = {
            segment.style.color.name
            for strip in pilot.app.screen._compositor.render_strips()
            for segment in pilot.app._filters[-1].apply(list(strip), pilot.app.screen.styles.background)
            if segment.style is not None and segment.style.color is not None
        }
        assert colours == {"default"}


def _reversed(pilot) -> list[str]:  # type: ignore[no-untyped-def]
    view = stave(pilot)
    return [
        segment.text
        for y in range(view.size.height)
        for segment in view.render_line(y)
        if segment.style is not None and segment.style.reverse
    ]
