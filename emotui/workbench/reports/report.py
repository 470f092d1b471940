"""`emotui report`: the tables of a person's runs as a file, for a paper, a page, a note or a program."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from emotui import __version__
from emotui.backends.base import OnStep
from emotui.backends.host import Cancelled, IsCancelled
from emotui.errors import BadInput
from emotui.formats import check_not_over, write_text
from emotui.formats.written import write_bytes
from emotui.store.query import Run
from emotui.store.store import Store
from emotui.tables import ResultsTable
from emotui.tasks.registry import SPANS, task_named
from emotui.workbench.datasets.samples import experiment_of
from emotui.workbench.progress import OnProgress, RunProgress, Throttled
from emotui.workbench.reports import figures
from emotui.workbench.reports.best import Best, Judge
from emotui.workbench.reports.comma_separated import comma_separated, sizes
from emotui.workbench.reports.escaping import ENDINGS, Verbatim, rendered
from emotui.workbench.reports.values import (
    Section,
    SizeOf,
    asked_only,
    labels_of,
    run_values,
    slug,
    table_values,
    told_imported,
)
from emotui.workbench.results.baselines import with_baselines
from emotui.workbench.results.service import Results, never
from emotui.workbench.results.span_tables import transition_table
from emotui.workbench.scenes.service import SCENES, SceneBench, scene_table

CSV = ".csv"
WRITTEN = (*ENDINGS, CSV, *figures.ENDINGS)
"""What the name of a report may end in."""


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
    document: bool = False,
    baselines: bool | None = None,
    on_progress: OnProgress = unwatched,
    cancelled: IsCancelled = never,
) -> dict[str, Any]:
    """Write the tables of these runs, each dataset's under its name, and the prompting experiments' at the end.

    Args:
        runs: ids of runs of any task, or the beginnings of ids.
        path: ends in one of `WRITTEN`. It is written whole or not at all. `.svg` and `.png` hold one figure: of the
            first table that can be drawn.
        dataset: the one that all runs must be over; None: any.
        sim: whether annotators get their Sim, which loads the embedded model.
        published: whether the papers' own rows stand beside.
        keys: only the tables of these keys; none: all.
        document: `.tex`: a whole document, in place of tables to include.
        baselines: as of `Results.tables`.
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
    if ending not in WRITTEN:
        raise BadInput(f"{path}: the format goes by the ending, and is one of {', '.join(WRITTEN)}")
    if ending in figures.ENDINGS:
        figures.check_at_hand()
    check_not_over(path, store.path)
    found = list(dict.fromkeys(store.runs.get(name).run for name in runs))
    chosen = [store.runs.get(name) for name in found]
    datasets = {dataset.dataset: dataset for dataset in store.datasets.all()}
    strange = [run.run for run in chosen if dataset is not None and datasets[run.dataset].name != dataset]
    if strange:
        raise BadInput(f"run {strange[0]} is not one over the dataset {dataset!r}")
    sections = picked(
        sections_of(
            store,
            results,
            chosen,
            sim=sim,
            published=published,
            baselines=baselines,
            on_progress=on_progress,
            cancelled=cancelled,
        ),
        keys,
    )
    if ending in figures.ENDINGS:
        drawn = figures.first_drawn(sections)
        if cancelled():
            raise Cancelled
        write_bytes(path, figures.drawn(drawn, ending))
        sections = [Section("", (drawn,))]
    else:
        about = f"Written by emotui {__version__} on {datetime.now(UTC):%Y-%m-%d %H:%M} UTC."
        tested = judged(store, sections)
        if ending == CSV:
            text = comma_separated(sections, tested, sizes(store, sections))
        else:
            lines = [run_values(run, datasets[run.dataset], model=run.model) for run in chosen]
            text = report_text(ending, chosen, sections, tested, sizes(store, sections), about, lines, document)
        if cancelled():
            raise Cancelled
        write_text(path, text)
    tables = [
        {"dataset": section.title, "table": table.key, "rows": len(table.rows)}
        for section in sections
        for table in section.tables
    ]
    return {"to": path, "runs": [run.run for run in chosen], "tables": tables}


Judged = dict[tuple[int, str], Best]
"""What is best in a table: by the place of its section and its key."""


def judged(store: Store, sections: Sequence[Section]) -> Judged:
    """Which figures are the best of their column, and surely so."""
    found: Judged = {}
    for at, section in enumerate(sections):
        if section.dataset is None:
            continue
        judge = Judge(store, section.dataset)
        found |= {(at, table.key): judge.best(table) for table in section.tables}
    return found


def report_text(
    ending: str,
    runs: Sequence[Run],
    sections: Sequence[Section],
    tested: Judged,
    size_of: SizeOf,
    about: str,
    lines: Sequence[dict[str, object]],
    document: bool = False,
) -> str:
    """Sections in the format of an ending. Args: lines: about the runs; none leaves their table out."""
    titles = {task_named(run.task).words.title for run in runs}
    labels = labels_of(sections)
    shown = [
        {
            "key": f"s{at + 1}",
            "title": section.title,
            "tables": [
                table_values(
                    asked_only(table),
                    _narrowed(table, tested.get((at, table.key), Best())),
                    size_of,
                    dataset=section.dataset.name if section.dataset is not None else "",
                    label=labels[at, place],
                )
                for place, table in enumerate(section.tables)
                if _says_anything(table)
            ],
        }
        for at, section in enumerate(sections)
    ]
    title = "Emotion evaluation" if len(titles) > 1 else titles.pop()
    return rendered(
        ending,
        {
            "title": title,
            "about": about,
            "runs": lines,
            "comment": Verbatim(about),
            "runs_label": Verbatim(slug(f"runs-{sections[0].title}")) if sections else "",
            "sections": shown,
            "document": document,
        },
    )


