"""Words that people tie to ten dimensions: from a file of words to questions, and from their answers to a lexicon.

Behind each word is a check that its meaning is known, EmoLex's (Mohammad and Turney 2013, section 3): which of four
words is nearest in meaning. What is right stands as gold, so that it is hidden while a person annotates.
"""

import csv
import io
import random
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from emotui.bounded import read_bytes
from emotui.errors import BadInput
from emotui.formats import capped, check_writable, write, write_text
from emotui.formats.rows import literal
from emotui.metrics.masked import DIMENSIONS, fold
from emotui.metrics.word_associations import Associations, associations
from emotui.records import ValuesGold
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.masked.lexicon import emotion_words, word_vectors
from emotui.tasks.values.task import Values
from emotui.workbench.annotate.log import adjudicators
from emotui.workbench.annotate.others import logs_of, source_answers
from emotui.workbench.texts import stored_samples

NEAREST, EMOTION = "nearest", "emotion"
"""The numbers beside the ten dimensions: which of the four words is nearest, and whether the word is an emotion."""

OTHERS = 3
"""Words in a check that are not near."""

_FAR = [
    "ladder",
    "gravel",
    "teaspoon",
    "bracket",
    "envelope",
    "turnip",
    "pavement",
    "socket",
    "napkin",
    "cylinder",
    "lorry",
    "cupboard",
    "pebble",
    "zinc",
    "parsley",
    "hinge",
    "brick",
    "tile",
    "bucket",
    "saddle",
    "plywood",
    "trellis",
    "carton",
    "axle",
    "gutter",
    "marrow",
    "stapler",
    "doorknob",
    "lentil",
    "tripod",
]
_STEM = 4
"""Letters that a near word must not share with the word, so that spelling gives nothing away."""


class WordChoice(msgspec.Struct, frozen=True):
    """A word, one near it in meaning, and others that are not."""

    word: str
    near: str
    far: tuple[str, ...]


def choice_for(word: str, seed: int) -> WordChoice | None:
    """A check from this project's list of emotion words: a near word is of the same family. None: there is none."""
    rows = emotion_words()
    known = rows.get(word)
    if known is None:
        return None
    near = [one.word for one in rows.values() if one.family == known.family and one.word[:_STEM] != known.word[:_STEM]]
    if not near:
        return None
    source = random.Random(f"{seed} {word}")
    return WordChoice(word, source.choice(near), tuple(source.sample(_FAR, OTHERS)))


def question(choice: WordChoice, seed: int) -> ValuesGold:
    """The word as a record to annotate; gold says which of the four is right."""
    shown = [choice.near, *choice.far]
    random.Random(f"{seed} order {choice.word}").shuffle(shown)
    lines = [choice.word, "", "Which of these is nearest in meaning?"]
    lines += [f"{number} {word}" for number, word in enumerate(shown, 1)]
    return ValuesGold(
        id=choice.word,
        text="\n".join(lines),
        values={NEAREST: shown.index(choice.near) + 1},
        meta={"word": choice.word},
    )


def questions(choices: Sequence[WordChoice], seed: int) -> list[ValuesGold]:
    """A record each."""
    return [question(one, seed) for one in choices]


# A file of words to records that people annotate by the scheme `emolex`.


