"""What notebooks and scripts call: a workspace's datasets, runs, scores and tables, and what the commands do with them.

    import emotui

    study = emotui.open("study.duckdb")
    study.runs.columns["model"]
    study.compare("1c2d-1", "9f0e-1", "f1")["ci95"]

    texts.map_batches(emotui.Predictor, fn_constructor_kwargs={"kind": "labels"}, concurrency=2)    # Ray Data

Names of runs may be cut short where the beginning is one run's alone. A wrong name, file or query raises
`emotui.errors.EmotuiError` with the line that the command prints.
"""

import os
import tempfile
import warnings
from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from emotui.errors import BadInput
from emotui.formats.columns import LabelColumns
from emotui.records import Mark
from emotui.store import questions
from emotui.tables import Cell, ResultsTable
from emotui.workbench.workspace import Workspace

if TYPE_CHECKING:
    import duckdb
    from numpy.typing import NDArray

    from emotui.workbench.files.predict import Asker

    Column = NDArray[Any]
    """(n,): numbers, with NaN where there is none; else Python's own values, with None."""

Document = dict[str, Any]
"""What a command prints with `--json`: docs/formats.md."""

_DATASETS = """
select dataset, count(*) as texts, list(distinct task order by task) as tasks
from texts group by dataset order by dataset
"""


