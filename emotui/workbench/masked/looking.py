"""One masked text: what gold and a run put behind each mask, as words and as vectors, and what the prompt showed."""

import re
from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

import msgspec

from emotui.backends.base import MASK
from emotui.backends.host import IsCancelled
from emotui.errors import BadInput
from emotui.metrics.masked import fold, standing
from emotui.records import MaskedGold
from emotui.store.query import Run
from emotui.store.rows import Annotation
from emotui.store.store import Store
from emotui.tasks.masked.examples import Example, ExampleFile, loaded
from emotui.tasks.masked.lexicon import WordVectors, word_vectors
from emotui.tasks.masked.task import Prediction, is_missed
from emotui.workbench.compare.sources import Compared
from emotui.workbench.masked.building import Building
from emotui.workbench.masked.lexicons import lexicon_of
from emotui.workbench.masked.review import Reviewing, begin_review, reviews, write_reviewed
from emotui.workbench.masked.study import Coding, begin_study, results, study_sources
from emotui.workbench.masked.study_log import coders_of, studies
from emotui.workbench.runs.plan import RunConfig
from emotui.workbench.runs.scores import last_attempts
from emotui.workbench.runs.states import with_state

# What people guess behind masks, in the annotation log: one entry a text and guess, the last one counts.

KIND, UNDO = "masked-guess", "masked-guess-undo"


class Guess(msgspec.Struct, frozen=True):
    """A word for each mask; `blind`: given before the words of gold or a run were seen."""

    words: tuple[str, ...]
    blind: bool = True


def keep_guess(store: Store, sample: int, person: str, guess: Guess) -> None:
    """Keep a guess behind the ones before."""
    store.annotations.append(KIND, sample, person, msgspec.json.encode(guess))


def guess_of(store: Store, sample: int, person: str) -> Guess | None:
    """The last guess of a person about a text that stands."""
    last = _last(store, sample, person)
    return None if last is None else msgspec.json.decode(last.payload, type=Guess)


def take_back(store: Store, sample: int, person: str) -> None:
    """Take the last guess that stands back; nothing happens where there is none."""
    last = _last(store, sample, person)
    if last is not None:
        store.annotations.append(UNDO, sample, person, b"{}", undoes=last.annotation)


def _last(store: Store, sample: int, person: str) -> Annotation | None:
    entries = store.annotations.entries(sample, person, kind=KIND)
    undone = {one.undoes for one in entries}
    standing = [one for one in entries if one.kind == KIND and one.annotation not in undone]
    return standing[-1] if standing else None


class WordEntry(msgspec.Struct, frozen=True):
    """A word and how it stands to the lexicon. `vector`: over `DIMENSIONS`, None where the word is unknown."""

    word: str
    standing: str
    vector: tuple[int, ...] | None


class MaskSaid(msgspec.Struct, frozen=True):
    """What a run put behind a mask.

    `entry`: None where it gave no word. `f1`, `same_vector`: against gold. `likeliest`: its likeliest words with their
    probabilities, of a model that gives any; `entries` and `f1s`: those of these words; `gold_rank`: where gold stands
    among them, from 1. `missed`: as the mark M of the list has it. What a person guessed is scored in the same way.
    """

    entry: WordEntry | None
    f1: float
    same_vector: bool
    likeliest: tuple[tuple[str, float], ...] = ()
    gold_rank: int | None = None
    entries: tuple[WordEntry, ...] = ()
    f1s: tuple[float, ...] = ()
    missed: bool = False


class MaskedView(msgspec.Struct, frozen=True):
    """A text as the place shows it.

    `pieces`: the text around its masks, one more than there are masks. `said`: one a mask; empty without a run or an
    answer, and `why` says why there is none. `examples`: what the run's prompt showed, the nearest first; `unshown`:
    why there is none. `guess`: what this person guessed before, and `guessed` its words, scored as the run's are.
    `leaked`: one a mask, whether gold's word stands in the text outside the mask too.
    """

    number: int
    id: str
    pieces: tuple[str, ...]
    gold: tuple[WordEntry, ...]
    run: Run | None = None
    said: tuple[MaskSaid, ...] = ()
    why: str = ""
    repeats: int = 0
    examples: tuple[Example, ...] = ()
    unshown: str = ""
    guess: Guess | None = None
    guessed: tuple[MaskSaid, ...] = ()
    leaked: tuple[bool, ...] = ()


