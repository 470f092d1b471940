"""The facets of a dataset's samples, what can be asked of each, and which samples a line of conditions keeps."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from emotui.errors import BadInput
from emotui.lexicons import emolex, plutchik_of
from emotui.metrics.lexical import cues_of, is_negated
from emotui.metrics.states import Floats
from emotui.store.query import MARKS, Dataset, ListQuery
from emotui.store.store import Store
from emotui.workbench.agreement.documents import VALUES
from emotui.workbench.agreement.of_values import value_names, values_table
from emotui.workbench.agreement.panel import Panel, read_panel
from emotui.workbench.agreement.panel import Said as Answer
from emotui.workbench.datasets.sources import sources
from emotui.workbench.notes import Note
from emotui.workbench.slices.conditions import BUILT_IN, MARK, NUMBERS, RESERVED, SLICE, TEXT, WORDS, Condition, parsed

# A facet: columns of true and false, or of numbers.

Bools = NDArray[np.bool_]

MOST_VALUES = 40
"""A column of one's own with more different values is no facet, unless they are numbers."""

_FEW = 5
"""So many different numbers, or texts that are all different, are still values of their own."""


@dataclass(frozen=True, slots=True)
class Facet:
    """One facet. `members` (n, k): which samples have which of `values`; several may hold of one.

    `numbers` (n,): what the values were made of, where that is numbers; NaN where a sample has none. `about`: in words.
    """

    name: str
    about: str
    values: tuple[str, ...]
    members: Bools
    numbers: Floats | None = None


class Said(msgspec.Struct):
    """What facets need of a record, whatever task it is of."""

    text: str | None = None
    emotion: str | None = None
    valence: str | None = None
    spans: list[Any] | None = None
    label: str | None = None
    labels: Any = None
    sentences: list[dict[str, Any]] = []
    annotators: dict[str, Any] = {}
    meta: dict[str, Any] = {}


