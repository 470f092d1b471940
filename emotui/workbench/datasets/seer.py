"""SEER's release in a workspace: its samples where their texts are at hand, and its labels where they are not."""

from collections.abc import Sequence
from dataclasses import dataclass

from emotui.errors import BadInput
from emotui.formats.reading import Warn
from emotui.formats.rows import literal
from emotui.formats.seer import Reading, read_release, transcripts_in
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.spans.task import Spans
from emotui.workbench.datasets.samples import LABELS_ONLY, add_samples

NAME = "seer"
TASK = Spans.name
"""What its samples are of."""


@dataclass(frozen=True, slots=True)
class Imported:
    """`samples`: the dataset of those with texts. `labels`: of those without. `missing`: the transcripts they lack."""

    samples: Dataset | None
    labels: Dataset | None
    missing: tuple[str, ...]


def import_seer(
    store: Store,
    task1: Sequence[str],
    task2: Sequence[str],
    transcripts: str | None = None,
    name: str | None = None,
    *,
    readable: bool = False,
    trim: bool = False,
    skip_bad: bool = False,
    warn: Warn,
) -> Imported:
    """Add both tasks as one dataset, and as a second one, `NAME-labels`, the samples whose transcripts are missing.

    A sample without its text keeps emotions, valences, sentences, and spans by words, each word a `▯`; it counts among
    transitions and in filters, and no model is asked about it.

    Args:
        transcripts: the folder with MSP-Podcast's transcripts, `NAME.txt` each; None: they are not at hand.
        name: of the dataset (`seer`).
        readable: count only words with a letter or digit, as the release's program does (`emotui.formats.seer_words`).
        trim: cut passages to their five sentences.

    Raises:
        BadInput: no file is given; a file is bad (`FILE:LINE: why`); or the name belongs to other samples.
    """
    if not task1 and not task2:
        raise BadInput("name the release's files: --task1 CSV, --task2 CSV, or both")
    how = Reading(transcripts_in(transcripts), readable, trim)
    release = read_release(task1, task2, how, skip_bad=skip_bad)
    if not release.samples and not release.labels_only:
        raise BadInput(*release.skipped, f"{', '.join((*task1, *task2))}: there is no good row")
    for problem in release.skipped:
        warn(f"skipped {problem}")
    for remark in release.remarks:
        warn(remark)
    where = literal(transcripts) if transcripts else "--transcripts is not given"
    for lacking in release.missing:
        warn(f"{literal(lacking)} is missing ({where})")
    name = name or NAME
    source = ", ".join((*task1, *task2))
    labels = None
    if release.labels_only:
        warn(f"{len(release.labels_only)} samples lack their transcripts: their labels alone are imported")
        labels = add_samples(store, TASK, f"{name}-labels", release.labels_only, f"{LABELS_ONLY}{source}")
    samples = add_samples(store, TASK, name, release.samples, source) if release.samples else None
    return Imported(samples, labels, tuple(release.missing))