class Tally(msgspec.Struct, frozen=True):
    """A person's last guesses about a dataset, against the same texts by a run.

    `scores`: by sample the F1 of vectors, a mean over its masks; None of a text in which no word of gold has emotions:
    it is in no mean. `blind`: how many texts the two means are of: those that were guessed blind, and where there is a
    run, that it has answered. Means are None where there is no such text.
    """

    scores: Mapping[int, float | None] = {}
    blind: int = 0
    person: float | None = None
    run: float | None = None


def entry_of(word: str, words: WordVectors) -> WordEntry:
    """A word's entry."""
    folded = fold(word)
    vector = words.table.get(folded)
    return WordEntry(folded, standing(folded, words.table, words.supplement), None if vector is None else tuple(vector))


def mask_said(gold: str, predicted: str | None, likeliest: Sequence[tuple[str, float]], words: WordVectors) -> MaskSaid:
    """What a run said of one mask, against gold."""
    scored = words.score(gold, predicted)
    entry = None if scored.predicted is None else entry_of(scored.predicted, words)
    ranks = [rank for rank, (word, _) in enumerate(likeliest, start=1) if fold(word) == fold(gold)]
    entries = tuple(entry_of(word, words) for word, _ in likeliest)
    f1s = tuple(words.score(gold, word).f1 for word, _ in likeliest)
    rank, missed = ranks[0] if ranks else None, is_missed(scored, words)
    return MaskSaid(entry, scored.f1, scored.same_vector, tuple(likeliest), rank, entries, f1s, missed)


def is_leaked(word: str, pieces: Sequence[str]) -> bool:
    """Does a word stand in the text around the masks too?"""
    return re.search(rf"(?<!\w){re.escape(fold(word))}(?!\w)", " ".join(pieces).lower()) is not None


def _can_be_scored(gold: Sequence[str], words: WordVectors) -> bool:
    """Has any word of gold emotions that another word could share?"""
    return any(any(words.table.get(fold(word)) or ()) for word in gold)


def _mean_f1(gold: Sequence[str], guessed: Sequence[str], words: WordVectors) -> float:
    """F1 of vectors, a mean over the masks of a text; a mask without a word has 0."""
    each = (words.score(word, guessed[at] if at < len(guessed) else None).f1 for at, word in enumerate(gold))
    return mean(each) if gold else 0.0


