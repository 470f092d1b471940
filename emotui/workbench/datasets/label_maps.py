"""The mappings of span labels that are kept with a dataset: what sources call an emotion, and what its gold does."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isnan
from typing import Any

import msgspec

from emotui.backends.base import ModelCard
from emotui.backends.relabelled import MAPPED, hash_of
from emotui.errors import BadInput, ModelError
from emotui.lexicons import plutchik_of
from emotui.metrics.span_scoring import Embed
from emotui.store.query import Dataset
from emotui.store.store import Store
from emotui.tasks.registry import SPANS, task_named
from emotui.tasks.task import Task
from emotui.workbench.texts import stored_samples

# What further models said of a dataset's texts, as the store keeps it for scores.


def with_measured(store: Store, task: Task, dataset: Dataset) -> Task:
    """The task with what is kept of the dataset; itself where nothing is."""
    kept = measured(store, dataset)
    return task.with_measured(kept) if kept else task


def measured(store: Store, dataset: Dataset) -> Any:
    """What is kept, in the task's own shape; empty where nothing is."""
    return store.settings.get(_measured_key(dataset), {})


def change_measured(store: Store, dataset: Dataset, change: Callable[[Any], Any]) -> None:
    """Put what `change` makes of it in the place of what is kept."""
    store.settings.change(_measured_key(dataset), change)


def _measured_key(dataset: Dataset) -> str:
    return f"measured/{dataset.dataset}"


def label_map(store: Store, dataset: Dataset, source: str | None = None) -> dict[str, str]:
    """What is kept with a dataset, theirs to ours, for all sources or for one alone; empty where nothing is."""
    return msgspec.convert(store.settings.get(_key(dataset, source), {}), dict[str, str])


def mapping_of(store: Store, dataset: Dataset, source: str) -> dict[str, str]:
    """What a source's labels are called in gold: as kept for it, and of its other labels as kept for all."""
    return label_map(store, dataset) | label_map(store, dataset, source)


def keep_label_map(store: Store, dataset: Dataset, mapping: Mapping[str, str], source: str | None = None) -> None:
    """Keep this mapping in place of what is kept; an empty one is none. Scores change when runs are scored again.

    Args:
        source: the name of a model, person or file; None: for all sources.

    Raises:
        BadInput: the dataset has no spans, or its gold has none of the labels that are mapped to.
    """
    own = gold_labels(store, dataset)
    if strange := sorted({label for label in mapping.values() if label not in own}):
        there = ", ".join(own) or "none"
        raise BadInput(f"the gold spans of {dataset.name} have no label {strange[0]!r} (there: {there})")
    store.settings.set(_key(dataset, source), dict(mapping))


def for_scoring(store: Store, task: Task, dataset: Dataset, source: str) -> Task:
    """The task with what of the dataset scores go by: all its gold, what was measured, a mapping of labels, if any."""
    known = with_measured(store, with_all_gold(store, task, dataset), dataset)
    return with_labels_mapped(store, known, dataset, source)


def with_all_gold(store: Store, task: Task, dataset: Dataset) -> Task:
    """The task with what of all the dataset's gold scores go by; where they go by any, all of it is read now."""
    return task.with_golds(lambda: (sample for _, sample in stored_samples(store, dataset, dataset.n)))


def with_labels_mapped(store: Store, task: Task, dataset: Dataset, source: str) -> Task:
    """The task with the mapping of a source's labels, if there is any."""
    mapping = mapping_of(store, dataset, source) if task.name == SPANS else {}
    return task.with_label_map(mapping) if mapping else task


def note_on(store: Store, dataset: Dataset, run: str, conventions: Iterable[str]) -> str | None:
    """What is to be said of a run's labels, by the conventions of its scores: mapped, or mapped otherwise today."""
    if dataset.task != SPANS:
        return None
    today = mapping_of(store, dataset, store.runs.get(run).model)
    wanted = hash_of(today) if today else ""
    found = {convention.partition(MAPPED)[2] for convention in conventions}
    if found - {wanted}:
        return f"scored under another mapping of labels than today's: emotui rescore {run}"
    return f"labels of spans are mapped to gold's by the mapping {wanted}" if wanted else None


def gold_labels(store: Store, dataset: Dataset) -> tuple[str, ...]:
    """The labels of a dataset's gold spans, in the order in which they come.

    Raises:
        BadInput: it is a dataset of another task.
    """
    if dataset.task != SPANS:
        raise BadInput(f"{dataset.name} is a dataset of the {dataset.task} task: labels of spans are mapped alone")
    samples = (sample for _, sample in stored_samples(store, dataset, dataset.n))
    return tuple(dict.fromkeys(mark.label for sample in samples for mark in sample.spans or () if mark.label))


