"""SEER's tables of the prompting experiments (Tables 7, 8 and 9) with the gate to the main tasks (section 7.2)."""

from collections.abc import Iterable, Mapping, Sequence

from emotui.tables import Cell, Column, ResultsTable, Row, interval_notes, sure_of
from emotui.tasks.spans.experiments import goes_on
from emotui.tasks.spans.prompts import style_of
from emotui.workbench.results.published import PublishedRow, published
from emotui.workbench.results.span_figures import RunFigures
from emotui.workbench.results.span_tables import GATE, PUBLISHED, SCORES, remark_of

_SLOTS = {
    "experiment-1": "Exp 1",
    "experiment-2-categorical": "Exp 2: categorical",
    "experiment-2-valence": "Exp 2: valence",
    "experiment-3-categorical": "Exp 3: categorical",
    "experiment-3-valence": "Exp 3: valence",
}
_STYLES = {"retrieve": "seer_table8", "highlight": "seer_table9"}
EXACT = "EM: spans equal to the gold ones, case, punctuation and articles aside (appendix B.3); the text is one span."
LETTERS = "EM, letters: the text given back letter by letter, only white space at its ends aside."


def prompting_tables(runs: Sequence[RunFigures]) -> list[ResultsTable]:
    """Table 7, and Tables 8 and 9 with the gate.

    Args:
        runs: of the prompting experiments, newest first; of several with one model and setting the first counts.
    """
    return [_reproduction(runs), *(_spans(runs, style) for style in _STYLES)]


def _number(run: RunFigures) -> int:
    number = run.experiment.get("number")
    return number if isinstance(number, int) else -1


def _reproduction(runs: Sequence[RunFigures]) -> ResultsTable:
    names = ("em", "em_letters", "f1")
    columns = (Column("em", "EM"), Column("em_letters", "EM, letters"), Column("f1", "F1"))
    rows = [
        Row(model, "run", run.run.run, tuple(_cell(run, "all", name) for name in names), remark_of(run))
        for model, run in _newest(run for run in runs if _number(run) == 0).items()
    ]
    table = published("seer_table7")
    rows += [_published(row, [("experiment-0", name) for name in names]) for row in table.rows]
    title, papers = "Prompting experiment 0: the text given back", (f"{PUBLISHED} {table.cite}.", *table.notes)
    notes = (EXACT, LETTERS, *_told(run for run in runs if _number(run) == 0))
    return ResultsTable("experiment-0", title, columns, tuple(rows), notes, published_notes=papers)


def _newest(runs: Iterable[RunFigures]) -> dict[str, RunFigures]:
    found: dict[str, RunFigures] = {}
    for run in runs:
        found.setdefault(run.run.model, run)
    return found


def _spans(runs: Sequence[RunFigures], style: str) -> ResultsTable:
    titles = {"em": ("EM", "share"), "f1": ("F1", "share"), "sim": ("Sim", "cosine")}
    figures = [(slot, name) for slot in _SLOTS for name in titles]
    columns = [Column(f"{slot}/{name}", titles[name][0], _SLOTS[slot], titles[name][1]) for slot, name in figures]
    columns.append(Column("goes_on", "Goes on", "Gate", "words"))
    held: dict[tuple[str, bool], dict[str, RunFigures]] = {}
    for run in runs:
        if _number(run) in (1, 2, 3) and style_of(run.way)[0] == style:
            held.setdefault((run.run.model, style_of(run.way)[1]), {}).setdefault(f"experiment-{_number(run)}", run)
    rows = []
    for (model, reasoned), by_number in held.items():
        cells = [_half(by_number, slot, name) for slot, name in figures]
        remark = "; ".join(dict.fromkeys(r for run in by_number.values() if (r := remark_of(run))))
        ids = ", ".join(run.run.run for run in by_number.values())
        label = f"{model} (CoT)" if reasoned else model
        rows.append(Row(label, "run", ids, (*cells, _own_gate(by_number.get("experiment-3"))), remark))
    table = published(_STYLES[style])
    for row in table.rows:
        plain = _published(row, figures)
        rows.append(Row(plain.label, plain.kind, plain.source, (*plain.cells, _gate(row))))
    title = f"Prompting experiments 1 to 3, {style}"
    drawn = [run for by_number in held.values() for run in by_number.values()]
    notes, papers = (
        (EXACT, SCORES, GATE, *_told(drawn)),
        (f"{PUBLISHED} {table.cite}, which print no EM.", *table.notes),
    )
    return ResultsTable(f"experiments-{style}", title, tuple(columns), tuple(rows), notes, published_notes=papers)


def _half(by_number: Mapping[str, RunFigures], slot: str, name: str) -> Cell:
    experiment, half = slot[:12], slot[13:] or "all"
    run = by_number.get(experiment)
    return Cell() if run is None else _cell(run, half, name)


def _cell(run: RunFigures, half: str, name: str) -> Cell:
    figures = run.experiment.get(half)
    if not isinstance(figures, dict):
        return Cell(why="none of these samples were asked")
    value, sd = figures.get(name), figures.get("sd", {}).get(name)
    why = None if value is not None else "no embedding model was asked"
    ends = sure_of(figures, name) if value is not None else ()
    return Cell(value, sd, run.convention, why, run.halves.get(half, ()), run.run.run, *ends)


def _told(runs: Iterable[RunFigures]) -> tuple[str, ...]:
    """Under which convention intervals are."""
    return interval_notes(part for run in runs for part in run.experiment.values() if isinstance(part, dict))


def _own_gate(run: RunFigures | None) -> Cell:
    if run is None:
        return Cell()
    if not {"categorical", "valence"} <= run.experiment.keys():
        return Cell(why="one half of experiment 3 was not asked", run=run.run.run)
    return Cell("yes" if run.experiment.get("goes_on") else "no", None, GATE, None, (), run.run.run)


def _gate(row: PublishedRow) -> Cell:
    halves = [row.settings.get(f"experiment-3-{half}", {}).get("f1") for half in ("categorical", "valence")]
    known = [half.mean for half in halves if half is not None]
    return Cell("yes" if goes_on(*known) else "no", None, GATE) if len(known) == 2 else Cell()


def _published(row: PublishedRow, figures: Sequence[tuple[str, str]]) -> Row:
    printed = [row.settings.get(slot, {}).get(name) for slot, name in figures]
    cells = tuple(Cell() if one is None else Cell(one.mean, one.sd, row.source) for one in printed)
    return Row(row.model, "published", row.source, cells)
