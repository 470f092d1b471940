"""Blind studies: two sources where their words' vectors differ, in a random order that is kept, by several coders.

EXPRESS, section "Human Evaluation of Predicted and Actual Emotions". Nothing that a coder is given says which word is
whose: words are folded, and the sources are named in results alone.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from emotui.backends.base import MASK
from emotui.errors import BadInput
from emotui.formats.rows import literal
from emotui.metrics.blind_study import Verdict, study_report
from emotui.metrics.masked import fold
from emotui.records import MaskedGold
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.masked.examples import post_of
from emotui.tasks.masked.lexicon import WordVectors, word_vectors
from emotui.tasks.masked.task import Prediction
from emotui.tasks.published import express_table
from emotui.workbench.compare.sources import Compared, comparable, says, source_named
from emotui.workbench.datasets.sources import GOLD
from emotui.workbench.masked.study_log import (
    ANSWER,
    ANSWERS,
    ORDER,
    STUDY,
    UNDO,
    Answer,
    Code,
    Item,
    Order,
    Study,
    answers_of,
    check_new_study,
    coders_of,
    express_codes,
    order_of,
    studies,
)

_GOLD = Compared(GOLD, GOLD, GOLD, "today's gold")


class Shown(msgspec.Struct, frozen=True):
    """A text as a coder sees it: its place in their order, from 1, the words of both, and the answer so far."""

    number: int
    sample: int
    id: str
    pieces: tuple[str, ...]
    first: tuple[str, ...]
    second: tuple[str, ...]
    answer: Answer | None = None


def study_sources(store: Store, dataset: Dataset) -> list[Compared]:
    """What a study can be about: today's gold, runs, files, people, former gold."""
    return [_GOLD, *comparable(store, dataset)]


def begin_study(
    store: Store,
    dataset: Dataset,
    name: str,
    first: str,
    second: str,
    *,
    most: int | None = None,
    seed: int = 0,
    codes: Sequence[Code] | None = None,
    lexicon: WordVectors | None = None,
) -> Study:
    """Keep a study of two sources, by key or name; `gold` is today's.

    Args:
        most: texts at most, drawn by the seed. Of one post one text is taken.
        lexicon: by which two words differ; None: the usual one.

    Raises:
        BadInput: the name is taken or empty, there is no such source, or no text differs.
    """
    check_new_study(store, dataset, name)
    a, b = (_GOLD if one == GOLD else source_named(store, dataset, one) for one in (first, second))
    if a.key == b.key:
        raise BadInput(f"{literal(first)} and {literal(second)} are one source")
    words = lexicon or word_vectors()
    items = _differing(store, dataset, a, b, random.Random(f"{seed} posts"), words)
    if not items:
        raise BadInput(f"{literal(a.name)} and {literal(b.name)} differ by vectors in no text that both have words for")
    if most is not None and most < len(items):
        chosen = set(random.Random(f"{seed} texts").sample(range(len(items)), most))
        items = [item for at, item in enumerate(items) if at in chosen]
    book = tuple(codes) if codes is not None else express_codes()
    by = f"{words.name}, {words.outside}, {words.mark}" + "".join(f", sha256 {one}" for one in words.sha256)
    study = Study(name, dataset.dataset, a.key, b.key, _told(a), _told(b), seed, tuple(items), book, by)
    store.annotations.append(STUDY, None, "", msgspec.json.encode(study))
    return study


def _told(source: Compared) -> str:
    return " ".join(part for part in (source.name, source.told) if part)


def _differing(
    store: Store, dataset: Dataset, a: Compared, b: Compared, draw: random.Random, words: WordVectors
) -> list[Item]:
    """Texts in which some mask's two words have different vectors, one of each post, in the order of the file."""
    said_a, said_b = (_words(store, dataset, one) for one in (a, b))
    by_post: dict[str, list[Item]] = {}
    for number, record in store.samples.of_dataset(dataset.dataset):
        one, other = said_a.get(number, ()), said_b.get(number, ())
        sample = msgspec.json.decode(record, type=MaskedGold)
        masks = (sample.text or "").count(MASK)
        if not (len(one) == len(other) == masks and all(one) and all(other)):
            continue
        if any(not words.score(x, y).same_vector for x, y in zip(one, other, strict=True)):
            by_post.setdefault(post_of(sample), []).append(Item(number, sample.id, one, other))
    return sorted((draw.choice(items) for items in by_post.values()), key=lambda item: item.sample)