class MaskedBench:
    """Made by `Workspace.masked()`. Every method may be called from any thread, and may take a while."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def look(self, sample: int, run: str | None, person: str) -> MaskedView:
        """A text with gold's words, a run's (None: none), and what this person guessed.

        Raises:
            BadInput: there is no such text, or it has not as many masks as words.
        """
        with self.store.together():
            words = word_vectors() if run is None else lexicon_of(self.store, self.store.runs.get(run))
            found = self.store.samples.records([sample])
            if not found:
                raise BadInput(f"there is no text {sample}")
            record = msgspec.json.decode(found[0][1], type=MaskedGold)
            pieces = tuple((record.text or "").split(MASK))
            if len(pieces) != len(record.labels) + 1:
                raise BadInput(f"{record.id}: {len(record.labels)} words for {len(pieces) - 1} masks")
            gold = tuple(entry_of(word, words) for word in record.labels)
            guess = guess_of(self.store, sample, person)
            own = guess.words if guess is not None else ()
            scored = tuple(mask_said(word, one, (), words) for word, one in zip(record.labels, own, strict=False))
            leaked = tuple(is_leaked(word, pieces) for word in record.labels)
            bare = MaskedView(sample, record.id, pieces, gold, guess=guess, guessed=scored, leaked=leaked)
            if run is None:
                return msgspec.structs.replace(bare, why="no run: R runs one, r chooses")
            of = with_state(self.store.runs.get(run))
            rows = last_attempts(self.store.results.of_run(of.run, [sample]))
        examples, unshown = _examples(of, record.id)
        bare = msgspec.structs.replace(bare, run=of, repeats=len(rows), examples=examples, unshown=unshown)
        answered = [row for row in rows if row.prediction is not None]
        if not answered:
            why = rows[0].error or "its answer could not be read" if rows else "this text has not been asked about yet"
            return msgspec.structs.replace(bare, why=why)
        said = msgspec.json.decode(answered[0].prediction or b"", type=Prediction)
        masks = [
            mask_said(
                word,
                said.labels[place] if place < len(said.labels) else None,
                said.masks[place] if place < len(said.masks) else (),
                words,
            )
            for place, word in enumerate(record.labels)
        ]
        return msgspec.structs.replace(bare, said=tuple(masks))

    def tally(self, dataset: int, run: str | None, person: str) -> Tally:
        """How a person's guesses about a dataset do, and how a run does on the texts guessed blind."""
        store = self.store
        entries = store.annotations.entries(annotator=person, kind=KIND, within=store.samples.file_order(dataset))
        undone = {one.undoes for one in entries}
        guesses = [one for one in entries if one.kind == KIND and one.annotation not in undone]
        last = {one.sample: one for one in guesses if one.sample is not None}
        if not last:
            return Tally()
        words = word_vectors() if run is None else lexicon_of(store, store.runs.get(run))
        golds = {
            number: msgspec.json.decode(record, type=MaskedGold) for number, record in store.samples.records([*last])
        }
        guess_of_text = {number: msgspec.json.decode(last[number].payload, type=Guess) for number in golds}
        known = {
            number: _mean_f1(golds[number].labels, guess.words, words)
            for number, guess in guess_of_text.items()
            if _can_be_scored(golds[number].labels, words)
        }
        scores = {number: known.get(number) for number in guess_of_text}
        blind = [number for number in known if guess_of_text[number].blind]
        if run is None or not blind:
            return Tally(scores, len(blind), mean(known[one] for one in blind) if blind else None)
        rows = last_attempts(store.results.of_run(run, blind))
        of_run = {
            row.sample: _mean_f1(
                golds[row.sample].labels, msgspec.json.decode(row.prediction, type=Prediction).labels, words
            )
            for row in rows
            if row.prediction is not None and not row.repeat
        }
        if not of_run:
            return Tally(scores)
        return Tally(scores, len(of_run), mean(known[one] for one in of_run), mean(of_run.values()))

    def studies(self, dataset: int) -> list[str]:
        """The names of the blind studies about a dataset."""
        return [name for name, study in studies(self.store).items() if study.dataset == dataset]

    def study_sources(self, dataset: int) -> list[Compared]:
        """What a blind study of a dataset can be about."""
        found = self.store.datasets.get(dataset)
        return [] if found is None else study_sources(self.store, found)

    def begin_study(self, dataset: int, name: str, first: str, second: str) -> None:
        """Begin a study of two sources. Raises BadInput."""
        found = self.store.datasets.get(dataset)
        if found is None:
            raise BadInput(f"there is no dataset {dataset}")
        begin_study(self.store, found, name, first, second)

    def coding(self, name: str, coder: str) -> Coding:
        """A coder's work on a study. Raises BadInput."""
        return Coding(self.store, name, coder)

    def study_results(self, name: str, person: str) -> dict[str, Any]:
        """What a study came to. Raises BadInput where this person codes in it and is not through: it would tell."""
        if person in coders_of(self.store, name):
            coding = Coding(self.store, name, person)
            left = len(coding.texts) - len(coding.answered)
            if left:
                raise BadInput(f"{left} texts wait for your answer: results are shown behind the last one")
        return results(self.store, name)

    def reviews(self) -> list[str]:
        """The names of the reviews of masks."""
        return list(reviews(self.store))

    def begin_review(self, name: str, path: str) -> None:
        """Build a file of posts by the protocol and keep what is doubtful. Raises BadInput."""
        begin_review(self.store, name, path, Building(), warn=lambda line: None)

    def reviewing(self, name: str, person: str) -> Reviewing:
        """A person's pass through a review. Raises BadInput."""
        return Reviewing(self.store, name, person)

    def write_review(self, name: str, to: str, cancelled: IsCancelled = lambda: False) -> int:
        """Write the set of a review; how many records. Raises BadInput, and Cancelled with nothing written."""
        return int(write_reviewed(self.store, name, to, warn=lambda line: None, cancelled=cancelled)["records"])

    def guess(self, sample: int, person: str, guessed: Sequence[str], *, blind: bool) -> None:
        """Keep a person's words for the masks of a text; `blind`: they had not seen the words of others before."""
        keep_guess(self.store, sample, person, Guess(tuple(map(fold, guessed)), blind))

    def take_back(self, sample: int, person: str) -> None:
        """Take a person's last guess about a text back; nothing happens where there is none."""
        take_back(self.store, sample, person)


def _examples(run: Run, key: str) -> tuple[tuple[Example, ...], str]:
    """What the run's prompt showed about a text, and why there is nothing."""
    named = msgspec.convert(run.config, RunConfig).options.get("examples")
    if named is None:
        return (), "the prompt of this run has no examples"
    try:
        found = loaded(msgspec.convert(named, ExampleFile)).get(key, ())
    except (BadInput, msgspec.ValidationError) as error:
        return (), str(error)
    return found, "" if found else "the file of examples has none for this text"
