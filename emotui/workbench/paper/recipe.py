"""Tables under names that say nothing of this machine, and under the ids that runs had before."""

import re
import shlex
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from emotui.errors import BadInput
from emotui.formats.rows import literal
from emotui.store.query import Dataset, Run
from emotui.tables import Cell, Column, ResultsTable, Row
from emotui.workbench.datasets.samples import experiment_of
from emotui.workbench.runs.plan import RunConfig
from emotui.workbench.runs.run_file import portable

# The command line that makes a run.

_FLAGS = ("temperature", "top_p", "max_tokens", "retries")
_IN_FILES = {
    "prompts": "--prompts FILE",
    "examples": "--examples FILE",
    "labels": "--labels FILE",
}
"""Settings that a command takes from files, and how."""


def limit_of(run: Run, dataset: Dataset) -> int | None:
    """The first so many samples that a run was asked about; None: all of them."""
    n = run.n // max(1, msgspec.convert(run.config, RunConfig).repeats)
    return n if n < dataset.n else None


def command_of(run: Run, dataset: Dataset, *, private: bool = True, fresh: bool = False) -> str:
    """`emotui run ...` with all that a command line can say of a run; `kept_settings` says what it cannot.

    Args:
        private: whether folders and addresses of this machine may stand in it.
        fresh: compute again what the store already holds.
    """
    config = msgspec.convert(run.config, RunConfig)
    spec = run.model if private else portable(run.model)
    words = ["emotui", "run", run.task, "--model", spec]
    experiment = experiment_of(dataset)
    words += ["--dataset", dataset.name] if experiment is None else ["--experiment", str(experiment)]
    if (limit := limit_of(run, dataset)) is not None:
        words += ["--limit", str(limit)]
    words += ["--repeats", str(config.repeats), "--seed", str(config.seed)]
    if config.way and experiment is None:
        words += ["--way", config.way]
    for name in _FLAGS:
        if name in config.options:
            words += [f"--{name.replace('_', '-')}", str(config.options[name])]
    if config.options.get("constrain"):
        words.append("--constrain")
    if fresh:
        words.append("--fresh")
    return shlex.join(words)


def kept_settings(options: Mapping[str, Any]) -> list[str]:
    """The settings of a run that are kept with it and that a command line takes from a file."""
    return [_IN_FILES.get(name, name) for name in options if name not in (*_FLAGS, "constrain")]


# What a folder says of itself, so that it can be made again: `paper.json`.

FORMAT = "emotui paper"
VERSION = 1
FILE = "paper.json"


class RecipeDataset(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A dataset. `file`: its samples in the folder, empty where they are left out. `source`: what emotui knows of where
    its own samples are from. `label_maps`: what sources call the labels of spans, by source.
    """

    name: str
    task: str
    fingerprint: str
    file: str = ""
    source: str = ""
    experiment: int | None = None
    label_maps: dict[str, dict[str, str]] = {}


class RecipeRun(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A run. `file`: all that is kept of it. `config`: what its model was asked for."""

    run: str
    dataset: str
    model: str
    by_model: bool
    identity: str
    file: str
    limit: int | None = None
    config: dict[str, Any] = {}


class Stated(msgspec.Struct, frozen=True):
    """What only a person knows, for the metadata; empty: marked as to be stated."""

    creator: str = ""
    license: str = ""
    url: str = ""
    organisation: str = ""


class Recipe(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`tables`: the SHA-256 of each file of tables, which are the same when they are made again.

    `figures`: of each figure; they are the same where `drawn_by`, the version of matplotlib, is. `stated`: what was
    said for the metadata.
    """

    format: str = FORMAT
    version: int = VERSION
    emotui: str
    sim: bool
    published: bool
    texts: bool
    datasets: list[RecipeDataset]
    runs: list[RecipeRun]
    tables: dict[str, str]
    figures: dict[str, str] = {}
    drawn_by: str = ""
    stated: Stated = Stated()


def read_recipe(text: bytes, path: str) -> Recipe:
    """Raises: BadInput where it is none of this version."""
    try:
        found = msgspec.json.decode(text, type=Recipe)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{literal(path)}:1: {literal(str(error))[:200]}") from None
    if (found.format, found.version) != (FORMAT, VERSION):
        raise BadInput(f"{literal(path)}:1: is not version {VERSION} of {FORMAT}")
    names = [
        *(one.file for one in found.datasets if one.file),
        *(one.file for one in found.runs),
        *found.tables,
        *found.figures,
    ]
    if wrong := next((name for name in names if not _inside(name)), None):
        raise BadInput(f"{literal(path)}:1: {literal(wrong)} is no file of such a folder")
    return found


def _inside(name: str) -> bool:
    """Whether a name is that of a file in one of the folders beside the recipe."""
    folder, _, file = name.partition("/")
    plain = file and not set(file) - set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")
    return bool(plain) and folder in ("data", "figures", "runs", "tables") and not file.startswith(".")


class Naming:
    """Replaces specs with folders and addresses by portable ones, and ids by those that they stand for."""

    def __init__(self, runs: list[Run], ids: Mapping[str, str]) -> None:
        """`ids`: what a run is to be called, where that is not its id."""
        pairs = {run.model: portable(run.model) for run in runs if run.source == "model"} | dict(ids)
        self._pairs = {old: new for old, new in pairs.items() if old != new}
        self._ids = dict(ids)
        words = sorted(map(re.escape, self._pairs), key=len, reverse=True)
        self._any = re.compile(rf"(?<!\w)(?:{'|'.join(words)})(?!\w)") if words else None

    def run(self, run: str) -> str:
        """What a run is called."""
        return self._ids.get(run, run)

    def text(self, text: str) -> str:
        """A text with all of them replaced."""
        return text if self._any is None else self._any.sub(lambda found: self._pairs[found[0]], text)

    def table(self, table: ResultsTable) -> ResultsTable:
        """A table with all of them replaced."""
        if self._any is None:
            return table
        return replace(
            table,
            key=self.text(table.key),
            title=self.text(table.title),
            columns=tuple(self._column(column) for column in table.columns),
            rows=tuple(self._row(row) for row in table.rows),
            notes=tuple(map(self.text, table.notes)),
            published_notes=tuple(map(self.text, table.published_notes)),
        )

    def _column(self, column: Column) -> Column:
        return replace(column, title=self.text(column.title), group=self.text(column.group))

    def _row(self, row: Row) -> Row:
        cells = tuple(self._cell(cell) for cell in row.cells)
        told = {name: self.text(getattr(row, name)) for name in ("label", "source", "remark", "gold")}
        return replace(row, cells=cells, **told)

    def _cell(self, cell: Cell) -> Cell:
        return replace(
            cell,
            convention=self.text(cell.convention),
            why=None if cell.why is None else self.text(cell.why),
            run=None if cell.run is None else self.run(cell.run),
        )
