"""An agreement study as tables, for a terminal, a report and the workbench: every figure with the samples behind it."""

from collections.abc import Mapping, Sequence

from emotui.metrics.suspicion import KINDS
from emotui.tables import Cell, Column, ResultsTable, Row
from emotui.workbench.agreement.documents import VALUES, Agreement, Behind, Between, Doubt, Measured
from emotui.workbench.agreement.standing_in import Standing

MOST_DOUBTS = 200
"""Doubtful answers that a table lists."""

_VALUE = (Column("value", "value"), Column("low", "95% from"), Column("high", "to"), Column("n", "over", unit="count"))
_ABOUT_DOUBTS = {
    "likely wrong": "nobody gave gold's answer, and most, two at least, gave the same other one",
    "matter of view": "some gave gold's answer, others another one, or nobody did and they are divided",
    "one vote against": "one source alone, and it says something else",
}


def agreement_tables(found: Agreement, most_doubts: int = MOST_DOUBTS) -> tuple[ResultsTable, ...]:
    """Figures of all sources, by label, of each two, of each against itself; sources as estimated; doubtful gold.

    Args:
        most_doubts: how many doubtful answers are listed; all are counted.
    """
    who = ", ".join(source.name for source in found.sources)
    notes = tuple(f"{name}: {note}" for name, note in found.notes.items())
    tables = []
    if found.measured:
        rows = [_row(one.title, one) for one in found.measured]
        told = tuple(_about(one) for one in found.measured)
        tables.append(ResultsTable("agreement", f"Agreement of {who}", _VALUE, tuple(rows), (*notes, *told)))
    if found.kind == VALUES:
        each = [(f"{name}: {one.title}", one) for name, figures in found.by_label.items() for one in figures]
        told = tuple(dict.fromkeys(_about(one) for _, one in each))
        rows = [_row(label, one) for label, one in each]
        tables.append(ResultsTable("agreement", f"Agreement of {who}", _VALUE, tuple(rows), (*notes, *told)))
    elif set(found.by_label) != {""}:  # of spans none of which has a label there is nothing to say by label
        tables.append(_by_label(found.by_label, notes))
    tables.append(_pairs(found.pairs))
    tables += _itself(found)
    tables += _raters(found)
    tables += _doubts(found, most_doubts)
    return tuple(table for table in tables if table.rows)


def stand_in_tables(found: Standing) -> tuple[ResultsTable, ...]:
    """The alternative annotator test: its verdict, and each annotator against the model."""
    tables = []
    samples = tuple(number for number, _ in found.lost)
    for key, test in found.tests.items():
        of = f", {key}" if key else ""
        about = (
            f"alignment by {found.alignment}; epsilon {test.epsilon:g}, false discoveries {test.q:g} "
            "(Calderon, Reichart and Dror 2025)"
        )
        verdict = None if test.passed is None else "may stand in" if test.passed else "may not stand in"
        rows = [
            Row("winning rate", "run", "", (Cell(test.winning_rate, convention=about, why=test.why, samples=samples),)),
            Row("advantage", "run", "", (Cell(test.advantage, convention=about, why=test.why, samples=samples),)),
            Row("verdict", "run", "", (Cell(verdict, convention=about, why=test.why),)),
        ]
        title = f"May {found.model} stand in for an annotator{of}?"
        tables.append(
            ResultsTable(f"stand-in{key and '-'}{key}", title, (Column("value", "value"),), tuple(rows), (about,))
        )
        columns = (
            Column("advantage", "model as good"),
            Column("human", "annotator as good"),
            Column("p", "p"),
            Column("test", "by", unit="words"),
            Column("won", "won", unit="words"),
            Column("n", "over", unit="count"),
        )
        of_one = [
            Row(
                one.annotator,
                "people",
                "1",
                (
                    Cell(one.advantage, why=None if one.n else "no item with another annotator"),
                    Cell(one.human_advantage, why=None if one.n else "no item with another annotator"),
                    Cell(one.p, why=None if one.n else "no item with another annotator"),
                    Cell({"t": "t-test", "wilcoxon": "Wilcoxon"}.get(one.test, one.test)),
                    Cell(one.won),
                    Cell(one.n),
                ),
            )
            for one in test.annotators
        ]
        tables.append(
            ResultsTable(
                f"stand-in-annotators{key and '-'}{key}", f"Each annotator left out{of}", columns, tuple(of_one)
            )
        )
    return tuple(tables)


def _about(one: Measured) -> str:
    return f"{one.title}: {one.about}"


def _cell(one: Measured, behind: Behind | None = None) -> Cell:
    """The value, with what it is, the samples behind it, and why it is undefined where it is."""
    samples = tuple(number for number, _ in (one.behind if behind is None else behind))
    why = f"{one.title}: {one.figure.why}" if one.figure.value is None else None
    return Cell(one.figure.value, convention=_about(one), why=why, samples=samples)


def _row(label: str, one: Measured) -> Row:
    """Value, interval, and over how much."""
    value = _cell(one)
    ends = (
        Cell() if end is None else Cell(end, convention=value.convention, samples=value.samples)
        for end in (one.figure.low, one.figure.high)
    )
    return Row(label, "people", "", (value, *ends, Cell(one.figure.n, convention=value.convention)))


def _by_label(by_label: Mapping[str, Sequence[Measured]], notes: tuple[str, ...]) -> ResultsTable:
    titles = {one.name: one.title for figures in by_label.values() for one in figures}
    told = {one.name: _about(one) for figures in by_label.values() for one in figures}
    rows = []
    for name, figures in by_label.items():
        there = {one.name: _cell(one) for one in figures}
        rows.append(Row(name or "(no label)", "people", "", tuple(there.get(figure, Cell()) for figure in titles)))
    columns = tuple(Column(figure, title) for figure, title in titles.items())
    return ResultsTable("agreement-labels", "Agreement by label", columns, tuple(rows), (*notes, *told.values()))


def _pairs(pairs: Sequence[Between]) -> ResultsTable:
    titles = {one.name: one.title for pair in pairs for one in pair.measured}
    rows = []
    for pair in pairs:
        there = {one.name: one for one in pair.measured}
        cells = [_cell(there[name], pair.behind) if name in there else Cell() for name in titles]
        rows.append(Row(f"{pair.a} and {pair.b}", "people", "", (*cells, Cell(pair.n))))
    columns = (*(Column(name, title) for name, title in titles.items()), Column("n", "over", unit="count"))
    told = {one.name: _about(one) for pair in pairs for one in pair.measured}
    return ResultsTable("agreement-pairs", "Each two", columns, tuple(rows), tuple(told.values()))


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
            (Cell(one.accuracy, convention=about, why=None if one.n else "it says nothing"), Cell(one.n)),
        )
        for one in found.estimate.raters
    ]
    stood = "" if found.estimate.converged else "; EM was cut short before it stood still"
    note = f"the estimate is over {found.estimate.questions} questions, in {found.estimate.steps} steps{stood}"
    columns = (Column("accuracy", "accuracy"), Column("n", "answers", unit="count"))
    return [ResultsTable("agreement-sources", "Sources as estimated", columns, tuple(rows), (about, note))]


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
        Column("gold", "gold", unit="words"),
        Column("votes", "votes", unit="words"),
        Column("suspicion", "suspicion"),
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
    label = f"{doubt.id} {doubt.question}".rstrip()
    return Row(
        label,
        "people",
        "",
        (
            Cell(doubt.gold, convention=about, samples=samples),
            Cell(votes, convention=about, samples=samples),
            Cell(doubt.suspicion, convention=about, samples=samples),
        ),
    )