def questions_from(path: str, seed: int) -> list[ValuesGold]:
    """A record for each word of a file.

    A line is a word, or a word with one near it in meaning and three that are not, between commas. A word alone gets
    these from this project's list of emotion words.

    Raises:
        BadInput: the file cannot be read, a word stands twice, is not on the list and has no words beside it, or a line
            is neither; with the line.
    """
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except OSError as error:
        raise BadInput(f"{literal(path)}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        place = error.object[: error.start].count(b"\n") + 1
        raise BadInput(f"{literal(path)}:{place}: not UTF-8") from error
    found: dict[str, WordChoice] = {}
    problems = []
    for number, line in enumerate(text.splitlines(), 1):
        cells = [fold(cell) for cell in line.split(",")]
        if not any(cells):
            continue
        choice = _choice(cells, seed)
        if isinstance(choice, str):
            problems.append(f"{literal(path)}:{number}: {choice}")
        elif choice.word in found:
            problems.append(f"{literal(path)}:{number}: {literal(choice.word)} stands here twice")
        else:
            found[choice.word] = choice
    if problems:
        raise BadInput(*capped(problems))
    if not found:
        raise BadInput(f"{literal(path)}:1: no word in it")
    return questions(list(found.values()), seed)


def write_questions(records: list[ValuesGold], to: str) -> None:
    """The records, in the format of the file's ending. Raises BadInput where it cannot be written."""
    check_writable(to)
    write(to, records)


def _choice(cells: list[str], seed: int) -> WordChoice | str:
    if len(cells) == 1:
        made = choice_for(cells[0], seed)
        return made or f"{literal(cells[0])} is not on emotui's list: write it as word,near,other,other,other"
    if len(cells) != 2 + OTHERS or not all(cells):
        return "neither a word nor word,near,other,other,other"
    if len(set(cells)) < len(cells):
        return "a word stands twice among its choices"
    return WordChoice(cells[0], cells[1], tuple(cells[2:]))


# `express-words`: from what people said of words under the scheme `emolex` to a lexicon file for masked words.


class AnnotatedWord:
    """What came of one word: its vector, None where too few answers count; how many were dropped, and why."""

    def __init__(self, word: str) -> None:
        self.word = word
        self.found: Associations | None = None
        self.failed, self.unfinished = 0, 0
        self.emotion: list[float] = []

    def document(self) -> dict[str, Any]:
        """As JSON has it; `emotion`: the share of people who call it one."""
        found = self.found
        return {
            "word": self.word,
            "people": 0 if found is None else found.people,
            "failed_checks": self.failed,
            "unfinished": self.unfinished,
            "vector": None if found is None else dict(zip(DIMENSIONS, found.vector, strict=True)),
            "halved": [] if found is None else list(found.halved),
            "emotion": sum(self.emotion) / len(self.emotion) if self.emotion else None,
        }


def annotated_words(store: Store, dataset: Dataset, people: Sequence[str], least: int) -> list[AnnotatedWord]:
    """Each word of a dataset with what people said of it, before anything was shown to them.

    An answer counts where the number of the nearest word is that of gold; a word without one in gold has no check.

    Args:
        people: sources; empty: everybody who annotated here.
        least: people whose answer must count, for a word to have a vector.

    Raises:
        BadInput: the dataset is none of numbers, nobody annotated it, or a source is not there.
    """
    if dataset.task != Values.name:
        raise BadInput(f"{literal(dataset.name)} is of {dataset.task}: import what `emotui masked questions` writes")
    settled = adjudicators(store, dataset)
    names = list(people) or [name for name in logs_of(store, dataset) if name not in settled]
    if not names:
        raise BadInput(f"nobody has annotated {literal(dataset.name)} yet (or name sources: --annotators A,B)")
    answers = source_answers(store, dataset, names)
    words = []
    for number, sample in stored_samples(store, dataset, dataset.n):
        assert isinstance(sample, ValuesGold)
        one = AnnotatedWord(fold(str(sample.meta.get("word", sample.id))))
        _count(one, sample, [answers[name][number].values for name in names if number in answers[name]], least)
        words.append(one)
    return words


def _count(word: AnnotatedWord, sample: ValuesGold, said: Sequence[Mapping[str, float]], least: int) -> None:
    right = (sample.values or {}).get(NEAREST)
    counted = []
    for one in said:
        if right is not None and one.get(NEAREST) != right:
            word.failed += 1
        elif any(name not in one for name in DIMENSIONS):
            word.unfinished += 1
        else:
            counted.append(one)
            word.emotion += [one[EMOTION]] if EMOTION in one else []
    if len(counted) >= least:
        word.found = associations(counted)


def write_lexicon(words: Sequence[AnnotatedWord], to: str, *, with_emolex: bool) -> int:
    """A table with a word a row, as `--lexicon` reads it; how many words it has.

    Args:
        with_emolex: EmoLex's words, with EmoLex's vectors, before those that it lacks.

    Raises:
        BadInput: no word has a vector, or it cannot be written.
    """
    found = {one.word: one.found.vector for one in words if one.found is not None}
    if not found:
        raise BadInput("no word has an answer that counts: nothing is written")
    table = found if not with_emolex else {**found, **word_vectors(supplement=False).table}
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(("word", *DIMENSIONS))
    rows.writerows((word, *vector) for word, vector in sorted(table.items()))
    write_text(to, out.getvalue())
    return len(table)
