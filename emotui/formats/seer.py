"""The CSV files of SEER's release (Sampath et al.; the benchmark of paper and section 5) as records.

Task 1 has a row a sentence, Task 2 a row a passage of five. Where the release may hold the texts, it writes spans as
`**` in them; where it may not (MSP-Podcast), as half-open ranges of words of transcripts that one obtains separately.
docs/results.md says what is made of its odd cases.
"""

import csv
import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from emotui import bounded
from emotui.bounded import read_text
from emotui.errors import BadInput
from emotui.formats import checks
from emotui.formats.reading import capped
from emotui.formats.rows import literal, shown
from emotui.metrics.span_output import MARKER
from emotui.records import ALL_SENTENCES, Mark, Sentence, Span, SpanSample, marks_at

# The two ways in which SEER's release writes spans: ranges of words, and `**` around them in the text.

Range = tuple[int, int]
"""Half-open, numbers of words from 0."""

_WORD = re.compile(r"\S+")


def words(text: str, *, readable: bool = False) -> list[Span]:
    """Where the words of a text stand that white space parts.

    Args:
        readable: only those that hold a letter or digit of ASCII, or an apostrophe. So the release's own program
            counts; its description counts all.
    """
    found = [match.span() for match in _WORD.finditer(text)]
    return (
        [(start, end) for start, end in found if re.search(r"[a-z0-9']", text[start:end].lower())]
        if readable
        else found
    )


def to_spans(ranges: Sequence[Range], places: Sequence[Span]) -> tuple[Span, ...]:
    """From ranges of words to spans of characters, in the order of the text.

    Args:
        places: as `words`.

    Raises:
        ValueError: a range is empty, ends before it starts, or goes past the last word.
    """
    for start, end in ranges:
        if not 0 <= start < end:
            raise ValueError(f"the range {[start, end]} holds no word")
        if end > len(places):
            raise ValueError(f"the range {[start, end]} goes past the last of {len(places)} words")
    return tuple((places[start][0], places[end - 1][1]) for start, end in sorted(ranges))


def to_ranges(spans: Sequence[Span], places: Sequence[Span]) -> tuple[Range, ...]:
    """From spans to the ranges of all words that they touch; spans that touch none are left out."""
    starts, ends = [start for start, _ in places], [end for _, end in places]
    found = ((bisect_right(ends, start), bisect_left(starts, end)) for start, end in sorted(spans))
    return tuple((start, end) for start, end in found if start < end)


def unmarked(marked: str) -> tuple[str, tuple[Span, ...]]:
    """A text without its markers, and the spans that stood between pairs of them; white space at their ends is none.

    Raises:
        ValueError: a marker has no partner.
    """
    pieces = marked.split(MARKER)
    if len(pieces) % 2 == 0:
        raise ValueError(f"a marker has no partner: there are {len(pieces) - 1}")
    spans, at = [], 0
    for number, piece in enumerate(pieces):
        inner = piece.strip()
        if number % 2 and inner:
            start = at + piece.index(inner)
            spans.append((start, start + len(inner)))
        at += len(piece)
    return "".join(pieces), tuple(spans)


def moved(spans: Sequence[Span], source: str, target: str) -> tuple[Span, ...]:
    """The spans of one text in another that differs from it in white space alone.

    Raises:
        ValueError: they differ in more than that; where they begin to.
    """
    if source == target:
        return tuple(spans)
    there = [place for place, sign in enumerate(target) if not sign.isspace()]
    signs = "".join(source.split())
    others = "".join(target.split())
    if signs != others:
        same = next(
            (at for at, (a, b) in enumerate(zip(signs, others, strict=False)) if a != b), min(len(signs), len(others))
        )
        raise ValueError(f"without its markers it is not the text: they part after {signs[:same][-20:]!r}")
    rank = [0]
    for sign in source:
        rank.append(rank[-1] + (not sign.isspace()))
    found = ((rank[start], rank[end]) for start, end in spans)
    return tuple((there[start], there[end - 1] + 1) for start, end in found if start < end)


