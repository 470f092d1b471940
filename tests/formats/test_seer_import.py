"""`emotui import seer`: files of the release's shape, written here; its odd cases are taken from its public files."""

import csv
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from emotui.errors import BadInput
from emotui.formats.seer import UNKNOWN, Reading, read_release, transcripts_in
from emotui.records import Mark, SpanSample
from emotui.store.store import Store
from emotui.workbench.datasets.whole_records import import_seer
from emotui.workbench.results.service import Results
from emotui.workbench.workspace import Workspace
from tests.conftest import Emotui

TASK1 = ("FileName", "GPT4.1_EmoClass", "GPT4.1_EmoVal", "Gold_Spans", "Annot1", "Annot2", "Annot3")
LABELS2 = tuple(f"Sentence{i}_Gold_{what}" for i in range(1, 6) for what in ("EmoClass", "EmoVal"))
RANGES2 = ("FileWordRanges", *(f"Sentence{i}_WordRange" for i in range(1, 6)))
TASK2 = ("First_FileName", "Consecutive_FileNames", *LABELS2, "Gold_Spans", "Annot1", "Annot2", "Annot3", *RANGES2)
NEUTRAL = ("neutral", "neutral") * 5


def table(path: Path, header: tuple[str, ...], *rows: tuple[object, ...]) -> str:
    """A CSV as the release's; lists are JSON in their cell."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        for row in rows:
            writer.writerow([json.dumps(cell) if isinstance(cell, list) else cell for cell in row])
    return str(path)


@pytest.fixture
def ranged(tmp_path: Path) -> tuple[str, str, str]:
    """Task 1 and Task 2 by ranges, and the folder of transcripts."""
    folder = tmp_path / "transcripts" / "part"
    folder.mkdir(parents=True)
    for name, text in {
        "P_1": "It was  pure joy\nfor me.\n",
        "P_2": "The bus came. I cheered.",
        "P_3": "It rained. Then -- it stopped. I wept.",
    }.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    one = table(tmp_path / "one.csv", TASK1, ("P_1.wav", "happy", "positive", [[2, 6]], [[3, 4]], [], [[0, 2], [2, 4]]))
    labels = ("neutral", "neutral", "happy", "positive", "neutral", "neutral", "neutral", "neutral", "sad", "negative")
    two = table(
        tmp_path / "two.csv",
        TASK2,
        (
            *("P_2.wav", ["P_2.wav", "P_3.wav"], *labels, [[4, 5], [11, 12]], [[3, 5]], [], ""),
            *([[0, 5], [5, 13]], [0, 3], [3, 5], [5, 7], [7, 11], [11, 13]),
        ),
    )
    return one, two, str(tmp_path / "transcripts")


def read(one: str | None, two: str | None, folder: str | None, **how: Any) -> Any:
    skip_bad = how.pop("skip_bad", False)
    files = ([one] if one else [], [two] if two else [])
    return read_release(*files, Reading(transcripts_in(folder), **how), skip_bad=skip_bad)


def cut(sample: SpanSample, spans: Any) -> list[str]:
    return [sample.text[mark.start : mark.end] for mark in spans]


def test_ranges_count_the_words_of_the_transcripts_joined_by_blanks(ranged: tuple[str, str, str]) -> None:
    sentence, passage = read(*ranged).samples
    assert (sentence.id, sentence.emotion, sentence.valence) == ("task1/P_1", "happy", "positive")
    assert sentence.text == "It was  pure joy\nfor me."
    assert cut(sentence, sentence.spans) == ["pure joy\nfor me."]
    assert {name: cut(sentence, spans) for name, spans in sentence.annotators.items()} == {
        "Annot1": ["joy"],
        "Annot2": [],
        "Annot3": ["It was", "pure joy"],
    }
    assert passage.text == "The bus came. I cheered. It rained. Then -- it stopped. I wept."
    assert cut(passage, passage.spans) == ["cheered.", "I"]
    assert [(cut(passage, [s])[0], s.emotion, s.valence) for s in passage.sentences] == [
        ("The bus came.", "neutral", "neutral"),
        ("I cheered.", "happy", "positive"),
        ("It rained.", "neutral", "neutral"),
        ("Then -- it stopped.", "neutral", "neutral"),
        ("I wept.", "sad", "negative"),
    ]
    # An empty cell is nobody's annotation; an empty list is somebody's who found nothing.
    assert {name: cut(passage, spans) for name, spans in passage.annotators.items()} == {
        "Annot1": ["I cheered."],
        "Annot2": [],
    }


def test_where_the_files_count_readable_words_only_so_does_the_passage(
    ranged: tuple[str, str, str], tmp_path: Path
) -> None:
    two = table(
        tmp_path / "readable.csv",
        TASK2,
        (
            *("P_2.wav", ["P_2.wav", "P_3.wav"], *NEUTRAL, [[10, 12]], [], [], []),
            *([[0, 5], [5, 12]], [0, 3], [3, 5], [5, 7], [7, 10], [10, 12]),
        ),
    )
    (passage,) = read(None, two, ranged[2]).samples
    assert cut(passage, passage.spans) == ["I wept."]
    assert cut(passage, passage.sentences)[3] == "Then -- it stopped."
    wrong = table(
        tmp_path / "wrong.csv",
        TASK2,
        (*("P_2.wav", ["P_2.wav", "P_3.wav"], *NEUTRAL, [], [], [], []), [[0, 5], [5, 20]], *([[]] * 5)),
    )
    with pytest.raises(BadInput, match=r"wrong\.csv:2: FileWordRanges says that P_3\.txt has 15 words, but it has 8"):
        read(None, wrong, ranged[2])


def test_markers_in_the_text_are_spans_of_the_text(tmp_path: Path) -> None:
    header = (*TASK1[:3], "Transcription", *TASK1[3:])
    text = "It was pure joy, for me."
    one = table(
        tmp_path / "one.csv",
        header,
        (
            "M_1.wav",
            "Happy",
            "positive",
            text,
            "It was **pure joy**, for me.",
            text,
            "**It  was pure joy, for me.**",
            "",
        ),
    )
    (sentence,) = read(one, None, None).samples
    assert (sentence.text, sentence.emotion) == (text, "happy")
    assert cut(sentence, sentence.spans) == ["pure joy"]
    assert {name: cut(sentence, spans) for name, spans in sentence.annotators.items()} == {
        "Annot1": [],
        "Annot2": [text],
    }
    parts = ("The bus came.", "I cheered.", "It rained.", "It stopped.", "I wept.")
    header = (*TASK2[:2], *(f"Sentence{i}_Transcript" for i in range(1, 6)), "Combined_Transcription", *TASK2[2:16])
    names = [f"M_2_sent{i}.wav" for i in range(5)]
    two = table(
        tmp_path / "two.csv",
        header,
        (names[0], names, *parts, " ".join(parts), *NEUTRAL, " ".join((*parts[:4], "**I wept**.")), "", "", ""),
    )
    (passage,) = read(None, two, None).samples
    assert passage.id == "task2/M_2_sent0"
    assert cut(passage, passage.spans) == ["I wept"]
    assert cut(passage, passage.sentences) == list(parts)


def test_without_transcripts_labels_alone_come_in_and_each_missing_file_is_named(
    ranged: tuple[str, str, str], tmp_path: Path
) -> None:
    found = read(ranged[0], ranged[1], None)
    assert (found.samples, found.missing) == ([], ["P_1.txt", "P_2.txt", "P_3.txt"])
    sentence, passage = found.labels_only
    assert sentence.text == " ".join([UNKNOWN] * 6)
    assert (sentence.emotion, sentence.spans) == ("happy", (Mark(4, 11),))
    assert passage.text == " ".join([UNKNOWN] * 13)
    assert [one.emotion for one in passage.sentences] == ["neutral", "happy", "neutral", "neutral", "sad"]
    (tmp_path / "transcripts" / "part" / "P_3.txt").unlink()
    part = read(*ranged)
    assert [one.id for one in part.samples] == ["task1/P_1"]
    assert ([one.id for one in part.labels_only], part.missing) == (["task2/P_2"], ["P_3.txt"])


def test_the_odd_sentences_of_the_release_are_left_out_or_cut_and_said(
    ranged: tuple[str, str, str], tmp_path: Path
) -> None:
    two = table(
        tmp_path / "odd.csv",
        TASK2,
        # No place; a place in front of the one before; and one that overlaps it.
        (
            *("P_2.wav", ["P_2.wav", "P_3.wav"], *NEUTRAL, [[4, 5]], [], [], []),
            *([[0, 5], [5, 13]], [], [3, 5], [0, 1], [4, 7], [7, 13]),
        ),
        (
            *("P_2.wav", ["P_2.wav"], *NEUTRAL, [], [], [], []),
            *([[0, 5]], [0, 1], [1, 2], [2, 3], [3, 4], [4, 5]),
        ),
    )
    found = read(None, two, ranged[2])
    first, second = found.samples
    assert cut(first, first.sentences) == [
        "I cheered.",
        "It rained.",
        "Then -- it stopped. I wept.",
    ]
    assert [remark.removeprefix(f"{tmp_path}/") for remark in found.remarks] == [
        "odd.csv:2: sentence 1 has no place in the transcripts, and is left out",
        "odd.csv:2: sentence 3 lies in front of the one before it, and is left out",
    ]
    assert (first.id, second.id) == ("task2/P_2", "task2/P_2+2")


def test_trimmed_passages_hold_their_sentences_and_whatever_span_sticks_out(
    ranged: tuple[str, str, str], tmp_path: Path
) -> None:
    row = ("P_2.wav", ["P_2.wav", "P_3.wav"], *NEUTRAL)
    ranges = ([[0, 5], [5, 13]], [3, 4], [4, 5], [5, 6], [6, 7], [7, 11])
    two = table(
        tmp_path / "t.csv",
        TASK2,
        (*row, [[4, 5]], [], [], [], *ranges),
        (*row, [[4, 5]], [[1, 4]], [], [[11, 13]], *ranges),
    )
    inner, outer = read(None, two, ranged[2], trim=True).samples
    assert inner.text == "I cheered. It rained. Then -- it stopped."
    assert cut(inner, inner.spans) == ["cheered."]
    assert cut(inner, inner.sentences)[4] == "Then -- it stopped."
    assert outer.text == "bus came. I cheered. It rained. Then -- it stopped. I wept."
    assert {name: cut(outer, spans) for name, spans in outer.annotators.items()} == {
        "Annot1": ["bus came. I"],
        "Annot2": [],
        "Annot3": ["I wept."],
    }


GOOD1 = ("P_1.wav", "happy", "positive", [[2, 6]], [], [], [])
GOOD2 = ("P_2.wav", ["P_2.wav"], *NEUTRAL, [], [], [], [], [[0, 5]], [0, 1], [1, 2], [2, 3], [3, 4], [4, 5])


def changed(row: tuple[object, ...], header: tuple[str, ...], **cells: object) -> tuple[object, ...]:
    return tuple(cells.get(name, cell) for name, cell in zip(header, row, strict=True))


@pytest.mark.parametrize(
    ("task", "cells", "why"),
    [
        (1, {"Gold_Spans": "[[2, 6"}, "Gold_Spans is no JSON: '[[2, 6'"),
        (1, {"Gold_Spans": "[2, 6]"}, "Gold_Spans should be a list of pairs of whole numbers, not '[2, 6]'"),
        (1, {"Annot1": "[[2, 6.5]]"}, "Annot1 should be a list of pairs of whole numbers, not '[[2, 6.5]]'"),
        (1, {"Annot1": "[[true, 2]]"}, "Annot1 should be a list of pairs of whole numbers, not '[[true, 2]]'"),
        (1, {"Annot2": "[[2, 2]]"}, "Annot2: the range [2, 2] holds no word"),
        (1, {"Annot3": "[[4, 2]]"}, "Annot3: the range [4, 2] holds no word"),
        (1, {"Gold_Spans": "[[2, 7]]"}, "Gold_Spans: the range [2, 7] goes past the last of 6 words"),
        (1, {"Gold_Spans": "[[0, 3], [0, 3]]"}, "span [0, 12] stands twice"),
        (1, {"Gold_Spans": "[" * 100_000}, f"Gold_Spans is no JSON: '{'[' * 38}…"),
        (1, {"FileName": " "}, "the file name is empty"),
        (2, {"Consecutive_FileNames": "P_2.wav"}, "Consecutive_FileNames is no JSON: 'P_2.wav'"),
        (2, {"Consecutive_FileNames": "[]"}, "Consecutive_FileNames should be a list of names, not '[]'"),
        (2, {"FileWordRanges": "[[0, 2], [3, 5]]"}, "FileWordRanges: [3, 5] does not follow on 2"),
        (2, {"FileWordRanges": "[[0, 2], [2, 5]]"}, "FileWordRanges has 2 ranges for 1 files"),
        (2, {"FileWordRanges": "[[0, 9]]"}, "FileWordRanges says that P_2.txt has 9 words, but it has 5"),
        (
            2,
            {"Sentence2_WordRange": "[[1, 2]]"},
            "Sentence2_WordRange should be a pair of whole numbers, not '[[1, 2]]'",
        ),
        (2, {"Sentence5_WordRange": "[4, 9]"}, "Sentence5_WordRange: the range [4, 9] goes past the last of 5 words"),
    ],
)
def test_a_malformed_row_is_one_line_with_file_and_line(
    ranged: tuple[str, str, str], tmp_path: Path, task: int, cells: dict[str, str], why: str
) -> None:
    header, good = (TASK1, GOOD1) if task == 1 else (TASK2, GOOD2)
    path = table(tmp_path / "bad.csv", header, good, changed(good, header, **cells))
    files = (path, None) if task == 1 else (None, path)
    with pytest.raises(BadInput) as refused:
        read(*files, ranged[2])
    assert refused.value.problems == (f"{path}:3: {why}",)
    left = read(*files, ranged[2], skip_bad=True)
    assert (len(left.samples), left.skipped) == (1, [f"{path}:3: {why}"])


def test_a_file_that_is_none_of_the_release_is_one_line(tmp_path: Path) -> None:
    other = table(tmp_path / "other.csv", ("id", "text"), ("1", "t"))
    with pytest.raises(
        BadInput, match=r"other\.csv:1: Task 1 of the release has a column 'FileName'; this file has not"
    ):
        read(other, None, None)
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(BadInput, match=r"empty\.csv:1: the file is empty"):
        read(None, str(tmp_path / "empty.csv"), None)
    (tmp_path / "latin.csv").write_bytes(",".join(TASK1).encode() + b"\n\xe9\n")
    with pytest.raises(BadInput, match=r"latin\.csv:2: not UTF-8: byte 0xe9"):
        read(str(tmp_path / "latin.csv"), None, None)
    with pytest.raises(BadInput, match=r"gone\.csv: cannot be read: no such file"):
        read(str(tmp_path / "gone.csv"), None, None)
    with pytest.raises(BadInput, match="there is no such folder of transcripts"):
        read(other, None, str(tmp_path / "nowhere"))
    (tmp_path / "short.csv").write_text(",".join(TASK1) + "\nP_1.wav,happy\n")
    with pytest.raises(BadInput, match=r"short\.csv:2: has 2 cells where the header has 7"):
        read(str(tmp_path / "short.csv"), None, None)


def test_a_row_that_comes_twice_is_bad_be_it_because_a_file_is_named_twice(
    ranged: tuple[str, str, str], tmp_path: Path
) -> None:
    path = table(tmp_path / "twice.csv", TASK1, GOOD1, GOOD1)
    with pytest.raises(BadInput, match=r"twice\.csv:3: the same row stands at .*twice\.csv:2 already"):
        read(path, None, ranged[2])
    once = table(tmp_path / "once.csv", TASK1, GOOD1)
    with pytest.raises(BadInput, match=r"once\.csv:2: the same row stands at .*once\.csv:2 already"):
        read_release([once, once], [], Reading(transcripts_in(ranged[2])))


def test_two_columns_of_one_name_are_refused_and_nameless_ones_are_not(
    ranged: tuple[str, str, str], tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=r"two\.csv:1: there are two columns 'FileName'"):
        read(table(tmp_path / "two.csv", (*TASK1, "FileName"), (*GOOD1, "Q_1.wav")), None, ranged[2])
    assert read(table(tmp_path / "no.csv", (*TASK1, "", ""), (*GOOD1, "", "")), None, ranged[2]).samples


def test_without_its_text_a_range_that_no_text_could_hold_is_bad_and_fills_no_memory(tmp_path: Path) -> None:
    far = changed(GOOD1, TASK1, Gold_Spans="[[0, 10000000000]]")
    with pytest.raises(BadInput, match=r"far\.csv:2: a range goes to word 10000000000"):
        read(table(tmp_path / "far.csv", TASK1, far), None, None)


def test_marked_cells_in_a_file_without_texts_say_what_is_missing(tmp_path: Path) -> None:
    path = table(tmp_path / "m.csv", TASK1, ("M_1.wav", "sad", "negative", "**so** sad", "", "", ""))
    with pytest.raises(BadInput, match=r"m\.csv:2: Gold_Spans has \*\* in it, but the row has no text"):
        read(path, None, None)


def test_a_marked_text_that_is_not_the_text_says_where(tmp_path: Path) -> None:
    header = (*TASK1[:3], "Transcription", *TASK1[3:])
    path = table(
        tmp_path / "m.csv",
        header,
        ("M_1.wav", "sad", "negative", "I am sad.", "I am **sad**.", "I am **sod**.", "I am **sad.", ""),
    )
    with pytest.raises(BadInput, match="Annot1: without its markers it is not the text: they part after 'Iams'"):
        read(path, None, None)


def test_both_tasks_are_one_dataset_and_labels_without_texts_another_that_no_model_is_asked_about(
    ranged: tuple[str, str, str], tmp_path: Path, emotui: Emotui
) -> None:
    one, two, folder = ranged
    arguments = ("import", "seer", "--task1", one, "--task2", two, "--db", "w.duckdb")
    bare = emotui(*arguments, "--json")
    assert bare.document["samples"] is None
    assert (bare.document["labels"]["dataset"], bare.document["labels"]["n"]) == ("seer-labels", 2)
    assert bare.document["missing"] == ["P_1.txt", "P_2.txt", "P_3.txt"]
    assert bare.err.splitlines() == [
        "P_1.txt is missing (--transcripts is not given)",
        "P_2.txt is missing (--transcripts is not given)",
        "P_3.txt is missing (--transcripts is not given)",
        "2 samples lack their transcripts: their labels alone are imported",
    ]
    refused = emotui("run", "spans", "--dataset", "seer-labels", "--db", "w.duckdb")
    assert (refused.status, refused.err) == (
        2,
        "seer-labels has labels only: import it with its texts first (docs/results.md)\n",
    )
    full = emotui(*arguments, "--transcripts", folder)
    assert (full.status, full.out, full.err) == (0, "seer: 2 samples\n", "")
    again = emotui(*arguments, "--transcripts", folder, "--json").document
    assert (again["samples"]["n"], again["labels"], again["missing"]) == (2, None, [])
    run = emotui("run", "spans", "--dataset", "seer", "--db", "w.duckdb", "--json").document
    assert (run["done"], run["failed"]) == (2, 0)
    tables = {
        table["key"]: table
        for table in emotui("results", "--dataset", "seer", "--no-sim", "--json", "--db", "w.duckdb").document["tables"]
    }
    kinds = [row["kind"] for row in tables["task-1"]["rows"]]
    assert kinds[:4] == ["run", "baseline", "people", "people"]
    nothing = emotui("import", "seer", "--db", "w.duckdb")
    assert (nothing.status, nothing.err) == (2, "name the release's files: --task1 CSV, --task2 CSV, or both\n")
    mixed = emotui("import", "spans", "--task1", one, "--db", "w.duckdb")
    assert (mixed.status, mixed.out) == (2, "")
    assert "options like --task1 are for seer" in mixed.err


def test_labels_alone_still_give_transitions(ranged: tuple[str, str, str], tmp_path: Path) -> None:
    store = Store.open(tmp_path / "w.duckdb")
    imported = import_seer(store, [ranged[0]], [ranged[1]], warn=lambda line: None)
    assert imported.labels is not None
    results = Results(store, Workspace(store).model)
    assert results.transitions(imported.labels.dataset).pairs == 4
    assert results.annotators(imported.labels.dataset) == {}
    (number, record) = next(iter(store.samples.of_dataset(imported.labels.dataset)))
    assert msgspec.json.decode(record, type=SpanSample).emotion == "happy"
    assert number


def test_sentences_without_a_place_count_in_the_transitions(ranged: tuple[str, str, str], tmp_path: Path) -> None:
    labels = ("neutral", "neutral", "happy", "positive", "neutral", "neutral", "neutral", "neutral", "sad", "negative")
    two = table(
        tmp_path / "unplaced.csv",
        TASK2,
        (
            *("P_2.wav", ["P_2.wav", "P_3.wav"], *labels, [[4, 5]], [[3, 5]], [], ""),
            *([[0, 5], [5, 13]], [0, 3], [3, 5], [5, 7], [], [11, 13]),
        ),
    )
    store = Store.open(tmp_path / "w.duckdb")
    imported = import_seer(store, [], [two], ranged[2], warn=lambda line: None)
    assert imported.samples is not None
    ((_, record),) = store.samples.of_dataset(imported.samples.dataset)
    assert len(msgspec.json.decode(record, type=SpanSample).sentences) == 4
    found = Results(store, Workspace(store).model).transitions(imported.samples.dataset)
    assert found.pairs == 4
    assert found.counts[found.labels.index("neutral")][found.labels.index("neutral")] == 1
    assert found.of == "Task 2: five sentences"


def test_plain_import_of_a_file_of_the_release_names_the_command_that_takes_both(
    emotui: Emotui, ranged: tuple[str, str, str]
) -> None:
    one, two, _ = ranged
    command = "which is read by: emotui import seer --task1"
    alone = emotui("import", two, "--dry-run")
    assert alone.status == 2
    assert f"{two}:1: a file of SEER's release (Task 2), {command} TASK1.csv --task2 {two} --transcripts" in alone.err
    both = emotui("import", one, two, "--db", "w.duckdb")
    assert both.status == 2
    assert both.err.count(f"{command} {one} --task2 {two} --transcripts FOLDER") == 2
    assert emotui("import", one, "--map", "text=FileName", "--dry-run").status == 0