def as_text(value: object) -> str | None:
    """A value of a column as text, as the list's own filter has it."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def own(name: str, said: Sequence[Any]) -> Facet | None:
    """The facet of a column of one's own: thirds of numbers, else its values; None where these are too many.

    Args:
        said: what each sample says; None or empty where it says nothing.
    """
    known = [one for one in said if one is not None and one != ""]
    numeric = all(isinstance(one, int | float) and not isinstance(one, bool) for one in known)
    texts = [as_text(one) for one in said]
    different = {text for text in texts if text}
    if numeric and len(different) > _FEW:
        numbers = np.array([float(one) if isinstance(one, int | float) else np.nan for one in said])
        return thirds(name, f"{name}, a third each", numbers, ("low", "middle", "high"))
    if len(different) > MOST_VALUES or len(different) == len(known) > _FEW:
        return None
    return categories(name, f"column {name}", [(text,) if text else () for text in texts])


def categories(name: str, about: str, said: Sequence[Iterable[str]], order: Sequence[str] = ()) -> Facet | None:
    """A facet of what each sample has; `order`: of values, where it is not that of their number."""
    counts: dict[str, int] = {}
    kept = [tuple(dict.fromkeys(each)) for each in said]
    for each in kept:
        for value in each:
            counts[value] = counts.get(value, 0) + 1
    if not counts:
        return None
    place = {value: at for at, value in enumerate(order)}
    values = sorted(counts, key=lambda value: (place.get(value, len(place)), -counts[value], value))
    at = {value: column for column, value in enumerate(values)}
    members = np.zeros((len(kept), len(values)), dtype=np.bool_)
    for row, each in enumerate(kept):
        for value in each:
            members[row, at[value]] = True
    return Facet(name, about, tuple(values), members)


def thirds(name: str, about: str, numbers: Floats, names: tuple[str, str, str]) -> Facet | None:
    """A facet of numbers in three parts of about the same size; equal numbers are in one part."""
    known = numbers[~np.isnan(numbers)]
    if not len(known):
        return None
    low, high = np.quantile(known, [1 / 3, 2 / 3])
    members = np.stack([numbers <= low, (numbers > low) & (numbers <= high), numbers > high], axis=1)
    there = np.flatnonzero(members.sum(axis=0))
    values = tuple(names[at] for at in there.tolist())
    return Facet(name, about, values, members[:, there], numbers)


def emotions_of(said: Said) -> tuple[str, ...]:
    """All gold emotions or labels of a record."""
    found = [said.emotion, said.label, *(one.get("emotion") for one in said.sentences)]
    found += [span[2] for span in said.spans or () if isinstance(span, list) and len(span) > 2]
    if isinstance(said.labels, Mapping):
        found += [name for name, value in said.labels.items() if value]
    elif isinstance(said.labels, Sequence):
        found += said.labels
    return tuple(dict.fromkeys(one for one in found if isinstance(one, str) and one))


# The facets that any dataset may have.

_SENTENCE = re.compile(r"[.!?…]+[\"'”’)\]]*(?:\s|$)")
_YES, _NO = ("yes",), ("no",)


def emotion(records: Sequence[Said]) -> Facet | None:
    """Gold emotions or labels of samples, their sentences and spans."""
    return categories("emotion", "gold emotion or label", [emotions_of(said) for said in records])


def valence(records: Sequence[Said]) -> Facet | None:
    """Gold valence of samples and their sentences."""
    said = [[one.valence, *(each.get("valence") for each in one.sentences)] for one in records]
    return categories("valence", "gold valence", [[word for word in each if isinstance(word, str)] for each in said])


def length(records: Sequence[Said]) -> Facet | None:
    """Words between spaces, a third of the samples each."""
    counts = np.array([np.nan if said.text is None else len(said.text.split()) for said in records])
    return thirds("length", "words, a third each", counts, ("short", "middle", "long"))


def cues(records: Sequence[Said]) -> Facet | None:
    """Explicit, misleading or implicit, as `emotui.metrics.lexical` has it, for any of a sample's gold emotions.

    Samples without a gold emotion that maps to Plutchik's eight are in none of the three.
    """
    lexicon = emolex()
    found: list[tuple[str, ...]] = []
    for said in records:
        gold = {mapped for label in emotions_of(said) if (mapped := plutchik_of(label)) is not None}
        if said.text is None or not gold:
            found.append(())
            continue
        tied = [set(cue.emotions) for cue in cues_of(said.text, lexicon)]
        explicit = any(gold & emotions for emotions in tied)
        found.append(("explicit" if explicit else "misleading" if tied else "implicit",))
    return categories("cues", "words of EmoLex", found, ("explicit", "implicit", "misleading"))


def negation(records: Sequence[Said]) -> Facet | None:
    """Whether some word negates, as `emotui.metrics.lexical` has it."""
    said = [() if one.text is None else _YES if is_negated(one.text) else _NO for one in records]
    return categories("negation", "a word that negates", said)


def sentences(records: Sequence[Said]) -> Facet | None:
    """How many sentences: those of the record, else by full stops, exclamation and question marks."""
    found: list[tuple[str, ...]] = []
    for said in records:
        n = len(said.sentences) or len(_SENTENCE.findall((said.text or "").strip() + "\n"))
        found.append(() if said.text is None else ("1",) if n <= 1 else ("2 to 4",) if n < 5 else ("5 and more",))
    return categories("sentences", "how many sentences", found, ("1", "2 to 4", "5 and more"))


def notes(wanted: Sequence[Note], first: int, n: int) -> Facet | None:
    """Whether somebody noted something."""
    there = {note.sample - first for note in wanted}
    return categories("note", "whether there is a note", [_YES if at in there else _NO for at in range(n)])


def codes(wanted: Sequence[Note], first: int, n: int) -> Facet | None:
    """The codes of a sample's notes, whoever gave them."""
    found: list[list[str]] = [[] for _ in range(n)]
    for note in wanted:
        found[note.sample - first] += note.codes
    return categories("code", "codes of notes", found)


def agreement(store: Store, dataset: Dataset) -> Facet | None:
    """How far two annotators of a sample agree in the mean: all, at least half, or less.

    Of spans: the F1 of the letters that both mark. Of labels: those of both over those of either. Of words and vectors:
    the share that is equal. Of numbers: a third of the samples each, by how far they are apart on the range that all
    of their name take.
    """
    people = [one.name for one in sources(store, dataset.name) if one.is_person]
    if len(people) < 2:
        return None
    try:
        panel = read_panel(store, dataset.name)
    except BadInput:
        return None
    if panel.kind == VALUES:
        return thirds(
            "agreement", "how far annotators agree, a third each", _nearness(panel), ("low", "middle", "high")
        )
    found: list[tuple[str, ...]] = []
    for at in range(len(panel.texts)):
        said = [answers[at] for answers in panel.said.values() if at in answers]
        shares = [share for a, b in combinations(said, 2) if (share := _share(a, b)) is not None]
        mean = sum(shares) / len(shares) if shares else None
        word = "" if mean is None else "full" if mean > 1 - 1e-9 else "half" if mean >= 0.5 else "low"
        found.append((word,) if word else ())
    return categories("agreement", "how far annotators agree", found, ("full", "half", "low"))


