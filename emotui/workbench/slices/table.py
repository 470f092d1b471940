"""The facets of one dataset, and which samples a line of conditions keeps."""

from collections.abc import Callable, Mapping, Sequence

import msgspec
import numpy as np

from emotui.errors import BadInput
from emotui.metrics.states import Floats
from emotui.store.query import MARKS, Dataset, ListQuery
from emotui.store.store import Store
from emotui.workbench.notes.folding import Note
from emotui.workbench.slices import built_in
from emotui.workbench.slices.conditions import (
    BUILT_IN,
    MARK,
    NUMBERS,
    RESERVED,
    SLICE,
    TEXT,
    WORDS,
    Condition,
    parsed,
)
from emotui.workbench.slices.facets import Bools, Facet, Said, as_text, own

_OWN = "meta."
_SEEN = 500
"""Records whose own columns are looked at."""


class Facets:
    """Each facet is computed when it is first asked for."""

    def __init__(self, store: Store, dataset: Dataset, notes: Sequence[Note]) -> None:
        self.store, self.dataset = store, dataset
        self.first = store.file_order(dataset.dataset).start
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
            self._records = [decode(record) for _, record in self.store.dataset_samples(self.dataset.dataset)]
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
        found[self.store.order(ListQuery(self.dataset.dataset, run, marks=letter)) - self.first] = True
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
                found = self.store.metric_means(self.dataset.dataset, run, name)
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
    "emotion": lambda of: built_in.emotion(of.records),
    "valence": lambda of: built_in.valence(of.records),
    "length": lambda of: built_in.length(of.records),
    "cues": lambda of: built_in.cues(of.records),
    "negation": lambda of: built_in.negation(of.records),
    "sentences": lambda of: built_in.sentences(of.records),
    "agreement": lambda of: built_in.agreement(of.store, of.dataset),
    "code": lambda of: built_in.codes(of.notes, of.first, of.n),
    "note": lambda of: built_in.notes(of.notes, of.first, of.n),
}
