"""An agreement study as tables, for a terminal, a report and the workbench: every figure with the samples behind it."""

from collections.abc import Mapping, Sequence
from math import inf
from statistics import fmean, median

import msgspec
from msgspec.structs import replace

from emotui.metrics.span_pairs import NONE
from emotui.metrics.suspicion import KINDS
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tables import Cell, Column, ResultsTable, Row, short_names
from emotui.workbench.agreement.documents import (
    LABEL,
    LABELS,
    MANY,
    SPANS,
    VALUES,
    Agreement,
    Behind,
    Between,
    Doubt,
    Measured,
    Rater,
    named_of,
)
from emotui.workbench.agreement.of_spans import SAME
from emotui.workbench.annotate.log import adjudicators
from emotui.workbench.annotate.traces import AnswerTrace, answer_traces

# What order and suggestions do to the answers of those who annotate here: pace, and what becomes of suggestions.


class Pace(msgspec.Struct, frozen=True):
    """How quickly an annotator gives first answers: medians in seconds, None where nothing was measured.

    `n`: answers with a time. `early`, `late`: of the first and of the second half of them in the order in which the
    texts came into sight. `samples`: the slowest first.
    """

    annotator: str
    n: int
    seconds: float | None
    early: float | None
    late: float | None
    samples: Sequence[int] = ()


class Anchoring(msgspec.Struct, frozen=True):
    """What an annotator does with the suggestions of a source.

    `n`: answers given after one was shown; `before`: of these, those in which something was said before. `followed`:
    the share that says what the suggestion says; `away`: the mean distance from it, in [0, 1]. `taken`, `mended`,
    `refused`: shares of all that was suggested. `seconds`, `without`: medians of answers with a suggestion and, of the
    same annotator, of the `n_without` without. `samples`: answers that follow; `others`: those that do not, the
    farthest from the suggestion first.
    """

    annotator: str
    source: str
    n: int
    before: int
    followed: float
    away: float | None
    taken: float | None
    mended: float | None
    refused: float | None
    seconds: float | None
    without: float | None
    n_without: int
    samples: Sequence[int] = ()
    others: Sequence[int] = ()


class Traced(msgspec.Struct, frozen=True):
    """Pace by annotator, and anchoring by annotator and by whose suggestions."""

    pace: Sequence[Pace]
    anchoring: Sequence[Anchoring]


def traced(store: Store, dataset: Dataset) -> Traced:
    """How answers came about, of everybody who annotates the dataset here.

    Second answers of a retest do not count, nor do those of who adjudicates.
    """
    number_of = store.samples.numbers_by_id(dataset.dataset)
    settling = adjudicators(store, dataset)
    of: dict[str, list[AnswerTrace]] = {}
    for trace in answer_traces(store, dataset):
        if not trace.round and trace.annotator not in settling:
            of.setdefault(trace.annotator, []).append(trace)
    pace = [_pace(name, traces, number_of) for name, traces in of.items()]
    anchoring = []
    for name, traces in of.items():
        free = _times([trace for trace in traces if trace.source is None])
        for source in dict.fromkeys(trace.source for trace in traces if trace.source is not None):
            shown = [trace for trace in traces if trace.source == source]
            anchoring.append(_anchoring(name, source, shown, free, number_of))
    return Traced(pace, anchoring)


def _times(traces: Sequence[AnswerTrace]) -> list[float]:
    return [trace.answered for trace in traces if trace.answered is not None]


def _pace(name: str, traces: Sequence[AnswerTrace], number_of: dict[str, int]) -> Pace:
    timed = sorted((one for one in traces if one.answered is not None), key=lambda one: (one.place is None, one.place))
    times = _times(timed)
    half = (len(times) + 1) // 2
    slowest = sorted(timed, key=lambda one: -(one.answered or 0))
    return Pace(
        name,
        len(times),
        _median(times),
        _median(times[:half]) if len(times) > 1 else None,
        _median(times[half:]),
        [number_of[one.id] for one in slowest],
    )