def _words(store: Store, dataset: Dataset, source: Compared) -> Mapping[int, tuple[str, ...]]:
    if source.run is not None:
        found = {}
        for row in store.results.of_run(source.run):
            if row.prediction is not None and row.repeat == 0:
                found[row.sample] = msgspec.json.decode(row.prediction, type=Prediction).labels
    elif source.key == GOLD:
        records = store.samples.of_dataset(dataset.dataset)
        found = {number: msgspec.json.decode(record, type=MaskedGold).labels for number, record in records}
    else:
        found = {
            number: tuple(map(str, one.get("labels") or ())) for number, one in says(store, dataset, source).items()
        }
    # Capitals would tell people from models.
    return {number: tuple(map(fold, words)) for number, words in found.items()}


def study_named(store: Store, name: str) -> Study:
    """The study of that name. Raises BadInput."""
    known = studies(store)
    if name not in known:
        there = ", ".join(map(literal, known)) or "none (emotui masked study begin)"
        raise BadInput(f"there is no study {literal(name)}; there are: {there}")
    return known[name]


class Coding:
    """One coder's work on a study. Every answer is kept at once; the order is kept when the coder begins.

    Raises:
        BadInput: there is no such study, or the coder has no name.
    """

    def __init__(self, store: Store, name: str, coder: str) -> None:
        if not coder.strip():
            raise BadInput("a coder needs a name: --coder NAME")
        self._store, self.coder = store, coder
        self._study = study_named(store, name)
        self.name, self.codes = self._study.name, self._study.codes
        self._items = {item.sample: item for item in self._study.items}
        kept = order_of(store, name, coder)
        if kept is None:
            kept = _drawn(self._study, coder)
            store.annotations.append(ORDER, None, coder, msgspec.json.encode(kept))
        self._order = kept.texts
        self._swapped = dict(kept.texts)
        self._answers = {one.sample or 0: answer for one, answer in answers_of(store, name, coder)}

    @property
    def texts(self) -> tuple[int, ...]:
        """The numbers of the texts, in the coder's order."""
        return tuple(number for number, _ in self._order)

    @property
    def answered(self) -> frozenset[int]:
        """The texts that have an answer."""
        return frozenset(self._answers)

    @property
    def dataset(self) -> int:
        """Of which dataset the texts are."""
        return self._study.dataset

    def next_open(self, after: int | None, step: int = 1) -> int | None:
        """The next text without an answer behind (1) or before (-1) this one, and then from the other end."""
        texts = self.texts[::step]
        start = texts.index(after) + 1 if after in texts else 0
        return next((one for one in (*texts[start:], *texts[:start]) if one not in self._answers), None)

    def shown(self, sample: int) -> Shown:
        """A text of the study. Raises BadInput where it is none."""
        item = self._items.get(sample)
        if item is None:
            raise BadInput(f"text {sample} is not in this study")
        ((_, record),) = self._store.samples.records([sample])
        pieces = tuple((msgspec.json.decode(record, type=MaskedGold).text or "").split(MASK))
        first, second = (item.b, item.a) if self._swapped[sample] else (item.a, item.b)
        number = self.texts.index(sample) + 1
        return Shown(number, sample, item.id, pieces, first, second, self._answers.get(sample))

    def say(
        self,
        sample: int,
        answer: str,
        *,
        rationale: str = "",
        own: Sequence[str] = (),
        codes: Sequence[str] = (),
    ) -> Answer:
        """Keep an answer, in place of the one before.

        Args:
            own: open codes, in the coder's own words.

        Raises:
            BadInput: the text is not in the study, no such answer, or a code is not in the codebook or does not go
                with the answer.
        """
        said = self.check(sample, answer, rationale, own, codes)
        self.write(sample, said)
        self.note(sample, said)
        return said

    def write(self, sample: int, answer: Answer) -> None:
        """Keep an answer that was checked."""
        self._store.annotations.append(ANSWER, sample, self.coder, msgspec.json.encode(answer))

    def note(self, sample: int, answer: Answer) -> None:
        """Know an answer that is about to be kept: what is open is told at once, before it stands in the store."""
        self._answers[sample] = answer

    def check(self, sample: int, answer: str, rationale: str, own: Sequence[str], codes: Sequence[str]) -> Answer:
        """The answer as it would be kept. Raises BadInput as `say`."""
        if sample not in self._items:
            raise BadInput(f"text {sample} is not in this study")
        return checked_answer(self._study, answer, self._swapped[sample], rationale, own, codes)

    def say_all(self, said: Sequence[tuple[int, str, str, Sequence[str], Sequence[str]]]) -> int:
        """Keep answers (text, answer, rationale, own codes, codes), all or none; how many differ from those before.

        Raises:
            BadInput: as `say`.
        """
        answers = {one[0]: self.check(*one) for one in said}
        fresh = {sample: one for sample, one in answers.items() if self._answers.get(sample) != one}
        self._store.annotations.append_all(
            [(ANSWER, sample, self.coder, msgspec.json.encode(one)) for sample, one in fresh.items()]
        )
        self._answers |= fresh
        return len(fresh)

    def undo(self) -> int | None:
        """Take the last answer that stands back; its text, None where there is none."""
        standing = answers_of(self._store, self.name, self.coder)
        if not standing:
            return None
        entry, _ = standing[-1]
        self._store.annotations.append(UNDO, entry.sample, self.coder, b"{}", undoes=entry.annotation)
        self._answers = {one.sample or 0: answer for one, answer in standing[:-1]}
        return entry.sample