def _nearness(panel: Panel) -> Floats:
    """(texts,): 1 less the mean distance of two annotators, of each number over its range; NaN for fewer than two."""
    found: list[Floats] = []
    for name in value_names(panel):
        table = values_table(panel, name)
        span = np.nanmax(table) - np.nanmin(table)
        pairs = [np.abs(table[:, a] - table[:, b]) for a, b in combinations(range(table.shape[1]), 2)]
        found.append(_known_mean(np.stack(pairs)) / (span or 1.0))
    return 1 - _known_mean(np.stack(found))


def _known_mean(table: Floats) -> Floats:
    """(columns,): the mean of what is no NaN; NaN where nothing is."""
    known = ~np.isnan(table)
    with np.errstate(invalid="ignore"):
        mean: Floats = np.where(known, table, 0.0).sum(axis=0) / known.sum(axis=0)
    return mean


def _share(a: Answer, b: Answer) -> float | None:
    """In [0, 1]; None of numbers, and of what cannot be held against each other."""
    if isinstance(a, Mapping) or isinstance(b, Mapping):
        if not isinstance(a, Mapping) or not isinstance(b, Mapping) or {*a.values(), *b.values()} - {0, 1}:
            return None
        names = a.keys() | b.keys()
        return sum(a.get(name) == b.get(name) for name in names) / len(names) if names else None
    if not a and not b:
        return 1.0
    if all(isinstance(one, str) for one in (*a, *b)):
        return len(set(a) & set(b)) / len(set(a) | set(b))
    one, other = (
        {place for mark in marks if not isinstance(mark, str) for place in range(mark.start, mark.end)}
        for marks in (a, b)
    )
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else 1.0


_OWN = "meta."
_SEEN = 500
"""Records whose own columns are looked at."""