UNKNOWN = "▯"
"""Stands for each word of a text that is not at hand."""

MOST_WORDS = 100_000
"""Words of a text that is not at hand, at most: a day of speech."""

SENTENCES = range(1, 6)

_COLUMNS = {
    1: ("FileName", "GPT4.1_EmoClass", "GPT4.1_EmoVal", "Gold_Spans"),
    2: (
        *("First_FileName", "Consecutive_FileNames", "Gold_Spans"),
        *(f"Sentence{i}_Gold_{what}" for i in SENTENCES for what in ("EmoClass", "EmoVal")),
    ),
}
_LONGEST_HEADER = 1 << 16
_TEXT = {1: "Transcription", 2: "Combined_Transcription"}
_ANNOTATOR = re.compile(r"Annot\w+")


@dataclass(slots=True)
class Release:
    """What was read. `labels_only`: samples whose text is not at hand, each of its words as `UNKNOWN`.

    `missing`: the transcripts that they lack, by name. `skipped`: what was left out for being bad. `remarks`: what a
    reader has to know of the others.
    """

    samples: list[SpanSample] = field(default_factory=list)
    labels_only: list[SpanSample] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Reading:
    """How to read: where transcripts lie; whether only readable words count (`words`); whether to cut passages."""

    transcripts: Mapping[str, Path]
    readable: bool = False
    trim: bool = False


def task_in(path: str | Path) -> int | None:
    """The task (1, 2) whose CSV of the release a file is, by its header; None where it is something else."""
    place = Path(path)
    if place.suffix.lower() != ".csv" or not place.is_file():
        return None
    try:
        with bounded.opened(place) as stream:
            first = stream.readline(_LONGEST_HEADER).decode("utf-8-sig")
        header = {name.strip() for name in next(csv.reader([first]), [])}
    except (OSError, ValueError, csv.Error):
        return None
    return next((task for task, columns in _COLUMNS.items() if header >= set(columns)), None)


def transcripts_in(folder: str | None) -> dict[str, Path]:
    """Every `.txt` in a folder and its folders, by its name without ending.

    Raises:
        BadInput: there is no such folder.
    """
    if folder is None:
        return {}
    if not Path(folder).is_dir():
        raise BadInput(f"{literal(folder)}: there is no such folder of transcripts")
    return {path.stem: path for path in sorted(Path(folder).rglob("*.txt"))}


def read_release(task1: Sequence[str], task2: Sequence[str], how: Reading, *, skip_bad: bool = False) -> Release:
    """The samples of the release's files, in their order.

    Raises:
        BadInput: a file cannot be read, lacks a column, or a row of it is bad (unless `skip_bad`), as `FILE:LINE: why`.
    """
    release, problems, seen = Release(), [], set[str]()
    rows: dict[tuple[str, ...], str] = {}
    for task, paths in ((1, task1), (2, task2)):
        for path in paths:
            for line, row in _rows(path, task):
                place = f"{literal(path)}:{line}"
                try:
                    if isinstance(row, str):
                        raise ValueError(row)
                    cells = tuple(row.values())
                    if cells in rows:
                        raise ValueError(f"the same row stands at {rows[cells]} already")
                    rows[cells] = place
                    _take(release, row, task, how, seen, place)
                except ValueError as problem:
                    problems.append(f"{literal(path)}:{line}: {problem}")
    if problems and not skip_bad:
        raise BadInput(*capped(problems))
    release.skipped = problems
    release.missing = list(dict.fromkeys(release.missing))
    return release


