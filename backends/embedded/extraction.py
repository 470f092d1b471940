"""Spans of emotion evidence, each with a label: cue words, as REMAN marks fiction, or clauses, as SEER marks speech."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from emotui.backends.base import Evidence
from emotui.backends.embedded.encoder import WIDTH, Encoder, Floats
from emotui.backends.embedded.inference import Stack, hidden_states, pooled, sentence_embeddings, sigmoid
from emotui.backends.embedded.tokens import END, START, WordPieces
from emotui.backends.embedded.weights import Weights
from emotui.backends.embedded.words import ends_sentence, pieces_of_words, words

WINDOW = 158
CONTEXT = 24


@dataclass(frozen=True)
class Reading:
    """A text, the places of its words, each word's pieces (never none), and the ids of all pieces."""

    text: str
    places: list[tuple[int, int]]
    owned: list[list[int]]
    ids: list[int]


def read(pieces: WordPieces, texts: Sequence[str]) -> list[Reading]:
    """Words and word pieces of each text; a word that the tokenizer sees nothing of (a lone joiner) is left out."""
    readings = []
    for text, encoding in zip(texts, pieces.encode(texts), strict=True):
        places = words(text)
        owned = pieces_of_words(encoding.offsets, places)
        kept = [index for index, parts in enumerate(owned) if parts]
        readings.append(Reading(text, [places[i] for i in kept], [owned[i] for i in kept], encoding.ids))
    return readings


def windows(length: int) -> list[tuple[int, int, int, int]]:
    """Cuts of a long text: `(start, end, kept start, kept end)` in word pieces.

    Windows overlap; each piece is kept from one window, in which it has at least CONTEXT neighbours on either side
    (fewer only where the text begins or ends).
    """
    cuts = []
    start = kept = 0
    while True:
        end = min(start + WINDOW, length)
        keep_to = length if end == length else end - CONTEXT
        cuts.append((start, end, kept, keep_to))
        if end == length:
            return cuts
        kept, start = keep_to, keep_to - CONTEXT


def piece_states(encoder: Encoder, readings: Sequence[Reading]) -> Iterator[tuple[int, int, Floats]]:
    """Yields (number of the text, first piece, (pieces, 384)), each piece of each text once, in no set order."""
    cuts = [(number, cut) for number, reading in enumerate(readings) for cut in windows(len(reading.ids))]
    rows = [[START, *readings[number].ids[start:end], END] for number, (start, end, _, _) in cuts]
    for index, states in hidden_states(encoder, rows):
        number, (start, _, keep_from, keep_to) = cuts[index]
        yield number, keep_from, states[1 + keep_from - start : 1 + keep_to - start]


OPENERS = frozenset(
    {
        "and", "but", "or", "because", "so", "while", "when", "as", "which", "who", "if", "until", "before", "after",
        "since", "though", "although", "where",
    }
)  # fmt: skip
"""Words that begin a clause without a comma before them."""

_BREAK = re.compile(r'[,;:—–…()"“”!?.]|\s-\s|\n')


@dataclass(frozen=True, slots=True)
class Clause:
    """Words `first` to `last`; `apart`: punctuation stands before it; and where in its sentence it stands."""

    first: int
    last: int
    apart: bool
    place: int
    siblings: int
    loud: bool
    alone: bool

    @property
    def structure(self) -> tuple[float, ...]:
        """What a head is told beside the words: length, place among the sentence's clauses, marks around."""
        words = self.last - self.first + 1
        return (
            words / 10,
            1 / words,
            self.place / max(1, self.siblings - 1),
            float(self.place == 0),
            float(self.place == self.siblings - 1),
            float(self.apart),
            self.siblings / 4,
            float(self.loud),
            float(self.alone),
        )


STRUCTURE = 9


def clauses(text: str, places: Sequence[tuple[int, int]]) -> list[Clause]:
    """The clauses of a text in order; every word belongs to one. Args: places: its words."""
    sentences: list[list[list[int]]] = []
    apart = []
    for word, (start, end) in enumerate(places):
        before = places[word - 1][1] if word else 0
        marked = word == 0 or _BREAK.search(text, before, start) is not None
        if word == 0 or ends_sentence(text, before, start):
            sentences.append([])
        if not sentences[-1] or marked or text[start:end].lower() in OPENERS:
            sentences[-1].append([word, word])
            apart.append(marked)
        else:
            sentences[-1][-1][1] = word
    marks = iter(apart)
    return [
        Clause(
            first,
            last,
            next(marks),
            place,
            len(sentence),
            any(mark in text[places[last][1] : places[last][1] + 2] for mark in "!?"),
            len(sentences) == 1,
        )
        for sentence in sentences
        for place, (first, last) in enumerate(sentence)
    ]


Run = tuple[int, int, float]
"""First word, last word, strength in [0, 1]."""


@dataclass(frozen=True)
class CueRule:
    """A cue is a run of words of one sentence, each of at least `low`, one of at least `high` probability; a word that
    begins a cue with at least `split` begins a new one."""

    low: float
    high: float
    split: float


def cue_probabilities(stack: Stack, readings: Sequence[Reading]) -> list[Floats]:
    """For each text (words, 2): the probabilities that a word is inside a cue (mean over its pieces) and begins one."""
    logits = [np.empty((len(reading.ids), 2), np.float32) for reading in readings]
    for number, first, states in piece_states(stack.encoder, readings):
        logits[number][first : first + len(states)] = stack.head(states)
    result = []
    for reading, values in zip(readings, logits, strict=True):
        table = np.empty((len(reading.owned), 2), np.float32)
        for word, parts in enumerate(reading.owned):
            table[word, 0] = values[parts[0] : parts[-1] + 1, 0].mean()
            table[word, 1] = values[parts[0], 1]
        result.append(sigmoid(table))
    return result


