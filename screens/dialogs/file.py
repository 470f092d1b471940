"""The samples of the list into a file: gold records, or the run's predictions about them."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual.widget import Widget
from textual.widgets import Label

from emotui.bounded import expanded, is_there
from emotui.errors import BadInput
from emotui.screens.dialogs.dialog import Dialog
from emotui.screens.widgets.cell_width import shown
from emotui.screens.widgets.number_format import so_many
from emotui.screens.widgets.textual_private_text import Input
from emotui.store.query import Run

if TYPE_CHECKING:
    from emotui.workbench.progress import OnProgress
    from emotui.workbench.source import BrowseSource


LONGEST_NAME = 255
"""Bytes that file systems take."""

WITH_ALL = (".xlsx", ".json")
"""Endings of files with texts, gold, and what the runs that are shown say."""


LAYOUTS = (".jsonl", ".csv", ".tsv", ".parquet", *WITH_ALL)
"""Endings of files that can hold texts with what several sources say of them."""


class FileDialog(Dialog[str]):
    """Asks for a file; its ending gives the format. One that exists is written over only when Enter comes twice."""

    def __init__(self, title: str, default: str, endings: Sequence[str], about: str = "") -> None:
        super().__init__(title, ("Enter", "write"))
        self._about = about
        self._default, self._endings = default, tuple(endings)
        self._said = f"{', '.join(self._endings[:-1])} or {self._endings[-1]}"
        self._refused = ""

    def body(self) -> list[Widget]:
        about = [Label(self._about, markup=False)] if self._about else []
        return [Label(f"file: {self._said}"), *about, Input(self._default, id="path", compact=True)]

    def result(self) -> str:
        """The path.

        Raises:
            BadInput: the ending is none of those that can be written, or the file exists and was not confirmed.
        """
        path = expanded(self.text("path"))
        if path.suffix not in self._endings:
            raise BadInput(f"The ending has to be {self._said}.")
        if is_there(path) and self._refused != str(path):
            self._refused = str(path)
            raise BadInput("This file exists: Enter again writes over it.")
        if len(os.fsencode(path.name)) > LONGEST_NAME:
            raise BadInput(f"No file's name has more than {LONGEST_NAME} letters.")
        return str(path)


class ExportDialog(FileDialog):
    """Asks for the file of the list's samples, or of what a place calls `what`, by the name `default`.

    Args:
        with_all: whether files of texts with gold and all that is shown can be written too.
    """

    def __init__(self, n: int, run: Run | None, *, what: str = "", default: str = "", with_all: bool = False) -> None:
        of = "gold records of" if run is None else f"predictions of {shown(run.model)} over"
        what = what or f"{of} {so_many(n, 'sample')}"
        default = default or ("gold.jsonl" if run is None else "predicted.jsonl")
        about = f"{' and '.join(WITH_ALL)}: texts, gold, the runs shown, their scores and errors" if with_all else ""
        endings = tuple(ending for ending in LAYOUTS if with_all or ending not in WITH_ALL)
        super().__init__(f"Export {what}", default, endings, about)


def write_list(
    source: "BrowseSource",
    dataset: int,
    numbers: Sequence[int],
    runs: Sequence[str],
    path: str,
    over: Callable[[], bool],
    on_progress: "OnProgress",
) -> None:
    """Write the samples `numbers` in this order: what the first of `runs` says of them, or gold where there is none.

    In a file of one of the endings `WITH_ALL`: texts, gold and what all of `runs` say, with scores and marks. Nothing
    is written when `over()` becomes true on the way.

    Raises:
        EmotuiError: a sample cannot be read, or the file cannot be written or is one that the source reads.
    """
    from emotui.formats import check_not_over, write
    from emotui.workbench.datasets.samples import check_not_over_origin
    from emotui.workbench.progress import RunProgress

    check_not_over(path, *source.files)
    for held in source.datasets():
        if held.dataset == dataset:
            check_not_over_origin(path, held)
    n, run = len(numbers), next(iter(runs), None)
    on_progress(RunProgress(run or "", "export", 0, n, 0, None, None, f"reading {n:,} samples for {path}"))
    if source.write_rows is not None and Path(path).suffix in WITH_ALL:
        source.write_rows(dataset, numbers, runs, path)
        return
    records = source.records(dataset, numbers, run)
    if not over():
        write(path, records)
