"""What a classifier says to every original, asked once and kept: T_correct and T_incorrect (section 3, Setup)."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from emotui.backends.host import IsCancelled
from emotui.errors import BadInput, ModelError
from emotui.metrics.rephrasing_statistics import COLUMNS
from emotui.records import ClassGold
from emotui.store.query import Dataset, Run
from emotui.store.store import Store
from emotui.tasks.rephrase.task import Prediction
from emotui.workbench.progress import OnProgress, RunOptions, RunProgress
from emotui.workbench.rephrase.views import FrozenClassifier, Original
from emotui.workbench.runs.run import run_task
from emotui.workbench.runs.scores import last_attempts
from emotui.workbench.runs.states import with_state
from emotui.workbench.texts import runs_of

# Automatic variants of originals (back-translations, say), kept in a workspace as columns of the statistics.

_VARIANTS_NAME = "rephrasing-variants"

Variants = Mapping[str, Mapping[str, str]]
"""Column to (id of the original to text)."""


def check_name(name: str) -> None:
    """Raises BadInput for a column's name that is empty or taken."""
    if not name.strip():
        raise BadInput("a column of variants needs a name, such as BT-1")
    if name in COLUMNS:
        raise BadInput(f"{name} is a column already: choose another name, such as BT-1")


def kept_of(store: Store, dataset: Dataset, name: str, behind: str = "") -> list[Any]:
    """What is kept about a dataset under this name, whatever has become of its gold, the newest first.

    Older programs kept it by the fingerprint of the gold that the dataset had; what they kept counts until it is
    kept anew under `key_of`.
    """
    with store.together():
        own = store.settings.get(key_of(dataset, name, behind))
        if own is not None:
            return [own]
        former = [
            store.settings.get(f"{name}/{mark[:16]}{behind}") for mark in store.gold.fingerprints(dataset.dataset)
        ]
    return [each for each in former if each is not None]


def key_of(dataset: Dataset, name: str, behind: str = "") -> str:
    """Under which setting something about a dataset is kept: by its number, which it has for good."""
    return f"{name}/{dataset.dataset}{behind}"


def kept_variants(store: Store, dataset: Dataset) -> dict[str, dict[str, str]]:
    """The columns of a dataset, in the order in which they came; of two of one name the newer one."""
    found: dict[str, dict[str, str]] = {}
    for columns in reversed(kept_of(store, dataset, _VARIANTS_NAME)):
        found |= columns
    return found


def keep_variants(store: Store, dataset: Dataset, samples: Mapping[int, ClassGold], variants: Variants) -> None:
    """Add columns, or replace those of the same name.

    Raises:
        BadInput: a column's name is taken, or a variant is of no text of the dataset.
    """
    ids = {sample.id for sample in samples.values()}
    for name, texts in variants.items():
        check_name(name)
        strange = [key for key in texts if key not in ids]
        if strange:
            raise BadInput(f"{name}: {dataset.name} has no text {strange[0]!r}")
    kept = kept_variants(store, dataset)
    store.settings.set(key_of(dataset, _VARIANTS_NAME), kept | {name: dict(texts) for name, texts in variants.items()})


def move_variants(store: Store, old: Dataset, new: Dataset, ids: Mapping[str, str]) -> None:
    """Keep the columns of one dataset for another with the same texts too; of two of one name its own stays.

    Args:
        ids: by the id of each text of the old dataset that in the new one.
    """
    columns = kept_variants(store, old)
    if columns:
        moved = {name: {ids.get(key, key): text for key, text in texts.items()} for name, texts in columns.items()}
        store.settings.set(key_of(new, _VARIANTS_NAME), moved | kept_variants(store, new))


def drop_variants(store: Store, dataset: Dataset, name: str) -> None:
    """Take a column out. Raises BadInput where there is none of this name."""
    kept = kept_variants(store, dataset)
    if name not in kept:
        raise BadInput(f"{dataset.name} has no column {name!r}; it has: {', '.join(kept) or 'none'}")
    store.settings.set(
        key_of(dataset, _VARIANTS_NAME), {other: texts for other, texts in kept.items() if other != name}
    )


_NAME = "rephrasing"

Verdicts = Mapping[int, tuple[str, float | None]]
"""By number: the label that a classifier gave, and its confidence in the gold label where it is known."""