def _rows(path: str, task: int) -> Iterator[tuple[int, dict[str, str] | str]]:
    """The rows of a file with the lines on which they start; of a row that cannot be read, what is wrong with it."""
    place = literal(path)
    try:
        text = read_text(path)
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise BadInput(f"{place}:{line}: not UTF-8: byte 0x{error.object[error.start]:02x}") from None
    except OSError as error:
        raise BadInput(f"{place}: cannot be read: {(error.strerror or str(error)).lower()}") from None
    csv.field_size_limit(2**31 - 1)
    reader = csv.reader(text.splitlines(keepends=True), strict=True)
    header: list[str] | None = None
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            yield line, f"is no row of a table: {error}"
            continue
        if not cells:
            continue
        if header is None:
            header = [name.strip() for name in cells]
            twice = next((name for name in header if name and header.count(name) > 1), None)
            if twice is not None:
                raise BadInput(f"{place}:{line}: there are two columns {shown(twice)}")
            lacking = [name for name in _COLUMNS[task] if name not in header]
            if lacking:
                raise BadInput(
                    f"{place}:{line}: Task {task} of the release has a column {lacking[0]!r}; this file has not"
                )
        elif len(cells) != len(header):
            yield line, f"has {len(cells)} cells where the header has {len(header)}"
        else:
            yield line, dict(zip(header, cells, strict=True))
    if header is None:
        raise BadInput(f"{place}:1: the file is empty")


def _take(release: Release, row: Mapping[str, str], task: int, how: Reading, seen: set[str], place: str) -> None:
    """Add a row's sample. Raises ValueError, saying what is wrong with the row."""
    name = row["FileName" if task == 1 else "First_FileName"].strip()
    if not name:
        raise ValueError("the file name is empty")
    key = _own_id(f"task{task}/{_stem(name)}", seen)
    remarks: list[str] = []
    lacking: list[str] = []
    if row.get(_TEXT[task], "").strip():
        sample = _marked(row, key, task, remarks)
    else:
        files = [name] if task == 1 else _names(row)
        lacking = [f"{_stem(file)}.txt" for file in files if _stem(file) not in how.transcripts]
        sample = _ranged(row, key, task, how, files if not lacking else None, remarks)
    if (wrong := checks.fault(sample)) is not None:
        raise ValueError(wrong)
    seen.add(key)
    (release.labels_only if lacking else release.samples).append(sample)
    release.missing += lacking
    release.remarks += [f"{place}: {remark}" for remark in remarks]


def _own_id(key: str, seen: set[str]) -> str:
    """The name of its first file; a second passage that begins in the same file has a number behind it."""
    number = 1
    while (found := key if number == 1 else f"{key}+{number}") in seen:
        number += 1
    return found


def _stem(name: str) -> str:
    return name.strip().removesuffix(".wav")


def _names(row: Mapping[str, str]) -> list[str]:
    found = _json(row["Consecutive_FileNames"], "Consecutive_FileNames")
    if not isinstance(found, list) or not found or not all(isinstance(one, str) and one.strip() for one in found):
        raise ValueError(f"Consecutive_FileNames should be a list of names, not {shown(row['Consecutive_FileNames'])}")
    return found


def _json(cell: str, column: str) -> object:
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        raise ValueError(f"{column} is no JSON: {shown(cell)}") from None


# Spans as markers in the text.


def _marked(row: Mapping[str, str], key: str, task: int, remarks: list[str]) -> SpanSample:
    text = row[_TEXT[task]].strip()

    def spans(column: str) -> tuple[Span, ...]:
        cell = row[column].strip()
        try:
            if not cell or cell == "[]":
                return ()
            plain, found = unmarked(cell)
            return moved(found, plain, text)
        except ValueError as problem:
            raise ValueError(f"{column}: {problem}") from None

    annotators = {name: spans(name) for name in row if _ANNOTATOR.fullmatch(name) and row[name].strip()}
    sentences: list[tuple[int, Span]] = []
    if task == 2:
        reached = 0
        for i in SENTENCES:
            place = _find(row.get(f"Sentence{i}_Transcript", "").strip(), text, reached)
            if place is None:
                remarks.append(f"sentence {i} is not found in the combined text, and is left out")
                continue
            sentences.append((i, place))
            reached = place[1]
    return _sample(row, key, task, text, spans("Gold_Spans"), annotators, sentences)


