"""What runs gave for gold labels: what is kept of each text, of one run its confusion, of two what became right."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from emotui.metrics.labels import NONE, as_table, confusion_counts, label_names
from emotui.metrics.states import Bits
from emotui.tables import Cell, Column, ResultsTable, Row, number_of, short_names
from emotui.tasks.parts import ScoredRun

CONVENTION = "labels 1: F1 and Jaccard of the two sets of labels, 1 where both are empty"


class Detail(msgspec.Struct, frozen=True, omit_defaults=True):
    """The gold labels of one text (None: it is unlabelled), those given, and the probabilities.

    `astray`: of some label yes and no together have little probability.
    """

    id: str
    repeat: int
    gold: tuple[str, ...] | None
    predicted: tuple[str, ...]
    probs: Mapping[str, float] = {}
    astray: bool = False


def details_alike(details: Iterable[str | bytes]) -> list[Detail]:
    """What is kept of each text; equal sets of labels are held once."""
    decode, sets = msgspec.json.Decoder(Detail).decode, dict[tuple[str, ...], tuple[str, ...]]()
    found = []
    for detail in details:
        one = decode(detail)
        gold = None if one.gold is None else sets.setdefault(one.gold, one.gold)
        predicted = sets.setdefault(one.predicted, one.predicted)
        found.append(Detail(one.id, one.repeat, gold, predicted, one.probs, one.astray))
    return found


def named_in(given: Sequence[str] | None, details: Sequence[Detail]) -> list[str]:
    """All labels that are named anywhere: given to the model, in gold, in answers, or with a probability alone."""
    rows = (names for one in details for names in (one.gold or (), one.predicted, tuple(one.probs)))
    return label_names([given or (), *dict.fromkeys(rows)])


def with_probabilities(details: Sequence[Detail]) -> bool:
    """Whether there are probabilities. An answer that failed says nothing: no label, and 0 for each."""
    return any(one.probs for one in details) and all(one.probs or not one.predicted for one in details)


LabelSets = Callable[[str], tuple[tuple[str, ...], tuple[str, ...]] | None]
"""From the detail of a score to gold labels and given ones; None: gold says nothing."""

CONFUSION = (
    "A text counts on the diagonal for each label that is right. A label missed counts in the columns of the labels "
    "given wrongly, under no label where none was; the row no label has labels given wrongly where none was missed "
    "(after Heydarian, Doyle and Samavi 2022)."
)
CONFUSION_OF_ONE = "Gold labels by row, given ones by column; under no label are answers without one."
SHADES = "Shades go by fifths of the row; # shows the counts."
NO_LABEL, NO_LABEL_SHORT = "no label", "–"

_MOVES = (("right", "right"), ("right", "wrong"), ("wrong", "right"), ("wrong", "wrong"))
CHANGES = (
    "Counts of answers about the same texts, from the first run to the second. Where gold has a label, right is to "
    "give it; where gold lacks it, not to. In the row all labels, right is an answer with just the gold labels."
)
CHANGES_BEHIND = "Enter lists the texts behind a count."
ALL_LABELS = "all labels"


@dataclass(frozen=True)
class LabelAnswers:
    """The answers of a run about labelled texts: a line an answer, a column a label, the most frequent gold one first.

    `name`: of the run, as tables head it. `numbers`: (n,), of the texts. `gold`, `said`: (n, labels) of 0 or 1.
    """

    run: str
    name: str
    labels: tuple[str, ...]
    numbers: NDArray[np.int64]
    gold: Bits
    said: Bits

    @classmethod
    def of(cls, scored: ScoredRun, label_sets: LabelSets) -> "LabelAnswers | None":
        """None where no text that was answered has gold labels."""
        read = [(number, sets) for number, detail in scored.scores if (sets := label_sets(detail)) is not None]
        if not read:
            return None
        golds, given = ([sets[side] for _, sets in read] for side in (0, 1))
        frequent = Counter(label for labels in golds for label in labels)
        names = sorted({*frequent, *(label for labels in given for label in labels)})
        names.sort(key=lambda name: -frequent[name])
        tables = (as_table(side, names).astype(np.uint8) for side in (golds, given))
        way = scored.run.config.get("way")
        name = f"{scored.run.model} {way}" if way else scored.run.model
        numbers = np.array([number for number, _ in read], dtype=np.int64)
        return cls(scored.run.run, name, tuple(names), numbers, *tables)

    @property
    def places(self) -> dict[tuple[int, int], int]:
        """By the number of a text and which of its repeats it is the line of the answer."""
        repeats: Counter[int] = Counter()
        found = {}
        for line, number in enumerate(self.numbers.tolist()):
            found[number, repeats[number]] = line
            repeats[number] += 1
        return found

    def over(self, labels: Sequence[str], lines: Sequence[int]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Gold and given labels of these lines, with columns for these labels: (lines, labels) each."""
        own = {name: column for column, name in enumerate(self.labels)}
        empty = np.zeros((len(lines), 1), dtype=np.bool_)
        columns = [own.get(name, len(self.labels)) for name in labels]
        gold, said = (np.concatenate([side[lines] == 1, empty], axis=1)[:, columns] for side in (self.gold, self.said))
        return gold, said