def classified(
    store: Store,
    dataset: Dataset,
    samples: Mapping[int, ClassGold],
    classifier: FrozenClassifier,
    on_progress: OnProgress,
    cancelled: IsCancelled | None,
) -> dict[int, Original]:
    """By number, in file order: a finished run of the rephrase task, which is made where there is none yet.

    Raises:
        ModelError: the model died, or refuses a text.
        Cancelled: `cancelled()` became true; what was classified by then is kept.
    """

    def show(progress: RunProgress) -> None:
        on_progress(replace(progress, step="classifying the originals"))

    run = _run(store, dataset, classifier, show, cancelled)
    found = _verdicts(store, run.run, samples)
    if missing := [number for number in samples if number not in found]:
        refused = next((row.error for row in store.results.of_run(run.run, missing) if row.error), "no answer")
        raise ModelError(f"{classifier.card.spec} refuses the text {samples[missing[0]].id}: {refused}")
    key = key_of(dataset, _NAME, f"/{classifier.identity}")
    if store.settings.get(key) != run.run:
        store.settings.set(key, run.run)
    known = classifier.asked.known
    return {
        number: Original(
            sample, known(sample.gold) or sample.gold, known(found[number][0]) or found[number][0], found[number][1]
        )
        for number, sample in samples.items()
    }


def _run(
    store: Store, dataset: Dataset, classifier: FrozenClassifier, show: OnProgress, cancelled: IsCancelled | None
) -> Run:
    """The finished run; one that was cut short is finished."""
    for old in map(with_state, runs_of(store, dataset)):
        if old.state in ("stopped", "failed") and old.n == dataset.n and _asks_alike(old, classifier):
            try:
                return run_task(
                    store, classifier.model, dataset, RunOptions(resume=old.run), on_progress=show, cancelled=cancelled
                )
            except BadInput:
                continue  # of another version of the model
    return run_task(
        store, classifier.model, dataset, RunOptions(way=classifier.asked.way), on_progress=show, cancelled=cancelled
    )


def _asks_alike(run: Run, classifier: FrozenClassifier) -> bool:
    """Whether a run asks the same model for the same labels, in no words of the person's own."""
    asked = classifier.asked
    options: dict[str, object] = {"labels": list(asked.labels)}
    if asked.label_set is not None:
        options["label_set"] = asked.label_set
    config = run.config.get("way"), run.config.get("options"), run.config.get("repeats")
    return run.model == classifier.model.spec and config == (asked.way, options, 1)


def _verdicts(store: Store, run: str, samples: Mapping[int, ClassGold]) -> dict[int, tuple[str, float]]:
    found = {}
    for row in last_attempts(store.results.of_run(run)):
        if row.prediction is not None and row.sample in samples and not row.repeat:
            said = msgspec.json.decode(row.prediction, type=Prediction)
            name = samples[row.sample].gold.strip().casefold()
            gold = next((p for label, p in said.probs.items() if label.casefold() == name), 0.0)
            found[row.sample] = (said.label, gold)
    return found


def verdicts_kept(store: Store, dataset: Dataset, identity: str, samples: Mapping[int, ClassGold]) -> Verdicts:
    """What the classifier of this identity said to the originals: in its run, or in the file its chains came from."""
    kept = _kept(store, dataset, identity)
    if isinstance(kept, str):
        return dict(_verdicts(store, kept, samples))
    return {int(number): (label, None) for number, label in kept.items()}


def keep_labels(store: Store, dataset: Dataset, identity: str, labels: Mapping[int, str]) -> None:
    """Keep the labels that came with a file of chains, unless there is a run of that classifier."""
    kept = _kept(store, dataset, identity)
    if not isinstance(kept, str):
        said = kept | {str(number): label for number, label in labels.items()}
        store.settings.set(key_of(dataset, _NAME, f"/{identity}"), said)


def move_labels(store: Store, old: Dataset, new: Dataset, numbers: Mapping[int, int]) -> None:
    """Keep the labels that files of chains had of one dataset's texts for another with the same texts too.

    Args:
        numbers: by the number of each text of the old dataset that in the new one.
    """
    marks = [str(old.dataset), *(mark[:16] for mark in store.gold.fingerprints(old.dataset))]
    keys = [key for mark in marks for key in store.settings.beginning(f"{_NAME}/{mark}/")]
    for identity in dict.fromkeys(key.split("/", 2)[2] for key in keys):
        kept = _kept(store, old, identity)
        if not isinstance(kept, str):
            there = {numbers[int(number)]: label for number, label in kept.items() if int(number) in numbers}
            keep_labels(store, new, identity, there)


def _kept(store: Store, dataset: Dataset, identity: str) -> str | dict[str, str]:
    """The id of a classifier's run, else the labels that a file had of it, by number."""
    every: list[str | dict[str, str]] = kept_of(store, dataset, _NAME, f"/{identity}")
    run = next((one for one in every if isinstance(one, str)), None)
    if run is not None:
        return run
    labels: dict[str, str] = {}
    for one in reversed(every):
        labels |= one if isinstance(one, dict) else {}
    return labels