class Facets:
    """Each facet is computed when it is first asked for."""

    def __init__(self, store: Store, dataset: Dataset, notes: Sequence[Note]) -> None:
        self.store, self.dataset = store, dataset
        self.first = store.samples.file_order(dataset.dataset).start
        self.notes = notes
        self._records: list[Said] | None = None
        self._held: dict[str, Facet | None] = {}

    @property
    def n(self) -> int:
        """How many samples there are."""
        return self.dataset.n

    @property
    def records(self) -> list[Said]:
        """What every record says, in the order of the file."""
        if self._records is None:
            decode = msgspec.json.Decoder(Said).decode
            self._records = [decode(record) for _, record in self.store.samples.of_dataset(self.dataset.dataset)]
        return self._records

    def names(self) -> list[str]:
        """The names of all facets that there are, those of the data's own columns last."""
        columns = dict.fromkeys(name for said in self.records[:_SEEN] for name in said.meta)
        own_names = [f"{_OWN}{name}" if name in RESERVED else name for name in columns]
        return [name for name in (*BUILT_IN, *own_names) if self.facet(name) is not None]

    def facet(self, name: str) -> Facet | None:
        """The facet of this name; None where no sample has it, or it has too many values.

        A column of one's own that is called as what any dataset has is asked for as `meta.NAME`.
        """
        if name not in self._held:
            make = _MADE.get(name)
            self._held[name] = own(name, self._column(name)) if make is None else make(self)
        return self._held[name]

    def _column(self, name: str) -> list[object]:
        plain = name.removeprefix(_OWN)
        return [said.meta.get(plain) for said in self.records]

    def keeps(self, line: str, run: str | None = None) -> Bools:
        """(n,) which samples a line of conditions keeps.

        Args:
            run: whose errors and figures are asked for.

        Raises:
            BadInput: it is no line of conditions, or asks for what is not there.
        """
        return self._keeps(line, run, frozenset())

    def _keeps(self, line: str, run: str | None, within: frozenset[str]) -> Bools:
        kept = np.ones(self.n, dtype=np.bool_)
        for condition in parsed(line):
            found = self._held_by(condition, run, within)
            kept &= ~found if condition.operator == "!=" else found
        return kept

    def _held_by(self, asked: Condition, run: str | None, within: frozenset[str]) -> Bools:
        """(n,) where a condition holds, whether it is turned round or not."""
        if asked.operator in NUMBERS:
            return _compared(self._numbers(asked.facet, run), asked)
        found = np.zeros(self.n, dtype=np.bool_)
        for value in asked.values:
            found |= self._has(asked.facet, value, run, within)
        return found

    def _has(self, name: str, value: str, run: str | None, within: frozenset[str]) -> Bools:
        if name == TEXT:
            wanted = value.lower()
            return np.array([wanted in (said.text or "").lower() for said in self.records], dtype=np.bool_)
        if name == SLICE:
            return self._in_slice(value, run, within)
        if name == MARK:
            return self._marked(value, run)
        if name == WORDS:
            return np.equal(self._numbers(name, run), _figure(name, value))
        facet = self.facet(name)
        if name in _MADE or (facet is not None and value in facet.values):
            return _member(facet, value, self.n)
        said = [as_text(one) for one in self._column(name)]
        if not any(said):
            if run is not None:
                return np.equal(self._numbers(name, run), _figure(name, value))
            raise self._nothing(name)
        wanted = value.lower()
        return np.array([(one or "").lower() == wanted for one in said], dtype=np.bool_)

    def _in_slice(self, name: str, run: str | None, within: frozenset[str]) -> Bools:
        saved = {each: line for each, line, _ in self.store.slices.all(self.dataset.dataset)}
        if name not in saved:
            raise BadInput(f"{self.dataset.name} has no slice {name!r}; it has: {', '.join(saved) or 'none'}")
        if name in within:
            raise BadInput(f"the slice {name!r} is made of itself")
        return self._keeps(saved[name], run, within | {name})

    def _marked(self, letter: str, run: str | None) -> Bools:
        if letter not in MARKS:
            raise BadInput(f"there is no mark {letter!r}; there are: {', '.join(MARKS)}")
        if run is None:
            raise BadInput(f"mark={letter} is of a run: choose one")
        found = np.zeros(self.n, dtype=np.bool_)
        found[self.store.listing.order(ListQuery(self.dataset.dataset, run, marks=letter)) - self.first] = True
        return found

    def _numbers(self, name: str, run: str | None) -> Floats:
        """(n,) the numbers of a name; NaN where a sample has none."""
        if name == WORDS:
            facet = self.facet("length")
            return np.full(self.n, np.nan) if facet is None or facet.numbers is None else facet.numbers
        if name not in _MADE:
            said = self._column(name)
            if any(isinstance(one, int | float) and not isinstance(one, bool) for one in said):
                return np.array(
                    [
                        float(one) if isinstance(one, int | float) and not isinstance(one, bool) else np.nan
                        for one in said
                    ]
                )
            if run is not None:
                found = self.store.listing.metric_means(self.dataset.dataset, run, name)
                if not np.isnan(found).all():
                    return found
        raise self._nothing(name)

    def _nothing(self, name: str) -> BadInput:
        there = ", ".join(self.names())
        return BadInput(f"{self.dataset.name} has nothing called {name!r}; it has: {there}, and of a run its metrics")


def _number(said: object) -> float:
    return float(said) if isinstance(said, int | float) and not isinstance(said, bool) else np.nan


def _compared(numbers: Floats, asked: Condition) -> Bools:
    with np.errstate(invalid="ignore"):
        match asked.operator:
            case "<":
                return numbers < asked.number
            case "<=":
                return numbers <= asked.number
            case ">":
                return numbers > asked.number
            case _:
                return numbers >= asked.number


def _figure(name: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise BadInput(f"{name}={value}: {name} is a number") from None


def _member(facet: Facet | None, value: str, n: int) -> Bools:
    """(n,) which samples have a value of a facet, in capitals or not; nobody where it has no such value."""
    if facet is None:
        return np.zeros(n, dtype=np.bool_)
    exact = [at for at, each in enumerate(facet.values) if each == value]
    alike = exact or [at for at, each in enumerate(facet.values) if each.casefold() == value.casefold()]
    found: Bools = np.logical_or.reduce(facet.members[:, alike], axis=1)
    return found


_MADE: Mapping[str, Callable[[Facets], Facet | None]] = {
    "emotion": lambda of: emotion(of.records),
    "valence": lambda of: valence(of.records),
    "length": lambda of: length(of.records),
    "cues": lambda of: cues(of.records),
    "negation": lambda of: negation(of.records),
    "sentences": lambda of: sentences(of.records),
    "agreement": lambda of: agreement(of.store, of.dataset),
    "code": lambda of: codes(of.notes, of.first, of.n),
    "note": lambda of: notes(of.notes, of.first, of.n),
}