def _anchoring(
    name: str, source: str, shown: Sequence[AnswerTrace], free: Sequence[float], number_of: dict[str, int]
) -> Anchoring:
    items = sum(one.shown for one in shown)
    away = [one.away for one in shown if one.away is not None]
    unlike = sorted((one for one in shown if not one.followed), key=lambda one: -(one.away or 0))
    return Anchoring(
        name,
        source,
        len(shown),
        sum(bool(one.before) for one in shown),
        sum(bool(one.followed) for one in shown) / len(shown),
        fmean(away) if away else None,
        sum(one.taken for one in shown) / items if items else None,
        sum(one.mended for one in shown) / items if items else None,
        sum(one.refused for one in shown) / items if items else None,
        _median(_times(shown)),
        _median(free),
        len(free),
        [number_of[one.id] for one in shown if one.followed],
        [number_of[one.id] for one in unlike],
    )


def _median(times: Sequence[float]) -> float | None:
    return median(times) if times else None


def traced_tables(found: Traced) -> tuple[ResultsTable, ...]:
    """Pace and anchoring as tables; none where nobody annotated here, or nothing was suggested."""
    tables = []
    if any(one.n for one in found.pace):
        tables.append(_pace_table([one for one in found.pace if one.n]))
    if found.anchoring:
        tables.append(_anchoring_table(found.anchoring))
    return tuple(tables)


_UNTIMED = "no answer was timed"


def _pace_table(pace: Sequence[Pace]) -> ResultsTable:
    about = "seconds from when a text came into sight to the answer that stands, median; the slowest texts first"
    columns = (
        Column("seconds", "seconds", unit="count"),
        Column("early", "first half", unit="count"),
        Column("late", "second half", unit="count"),
        Column("n", "answers", unit="count"),
    )
    rows = [
        Row(
            one.annotator,
            "people",
            "",
            tuple(
                Cell(value, convention=about, why=_UNTIMED, samples=tuple(one.samples))
                for value in (one.seconds, one.early, one.late, one.n)
            ),
        )
        for one in pace
    ]
    return ResultsTable("agreement-pace", "Pace, in the order of one's texts", columns, tuple(rows), (about,))


def _anchoring_table(anchoring: Sequence[Anchoring]) -> ResultsTable:
    columns = (
        Column("followed", "followed"),
        Column("away", "away"),
        Column("taken", "taken"),
        Column("mended", "mended"),
        Column("refused", "refused"),
        Column("seconds", "seconds", unit="count"),
        Column("without", "without one", short="without", unit="count"),
        Column("n", "answers", unit="count"),
        Column("n_without", "answers without", unit="count"),
    )
    rows = []
    for one in anchoring:
        unlike, like = tuple(one.others), tuple(one.samples)
        both = (*unlike, *like)
        rows.append(
            Row(
                f"{one.annotator}, shown {one.source}",
                "people",
                "",
                (
                    Cell(one.followed, convention="answers that say what the suggestion says", samples=like),
                    Cell(one.away, convention="mean distance of the answer from the suggestion", samples=unlike),
                    *(
                        Cell(value, convention="of all that was suggested", why="nothing was in it", samples=unlike)
                        for value in (one.taken, one.mended, one.refused)
                    ),
                    Cell(one.seconds, convention="median, with a suggestion", why=_UNTIMED, samples=both),
                    Cell(one.without, convention="median, without one", why="no timed answer without a suggestion"),
                    Cell(one.n, convention=f"in {one.before} of them something was said before", samples=both),
                    Cell(one.n_without),
                ),
            )
        )
    note = "answers before anything was revealed, beside the suggestion that was shown last; times are in seconds"
    return ResultsTable("agreement-suggestions", "Suggestions and what became of them", columns, tuple(rows), (note,))


MOST_DOUBTS = 200
"""Doubtful answers that a table lists."""

MOST_LABELS = 60
"""Labels up to which a confusion is shown."""

_NOTHING = "nothing"

_N = Column("n", "n", unit="count")
_VALUE = (Column("value", "value"), Column("low", "95% low"), Column("high", "95% high"), _N)
_ABOUT_DOUBTS = {
    "likely wrong": "nobody gave gold's answer, and most, two at least, gave the same other one",
    "matter of view": "some gave gold's answer, others another one, or nobody did and they are divided",
    "one vote against": "one source alone, and it says something else",
}


