"""Contrast sets: an original beside what a person made of it, and whether a model answers both of a pair rightly.

Whoever suspects why a model errs in a slice takes the suspected cause out of its texts, and sees whether the error
goes; the pairs are kept, so that any other model can be asked about them too (after Gardner and others 2020).
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import msgspec

from emotui.backends.base import OnStep
from emotui.backends.host import IsCancelled, ModelProcess
from emotui.errors import BadInput
from emotui.formats import check_not_over, fingerprint, read, write
from emotui.formats.reading import Warn, warn_skipped
from emotui.lexicons import SEER_TO_PLUTCHIK
from emotui.records import Chain, ClassGold
from emotui.store.query import Dataset
from emotui.tables import number_of
from emotui.tasks.rephrase.task import Rephrase
from emotui.workbench.datasets.samples import add_samples
from emotui.workbench.rephrase.evaluation import asking_by, contender
from emotui.workbench.rephrase.files import Rephrased
from emotui.workbench.rephrase.views import COUNTER
from emotui.workbench.slices.facets import Said, emotions_of
from emotui.workbench.slices.slicing import Slicing

CONVENTION = (
    "consistency: both texts of a pair are labelled rightly; flips: their answers differ; error_goes: wrong about the "
    "original and right about the other, over pairs whose original is labelled wrongly; error_comes: the converse"
)


def keep_counter_test(slicing: Slicing, dataset: int, where: str, run: str | None = None) -> tuple[Dataset, int]:
    """The texts of a slice as a dataset of their own, to be written anew in Rephrase; of the same slice the same one.

    SEER's labels become those of Plutchik's eight that they stand for, which classifiers know.

    Args:
        where: conditions that the texts meet, as `emotui slices` takes them.
        run: of whose errors and figures the conditions may be.

    Returns:
        The dataset, and how many texts of the slice are not in it: those that have no gold label, or several.

    Raises:
        BadInput: no such condition, or no text of the slice has one gold label.
        StoreError: it cannot be kept.
    """
    of = slicing.facets(dataset).dataset
    numbers = slicing.samples(dataset, where, run)
    texts = [
        text for _, record in slicing.store.samples.records(numbers) if (text := _with_one_label(record)) is not None
    ]
    if not texts:
        raise BadInput(f"none of the {len(numbers)} texts has one gold label, which an error is told by")
    source = f"{COUNTER}{of.name}, {where}"
    for name in (f"{of.name}, {where}", *(f"{of.name}, {where} ({number})" for number in range(2, _MOST_ANEW))):
        there = slicing.store.datasets.get(name)
        same = there is not None and there.source == source
        if there is None or (same and there.fingerprint == fingerprint(texts)):
            return add_samples(slicing.store, Rephrase.name, name, texts, source), len(numbers) - len(texts)
    raise BadInput(f"there are {_MOST_ANEW} datasets called {of.name}, {where}: move some into the trash")


_MOST_ANEW = 100
"""Datasets of one slice, where its gold has changed since the last one, or a dataset has its name."""


def _with_one_label(record: str | bytes) -> ClassGold | None:
    said = msgspec.json.decode(record, type=_Labelled)
    every = emotions_of(said)
    label = said.label or said.emotion or (every[0] if len(every) == 1 else None)
    if label is None or not said.text:
        return None
    return ClassGold(id=said.id, text=said.text, label=SEER_TO_PLUTCHIK.get(label.strip().casefold(), label))


class _Labelled(Said):
    id: str = ""


class ContrastPair(msgspec.Struct, frozen=True, kw_only=True):
    """An original and what somebody made of it.

    `label`, `contrast_label`: gold of either. `predicted`, `contrast_predicted`: what the classifier of the round (the
    SPEC `model`) said of either. `annotator`: who wrote the second text.
    """

    id: str
    text: str
    label: str
    contrast: str
    contrast_label: str
    predicted: str | None = None
    contrast_predicted: str | None = None
    annotator: str | None = None
    model: str | None = None


def pair_of(chain: Chain) -> ContrastPair | None:
    """The original and the last version of it; None where nothing was written."""
    if not chain.attempts:
        return None
    last = chain.attempts[-1]
    return ContrastPair(
        id=chain.id,
        text=chain.text,
        label=chain.label,
        contrast=last.text,
        contrast_label=chain.label,
        predicted=chain.predicted,
        contrast_predicted=last.predicted,
        annotator=chain.annotator,
        model=chain.model,
    )


def kept_pairs(service: Rephrased, dataset: str | int, annotator: str | None = None) -> list[ContrastPair]:
    """Each text of a dataset that was written anew beside its last version; by whom, as of `Rephrased.chains`."""
    chains = service.chains(dataset, annotator=annotator)
    return [pair for chain in chains if (pair := pair_of(chain)) is not None]


def write_contrast(
    service: Rephrased,
    slicing: Slicing,
    dataset: str,
    to: str,
    *,
    where: str = "",
    run: str | None = None,
    annotator: str | None = None,
) -> dict[str, Any]:
    """Keep the pairs of a slice as a file.

    Args:
        where: conditions that the originals meet, as `emotui slices` takes them; empty: all texts of the dataset.
        run: of whose errors and figures the conditions may be.
        annotator: whose versions; None: those of whoever counts in sets and statistics.

    Returns:
        `dataset`, `where`, `to`, `texts` that the slice has, `pairs`, and of the pairs with both answers
        `error_goes` and `error_comes` by the classifier that they were written against.

    Raises:
        BadInput: no such dataset, annotator or condition, or nothing of the slice was rephrased.
    """
    found = service.dataset(dataset)
    check_not_over(to, service.store.path)
    numbers = slicing.samples(found.dataset, where, run)
    texts = service.samples(found)
    wanted = {texts[number].id for number in numbers if number in texts}
    pairs = [pair for pair in kept_pairs(service, dataset, annotator) if pair.id in wanted]
    if not pairs:
        raise BadInput(
            f"{dataset}: {number_of(len(wanted), 'text')} in this slice, none rephrased yet: open it in Rephrase"
        )
    write(to, pairs)
    known = [one for one in pairs if one.predicted is not None and one.contrast_predicted is not None]
    right = [(one.predicted == one.label, one.contrast_predicted == one.contrast_label) for one in known]
    return {
        "dataset": found.name,
        "where": where,
        "to": to,
        "texts": len(wanted),
        "pairs": len(pairs),
        "error_goes": sum(not before and after for before, after in right),
        "error_comes": sum(before and not after for before, after in right),
    }


def contrast_figures(pairs: Sequence[ContrastPair], said: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """How a model stands over a contrast set, with intervals over pairs, or over originals that several pairs share.

    Args:
        said: the labels given to the original and to the other text of each pair; `""` where there is no answer.

    Returns:
        `n`, `accuracy`, `contrast_accuracy`, `consistency`, `flips`, `error_goes`, `error_comes`, `ci95`; a figure
        over no pair is None.
    """
    import numpy as np

    from emotui.metrics.beside import beside, of_ratios, with_beside

    before = np.array([given == pair.label for pair, (given, _) in zip(pairs, said, strict=True)], dtype=bool)
    after = np.array([given == pair.contrast_label for pair, (_, given) in zip(pairs, said, strict=True)], dtype=bool)
    flips = np.array([one != other for one, other in said], dtype=bool)
    every = np.ones(len(pairs))
    parts = {
        "accuracy": (before, every),
        "contrast_accuracy": (after, every),
        "consistency": (before & after, every),
        "flips": (flips, every),
        "error_goes": (~before & after, ~before),
        "error_comes": (before & ~after, before),
    }
    figures = {name: float(top.sum() / over.sum()) if over.sum() else None for name, (top, over) in parts.items()}
    shared = [pair.id for pair in pairs]
    groups: list[str | None] = [key if shared.count(key) > 1 else None for key in shared]
    known = {name: part for name, part in parts.items() if figures[name] is not None}
    return with_beside({"n": len(pairs)} | figures, beside(of_ratios(known, groups), groups, "pairs"))


def score_contrast(
    path: str,
    models: Sequence[str],
    *,
    options: dict[str, object] | None = None,
    seed: int = 0,
    skip_bad: bool = False,
    warn: Warn,
    process: Callable[[str], ModelProcess] = ModelProcess,
    progress: OnStep = lambda spec, done, n: None,
    cancelled: IsCancelled | None = None,
) -> dict[str, Any]:
    """Ask models about both texts of every pair of a file: the document of `emotui rephrasings consistency`.

    Args:
        models: SPECs. options: the rephrase task's settings, such as labels.

    Returns:
        `n`, `models` (by SPEC the figures of `contrast_figures`, and of how many texts there is no answer),
        `conventions`.

    Raises:
        BadInput: the file is bad, or a model cannot be asked so.
        ModelError: a model cannot be loaded, or died.
    """
    got = read(path, ContrastPair, skip_bad=skip_bad)
    warn_skipped(got, warn)
    sides = [
        (
            ClassGold(id=f"{at} a", text=pair.text, label=pair.label),
            ClassGold(id=f"{at} b", text=pair.contrast, label=pair.contrast_label),
        )
        for at, pair in enumerate(got.records)
    ]
    texts = [sample for side in sides for sample in side]
    golds = [(sample.id, sample.gold) for sample in texts]
    found: dict[str, dict[str, Any]] = {}
    for spec in dict.fromkeys(one for text in models for one in contender(text).specs):
        with process(spec) as model:
            asking = asking_by(model, golds, options or {}, seed, cancelled)
            answers = asking.labels_of(texts, partial(progress, spec))
        said = [(answers[a.id, a.text], answers[b.id, b.text]) for a, b in sides]
        found[spec] = contrast_figures(got.records, said) | {"unanswered": asking.silent}
    return {"n": len(got.records), "models": found, "conventions": {"contrast": CONVENTION}}