def cue_runs(reading: Reading, probabilities: Floats, rule: CueRule) -> list[Run]:
    """Cues by the rule. Args: probabilities: (words, 2), inside and begins."""
    rows = probabilities.tolist()
    runs: list[Run] = []
    current: list[int] = []

    def close() -> None:
        values = [rows[word][0] for word in current]
        if current and max(values) >= rule.high:
            runs.append((current[0], current[-1], sum(values) / len(values)))

    for word, (inside, begins) in enumerate(rows):
        before = reading.places[word - 1][1] if word else 0
        if current and (
            inside < rule.low or begins >= rule.split or ends_sentence(reading.text, before, reading.places[word][0])
        ):
            close()
            current = []
        if inside >= rule.low:
            current.append(word)
    close()
    return runs


def clause_features(
    encoders: Sequence[Encoder], readings: Sequence[Reading], cut: Sequence[Sequence[Clause]]
) -> list[Floats]:
    """For each text (clauses, 384 * encoders + STRUCTURE): each encoder's mean state over a clause, its structure."""
    clause_of = []
    for reading, parts in zip(readings, cut, strict=True):
        owner = np.full(len(reading.ids), len(parts))  # pieces of no word are summed where nobody looks
        for number, clause in enumerate(parts):
            for word in range(clause.first, clause.last + 1):
                owner[reading.owned[word]] = number
        clause_of.append(owner)
    tables = [[] for _ in readings]  # type: list[list[Floats]]
    for encoder in encoders:
        sums = [np.zeros((len(parts) + 1, WIDTH), np.float32) for parts in cut]
        for number, first, states in piece_states(encoder, readings):
            np.add.at(sums[number], clause_of[number][first : first + len(states)], states)
        for number, total in enumerate(sums):
            counts = np.bincount(clause_of[number], minlength=len(total))[:-1, None]
            tables[number].append(np.asarray(total[:-1] / np.maximum(counts, 1), np.float32))
    return [
        np.concatenate([*table, np.array([clause.structure for clause in parts], np.float32)], 1)
        if parts
        else np.empty((0, 0), np.float32)
        for table, parts in zip(tables, cut, strict=True)
    ]


def clause_runs(parts: Sequence[Clause], probabilities: Sequence[float], threshold: float) -> list[Run]:
    """Clauses of at least `threshold`, joined where no punctuation stands between them."""
    runs: list[list[float]] = []
    joins = False
    for clause, probability in zip(parts, probabilities, strict=True):
        if probability < threshold:
            joins = False
            continue
        if joins and not clause.apart:
            runs[-1][1] = clause.last
            runs[-1].append(probability)
        else:
            runs.append([clause.first, clause.last, probability])
        joins = True
    return [(int(run[0]), int(run[1]), sum(run[2:]) / len(run[2:])) for run in runs]


def extract_clauses(
    encoders: Sequence[Encoder], readings: Sequence[Reading], weight: Floats, bias: Floats, threshold: float
) -> list[list[Run]]:
    """Evidence clauses by a linear head. Args: weight: (features,). bias: ()."""
    cut = [clauses(reading.text, reading.places) for reading in readings]
    runs = []
    for parts, features in zip(cut, clause_features(encoders, readings, cut), strict=True):
        probabilities = sigmoid(features @ weight + bias).tolist() if parts else []
        runs.append(clause_runs(parts, probabilities, threshold))
    return runs


def labelled(
    readings: Sequence[Reading], found: Sequence[Sequence[Run]], labeller: Stack, labels: Sequence[str]
) -> list[list[Evidence]]:
    """Offsets and a label for each run: the label head, read over the tokens of the run in the context of its text.

    `neutral` is left out of the choice: a span of evidence is evidence of something.
    """
    wanted: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    for number, runs in enumerate(found):
        for place, (first, last, _) in enumerate(runs):
            begin, end = readings[number].owned[first][0], readings[number].owned[last][-1] + 1
            start = max(0, min((begin + end - WINDOW) // 2, len(readings[number].ids) - WINDOW))
            inside = (place, max(begin, start) - start + 1, min(end, start + WINDOW) - start + 1)
            wanted.setdefault((number, start), []).append(inside)
    contexts = list(wanted)
    rows = [[START, *readings[number].ids[start : start + WINDOW], END] for number, start in contexts]
    chosen: dict[tuple[int, int], str] = {}
    others = [index for index, label in enumerate(labels) if label != "neutral"]
    for index, states in hidden_states(labeller.encoder, rows):
        for place, begin, end in wanted[contexts[index]]:
            logits = labeller.head(pooled(states[begin:end]))
            chosen[contexts[index][0], place] = labels[others[int(logits[others].argmax())]]
    return [
        [
            Evidence(reading.places[first][0], reading.places[last][1], chosen[number, place], strength)
            for place, (first, last, strength) in enumerate(runs)
        ]
        for number, (reading, runs) in enumerate(zip(readings, found, strict=True))
    ]


def like_fiction(weights: Weights, ids: Sequence[Sequence[int]]) -> list[bool]:
    """By a linear head on the sentence embedding. Args: ids: token ids of n texts."""
    odds = sentence_embeddings(weights.base, ids) @ weights.clauses["style.weight"] + weights.clauses["style.bias"]
    return [value > 0 for value in odds.tolist()]