_OF_TEXTS = {LABEL: "labels of texts", LABELS: "labels of texts", VALUES: "numbers of texts"}


def agreement_tables(
    found: Agreement, most_doubts: int = MOST_DOUBTS, *, beside: bool = False
) -> tuple[ResultsTable, ...]:
    """Figures of all sources, by label, of each two, of each against itself; sources as estimated; doubtful gold.

    Args:
        most_doubts: how many doubtful answers are listed; all are counted.
        beside: these tables stand beside those of another kind of answers, and are told from them.
    """
    who = named_of([source.name for source in found.sources])
    notes = tuple(f"{name}: {note}" for name, note in found.notes.items() if name != SAME)
    tables = []
    if found.measured:
        rows = [_row(one.title, one) for one in found.measured]
        told = tuple(_about(one) for one in found.measured)
        undefined = tuple(f"– {one.title}: {one.figure.why}" for one in found.measured if one.figure.value is None)
        undefined += tuple(f"{name}: {note}" for name, note in found.notes.items() if name == SAME)
        table = ResultsTable("agreement", f"Agreement of {who}", _VALUE, tuple(rows), (*notes, *told), hints=undefined)
        tables.append(table)
    if found.kind == VALUES:
        each = [(f"{name}: {one.title}", one) for name, figures in found.by_label.items() for one in figures]
        told = tuple(dict.fromkeys(_about(one) for _, one in each))
        rows = [_row(label, one) for label, one in each]
        tables.append(ResultsTable("agreement", f"Agreement of {who}", _VALUE, tuple(rows), (*notes, *told)))
    elif set(found.by_label) != {""}:  # of spans none of which has a label there is nothing to say by label
        tables.append(_by_label(found.by_label, notes))
    if len(found.sources) > MANY:
        tables += [_with_others(found.pairs), *_raters(found)[:1], _pairs(found.pairs), *_itself(found)]
    else:
        tables += [_pairs(found.pairs), *_confusions(found), *_itself(found), *_raters(found)]
    tables += _doubts(found, most_doubts)
    shown = tuple(table for table in tables if table.rows)
    if not beside:
        return shown
    of = _OF_TEXTS.get(found.kind, found.kind)
    return tuple(replace(table, key=f"{table.key}-of-{found.kind}", title=f"{table.title}: {of}") for table in shown)


def _about(one: Measured) -> str:
    return f"{one.title}: {one.about}"


def _cell(one: Measured, behind: Behind | None = None) -> Cell:
    """The value, with what it is, the samples behind it, and why it is undefined where it is."""
    samples = _numbers(one.behind if behind is None else behind)
    why = f"{one.title}: {one.figure.why}" if one.figure.value is None else None
    return Cell(one.figure.value, convention=_about(one), why=why, samples=samples)


def _sure(one: Measured, behind: Behind | None = None) -> Cell:
    """As `_cell`, with the interval inside."""
    return msgspec.structs.replace(_cell(one, behind), low=one.figure.low, high=one.figure.high)


def _row(label: str, one: Measured) -> Row:
    """Value, interval, and over how much."""
    value = _cell(one)
    ends = (
        Cell(why=value.why) if end is None else Cell(end, convention=value.convention, samples=value.samples)
        for end in (one.figure.low, one.figure.high)
    )
    return Row(label, "people", "", (value, *ends, Cell(one.figure.n, convention=value.convention)))


def _by_label(by_label: Mapping[str, Sequence[Measured]], notes: tuple[str, ...]) -> ResultsTable:
    titles = {one.name: one.title for figures in by_label.values() for one in figures}
    told = {one.name: _about(one) for figures in by_label.values() for one in figures}
    rows = []
    for name, figures in by_label.items():
        there = {one.name: _sure(one) for one in figures}
        rows.append(Row(name or "(no label)", "people", "", tuple(there.get(figure, Cell()) for figure in titles)))
    columns = tuple(Column(figure, title) for figure, title in titles.items())
    return ResultsTable("agreement-labels", "Agreement by label", columns, tuple(rows), (*notes, *told.values()))