class Table:
    """Rows under named columns, held in memory by a DuckDB of their own.

    `title` and `notes`: of a table of results; else empty.
    """

    def __init__(self, relation: "duckdb.DuckDBPyRelation", title: str = "", notes: Sequence[str] = ()) -> None:
        self.relation, self.title, self.notes = relation, title, tuple(notes)
        self._columns: dict[str, Column] | None = None

    @property
    def columns(self) -> "Mapping[str, Column]":
        """By name NumPy arrays of all rows, in their order."""
        if self._columns is None:
            self._columns = {name: _plain(found) for name, found in self.relation.fetchnumpy().items()}
        return self._columns

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A dictionary a row, with Python's own values.

        Raises:
            BadInput: a value cannot be one of Python's, such as a time with a time zone.
        """
        names = self.relation.columns
        return [dict(zip(names, row, strict=True)) for row in questions.fetched(self.relation)]

    def __len__(self) -> int:
        return len(self.relation)

    def __repr__(self) -> str:
        return f"{self.title}\n{self.relation}" if self.title else str(self.relation)

    def arrow(self) -> Any:
        """A `pyarrow.Table`. Raises ImportError where pyarrow is not installed."""
        return self.relation.to_arrow_table()

    def pandas(self) -> Any:
        """A `pandas.DataFrame`. Raises ImportError where pandas is not installed."""
        return self.relation.df()

    def polars(self) -> Any:
        """A `polars.DataFrame`. Raises ImportError where polars or pyarrow is not installed."""
        return self.relation.pl()


class Study:
    """A workspace, opened by `open`. A context manager; `close` ends the models that were loaded."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def __enter__(self) -> "Study":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the models that were loaded for it."""
        self._workspace.close()

    @property
    def path(self) -> Path:
        """The file."""
        return self._workspace.store.path

    @property
    def datasets(self) -> Table:
        """A row a dataset: `dataset`, `texts` (how many), `tasks` (what its texts came for)."""
        return self.sql(_DATASETS)

    @property
    def runs(self) -> Table:
        """A row a run of a model, a person or a file, the newest first, as of the view `runs` (docs/store.md)."""
        return self.sql("select * from runs order by started desc, run")

    def texts(self, dataset: str) -> Table:
        """A row a text of a dataset, as of the view `texts`."""
        return self.sql(f"select * from texts where dataset = {_quoted(self._known(dataset))} order by sample")

    def answers(self, dataset: str, source: str | None = None) -> Table:
        """A row a thing that is said of a text (a span, a label, a number), as of the view `said`.

        Args:
            source: `gold`, a person, or a run; None: all.

        Raises:
            BadInput: there is no such dataset, or nobody of that name says anything of it.
        """
        wanted = f"dataset = {_quoted(self._known(dataset))}"
        if source is not None:
            self._check_source(dataset, source)
            wanted += f" and source = {_quoted(source)}"
        return self.sql(f"select * from said where {wanted} order by sample, source, repeat, place")

    def scores(self, run: str) -> Table:
        """A row an answer that was scored: `id`, `repeat`, `marks`, and a column a metric, null where undefined."""
        name = self._workspace.store.runs.get(run).run
        of_run = f"run = {_quoted(name)}"
        metrics = [row["name"] for row in self.sql(f"select distinct name from score_values where {of_run}").rows]
        each = "".join(f", max(value) filter (name = {_quoted(one)}) as {_named(one)}" for one in sorted(metrics))
        return self.sql(
            f"select s.sample, s.id, s.repeat, s.marks{each} from scores s left join score_values v using (score) "
            f"where s.{of_run} group by all order by s.sample, s.repeat"
        )

    def figures(self, run: str) -> Document:
        """The figures of a run with intervals, conventions and notes, as under `metrics` of `emotui run --json`."""
        return dict(self._workspace.summary(self._workspace.store.runs.get(run).run))

    def results(
        self,
        *runs: str,
        dataset: str | None = None,
        keys: Sequence[str] = (),
        published: bool = False,
        baselines: bool | None = None,
    ) -> dict[str, Table]:
        """The tables of `emotui results` by their key: `label`, `kind`, `source`, and a column a figure with
        `FIGURE_low` and `FIGURE_high` where it has an interval.

        Args:
            runs: of one dataset; none: of `dataset` the newest of each task, model and setting.
            keys: only these tables; none: all.
            published: the papers' rows too.
            baselines: the task's baselines in every table that has their figures; None: as its tables have them.
        """
        store = self._workspace.store
        if not runs and dataset is None:
            raise BadInput("name runs, or a dataset")
        named = [store.runs.get(run) for run in runs]
        where = named[0].dataset if named else self._known(dataset or "")
        found = self._workspace.results().tables(
            where, [run.run for run in named] or None, published=published, baselines=baselines
        )
        there = {table.key: table for table in found}
        if unknown := [key for key in keys if key not in there]:
            raise BadInput(f"there is no table {unknown[0]!r} (there: {', '.join(there)})")
        return {key: _of_results(table) for key, table in there.items() if not keys or key in keys}

    def score(self, run: str, *, sim: bool = True) -> Document:
        """Parse and score the kept outputs of a run again, as `emotui rescore`, and give its figures."""
        from emotui.workbench.runs.run import rescore

        return self.figures(rescore(self._workspace.store, run, sim=sim).run)

    def compare(
        self, first: str, second: str, *metrics: str, inner: bool = False, seed: int = 0, dataset: str | None = None
    ) -> Document:
        """First minus second over the samples of their dataset, as `emotui compare --runs`.

        Args:
            metrics: figures of a run; none: the first of the task. Of several p are corrected over all of them (Holm).
            inner: the samples that both have a value of, in place of a refusal.
            seed: of the bootstrap.
            dataset: its name, where names of sources stand in several.
        """
        from emotui.workbench.runs.compared import compare_figures, compare_runs

        store = self._workspace.store
        if len(metrics) > 1:
            return compare_figures(store, first, second, metrics, inner=inner, seed=seed, of=dataset)
        return compare_runs(store, first, second, *metrics, inner=inner, seed=seed, of=dataset)

    def report(
        self,
        to: str | Path,
        *runs: str,
        published: bool = False,
        keys: Sequence[str] = (),
        baselines: bool | None = None,
    ) -> Document:
        """Write the tables of runs to a file, as `emotui report`: `.md`, `.tex`, `.html`, `.csv`, `.svg` or `.png`."""
        from emotui.workbench.reports.report import write_report

        if not runs:
            raise BadInput("name the runs to report")
        results = self._workspace.results()
        return write_report(
            self._workspace.store, results, runs, str(to), published=published, keys=keys, baselines=baselines
        )

    def run(self, task: str, model: str, dataset: str, **given: Any) -> str:
        """Ask a model about a dataset, as `emotui run`, and give the run's id; one that is there already is not asked.

        Args:
            given: of `RunOptions`: `limit`, `repeats`, `seed`, `way`, `options`, `fresh`.
        """
        from emotui.workbench.progress import RunOptions

        return self._workspace.run_model(model, self._known(dataset), RunOptions(**given), task=task).run

    def sql(self, question: str) -> Table:
        """The answer to one SELECT over the views of docs/store.md, all of it."""
        import duckdb

        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "answer.parquet")
            with questions.written_to(file) as beside:
                questions.write(self.path, question, beside, file.suffix)
            memory = duckdb.connect()
            memory.execute("create table answer as from read_parquet($1)", [str(file)])
        return Table(memory.sql("from answer"))

    def _check_source(self, dataset: str, source: str) -> None:
        name = _quoted(dataset)
        there = self.sql(
            f"select source from said where dataset = {name} union select run from runs where dataset = {name} "
            "union select 'gold' order by all"
        ).columns["source"]
        if source not in there:
            raise BadInput(f"{dataset} has no source {source!r} (there: {', '.join(there)})")

    def _known(self, dataset: str) -> str:
        """A dataset's name. Raises BadInput where there is none of it."""
        found = self._workspace.store.datasets.get(dataset)
        if found is None:
            there = ", ".join(one.name for one in self._workspace.datasets()) or "none"
            raise BadInput(f"the store has no dataset {dataset!r} (there: {there})")
        return found.name