def _find(part: str, text: str, start: int) -> Span | None:
    """Where a part stands in a text from `start` on, white space aside."""
    if not part:
        return None
    found = re.compile(r"\s+".join(map(re.escape, part.split()))).search(text, start)
    return found.span() if found else None


# Spans as ranges of words.


def _ranged(
    row: Mapping[str, str], key: str, task: int, how: Reading, files: Sequence[str] | None, remarks: list[str]
) -> SpanSample:
    """Of the transcripts of `files`, joined by blanks; None: they are not at hand."""
    columns = ["Gold_Spans", *(name for name in row if _ANNOTATOR.fullmatch(name) and row[name].strip())]
    ranges = {column: _ranges(row[column], column) for column in columns}
    parts = {i: _range(row.get(f"Sentence{i}_WordRange", ""), i) for i in SENTENCES} if task == 2 else {}
    sizes = [end - start for start, end in _file_ranges(row)] if task == 2 else []
    if files is None:
        ends = [end for found in ranges.values() for _, end in found] + [part[1] for part in parts.values() if part]
        n = max([*ends, sum(sizes)], default=0)
        if n > MOST_WORDS:
            raise ValueError(f"a range goes to word {n}, and no text of the release is that long")
        text = " ".join([UNKNOWN] * n)
        places = words(text)
    else:
        text, places = _joined(files, sizes, how)
    spans = {}
    for column in columns:
        try:
            spans[column] = to_spans(ranges[column], places)
        except ValueError as problem:
            raise ValueError(f"{column}: {problem}") from None
    sentences = _sentences(parts, places, remarks)
    gold = spans.pop("Gold_Spans")
    if how.trim and sentences:
        return _trimmed(_sample(row, key, task, text, gold, spans, sentences))
    return _sample(row, key, task, text, gold, spans, sentences)


def _ranges(cell: str, column: str) -> list[Range]:
    if MARKER in cell:
        raise ValueError(f"{column} has {MARKER} in it, but the row has no text ({_TEXT[1]} or {_TEXT[2]})")
    found = _json(cell, column) if cell.strip() else []
    if not isinstance(found, list) or not all(_is_pair(one) for one in found):
        raise ValueError(f"{column} should be a list of pairs of whole numbers, not {shown(cell)}")
    return [(one[0], one[1]) for one in found]


def _range(cell: str, i: int) -> Range | None:
    """A sentence's range; None where the release could not place it."""
    found = _json(cell, f"Sentence{i}_WordRange") if cell.strip() else []
    if found == []:
        return None
    if not isinstance(found, list) or not _is_pair(found):
        raise ValueError(f"Sentence{i}_WordRange should be a pair of whole numbers, not {shown(cell)}")
    return found[0], found[1]


def _is_pair(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(one) is int for one in value)


def _file_ranges(row: Mapping[str, str]) -> list[Range]:
    """The words of each file; they follow one on another from 0, and there is one for each file."""
    found = _ranges(row.get("FileWordRanges", ""), "FileWordRanges")
    reached = 0
    for start, end in found:
        if start != reached or end < start:
            raise ValueError(f"FileWordRanges: {[start, end]} does not follow on {reached}")
        reached = end
    if found and len(found) != len(_names(row)):
        raise ValueError(f"FileWordRanges has {len(found)} ranges for {len(_names(row))} files")
    return found


def _joined(files: Sequence[str], sizes: Sequence[int], how: Reading) -> tuple[str, list[Span]]:
    """The transcripts in one text, and its words.

    Where `FileWordRanges` says how many words each has, that decides which words count: all, or the readable ones.
    """
    texts = [_transcript(how.transcripts[_stem(file)]) for file in files]
    text = " ".join(texts)
    if not sizes:
        return text, words(text, readable=how.readable)
    for readable in (how.readable, not how.readable):
        if [len(words(one, readable=readable)) for one in texts] == list(sizes):
            return text, words(text, readable=readable)
    counts = [len(words(one, readable=how.readable)) for one in texts]
    at = next(at for at, (count, size) in enumerate(zip(counts, sizes, strict=True)) if count != size)
    raise ValueError(f"FileWordRanges says that {_stem(files[at])}.txt has {sizes[at]} words, but it has {counts[at]}")


