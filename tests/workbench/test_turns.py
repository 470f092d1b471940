"""The turns around a text: which columns say what, in which order, and from which samples."""

from pathlib import Path
from typing import Any

import pytest

from emotui.formats import write
from emotui.records import LabelsGold, Mark, SpanSample
from emotui.screens.list_state import ListState, column_of, from_setting, to_setting
from emotui.store.query import ListQuery
from emotui.store.store import Store
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.files.view import FileView
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
    numbers = [number for number, _ in store.dataset_samples(dataset.dataset)]
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
    numbers = [number for number, _ in store.dataset_samples(dataset)]
    kept = store.order(ListQuery(dataset=dataset, column=("a/b~", value)))
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
