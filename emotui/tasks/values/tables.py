"""The tables of Results for numbers: a row a run and name, and planes of each run."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from emotui.metrics.beside import Drawn, Resampled, beside_repeats, numbers, with_beside
from emotui.metrics.label_sums import Figures
from emotui.metrics.sums import of_numbers_sums
from emotui.metrics.values import FIGURES, value_names, values_over_repeats, values_report
from emotui.tables import Cell, Column, ResultsTable, Row, interval_notes, sure_of
from emotui.tasks.parts import ScoredRun
from emotui.tasks.values.detail import CONVENTION, Detail
from emotui.tasks.values.planes import Numbered, planes

_COLUMNS = (
    Column("pearson", "Pearson", short="r"),
    Column("spearman", "Spearman", short="rho"),
    Column("ccc", "CCC"),
    Column("rmse", "RMSE"),
    Column("mae", "MAE"),
    Column("n", "n", unit="count"),
)
NOTE = (
    "CCC: Lin's concordance (1989), which also counts a shift or another spread against the answers. RMSE and MAE are "
    "on the scale of the data. n: texts for which both gold and the answer give the number."
)


def run_report(details: Sequence[Detail]) -> dict[str, Any]:
    """The figures of answers to labelled texts, over repeats where there are several."""
    repeats = sorted({one.repeat for one in details})
    return values_over_repeats(
        [
            values_report([one.gold or {} for one in here], [one.predicted for one in here])
            for here in ([one for one in details if one.repeat == repeat] for repeat in repeats)
        ]
    )


def run_intervals(details: Sequence[Detail], shared: Mapping[str, str | None]) -> dict[str, Any]:
    """As `emotui.metrics.beside.beside_repeats`, of each figure of each name, over the texts of which both give it."""
    return beside_repeats(details, shared, _resampled)


def _resampled(details: Sequence[Detail], by: Drawn) -> Resampled:
    found: Resampled = {}
    for name in value_names([one.gold or {} for one in details]):
        rows = [at for at, one in enumerate(details) if name in (one.gold or {}) and name in one.predicted]
        x = [(details[at].gold or {})[name] for at in rows]
        each = numbers(x, [details[at].predicted[name] for at in rows], by.rows(rows))
        found |= {f"by_name.{name}.{key}": one for key, one in each.items()}
    return found


def run_sums(details: Sequence[Detail]) -> Figures:
    """By `by_name.NAME.FIGURE` those of its figures that are made of sums, over the texts of which both give it."""
    found: Figures = {}
    for name in value_names([one.gold or {} for one in details]):
        there = np.array([name in (one.gold or {}) and name in one.predicted for one in details])
        x = [(one.gold or {}).get(name, 0.0) for one in details]
        y = [one.predicted.get(name, 0.0) for one in details]
        found |= {f"by_name.{name}.{key}": make for key, make in of_numbers_sums(x, y, there).items()}
    return found


def value_tables(runs: Sequence[ScoredRun]) -> tuple[ResultsTable, ...]:
    """One table over all runs with an answer to a labelled text, and planes of each; none without such a run."""
    decoder = msgspec.json.Decoder(Detail)
    rows: list[Row] = []
    reports: list[Mapping[str, Any]] = []
    drawn: list[ResultsTable] = []
    for scored in runs:
        details = [(number, decoder.decode(detail)) for number, detail in scored.scores]
        known = [(number, one) for number, one in details if one.gold]
        if not known:
            continue
        way = scored.run.config.get("way")
        model = f"{scored.run.model} {way}" if way else scored.run.model
        report = run_report([one for _, one in known])
        shared = scored.shared((number, one.id) for number, one in known)
        report = with_beside(report, run_intervals([one for _, one in known], shared))
        reports.append(report)
        rows += _rows(scored, model, known, report, len(details) - len(known))
        drawn += planes(scored, model, known, report["by_name"])
    notes = (NOTE, *interval_notes(reports))
    return (ResultsTable("values", "Numbers", _COLUMNS, tuple(rows), notes), *drawn) if rows else ()


def _rows(scored: ScoredRun, model: str, known: Numbered, report: Mapping[str, Any], unlabelled: int) -> list[Row]:
    run, remark = scored.run.run, _remark(scored, unlabelled)
    rows = []
    for name, figures in report["by_name"].items():
        both = {number for number, one in known if one.gold and name in one.gold and name in one.predicted}
        samples = tuple(sorted(both))
        cells = [_cell(report, name, key, figures, samples, run) for key in FIGURES]
        cells.append(Cell(figures["n"], None, CONVENTION, None, samples, run))
        rows.append(Row(f"{model} {name}", "run", run, tuple(cells), remark))
    return rows


def _cell(
    report: Mapping[str, Any], name: str, key: str, figures: Mapping[str, Any], samples: tuple[int, ...], run: str
) -> Cell:
    why = report["notes"].get(f"by_name.{name}.{key}", "undefined") if figures[key] is None else None
    spread = report.get("sd", {}).get(name, {}).get(key)
    return Cell(figures[key], spread, CONVENTION, why, samples, run, *sure_of(report, f"by_name.{name}.{key}"))


def _remark(scored: ScoredRun, unlabelled: int) -> str:
    run = scored.run
    parts = [f"{run.done} of {run.n} answered"] if run.done < run.n else []
    if unlabelled:
        parts.append(f"{unlabelled} answers are about unlabelled texts and left out")
    if trained := run.config.get("trained_on"):
        parts.append(str(trained))
    return "; ".join(parts)