def open(path: str | Path | None = None, *, read_only: bool = False) -> Study:
    """Open a workspace file.

    Args:
        path: None: the one that the commands use. One that is named must be there.
        read_only: nothing can be changed, and an older file is not upgraded.

    Raises:
        StoreError: it is not there, or cannot be opened.
    """
    return Study(Workspace.look_into(path, read_only=read_only))


def score(
    kind: str,
    gold: str | Path,
    predicted: str | Path,
    *,
    missing: str | None = None,
    baselines: bool = False,
    skip_bad: bool = False,
    labels: Sequence[str] | None = None,
    label_threshold: float | None = None,
    **given: Any,
) -> Document:
    """The document of `emotui score KIND` over two files. Notes on what was read are warnings.

    Args:
        missing: `empty` or `skip`: what becomes of gold records without a prediction; None: they are bad input.
        baselines: with the same figures of baselines, by name, under `baselines`.
        skip_bad: leave bad records out, with a warning each.
        labels, label_threshold: of a table with a column a label.
        given: further options of the command's KIND, with `_` for the dashes in their names.

    Raises:
        BadInput: a file cannot be read, or does not fit the other one, or there is no such option.
    """
    from emotui.workbench.files import beside_tasks
    from emotui.workbench.files.score import score_files

    def warn(line: str) -> None:
        warnings.warn(line, stacklevel=2)

    beside = {"pairs": beside_tasks.score_pairs_of_files, "annotators": beside_tasks.score_annotators_of_files}
    if kind in beside:
        if more := [*given, *(["baselines"] if baselines else []), *(["labels"] if labels is not None else [])]:
            raise BadInput(f"score {kind} has no option {more[0]!r}")
        return beside[kind](str(gold), str(predicted), missing=missing, skip_bad=skip_bad, warn=warn)
    return score_files(
        kind,
        str(gold),
        str(predicted),
        given,
        missing=missing,
        baselines=baselines,
        columns=LabelColumns(None if labels is None else tuple(labels), label_threshold),
        skip_bad=skip_bad,
        warn=warn,
    )