def _says_anything(table: ResultsTable) -> bool:
    """Whether it has a figure, and not just words about its rows."""
    return any(
        cell.asked and column.unit != "words"
        for row in table.rows
        for cell, column in zip(row.cells, table.columns, strict=True)
    )


def _narrowed(table: ResultsTable, best: Best) -> Best:
    """The same cells by the columns that `asked_only` leaves."""
    kept = [at for at in range(len(table.columns)) if any(row.cells[at].asked for row in table.rows)]
    places = {at: place for place, at in enumerate(kept)}
    return Best(frozenset((row, places[at]) for row, at in best.cells if at in places), best.note, best.tests)


@dataclass(frozen=True, slots=True)
class _Making:
    """What tables are made from, and who is told how far it is."""

    store: Store
    results: Results
    sim: bool
    published: bool
    on_step: OnStep
    cancelled: IsCancelled
    among: Sequence[str] | None = None
    baselines: bool | None = None


def sections_of(
    store: Store,
    results: Results,
    runs: Sequence[Run],
    *,
    sim: bool = True,
    published: bool = False,
    alone: bool = False,
    baselines: bool | None = None,
    on_progress: OnProgress = unwatched,
    cancelled: IsCancelled = never,
) -> list[Section]:
    """A heading and its tables for each dataset, in the order of the runs; experiments together at the end.

    Args:
        alone: nothing is chosen by runs that are not among these.
        baselines: as of `Results.tables`.
    """
    among = [run.run for run in runs] if alone else None
    making = _Making(store, results, sim, published, Throttled("report", on_progress), cancelled, among, baselines)
    datasets = {dataset.dataset: dataset for dataset in store.datasets.all()}
    for run in runs:
        task_named(run.task)
        if run.dataset not in datasets:
            raise BadInput(f"run {run.run} has lost its dataset")
    sections: list[Section] = []
    experiments = [run for run in runs if experiment_of(datasets[run.dataset]) is not None]
    for number in dict.fromkeys(run.dataset for run in runs if run not in experiments):
        of_dataset = [run for run in runs if run.dataset == number]
        for task in dict.fromkeys(run.task for run in of_dataset):
            dataset, own = datasets[number].read_as(task), [run for run in of_dataset if run.task == task]
            tables = _TABLES.get(task, _tables)(making, number, own)
            shown = tuple(one.shown(published=published) for one in tables)
            several = len({run.task for run in of_dataset}) > 1
            asked = f", {task_named(task).words.title}" if several else ""
            sections.append(Section(f"Dataset {dataset.name}{asked}", shown, dataset))
    if experiments:
        tables = _tables(replace(making, sim=False), experiments[0].dataset, experiments)
        sections.append(Section("Prompting experiments", tuple(tables)))
    files = {run.model for run in runs if run.source == "file"}
    return [
        msgspec.structs.replace(one, tables=tuple(told_imported(table, files) for table in one.tables))
        for one in sections
    ]


def picked(sections: Sequence[Section], keys: Sequence[str]) -> list[Section]:
    """Just the tables of these keys; all where there is no key.

    Raises:
        BadInput: no section has a table of one of them.
    """
    there = list(dict.fromkeys(table.key for section in sections for table in section.tables))
    for key in keys:
        if key not in there:
            raise BadInput(f"there is no table {key!r} here; there are: {', '.join(there)}")
    chosen = [
        Section(
            section.title, tuple(table for table in section.tables if not keys or table.key in keys), section.dataset
        )
        for section in sections
    ]
    return [section for section in chosen if section.tables]


def _tables(making: _Making, dataset: int, runs: Sequence[Run]) -> list[ResultsTable]:
    """The tables of Results."""
    names, results = [run.run for run in runs], making.results
    found = results.tables(
        dataset,
        names,
        sim=making.sim,
        published=making.published,
        among=making.among,
        baselines=making.baselines,
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
    bench, task = SceneBench(making.store), task_named(SCENES)
    tables: tuple[ResultsTable, ...] = (scene_table(bench, _watched(runs, making.on_step, making.cancelled)),)
    found = making.store.datasets.get(dataset)
    if making.baselines and found is not None:
        covered = {cell.run: cell.samples for row in tables[0].rows for cell in row.cells if cell.run is not None}
        tables = with_baselines(making.store, found.read_as(task.name), task, covered, tables)
    return [*tables, *making.results.spread(dataset, [run.run for run in runs], cancelled=making.cancelled)]


_TABLES: dict[str, Callable[[_Making, int, Sequence[Run]], list[ResultsTable]]] = {
    SPANS: _tables_of_spans,
    SCENES: _tables_of_scenes,
}
"""By task: its tables in a report, where those of Results are not all."""


def _watched(runs: Sequence[Run], on_step: OnStep, cancelled: IsCancelled) -> Iterator[Run]:
    """The runs of scenarios, one by one as they are decoded."""
    for at, run in enumerate(runs):
        if cancelled():
            raise Cancelled
        on_step("runs decoded", at, len(runs))
        yield run
