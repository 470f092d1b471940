"""The turns around a text: which columns say what, in which order, and from which samples."""

import random
from pathlib import Path
from typing import Any

import pytest

from emotui.formats import write
from emotui.records import LabelsGold, Mark, SpanSample, ValuesGold
from emotui.screens.browse.said import strip_lines
from emotui.screens.list_state import ListState, column_of, from_setting, to_setting
from emotui.store.query import ListQuery
from emotui.store.store import Store
from emotui.workbench import turns as workbench_turns
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.files.view import FileView
from emotui.workbench.runs.elsewhere import FILE, Said, keep_said
from emotui.workbench.runs.over_time import strip_of
from emotui.workbench.said import said_of
from emotui.workbench.turns import MOST, Told, Turn, Turns, turns
from emotui.workbench.workspace import Workspace


def told(*metas: dict[str, Any]) -> list[tuple[int, Told]]:
    return [(number, Told(f"text {number}", meta=meta)) for number, meta in enumerate(metas)]


def around(sample: int, *metas: dict[str, Any]) -> tuple[list[int], list[int]]:
    found = turns(sample, told(*metas))
    return [turn.sample for turn in found.before], [turn.sample for turn in found.after]


def test_turns_are_those_of_one_conversation_in_the_order_of_the_file() -> None:
    a, b = {"Dialogue_ID": 1}, {"Dialogue_ID": "2"}
    assert around(2, a, b, a, b, a) == ([0], [4])
    assert around(1, a, b, a, b, a) == ([], [3])


def test_where_all_turns_have_numbers_these_say_the_order() -> None:
    turns = [{"conversation": "c", "turn": turn} for turn in ("10", "9", 2.0, 1)]
    assert around(1, *turns) == ([3, 2], [0])
    assert around(1, *turns[:3], {"conversation": "c"}) == ([0], [2, 3])


def test_speaker_and_time_are_said_and_no_more_than_a_few_turns() -> None:
    one = {"conversation id": 7, "Speaker": "Ann", "TIME": "09:30"}
    found = turns(5, told(*[one] * 12))
    assert (len(found.before), len(found.after)) == (MOST, MOST)
    assert found.after[0] == Turn(6, "text 6", "Ann", "09:30")


def test_without_a_conversation_there_are_no_turns() -> None:
    assert turns(0, told({"turn": 1}, {"turn": 2})) == Turns()
    assert turns(0, told({"conversation": ""}, {"conversation": ""})) == Turns()
    assert turns(9, told({"conversation": 1})) == Turns()


def test_a_store_gives_the_turns_of_its_own_dataset_for_every_task(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "w.duckdb")
    said = {"conversation": 1}
    add_samples(store, "labels", "other", [LabelsGold(id="x", text="not this", label="joy", meta=said)], "tests")
    spans = [SpanSample(id=str(n), text=f"text {n}", spans=(Mark(0, 4),), meta=said) for n in range(3)]
    dataset = add_samples(store, "spans", "talk", spans, "tests")
    numbers = [number for number, _ in store.samples.of_dataset(dataset.dataset)]
    evidence = Workspace(store).evidence(numbers[1], None)
    expected = Turns((Turn(numbers[0], "text 0"),), (Turn(numbers[2], "text 2"),))
    assert evidence.turns == expected
    found = said_of(store, dataset.dataset, numbers[1], None)
    assert (found.turns, found.meta) == (expected, said)


def test_files_have_turns_too(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_text("".join(f'{{"text": "text {n}", "meta": {{"dialogue": 1}}}}\n' for n in range(2)), encoding="utf-8")
    source = FileView(str(path), warn=lambda line: None)
    assert source.evidence(0, None).turns == Turns((), (Turn(1, "text 1"),))
    source.close()


METAS = ({"a/b~": "Ann"}, {"a/b~": "ann"}, {"a/b~": 3}, {}, {"a/b~": None}, {"a/b~": ""})
COLUMN = [SpanSample(id=str(n), text=f"text {n}", meta=meta) for n, meta in enumerate(METAS)]


@pytest.mark.parametrize(("value", "found"), [("ANN", [0, 1]), ("3", [2]), ("", [3, 4, 5]), ("Bo", [])])
def test_a_list_is_filtered_by_what_an_own_column_says_in_a_store_and_in_files(
    tmp_path: Path, value: str, found: list[int]
) -> None:
    store = Store.open(tmp_path / "w.duckdb")
    dataset = add_samples(store, "spans", "own", COLUMN, "tests").dataset
    numbers = [number for number, _ in store.samples.of_dataset(dataset)]
    kept = store.listing.order(ListQuery(dataset=dataset, column=("a/b~", value)))
    assert [numbers.index(number) for number in kept] == found
    write(tmp_path / "own.jsonl", COLUMN)
    source = FileView(str(tmp_path / "own.jsonl"), warn=lambda line: None)
    assert list(source.order(ListQuery(dataset=1, column=("a/b~", value)))) == found
    source.close()


def test_a_column_is_asked_for_by_its_name_and_what_it_says() -> None:
    assert [column_of(asked) for asked in ("speaker = Ann ", "day=", "a=b=c", "speaker", "=Ann", "")] == [
        ("speaker", "Ann"),
        ("day", ""),
        ("a", "b=c"),
        None,
        None,
        None,
    ]
    state = ListState(column="day=")
    assert (state.filtered, state.words([]), state.unfiltered().column) == (True, ["day="], "")
    assert from_setting(to_setting(state)) == state


FAR = [{"Dialogue_ID": at % 80, "turn": -at} for at in range(400)]
"""Turns of one conversation stand 80 texts apart, and are numbered from the last."""


def _far(path: Path) -> Store:
    store = Store.open(path)
    other = [SpanSample(id="x", text="not this", spans=(), meta={"Dialogue_ID": 7})]
    add_samples(store, "spans", "other", other, "tests")
    add_samples(store, "spans", "far", [SpanSample(id=str(at), text="t", meta=FAR[at]) for at in range(400)], "tests")
    return store


def test_turns_of_a_conversation_are_found_however_far_apart_they_stand(tmp_path: Path) -> None:
    store = _far(tmp_path / "w.duckdb")
    # The first of the second dataset has the number 2; 7 and 87 to 327 are of one conversation.
    found = said_of(store, "far", 2 + 167, None).turns
    assert [turn.sample - 2 for turn in found.before] == [327, 247]
    assert [turn.sample - 2 for turn in found.after] == [87, 7]


def test_the_index_of_a_large_dataset_is_made_in_parts_while_near_turns_are_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbench_turns, "AT_ONCE", 50)
    store = _far(tmp_path / "w.duckdb")
    index = workbench_turns.conversations(store, 2, "Dialogue_ID")
    assert index is not None
    index.wait()
    assert index.members(2 + 167) == [2 + at for at in (7, 87, 167, 247, 327)]
    monkeypatch.setattr(workbench_turns, "MOST_IN_ONE", 3)
    assert index.members(2 + 167) == [2 + at for at in (87, 167, 247)]
    assert index.members(2 + 7) == [2 + at for at in (7, 87, 167)]
    assert workbench_turns.conversations(store, 2, 'a "column"') is None


