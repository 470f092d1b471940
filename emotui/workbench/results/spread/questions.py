"""The answers of people and sources as columns, a question of a text a row."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emotui.workbench.results.spread.opinions import Answer, Asked, Key, Opinions

if TYPE_CHECKING:
    import numpy as np

    Figures = np.ndarray[tuple[int], np.dtype[np.float64]]
    Places = np.ndarray[tuple[int], np.dtype[np.int64]]

LEAST = 2
"""Annotators of a text from which on they have a spread."""


@dataclass(frozen=True, slots=True)
class Annotator:
    """`texts`: the places of those that someone annotated; `rows`: the questions of these; `gives`: 0 or 1 of each."""

    texts: "Places"
    rows: "Places"
    gives: "Figures"


@dataclass(frozen=True, slots=True)
class Spread:
    """Questions of texts, a row each: `text` is the place of the text among `numbers`, `of` that of the class.

    `counts`: (texts,) their annotators; `sums`: how many of these say yes. `said`: by run the mean over repeats of its
    probabilities, NaN for a text that it did not answer; `given`: the share of repeats in which it says yes. `sure`:
    the runs that give probabilities; `voted`: those of which some text has several repeats.
    """

    asked: Asked
    classes: tuple[str, ...]
    numbers: tuple[int, ...]
    text: "Places"
    of: "Places"
    counts: "Places"
    sums: "Figures"
    people: Mapping[str, Annotator]
    said: Mapping[str, "Figures"]
    given: Mapping[str, "Figures"]
    sure: frozenset[str]
    voted: frozenset[str]

    @property
    def shares(self) -> "Figures":
        """(rows,): the share of a text's annotators who say yes."""
        return self.sums / self.counts[self.text]


def spread_of(opinions: Opinions) -> Spread | None:
    """Of the texts that at least `LEAST` people annotated and that put a question; None where there is none."""
    import numpy as np

    met = Counter(number for answers in opinions.people.values() for number in answers)
    numbers = tuple(sorted(number for number, n in met.items() if n >= LEAST and opinions.questions.get(number)))
    if not numbers:
        return None
    sizes = [len(opinions.questions[number]) for number in numbers]
    first = np.concatenate([[0], np.cumsum(sizes)])
    text = np.repeat(np.arange(len(numbers)), sizes)
    of = np.array([at for number in numbers for at in opinions.questions[number].values()], dtype=np.int64)
    table = _Rows(opinions, numbers, first)
    counts, sums = np.zeros(len(numbers), dtype=np.int64), np.zeros(len(text))
    people = {}
    for name, answers in opinions.people.items():
        one = table.annotator(answers)
        if len(one.texts):
            people[name] = one
            counts[one.texts] += 1
            sums[one.rows] += one.gives
    said = {run: table.means(answers, given=False) for run, answers in opinions.sources.items()}
    given = {run: table.means(answers, given=True) for run, answers in opinions.sources.items()}
    answered = {
        run: [several for number in numbers if (several := answers.get(number))]
        for run, answers in opinions.sources.items()
    }
    sure = frozenset(run for run, all_of in answered.items() if all_of and all(one.sure for s in all_of for one in s))
    voted = frozenset(run for run, all_of in answered.items() if any(len(several) > 1 for several in all_of))
    return Spread(opinions.asked, opinions.classes, numbers, text, of, counts, sums, people, said, given, sure, voted)


@dataclass(frozen=True, slots=True)
class _Rows:
    """`first`: (texts + 1,) where the questions of each text begin."""

    opinions: Opinions
    numbers: tuple[int, ...]
    first: "Places"

    def annotator(self, answers: Mapping[int, Collection[Key]]) -> Annotator:
        import numpy as np

        texts = [at for at, number in enumerate(self.numbers) if number in answers]
        rows = [np.arange(self.first[at], self.first[at + 1]) for at in texts]
        gives = np.zeros(int(self.first[-1]))
        for at in texts:
            number = self.numbers[at]
            self._add(gives, at, dict.fromkeys(answers[number], 1.0), 1.0)
        here = np.concatenate(rows) if rows else np.zeros(0, dtype=np.int64)
        return Annotator(np.array(texts, dtype=np.int64), here, gives[here])

    def means(self, answers: Mapping[int, list[Answer]], *, given: bool) -> "Figures":
        """(rows,): means over repeats, NaN for a text without an answer."""
        import numpy as np

        found = np.full(int(self.first[-1]), np.nan)
        for at, number in enumerate(self.numbers):
            if several := answers.get(number):
                found[self.first[at] : self.first[at + 1]] = 0.0
                for one in several:
                    said = dict.fromkeys(one.given, 1.0) if given else one.probabilities
                    self._add(found, at, said, 1 / len(several))
        limited: Figures = np.minimum(found, 1.0)  # thirds may add up to more
        return limited

    def _add(self, column: "Figures", at: int, said: Mapping[Key, float], times: float) -> None:
        """Add what is said of a text to its rows; what is none of its questions is left out."""
        places = self._places(self.numbers[at])
        for key, value in said.items():
            if (place := places.get(key)) is not None:
                column[self.first[at] + place] += value * times

    def _places(self, number: int) -> Mapping[Key, int]:
        questions = self.opinions.questions[number]
        return {key: place for place, key in enumerate(questions)}