def confusion_table(own: LabelAnswers) -> ResultsTable:
    """What was given (column) for what (row): `confusion-RUN`."""
    names = [*own.labels, NONE]
    counts = confusion_counts(own.gold, own.said)
    there, given = _with_none(own.gold == 1), _with_none(own.said == 1)
    missed, extra = _with_none((own.gold == 1) & (own.said == 0)), _with_none((own.said == 1) & (own.gold == 0))
    single = bool((own.gold.sum(axis=1) == 1).all() and (own.said.sum(axis=1) <= 1).all())
    # Of one label a text the row has nothing, and the column is for answers that could not be read.
    columns_there = [at for at in range(len(names)) if not single or at < len(own.labels) or counts[:, at].any()]
    rows_there = range(len(own.labels) if single else len(names))
    rows = []
    for i in rows_there:
        cells = []
        for j in columns_there:
            both = there[:, i] & given[:, j] if i == j else missed[:, i] & extra[:, j]
            cells.append(Cell(int(counts[i, j]), samples=_texts(own.numbers[both]), run=own.run))
        rows.append(Row(names[i] or NO_LABEL, "gold", own.run, tuple(cells)))
    short = [name or NO_LABEL_SHORT for name in short_names(names)]
    columns = tuple(
        Column(names[at] or NONE, names[at] or NO_LABEL, "given", "count", short=short[at]) for at in columns_there
    )
    return ResultsTable(
        f"confusion-{own.run}",
        f"{own.name}: confusion of labels",
        columns,
        tuple(rows),
        (CONFUSION_OF_ONE if single else CONFUSION,),
        heat=True,
        hints=(SHADES,),
    )


def change_tables(runs: Sequence[LabelAnswers]) -> list[ResultsTable]:
    """From the first run to each other one what became right and wrong, by gold label: `changes-RUN-RUN`."""
    return [table for other in runs[1:] if (table := _changes(runs[0], other)) is not None]


def _changes(one: LabelAnswers, other: LabelAnswers) -> ResultsTable | None:
    """None where the two have answered no text in common."""
    here, there = one.places, other.places
    both = [key for key in here if key in there]
    if not both:
        return None
    labels = [*one.labels, *(name for name in other.labels if name not in one.labels)]
    gold, before = one.over(labels, [here[key] for key in both])
    _, after = other.over(labels, [there[key] for key in both])
    numbers = np.array([number for number, _ in both], dtype=np.int64)
    right = before == gold, after == gold
    rows = [_change_row(ALL_LABELS, (right[0].all(axis=1), right[1].all(axis=1)), numbers, other.run, None)]
    for at, name in enumerate(labels):
        sides = right[0][:, at], right[1][:, at]
        rows.append(_change_row(name, sides, numbers, other.run, gold[:, at]))
    columns = [Column(f"{a}_{b}", f"{a} → {b}", "gold has it", "count") for a, b in _MOVES]
    columns += [Column(f"lacks_{a}_{b}", f"{a} → {b}", "gold lacks it", "count") for a, b in _MOVES[1:3]]
    notes = [CHANGES]
    left_out = len(here) + len(there) - 2 * len(both)
    if left_out:
        notes.append(f"{number_of(left_out, 'answer')} that only one of {one.name} and {other.name} has: left out.")
    return ResultsTable(
        f"changes-{one.run}-{other.run}",
        f"From {one.name} to {other.name}" if one.name != other.name else f"{one.name}: from {one.run} to {other.run}",
        tuple(columns),
        tuple(rows),
        tuple(notes),
        hints=(CHANGES_BEHIND,),
    )


def _change_row(
    name: str,
    right: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    numbers: NDArray[np.int64],
    run: str,
    has_it: NDArray[np.bool_] | None,
) -> Row:
    """A row of `changes`. `right`: of each answer before and after; `has_it`: whether gold has the label."""
    moves = {
        (a, b): (right[0] if a == "right" else ~right[0]) & (right[1] if b == "right" else ~right[1]) for a, b in _MOVES
    }
    cells = []
    for move in _MOVES:
        those = moves[move] if has_it is None else moves[move] & has_it
        cells.append(Cell(int(those.sum()), samples=_texts(numbers[those]), run=run))
    for move in _MOVES[1:3]:
        if has_it is None:
            cells.append(Cell())
            continue
        those = moves[move] & ~has_it
        cells.append(Cell(int(those.sum()), samples=_texts(numbers[those]), run=run))
    return Row(name, "label", run, tuple(cells))


def _texts(numbers: NDArray[np.int64]) -> tuple[int, ...]:
    return tuple(np.unique(numbers).tolist())


def _with_none(table: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """With one more column: whether a line has nothing."""
    return np.concatenate([table, ~table.any(axis=1, keepdims=True)], axis=1)
