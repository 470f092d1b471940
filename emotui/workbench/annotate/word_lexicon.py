"""From what people said of words under the scheme `emolex` to a lexicon file that masked words are compared by."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from emotui.errors import BadInput
from emotui.formats import write_text
from emotui.formats.rows import literal
from emotui.metrics.masked import DIMENSIONS, fold
from emotui.metrics.word_associations import Associations, associations
from emotui.records import ValuesGold
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.masked.lexicon import word_vectors
from emotui.tasks.masked.word_questions import EMOTION, NEAREST
from emotui.tasks.values.task import Values
from emotui.workbench.annotate.others import logs_of, source_answers
from emotui.workbench.texts import stored_samples


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
    names = list(people) or list(logs_of(store, dataset))
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