def test_files_know_the_turns_of_a_whole_conversation_too(tmp_path: Path) -> None:
    samples = [SpanSample(id=str(at), text="t", meta=FAR[at]) for at in range(400)]
    write(str(tmp_path / "far.jsonl"), samples)
    view = FileView(str(tmp_path / "far.jsonl"), warn=lambda line: None)
    assert [turn.sample for turn in view.evidence(167, None).turns.after] == [87, 7]


def test_the_strip_of_a_text_has_its_conversation_in_order_and_counts_the_changes_that_the_run_sees(
    tmp_path: Path,
) -> None:
    store = Store.open(tmp_path / "w.duckdb")
    gold = {"a": ("joy", "joy", "fear", "fear", "joy"), "b": ("joy",)}
    told = {"a": ("joy", "fear", "joy", "joy", "fear"), "b": ("joy",)}
    places = [(talk, at) for talk in gold for at in range(len(gold[talk]))]
    random.Random(0).shuffle(places)
    samples = [
        LabelsGold(id=f"{talk}{at}", text="?", labels=(gold[talk][at],), meta={"dialogue": talk, "turn": at})
        for talk, at in places
    ]
    dataset = add_samples(store, "labels", "talks", samples, "made")
    numbers = store.samples.numbers_by_id(dataset.dataset)
    said = [Said(numbers[f"{talk}{at}"], 0, {"labels": [told[talk][at]]}) for talk, at in places]
    run = keep_said(store, dataset, "m", FILE, said)
    strip = strip_of(store, dataset, run, numbers["a2"], {"dialogue": "a", "turn": 2})
    assert strip is not None
    assert [step.id for step in strip.steps] == ["a0", "a1", "a2", "a3", "a4"]
    assert (strip.column, strip.at) == ("dialogue", 2)
    # Gold changes before a2 and a4: joy to fear, fear to joy; the run changes there the other way both times.
    assert (strip.changes, strip.seen) == (2, 0)
    assert strip_of(store, dataset, run, numbers["b0"], {"dialogue": "b", "turn": 0}) is None, "of one text"
    assert strip_of(store, dataset, run, numbers["a2"], {"other": 1}) is None
    shown = said_of(store, dataset.dataset, numbers["a2"], run.run).strip
    assert shown == strip
    lines = ["".join(part.text for part in line) for line in strip_lines(strip, 80, 9)]
    assert lines[0].startswith(" along dialogue: 5 texts   0 of 2 changes seen")
    assert {line.split()[0]: line.split()[1] for line in lines[1:]} == {"joy": "●○[×]×○", "fear": "·×[○]○×"}


def test_the_strip_of_numbers_goes_by_the_way_that_they_go(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "w.duckdb")
    gold, told = (1.0, 3.0, 3.0, 2.0), (2.0, 4.0, 1.0, 1.5)
    samples = [
        ValuesGold(
            id=str(at), text="?", values={"valence": value}, meta={"user": "u", "timestamp": f"2026-01-0{4 - at}"}
        )
        for at, value in enumerate(reversed(gold))
    ]
    dataset = add_samples(store, "values", "days", samples, "made")
    numbers = store.samples.numbers_by_id(dataset.dataset)
    said = [Said(numbers[str(3 - at)], 0, {"values": {"valence": value}}) for at, value in enumerate(told)]
    run = keep_said(store, dataset, "m", FILE, said)
    strip = strip_of(store, dataset, run, numbers["0"], samples[0].meta)
    assert strip is not None
    assert [step.gold["valence"] for step in strip.steps if isinstance(step.gold, dict)] == [1.0, 3.0, 3.0, 2.0]
    # Gold goes up, stays, goes down; the run goes up, down, up: the first change is seen, the last is not.
    assert (strip.changes, strip.seen, strip.at) == (2, 1, 3)
    lines = ["".join(part.text for part in line) for line in strip_lines(strip, 80, 9)]
    assert [line.split()[-1] for line in lines[1:]] == ["▁▆▆[▃]", "▃█▁[▂]"]
