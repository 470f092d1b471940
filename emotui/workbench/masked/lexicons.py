"""The lexicons that scores of masked words are computed by, kept with them: figures by two of them are never mixed.

A score's convention ends with the mark of its lexicon; what a file said is kept in the store under that mark, so that
scores are renewed and read without the file.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache

import msgspec
from msgspec.structs import replace

from emotui.errors import BadInput
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.tables import ResultsTable
from emotui.tasks.masked.baselines import convention_of, lexicon_in
from emotui.tasks.masked.lexicon import BUILT_IN, WordVectors, as_kept, from_kept, word_vectors
from emotui.tasks.parts import Lexicon
from emotui.tasks.task import Task

MASKED = "masked"


def keep_lexicon(store: Store, words: WordVectors) -> None:
    """Keep a lexicon of files; one that every installation has is not kept."""
    if words.key not in BUILT_IN and store.settings.get(_key(words.mark)) is None:
        store.settings.set(_key(words.mark), as_kept(words))


def kept_lexicon(store: Store, mark: str) -> WordVectors:
    """The lexicon of a mark.

    Raises:
        BadInput: this store does not have it.
    """
    kept = None if mark.partition("/")[0] in BUILT_IN else store.settings.get(_key(mark))
    found = from_kept(mark, kept) if kept is None else _read(mark, msgspec.json.encode(kept))
    if found is None:
        raise BadInput(f"the lexicon {mark} is not kept in this workspace: emotui rescore RUN --lexicon FILE")
    return found


@lru_cache(maxsize=4)
def _read(mark: str, kept: bytes) -> WordVectors | None:
    return from_kept(mark, msgspec.json.decode(kept))


def lexicon_of(store: Store, run: Run) -> WordVectors:
    """What a run's scores are by; where it has none yet, what it was begun with. Raises BadInput as `kept_lexicon`."""
    scored = next((one.convention for one in store.results.outcomes(run.run) if one.convention is not None), None)
    mark = str(run.config.get("lexicon") or BUILT_IN[0]) if scored is None else lexicon_in(scored)
    return kept_lexicon(store, mark)


def with_lexicon(store: Store, task: Task, run: Run | None, words: Lexicon | None = None) -> Task:
    """The task by a lexicon that is given and kept now, else by that of a run's scores; itself of other tasks.

    Raises:
        BadInput: a lexicon is given for a task that compares no words.
    """
    if words is not None:
        found = task.with_lexicon(words)
        if isinstance(words, WordVectors):
            keep_lexicon(store, words)
        return found
    return task if run is None or task.name != MASKED else task.with_lexicon(lexicon_of(store, run))


def lexicons_of(store: Store, dataset: Dataset, runs: Sequence[str | None]) -> list[WordVectors | None]:
    """What the kept scores of each run are by; of a source without any (None) the usual; of other tasks nothing."""
    if dataset.task != MASKED:
        return [None] * len(runs)
    return [word_vectors() if name is None else lexicon_of(store, store.runs.get(name)) for name in runs]


def told_of_lexicons(
    tables: Sequence[ResultsTable], store: Store, dataset: Dataset, runs: Sequence[Run]
) -> tuple[ResultsTable, ...]:
    """Tables of kept scores; where these are by several lexicons, every row says by which its are."""
    found = lexicons_of(store, dataset, [run.run for run in runs])
    names = {run.run: words.name for run, words in zip(runs, found, strict=True) if words is not None}
    if len({words.mark for words in found if words is not None}) < 2:
        return tuple(tables)
    return tuple(
        replace(
            table,
            rows=tuple(
                replace(row, remark="; ".join(filter(None, (row.remark, f"by {names[row.source]}"))))
                if row.source in names
                else row
                for row in table.rows
            ),
        )
        for table in tables
    )


def check_one_lexicon(store: Store, dataset: Dataset, runs: Sequence[str | None]) -> None:
    """Raises BadInput where scores of these runs (None: a source without kept ones) are by two lexicons or rules."""
    found = lexicons_of(store, dataset, runs)
    if len({words.mark for words in found if words is not None}) > 1:
        by = zip(runs, found, strict=True)
        told = ", ".join(f"{name or 'gold'} by {words.name} ({words.outside})" for name, words in by if words)
        raise BadInput(f"scores by two lexicons cannot be compared: {told}; emotui rescore RUN --lexicon FILE|emotui")


def note_on_lexicon(task: Task, conventions: Iterable[str]) -> str | None:
    """That a run's scores are by a lexicon of files, or of a former convention; None where they are as usual.

    Args:
        task: by the lexicon of the run's scores.
    """
    if task.name != MASKED:
        return None
    words = task.lexicon  # type: ignore[attr-defined]
    if set(conventions) - {convention_of(words)}:
        return "some scores are of a former convention or another lexicon: emotui rescore RUN"
    return None if words.mark == word_vectors().mark else f"words are compared by {words.name} ({words.outside})"


def _key(mark: str) -> str:
    return f"lexicon/{mark.partition('/')[0]}"
