"""Two sources of a dataset of masked words, mask by mask: the document of `emotui masked compare --runs`."""

from typing import Any

import msgspec

from emotui.errors import BadInput
from emotui.formats.rows import literal
from emotui.metrics.masked_pairs import compare_masks
from emotui.metrics.paired import Alternative
from emotui.store.store import Store
from emotui.tasks.masked.detail import Detail
from emotui.tasks.masked.lexicon import WordVectors, word_vectors
from emotui.tasks.masked.task import Masked
from emotui.workbench.compare.sources import Compared
from emotui.workbench.masked.lexicons import check_one_lexicon, lexicons_of
from emotui.workbench.runs.compared import both_sources


def compare_sources(
    store: Store, first: str, second: str, words: WordVectors | None, score: str, alternative: Alternative
) -> dict[str, Any]:
    """That of `compare_masks`, of the masks that both have, with `dataset` and `runs`; of repeats the first counts.

    Args:
        first, second: runs by id, or people and files of one dataset by name.
        words: None: those that the scores of both are by.

    Raises:
        BadInput: there is no such source, the dataset has no masks, or no text has an answer of both.
    """
    dataset, sources = both_sources(store, first, second)
    if dataset.task != Masked.name:
        raise BadInput(f"{literal(dataset.name)} is of {dataset.task}: emotui compare --runs has its figures")
    if words is None:
        check_one_lexicon(store, dataset, [source.run for source in sources])
        words = next((one for one in lexicons_of(store, dataset, [sources[0].run]) if one is not None), word_vectors())
    a, b = (_details(store, source) for source in sources)
    ids = [key for key in a if key in b]
    if not ids:
        raise BadInput("no text has a scored answer of both: emotui rescore RUN may give it")
    gold = {key: a[key].gold for key in ids}
    scored = [words.scored(gold, {key: said[key].predicted for key in ids}) for said in (a, b)]
    named = {"dataset": dataset.name, "runs": [source.key for source in sources], "texts": len(ids)}
    return named | compare_masks(scored[0], scored[1], score, alternative)


def _details(store: Store, source: Compared) -> dict[str, Detail]:
    """By id what a source said first."""
    if source.run is None:
        raise BadInput(f"{literal(source.name)} is inside the records, and has no scores that are kept")
    found: dict[str, Detail] = {}
    for outcome in store.outcomes(source.run):
        if outcome.detail is not None:
            detail = msgspec.json.decode(outcome.detail, type=Detail)
            found.setdefault(detail.id, detail)
    return found
