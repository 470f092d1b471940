"""`emotui report`: the papers' tables with a person's own runs added, as a file for a paper, a page or a note."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from emotui import __version__
from emotui.backends.base import OnStep
from emotui.backends.host import Cancelled, IsCancelled
from emotui.errors import BadInput
from emotui.formats import check_not_over, write_text
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.tables import Cell, Column, ResultsTable, shown_cell
from emotui.tasks.registry import task_named
from emotui.tasks.scenes.task import Scenes
from emotui.tasks.spans.task import Spans
from emotui.workbench.datasets.experiments import experiment_of
from emotui.workbench.progress import OnProgress, RunProgress, Throttled
from emotui.workbench.results.report_formats import ENDINGS, rendered
from emotui.workbench.results.scene_tables import scene_table
from emotui.workbench.results.service import Results, never
from emotui.workbench.results.span_tables import SETTINGS, transition_table
from emotui.workbench.scenes.service import SceneBench

DAGGER = "†"


def unwatched(progress: RunProgress) -> None:
    """Nobody looks on."""


def write_report(
    store: Store,
    results: Results,
    runs: Sequence[str],
    path: str,
    *,
    dataset: str | None = None,
    sim: bool = True,
    published: bool = False,
    keys: Sequence[str] = (),
    on_progress: OnProgress = unwatched,
    cancelled: IsCancelled = never,
) -> dict[str, Any]:
    """Write the tables of these runs, each dataset's under its name, and the prompting experiments' at the end.

    Args:
        runs: ids of runs of any task, or the beginnings of ids.
        path: ends in `.md`, `.tex` or `.html`. It is written whole or not at all.
        dataset: the one that all runs must be over; None: any.
        sim: whether annotators get their Sim, which loads the embedded model.
        published: whether the papers' own rows stand beside.
        keys: only the tables of these keys; none: all.
        on_progress: told how far it is: first the answers that are read, then the annotators that are scored.
        cancelled: asked again and again; once it says yes, nothing is written.

    Returns:
        `to`, `runs`, and `tables`: the dataset, key and number of rows of each.

    Raises:
        BadInput: another ending, no table of a key, a run that is not there or of a task that is not known, or a place
            that cannot be written.
        Cancelled: on the way; a file that was there is as it was.
    """
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise BadInput(f"{path}: the format goes by the ending, and is one of {', '.join(ENDINGS)}")
    check_not_over(path, store.path)
    found = list(dict.fromkeys(store.run(name).run for name in runs))
    chosen = [store.run(name) for name in found]
    datasets = {dataset.dataset: dataset for dataset in store.datasets()}
    strange = [run.run for run in chosen if dataset is not None and datasets[run.dataset].name != dataset]
    if strange:
        raise BadInput(f"run {strange[0]} is not one over the dataset {dataset!r}")
    titles = {task_named(run.task).words.title for run in chosen}
    making = _Making(store, results, sim, published, Throttled("report", on_progress), cancelled)
    sections = picked(_sections(making, chosen, datasets), keys)
    papers = f"{DAGGER} marks rows as printed in the paper. " if published else ""
    about = (
        f"Written by emotui {__version__} on {datetime.now(UTC):%Y-%m-%d %H:%M} UTC. "
        f"{papers}—: not asked; n/a: undefined, with the reason below the table."
    )
    text = rendered(
        ending,
        {
            "title": "Emotion evaluation" if len(titles) > 1 else titles.pop(),
            "about": about,
            "runs": [_run(run, datasets[run.dataset]) for run in chosen],
            "sections": [_section(at, title, tables) for at, (title, tables) in enumerate(sections, start=1)],
        },
    )
    if cancelled():
        raise Cancelled
    write_text(path, text)
    tables = [
        {"dataset": title, "table": table.key, "rows": len(table.rows)}
        for title, tables in sections
        for table in tables
    ]
    return {"to": path, "runs": [run.run for run in chosen], "tables": tables}


@dataclass(frozen=True, slots=True)
class _Making:
    """What tables are made from, and who is told how far it is."""

    store: Store
    results: Results
    sim: bool
    published: bool
    on_step: OnStep
    cancelled: IsCancelled


def _sections(making: _Making, runs: Sequence[Run], datasets: dict[int, Dataset]) -> "Sections":
    """A heading and its tables for each dataset, in the order of the runs; experiments together at the end."""
    sections: Sections = []
    experiments = [run for run in runs if experiment_of(datasets[run.dataset]) is not None]
    for number in dict.fromkeys(run.dataset for run in runs if run not in experiments):
        dataset, own = datasets[number], [run for run in runs if run.dataset == number]
        tables = _TABLES.get(dataset.task, _tables)(making, number, own)
        sections.append((f"Dataset {dataset.name}", [one.shown(published=making.published) for one in tables]))
    if experiments:
        tables = _tables(replace(making, sim=False), experiments[0].dataset, experiments)
        sections.append(("Prompting experiments", tables))
    return sections


Sections = list[tuple[str, list[ResultsTable]]]
"""A heading and its tables."""


def picked(sections: Sections, keys: Sequence[str]) -> Sections:
    """Just the tables of these keys; all where there is no key.

    Raises:
        BadInput: no section has a table of one of them.
    """
    there = list(dict.fromkeys(table.key for _, tables in sections for table in tables))
    for key in keys:
        if key not in there:
            raise BadInput(f"there is no table {key!r} here; there are: {', '.join(there)}")
    chosen = [(title, [table for table in tables if not keys or table.key in keys]) for title, tables in sections]
    return [(title, tables) for title, tables in chosen if tables]


def _tables(making: _Making, dataset: int, runs: Sequence[Run]) -> list[ResultsTable]:
    """The tables of Results."""
    names, results = [run.run for run in runs], making.results
    found = results.tables(
        dataset,
        names,
        sim=making.sim,
        published=making.published,
        cancelled=making.cancelled,
        on_step=making.on_step,
    )
    return list(found)


def _tables_of_spans(making: _Making, dataset: int, runs: Sequence[Run]) -> list[ResultsTable]:
    """The tables of Results, and how emotions and valences follow each other in the gold passages."""
    tables = _tables(making, dataset, runs)
    making.on_step("transitions", 0, 0)
    moves = [making.results.transitions(dataset, by, cancelled=making.cancelled) for by in ("valence", "emotion")]
    return tables + [transition_table(one) for one in moves if one.pairs]


def _tables_of_scenes(making: _Making, dataset: int, runs: Sequence[Run]) -> list[ResultsTable]:
    """Vectors alone and decoded with a prior."""
    return [scene_table(SceneBench(making.store), _watched(runs, making.on_step, making.cancelled))]


_TABLES = {Spans.name: _tables_of_spans, Scenes.name: _tables_of_scenes}
"""By task: its tables in a report, where those of Results are not all."""


def _watched(runs: Sequence[Run], on_step: OnStep, cancelled: IsCancelled) -> Iterator[Run]:
    """The runs of scenarios, one by one as they are decoded."""
    for at, run in enumerate(runs):
        if cancelled():
            raise Cancelled
        on_step("runs decoded", at, len(runs))
        yield run


def _run(run: Run, dataset: Dataset) -> dict[str, object]:
    config = run.config
    way = str(config.get("way", ""))
    return {
        "run": run.run,
        "model": run.model,
        "dataset": dataset.name,
        "setting": SETTINGS.get(way, way) if way else "–",
        "answered": f"{run.done} of {run.n}",
        "repeats": config.get("repeats", 1),
        "seed": config.get("seed", 0),
        "started": run.started[:16].replace("T", " "),
        "version": config.get("emotui") or "–",
    }


def _section(number: int, title: str, tables: Sequence[ResultsTable]) -> dict[str, object]:
    return {"key": f"s{number}", "title": title, "tables": [_table(table) for table in tables]}


def _shade(cell: Cell, most: float) -> int:
    """How dark a cell of a heatmap is, in percent of its colour; the largest has 70."""
    return round(70 * cell.value / most) if isinstance(cell.value, int | float) and most else 0


def _table(table: ResultsTable) -> dict[str, object]:
    counts = [cell.value for row in table.rows for cell in row.cells]
    most = max((value for value in counts if isinstance(value, int | float)), default=0)
    return {
        "key": table.key,
        "title": table.title,
        "columns": [
            {
                "title": column.title,
                "heading": f"{column.group} {column.title}".strip(),
                "words": column.unit == "words",
            }
            for column in table.columns
        ],
        "grouped": any(column.group for column in table.columns),
        "groups": column_groups(table.columns),
        "rows": [
            {
                "label": f"{row.label} {DAGGER}" if row.published else row.label,
                "kind": row.kind,
                "source": row.source,
                "parted": row.published and at > 0 and not table.rows[at - 1].published,
                "cells": [
                    {
                        "text": shown_cell(cell, column.unit),
                        "about": cell.why or cell.convention,
                        "words": column.unit == "words",
                        "shade": _shade(cell, most) if row.kind == "gold" else 0,
                    }
                    for cell, column in zip(row.cells, table.columns, strict=True)
                ],
            }
            for at, row in enumerate(table.rows)
        ],
        "notes": [*table.notes, *footnotes(table)],
    }


def column_groups(columns: Sequence[Column]) -> list[tuple[str, int]]:
    """The headings over columns, each with the number of columns under it."""
    found: list[tuple[str, int]] = []
    for column in columns:
        if found and found[-1][0] == column.group:
            found[-1] = (column.group, found[-1][1] + 1)
        else:
            found.append((column.group, 1))
    return found


def footnotes(table: ResultsTable) -> list[str]:
    """What a table's rows and cells add to its notes: conventions of own scores, reasons, remarks."""
    own = [row for row in table.rows if not row.published]
    cells = [cell for row in own for cell in row.cells]
    conventions = dict.fromkeys(
        cell.convention for cell in cells if cell.convention and cell.convention not in table.notes
    )
    reasons = dict.fromkeys(cell.why for cell in cells if cell.value is None and cell.why)
    return [
        *(f"Own rows are scored by: {convention}." for convention in conventions),
        *([f"n/a: {'; '.join(reasons)}."] if reasons else []),
        *(f"{row.label} ({row.source}): {row.remark}." for row in own if row.remark),
    ]