def labels_said(store: Store, runs: Iterable[str]) -> tuple[str, ...]:
    """The labels of the spans that runs (or other sources) have predicted, sorted; those that give none have none."""
    of_spans = [run for run in runs if store.runs.get(run).task == SPANS]
    rows = (row for run in of_spans for row in store.results.of_run(run) if row.prediction is not None)
    kind: Any = task_named(SPANS).prediction
    said = (msgspec.json.decode(row.prediction or b"", type=kind).labels for row in rows)
    return tuple(sorted({label for labels in said for label in labels if label}))


def guessed(theirs: Iterable[str], own: Sequence[str]) -> dict[str, str | None]:
    """A first guess of what each of their labels is called in gold: None where nothing suggests itself.

    Labels that gold has too stand for themselves and are left out. Then: the same name but for case, spaces, hyphens
    and underscores; then the label of the same one of Plutchik's eight (`emotui.lexicons.plutchik_of`), where gold has
    only one such, or the emotion itself.
    """
    by_name: dict[str, list[str]] = {}
    by_emotion: dict[str, list[str]] = {}
    for label in own:
        by_name.setdefault(_folded(label), []).append(label)
        if (emotion := plutchik_of(label)) is not None:
            by_emotion.setdefault(emotion, []).append(label)
    found: dict[str, str | None] = {}
    for label in dict.fromkeys(theirs):
        if label not in own:
            emotion = plutchik_of(label)
            alike = by_name.get(_folded(label)) or by_emotion.get(emotion or "", [])
            named = [one for one in alike if _folded(one) == emotion]
            found[label] = alike[0] if len(alike) == 1 else named[0] if len(named) == 1 else None
    return found


def as_toml(mapping: Mapping[str, str | None], near: Mapping[str, tuple[str, float]] | None = None) -> str:
    """Lines `"theirs" = "ours"`; a comment where there is no image. `near`: what `nearest` found, told in comments."""
    lines = []
    for label, image in mapping.items():
        line = f"# {_quoted(label)} = (no guess)" if image is None else f"{_quoted(label)} = {_quoted(image)}"
        if near is not None and label in near:
            ours, cosine = near[label]
            line += f"  # nearest by embedding: {_quoted(ours)} {cosine:.2f}"
        lines.append(line)
    return "".join(f"{line}\n" for line in lines)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _folded(label: str) -> str:
    return "".join(sign for sign in label.casefold() if sign not in " -_")


def nearest(theirs: Iterable[str], own: Sequence[str], embed: Embed) -> dict[str, tuple[str, float]]:
    """For each label that gold has not, the label of gold whose name means most nearly the same, and their cosine.

    Args:
        embed: sentences to rows of length 1, or of NaN where there is none: a label is then left out.
    """
    wanted = [label for label in dict.fromkeys(theirs) if label not in own]
    if not wanted or not own:
        return {}
    rows = embed([_spoken(label) for label in (*wanted, *own)])
    cosines = rows[: len(wanted)] @ rows[len(wanted) :].T
    best = cosines.argmax(axis=1)
    found = zip(wanted, best.tolist(), cosines, strict=True)
    return {label: (own[at], float(line[at])) for label, at, line in found if not isnan(line[at])}


def _spoken(label: str) -> str:
    """A label as a sentence, since sentences are what the embedding model has read."""
    return f"I feel {' '.join(label.replace('_', ' ').replace('-', ' ').casefold().split())}."


def _key(dataset: Dataset, source: str | None = None) -> str:
    return f"label_map/{dataset.dataset}" + ("" if source is None else f"/{source}")


def runs_of(store: Store, dataset: Dataset) -> tuple[str, ...]:
    """The ids of all that is said about a dataset."""
    return tuple(run.run for run in store.runs.all(dataset.dataset) if run.task == SPANS)


def labels_of_model(card: ModelCard) -> tuple[str, ...]:
    """The labels that a model's spans can have.

    Raises:
        ModelError: it marks no spans with labels of its own.
    """
    if "extract" in card.capabilities:
        for name in ("spans", "goemotions"):
            if name in card.labels:
                return tuple(label for label in card.labels[name] if label != "neutral" or name == "spans")
    raise ModelError(f"{card.spec} gives spans no labels of its own: guess from a run of it, --run RUN")