def _pairs(pairs: Sequence[Between]) -> ResultsTable:
    titles = {one.name: one.title for pair in pairs for one in pair.measured}
    rows = []
    for pair in pairs:
        there = {one.name: one for one in pair.measured}
        cells = [_sure(there[name], pair.behind) if name in there else Cell() for name in titles]
        rows.append(Row(f"{pair.a} and {pair.b}", "people", "", (*cells, Cell(pair.n))))
    columns = (*(Column(name, title) for name, title in titles.items()), _N)
    told = {one.name: _about(one) for pair in pairs for one in pair.measured}
    return ResultsTable("agreement-pairs", "Each two", columns, tuple(rows), tuple(told.values()))


def _with_others(pairs: Sequence[Between]) -> ResultsTable:
    """A row a source: its mean figures over all pairs that it is in, the least agreement first."""
    titles = {one.name: one.title for pair in pairs for one in pair.measured}
    values: dict[str, dict[str, list[float]]] = {}
    for pair in pairs:
        for one in pair.measured:
            for name in (pair.a, pair.b):
                figures = values.setdefault(name, {}).setdefault(one.name, [])
                figures += [] if one.figure.value is None else [one.figure.value]
    means = {
        name: [fmean(figures[title]) if figures.get(title) else None for title in titles]
        for name, figures in values.items()
    }
    order = sorted(means, key=lambda name: ([inf if mean is None else mean for mean in means[name]], name))
    why = "none of its pairs has this figure"
    rows = [
        Row(name, "people", "", tuple(Cell(mean, why=None if mean is not None else why) for mean in means[name]))
        for name in order
    ]
    columns = tuple(Column(name, title) for name, title in titles.items())
    note = (
        f"means over the pairs of a source with each other one; who calls what is told of at most {MANY} sources: name "
        "these (--sources)"
    )
    return ResultsTable("agreement-others", "Each with the others", columns, tuple(rows), (note,))


def _confusions(found: Agreement) -> list[ResultsTable]:
    """Of each two sources what the one calls what, where the labels are few enough to look at."""
    tables = []
    for pair in found.pairs:
        labels = [*pair.confusion, *(column for line in pair.confusion.values() for column in line)]
        names = sorted(dict.fromkeys(labels), key=lambda name: (name == NONE, name))
        # Of a single label there is but one count: who marks what, and the other nothing, is told by F1.
        if not 1 < len([name for name in names if name != NONE]) <= MOST_LABELS:
            continue
        rows = [
            Row(
                name or _NOTHING,
                "people",
                "",
                tuple(
                    Cell(
                        pair.confusion.get(name, {}).get(column, 0),
                        convention=f"{pair.a} says {name or _NOTHING}, {pair.b} {column or _NOTHING}",
                        samples=_numbers(pair.cells.get(name, {}).get(column, ())),
                    )
                    for column in names
                ),
            )
            for name in names
        ]
        titles = [name or _NOTHING for name in names]
        columns = tuple(
            Column(f"says-{name}", title, unit="count", short=short)
            for name, title, short in zip(names, titles, short_names(titles), strict=True)
        )
        note = f"rows: what {pair.a} says; columns: what {pair.b} says" + (
            ", of spans with a word in common" if found.kind == SPANS else ""
        )
        key = f"agreement-confusion-{pair.a}-{pair.b}"
        title = f"{pair.a} against {pair.b}"
        tables.append(ResultsTable(key, title, columns, tuple(rows), (note,), heat=True))
    return tables


def _numbers(behind: Behind) -> tuple[int, ...]:
    return tuple(number for number, _ in behind)


def _itself(found: Agreement) -> list[ResultsTable]:
    return [
        ResultsTable(
            f"agreement-itself-{one.name}",
            f"{one.name} against itself",
            _VALUE,
            tuple(_row(measured.title, measured) for measured in one.measured),
            (
                "its first answer against its second, over the texts that it was asked about twice",
                *(_about(measured) for measured in one.measured),
            ),
        )
        for one in found.itself
    ]