def _transcript(path: Path) -> str:
    try:
        return read_text(path).strip()
    except UnicodeDecodeError:
        raise ValueError(f"{literal(str(path))} is not UTF-8") from None
    except OSError as error:
        raise ValueError(f"{literal(str(path))} cannot be read: {(error.strerror or str(error)).lower()}") from None


def _sentences(parts: Mapping[int, Range | None], places: Sequence[Span], remarks: list[str]) -> list[tuple[int, Span]]:
    """Sentences that have a place of their own behind the one before; a word of two is the first one's."""
    found: list[tuple[int, Span]] = []
    reached = 0
    for i, part in parts.items():
        if part is None:
            remarks.append(f"sentence {i} has no place in the transcripts, and is left out")
            continue
        try:
            to_spans([part], places)
        except ValueError as problem:
            raise ValueError(f"Sentence{i}_WordRange: {problem}") from None
        start = max(part[0], reached)
        if start >= part[1]:
            remarks.append(f"sentence {i} lies in front of the one before it, and is left out")
            continue
        found.append((i, (places[start][0], places[part[1] - 1][1])))
        reached = part[1]
    return found


def _trimmed(sample: SpanSample) -> SpanSample:
    """The stretch of the text from the first sentence to the last, and on to whatever span sticks out."""
    spans = [*(sample.spans or ()), *(span for found in sample.annotators.values() for span in found)]
    start = min([sample.sentences[0].start, *(span.start for span in spans)])
    end = max([sample.sentences[-1].end, *(span.end for span in spans)])

    def shifted(found: Sequence[Mark]) -> tuple[Mark, ...]:
        return marks_at((span.start - start, span.end - start) for span in found)

    return SpanSample(
        id=sample.id,
        text=sample.text[start:end],
        spans=shifted(sample.spans or ()),
        sentences=tuple(
            Sentence(start=one.start - start, end=one.end - start, emotion=one.emotion, valence=one.valence)
            for one in sample.sentences
        ),
        annotators={name: shifted(found) for name, found in sample.annotators.items()},
        meta=sample.meta,
    )


def _sample(
    row: Mapping[str, str],
    key: str,
    task: int,
    text: str,
    gold: tuple[Span, ...],
    annotators: Mapping[str, tuple[Span, ...]],
    sentences: Sequence[tuple[int, Span]],
) -> SpanSample:
    return SpanSample(
        id=key,
        text=text,
        spans=marks_at(gold),
        emotion=_label(row["GPT4.1_EmoClass"]) if task == 1 else None,
        valence=_label(row["GPT4.1_EmoVal"]) if task == 1 else None,
        sentences=tuple(
            Sentence(
                start=start,
                end=end,
                emotion=_label(row[f"Sentence{i}_Gold_EmoClass"]),
                valence=_label(row[f"Sentence{i}_Gold_EmoVal"]),
            )
            for i, (start, end) in sentences
        ),
        annotators={name: marks_at(spans) for name, spans in annotators.items()},
        meta=_all_sentences(row, len(sentences)) if task == 2 else {},
    )


def _all_sentences(row: Mapping[str, str], placed: int) -> dict[str, object]:
    """The labels of all sentences, where some have no place: one follows the other all the same (appendix C)."""
    if placed == len(SENTENCES):
        return {}
    return {
        ALL_SENTENCES: [
            {"emotion": _label(row[f"Sentence{i}_Gold_EmoClass"]), "valence": _label(row[f"Sentence{i}_Gold_EmoVal"])}
            for i in SENTENCES
        ]
    }


def _label(cell: str) -> str | None:
    return cell.strip().lower() or None