class Predictor:
    """What `emotui predict KIND` says of texts, for engines that hand out batches (docs/scaling.md).

        predictor = emotui.Predictor("labels", "hf:DIRECTORY")
        predictor({"id": ["a"], "text": ["I won!"]})["labels"]  # [{"joy": 0.93, ...}]

    Its model is loaded at the first batch, once in a process, and never travels: a copy that is sent to another process
    loads one of its own. It ends with `close`, with the `with` that it is used in, or with the process.

    Args:
        kind, model: of `emotui predict`, the model as a SPEC.
        text, ids: the columns of the texts and of their ids, by which only what is drawn at random goes; a batch may be
            without ids. Columns `subject` and `meta` are read too where they are there.
        labels, way, options: of `emotui predict`; `options` by the command's names.
        prefix: stands before the names of the columns that are added.

    Raises:
        BadInput: there is no such kind of task or model.
    """

    def __init__(
        self,
        kind: str,
        model: str = "embedded",
        *,
        text: str = "text",
        ids: str = "id",
        labels: Sequence[str] | None = None,
        way: str | None = None,
        options: Mapping[str, object] | None = None,
        prefix: str = "",
    ) -> None:
        self.kind, self.model, self.prefix = kind, model, prefix
        self._columns = {"text": text, "id": ids, "subject": "subject", "meta": "meta"}
        self._asked: dict[str, Any] = {"labels": labels, "way": way, "options": options}
        self._asker: tuple[int, Asker] | None = None
        self._here().close()  # a wrong name is told where it is written, not on a hundred machines

    def __call__(self, batch: "Mapping[str, Sequence[Any] | NDArray[Any]]") -> dict[str, Any]:
        """The batch with further columns, a value a row.

        `record`: the line that `emotui predict` writes. `why`: why that is an empty one, else "". Of its fields those
        that say most, None where there is no answer: `labels` or `label`, `probs`, `scores`, `values`, and `spans`,
        each `{"text", "start", "end", "label", "score"}`.

        Raises:
            BadInput: the batch has no column of texts, or one of these already.
            ModelError: the model or its server is gone; what a text itself is at fault for is its `why`.
        """
        from emotui.workbench.files.texts import line_of

        names = {name: column for name, column in self._columns.items() if column in batch}
        if "text" not in names:
            raise BadInput(f"the batch has no column {self._columns['text']!r} (there: {', '.join(map(str, batch))})")
        asker = self._here()
        fields = [name for name in _SAYING if name in asker.predicted.__struct_fields__]
        if there := [name for name in ("record", "why", *fields) if self.prefix + name in batch]:
            column = self.prefix + there[0]
            raise BadInput(f"the batch has a column {column!r} already: name a prefix for those that are added")
        columns = [list(batch[column]) for column in names.values()]
        rows = [_present(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]
        said = asker.answers(rows)
        added: dict[str, list[Any]] = {
            "record": [line_of(one.record).decode() for one in said],
            "why": [one.why or "" for one in said],
        }
        for name in fields:
            added[name] = [_value(getattr(one.record, name), row) for one, row in zip(said, rows, strict=True)]
        return {**batch, **{self.prefix + name: column for name, column in added.items()}}

    def __enter__(self) -> "Predictor":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_asker": None}

    def close(self) -> None:
        """End the model of this process; asked again, it is loaded again."""
        if self._asker is not None and self._asker[0] == os.getpid():
            self._asker[1].close()

    def _here(self) -> "Asker":
        """The model of this very process: a fork has the pipes of its parent's."""
        if self._asker is None or self._asker[0] != os.getpid():
            from emotui.workbench.files.predict import Asker

            self._asker = os.getpid(), Asker(self.kind, self.model, warn=_warn, **self._asked)
        return self._asker[1]


_SAYING = ("labels", "label", "probs", "scores", "values", "spans")
"""Fields of predicted records that are columns of their own."""


def _present(row: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """A row of a batch with Python's own strings, the id too; what is None or NaN is not there."""
    found = {name: value for name, value in row if not _absent(value)}
    if isinstance(found.get("text"), str):
        found["text"] = str(found["text"])
    if "id" in found:
        found["id"] = str(found["id"])
    return found


def _absent(value: Any) -> bool:
    return value is None or (isinstance(value, float) and isnan(value))


def _value(said: Any, row: Mapping[str, Any]) -> Any:
    """A field as engines of columns take it: no tuples, no structs, and None for an object without a name."""
    if isinstance(said, Mapping):
        return {name: list(value) if isinstance(value, tuple) else value for name, value in said.items()} or None
    if isinstance(said, tuple):
        return [_span(each, row["text"]) if isinstance(each, Mark) else each for each in said]
    return said


def _span(mark: Mark, text: str) -> dict[str, Any]:
    words = text[mark.start : mark.end]
    return {"text": words, "start": mark.start, "end": mark.end, "label": mark.label, "score": mark.score}


def _warn(line: str) -> None:
    warnings.warn(line, stacklevel=2)


def _plain(column: Any) -> "Column":
    """Without a mask: NaN in place of missing numbers, None in place of all else."""
    import numpy as np

    if not np.ma.isMaskedArray(column):
        return np.asarray(column)
    if column.dtype.kind in "iuf":
        return np.asarray(np.ma.filled(column.astype(float), np.nan))
    found = np.asarray(column.astype(object))
    found[np.ma.getmaskarray(column)] = None
    return found


def _of_results(table: ResultsTable) -> Table:
    """Figures as they are, with the ends of their intervals where any row has one."""
    import duckdb

    columns: dict[str, list[Any]] = {
        "label": [row.label for row in table.rows],
        "kind": [row.kind for row in table.rows],
        "source": [row.source for row in table.rows],
    }
    for place, column in enumerate(table.columns):
        cells = [row.cells[place] for row in table.rows]
        columns[column.key] = [cell.value for cell in cells]
        if any(cell.low is not None for cell in cells):
            columns |= _ends(column.key, cells)
    memory = duckdb.connect()
    each = ", ".join(f"unnest(${place}) as {_named(name)}" for place, name in enumerate(columns, 1))
    memory.execute(f"create table answer as select {each}", list(columns.values()))
    return Table(memory.sql("from answer"), table.title, table.notes)


def _ends(key: str, cells: Sequence[Cell]) -> dict[str, list[Any]]:
    return {f"{key}_low": [cell.low for cell in cells], f"{key}_high": [cell.high for cell in cells]}


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _named(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'
