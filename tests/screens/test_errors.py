"""From error to error: the next one, the next of a kind, and brought into sight."""

from pathlib import Path

import msgspec
import pytest

from emotui.formats import write
from emotui.records import Mark, Sentence, SpanSample
from emotui.screens.browse.place import Browse
from emotui.workbench.files.view import FileView
from emotui.workbench.workspace import Workspace
from tests.screens.browse_workspace import list_query, sample_records, workspace
from tests.screens.driving import frame, notified, opened, press, screen_text, shown_id, stave


@pytest.fixture
def source(tmp_path: Path) -> Workspace:
    return workspace(tmp_path / "workspace.duckdb")


async def test_n_and_p_visit_just_the_samples_with_an_error(source: Workspace) -> None:
    wrong = [row.id for row in source.page(list(source.order(list_query(source))), "rule-1") if row.marks]
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


async def test_the_letter_of_an_error_goes_to_the_next_sample_that_has_it_and_round(source: Workspace) -> None:
    ids = {row.id: row.marks for row in source.page(list(source.order(list_query(source))), "rule-1")}
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


async def test_a_jump_brings_the_error_into_sight_in_text_and_under_it(tmp_path: Path) -> None:
    sentences = [f"Sentence {n} says that the bus number {n} was on time." for n in range(30)]
    text = " ".join(sentences)
    starts = [text.index(one) for one in sentences]
    gold = [SpanSample(id="short", text="Well, well.", spans=(Mark(0, 4),))]
    gold.append(
        SpanSample(
            id="long",
            text=text,
            spans=tuple(Mark(start, start + 10) for start in starts[:20]),
            sentences=tuple(
                Sentence(start=start, end=start + len(one), emotion="neutral" if n == 29 else "happy")
                for n, (start, one) in enumerate(zip(starts, sentences, strict=True))
            ),
        )
    )
    golds, said = tmp_path / "gold.jsonl", tmp_path / "said.jsonl"
    write(golds, gold)
    spans = [text[start : start + 10] for start in starts[:20]] + [sentences[29][:11], "the tram number 28 was on time"]
    said.write_bytes(msgspec.json.encode({"id": "long", "spans": spans}))
    async with opened(FileView(str(golds), [str(said)], warn=lambda line: None), (80, 24)) as pilot:
        await press(pilot, "N")
        assert "Sentence 29" in "".join(
            s.text for y in range(stave(pilot).size.height) for s in stave(pilot).render_line(y)
        )
        assert "N neutral sentence" in screen_text(pilot)
        await press(pilot, "k", "H")
        assert "the tram number 28" in screen_text(pilot)
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
        assert frame(pilot).session.state.marks == "H"
        assert (shown_id(pilot), browse.repeat) == ("a", 1)
        await press(pilot, "q")


async def test_a_kind_of_error_that_nobody_made_is_said_to_be_missing(tmp_path: Path) -> None:
    async with opened(workspace(tmp_path / "w.duckdb", samples=sample_records(0, 2))) as pilot:
        here = shown_id(pilot)
        await press(pilot, "N")
        assert shown_id(pilot) == here
        assert "No sample of this list has the error N, neutral hit" in notified(pilot)