def checked_answer(
    study: Study, answer: str, swapped: bool, rationale: str, own: Sequence[str], codes: Sequence[str]
) -> Answer:
    """An answer to a text of a study. Raises BadInput as `Coding.say`."""
    if answer not in ANSWERS:
        raise BadInput(f"{literal(answer)} is none of {', '.join(ANSWERS)}")
    known = {code.code: code for code in study.codes}
    for code in codes:
        if code not in known:
            raise BadInput(f"there is no code {literal(code)}: {', '.join(map(literal, known))}")
        if not known[code].fits(answer):
            raise BadInput(f"code {literal(code)} is for {known[code].applies}, and the answer is {answer}")
    stripped = tuple(dict.fromkeys(word for one in own if (word := one.strip())))
    return Answer(study.name, answer, swapped, rationale.strip(), stripped, tuple(dict.fromkeys(codes)))


def _drawn(study: Study, coder: str) -> Order:
    """A coder's own order: of the texts, and of the two words in each."""
    source = random.Random(f"{study.seed} {study.name} {coder}")
    numbers = [item.sample for item in study.items]
    source.shuffle(numbers)
    return Order(study.name, tuple((number, source.random() < 0.5) for number in numbers))


def progress(store: Store) -> list[dict[str, Any]]:
    """Each study's name, how many texts it has, and how many of them each coder has answered."""
    return [
        {
            "study": name,
            "texts": len(study.items),
            "coders": {
                coder: len({entry.sample for entry, _ in answers_of(store, name, coder)})
                for coder in coders_of(store, name)
            },
        }
        for name, study in studies(store).items()
    ]


def results(store: Store, name: str) -> dict[str, Any]:
    """The document of a study, `a` and `b` named, with the paper's figures beside. Raises BadInput."""
    study = study_named(store, name)
    said = {
        coder: {
            str(entry.sample): Verdict(
                answer.verdict, not answer.swapped if answer.ordered else None, answer.codes, answer.open, answer.stray
            )
            for entry, answer in answers_of(store, name, coder)
        }
        for coder in coders_of(store, name)
    }
    about = {code.code: code.about for code in study.codes}
    document = study_report({coder: one for coder, one in said.items() if one}, len(study.items), tuple(about))
    for row in document["codes"]:
        row["about"] = about.get(row["code"], "")
    paper = express_table("A.7")
    by = {"lexicon": study.lexicon} if study.lexicon else {}
    return {"study": name, "a": study.a_name, "b": study.b_name, **by, **document, "paper": paper}