def _raters(found: Agreement) -> list[ResultsTable]:
    if found.estimate is None:
        return []
    about = "how often it says what is most probably there (Dawid and Skene 1979, by EM, without gold)"
    rows = [
        Row(
            one.name,
            "people",
            "",
            (
                Cell(
                    one.accuracy,
                    convention=about,
                    why=None if one.n else "it says nothing",
                    samples=_numbers(one.behind),
                ),
                Cell(one.n, convention=about, samples=_numbers(one.behind)),
            ),
        )
        for one in found.estimate.raters
    ]
    stood = "" if found.estimate.converged else "; EM was cut short before it stood still"
    note = f"the estimate is over {found.estimate.questions:,} questions, in {found.estimate.steps} steps{stood}"
    opens = "its texts: those in which what it says is hardly there, the least probable first"
    columns = (Column("accuracy", "accuracy"), Column("n", "answers", unit="count"))
    whole = ResultsTable("agreement-sources", "Sources as estimated", columns, tuple(rows), (about, note, opens))
    return [whole, *(_rates(one) for one in found.estimate.raters if 1 < len(one.confusion) <= MOST_LABELS)]


def _rates(rater: Rater) -> ResultsTable:
    """What a source says of each class that is there, by Dawid and Skene's estimate."""
    names = sorted({*rater.confusion, *(said for line in rater.confusion.values() for said in line)})
    rows = [
        Row(
            name,
            "people",
            "",
            tuple(
                Cell(
                    rater.confusion[name].get(said, 0.0),
                    convention=f"{name} is there, {rater.name} says {said} (Dawid and Skene 1979)",
                    samples=_numbers(rater.cells.get(name, {}).get(said, ())),
                )
                for said in names
            ),
        )
        for name in names
        if name in rater.confusion
    ]
    columns = tuple(
        Column(f"says-{name}", name, short=short) for name, short in zip(names, short_names(names), strict=True)
    )
    note = f"rows: what is there; columns: how often {rater.name} says what of it"
    return ResultsTable(f"agreement-rates-{rater.name}", f"{rater.name} as estimated", columns, tuple(rows), (note,))


def _doubts(found: Agreement, most: int) -> list[ResultsTable]:
    if not found.doubts:
        return []
    counts = []
    for kind in KINDS:
        there = [doubt for doubt in found.doubts if doubt.kind == kind]
        if there:
            samples = tuple(dict.fromkeys(doubt.sample for doubt in there))
            counts.append(Row(kind, "people", "", (Cell(len(there), convention=_told(kind), samples=samples),)))
    told = tuple(_told(row.label) for row in counts)
    listed = [_doubt(doubt) for doubt in found.doubts[:most]]
    columns = (
        Column("suspicion", "suspicion", short="susp."),
        Column("gold", "gold", unit="words"),
        Column("votes", "votes", unit="words"),
        Column("where", "where", unit="words"),
    )
    note = (
        "suspicion: 1 - probability of gold's answer given the votes (Dawid and Skene 1979); read it beside the votes"
    )
    more = len(found.doubts) - len(listed)
    notes = (note, f"{more} further doubts are counted, not listed") if more else (note,)
    return [
        ResultsTable("agreement-doubts", "Doubtful gold", (Column("n", "answers", unit="count"),), tuple(counts), told),
        ResultsTable("agreement-doubts-listed", "Doubtful gold, worst first", columns, tuple(listed), (*notes, *told)),
    ]


def _told(kind: str) -> str:
    return f"{kind}: {_ABOUT_DOUBTS[kind]}"


def _doubt(doubt: Doubt) -> Row:
    votes = ", ".join(f"{n} {answer}" for answer, n in doubt.votes)
    about = _told(doubt.kind)
    samples = (doubt.sample,)
    said = doubt.suspicion, doubt.gold, votes, doubt.question or None
    return Row(
        doubt.id,
        "people",
        "",
        tuple(Cell(value, convention=about, samples=samples) for value in said),
        remark=f"{doubt.id} {doubt.question}".rstrip() + f": gold {doubt.gold}; votes {votes}",
    )
