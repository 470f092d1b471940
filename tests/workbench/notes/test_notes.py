"""Notes on samples and their codes: what the log comes to, and what is made of it."""

import subprocess
import sys
from pathlib import Path

import pytest

from emotui.errors import BadInput
from emotui.records import SampleNote
from emotui.store.store import Store
from emotui.workbench.notes import NoteBook, codes_in
from tests.store.store_samples import samples


@pytest.fixture
def book(tmp_path: Path) -> NoteBook:
    store = Store.open(tmp_path / "w.duckdb")
    store.datasets.add("stories", "spans", samples(3), "stories.jsonl", "abc")
    return NoteBook(store)


def said(book: NoteBook) -> list[tuple[int, str, str, tuple[str, ...]]]:
    return [(note.sample, note.annotator, note.text, note.codes) for note in book.notes(1)]


def test_a_person_has_one_note_on_a_sample_and_codes_are_spelt_as_they_were_first(book: NoteBook) -> None:
    book.write(1, 2, "ada", " why? ", ["Irony", "irony", " two  words "])
    book.write(1, 1, "ben", "", ["IRONY"])
    book.write(1, 2, "ada", "because", ["irony"])
    assert said(book) == [(2, "ada", "because", ("Irony",)), (1, "ben", "", ("Irony",))]
    assert [(code.name, code.samples, code.annotators) for code in book.codes(1)] == [("Irony", (2, 1), ("ada", "ben"))]
    book.write(1, 1, "ben", "")
    assert said(book) == [(2, "ada", "because", ("Irony",))]
    for wrong in (" ", "a,b", "x" * 81):
        with pytest.raises(BadInput):
            book.write(1, 1, "ben", "", [wrong])
    assert codes_in(" a, b ,, c d ") == ("a", "b", "c d")


def test_a_new_name_goes_through_all_notes_and_two_of_one_name_become_one(book: NoteBook) -> None:
    book.write(1, 1, "ada", "", ["a", "b"])
    book.write(1, 2, "ben", "", ["b"])
    assert not book.rename(1, "b", "c", "ada")
    assert book.rename(1, "a", "C", "ada")
    assert said(book) == [(1, "ada", "", ("c",)), (2, "ben", "", ("c",))]
    book.write(1, 3, "ben", "", ["b"])
    assert {code.name for code in book.codes(1)} == {"b", "c"}
    with pytest.raises(BadInput, match="there is no code 'a'"):
        book.rename(1, "a", "z", "ada")


def test_undo_takes_back_ones_own_steps_one_after_the_other(book: NoteBook) -> None:
    book.write(1, 1, "ada", "first")
    book.write(1, 1, "ada", "second", ["a"])
    book.write(1, 1, "ben", "his", ["a"])
    book.rename(1, "a", "b", "ada")
    assert [book.undo(1, "ada") is None for _ in range(2)] == [False, False]
    assert said(book) == [(1, "ada", "first", ()), (1, "ben", "his", ("a",))]
    assert [book.undo(1, "ada") is None for _ in range(2)] == [False, True]
    assert said(book) == [(1, "ben", "his", ("a",))]


def test_codes_of_two_people_are_held_against_each_other_where_both_coded(book: NoteBook) -> None:
    with pytest.raises(BadInput, match="two people"):
        book.agreement(1)
    for who, codes in (("ada", ["a"]), ("ben", ["a"])):
        book.write(1, 1, who, "", codes)
        book.write(1, 2, who, "", ["b"])
    book.write(1, 3, "ada", "", ["c"])
    found = book.agreement(1)
    assert (found["items"], found["questions"], found["krippendorff_alpha"]) == (2, 4, 1.0)
    assert set(found["by_label"]) == {"a", "b"}
    assert book.saturation(1, base=1, run=1).known == (1, 2, 3)


def test_notes_that_are_written_out_come_in_again_elsewhere_once(book: NoteBook, tmp_path: Path) -> None:
    book.write(1, 2, "ada", "why", ["a", "b"])
    book.write(1, 1, "ben", "so")
    dataset = book.store.datasets.get(1)
    assert dataset is not None
    records = book.records(dataset)
    assert [(one.id, one.annotator, one.note, one.codes) for one in records] == [
        ("s1", "ben", "so", ()),
        ("s2", "ada", "why", ("a", "b")),
    ]
    other = NoteBook(Store.open(tmp_path / "other.duckdb"))
    there = other.store.datasets.add("stories", "spans", samples(3), "stories.jsonl", "abc")
    assert other.bring_in(there, records, ["f:1", "f:2"], "x") == 2
    assert other.bring_in(there, records, ["f:1", "f:2"], "x") == 0
    assert said(other) == [(1, "ben", "so", ()), (2, "ada", "why", ("a", "b"))]
    bad = [SampleNote(id="s3", note="mine"), SampleNote(id="s9"), SampleNote(id="s1", codes=("a,b",))]
    with pytest.raises(BadInput, match=r"f:2: stories has no sample 's9'\nf:3: the code 'a,b' holds a comma"):
        other.bring_in(there, bad, ["f:1", "f:2", "f:3"], "x")
    assert len(said(other)) == 2


KILLED = """
import os, signal, sys
from emotui.store.store import Store
from emotui.workbench.notes import NoteBook
book = NoteBook(Store.open(sys.argv[1]))
book.write(1, 1, "ada", "kept", ["a"])
with book.store._turns.writing() as connection:
    connection.execute("insert into notes values (99, 'note', 1, 2, 'ada', 'lost', [], null, '')")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_process_loses_no_note_that_was_kept(book: NoteBook) -> None:
    died = subprocess.run([sys.executable, "-c", KILLED, str(book.store.path)], check=False)
    assert died.returncode == -9
    assert said(book) == [(1, "ada", "kept", ("a",))]
