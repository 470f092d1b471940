"""Which words, and which spans, move which emotion over all texts of a dataset, and in which texts."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

import msgspec

from emotui.backends.words import word_places
from emotui.errors import BadInput
from emotui.metrics.evidence import masked
from emotui.metrics.word_effects import LEAST as LEAST
from emotui.metrics.word_effects import word_effects
from emotui.store.query import Dataset, Run
from emotui.tasks.parts import shared_by
from emotui.tasks.taken_away import Prediction
from emotui.workbench.texts import stored_samples
from emotui.workbench.why.asking import LabelAsker, OnText, keep_document, labelled_texts, left_out_note

if TYPE_CHECKING:
    import numpy as np

    from emotui.workbench.workspace import Workspace

SURE = 0.05
"""The share of false ones among the effects that are told as clear."""

CONVENTION = (
    "words 1: probability of the whole text less that with every occurrence of the word masked ({filler}); above: "
    "less the mean of the same over the text's other words that were asked about; texts that share a passage count "
    "once; 95% intervals by Student's t; q: Benjamini and Hochberg (1995) over all words and labels"
)


def find_words(
    workspace: "Workspace",
    spec: str,
    dataset: Dataset,
    *,
    limit: int | None = None,
    least: int = LEAST,
    only: str | None = None,
    label: str | None = None,
    way: str | None = None,
    filler: str | None = None,
    on_text: OnText = lambda done, n: None,
) -> dict[str, Any]:
    """What each word that stands in enough texts does to each label: the document of `emotui words`.

    Args:
        least: texts that a word has to stand in.
        only: a word; its effects alone, each with what it does in every text.
        label: effects on this label alone.
        filler: what a masked word is to the model: `own`, its mask token, or `neutral`; None: its own where it has one.

    Raises:
        BadInput: no word stands in so many texts, no such word or label, or the model has no mask token of its own.
        ModelError: the model gives no probabilities, or no answer about a text.
    """
    samples = labelled_texts(workspace, dataset, limit)
    if not samples:
        raise BadInput(f"{dataset.name} has no text")
    asker = LabelAsker(workspace.model(spec), samples, way, filler=filler, store=workspace.store)
    if label is not None and label not in asker.labels:
        raise BadInput(f"{spec} is not asked about {label!r}: its labels are {', '.join(asker.labels)}")
    where = [_by_word(sample.text or "") for sample in samples]
    texts_with = Counter(word for words in where for word in words)
    frequent = {word for word, n in texts_with.items() if n >= least}
    if not frequent:
        raise BadInput(f"{dataset.name}: no word stands in {least} texts or more (--least N asks for fewer)")
    if only is not None and only.casefold() not in frequent:
        raise BadInput(
            f"{only!r} stands in {texts_with[only.casefold()]} texts: words in {least} or more are asked for"
        )

    variants = [
        (at, word, masked(sample.text or "", tuple(places), word_places(sample.text or ""), asker.sign))
        for at, (sample, words) in enumerate(zip(samples, where, strict=True))
        for word, places in words.items()
        if word in frequent
    ]
    whole_and_without = [sample.text or "" for sample in samples] + [text for _, _, text in variants]
    each = list(dict.fromkeys(whole_and_without))
    probs = asker.probs([("", text) for text in each], on_text)
    row = {text: at for at, text in enumerate(each)}
    at_text = [at for at, _, _ in variants]
    words = [word for _, word, _ in variants]
    whole = probs[[row[samples[at].text or ""] for at in at_text]]
    drops = whole - probs[[row[text] for _, _, text in variants]]

    shared = [shared_by(sample.meta) for sample in samples]
    effects = word_effects(words, at_text, drops, asker.labels, shared, least)
    wanted = [
        one
        for one in effects
        if (label is None or one.label == label) and (only is None or one.word == only.casefold())
    ]
    strongest = {one.word: one for one in reversed(wanted)}
    kept = [one for one in wanted if only is not None or one.q <= SURE or strongest[one.word] is one]
    kept.sort(key=lambda one: one.q > SURE)
    rows_of: dict[str, list[int]] = defaultdict(list)
    for place, word in enumerate(words):
        rows_of[word].append(place)
    ids = [sample.id for sample in samples]
    document = {
        "dataset": dataset.name,
        "model": spec,
        "way": asker.way,
        "filler": asker.filler,
        "n": len(samples),
        "asked": len(each),
        "labels": list(asker.labels),
        "tested": len({one.word for one in effects}),
        "clear": sum(one.q <= SURE for one in wanted),
        "effects": [
            msgspec.to_builtins(one)
            | {"texts": _texts(rows_of[one.word], at_text, drops[:, asker.labels.index(one.label)], ids)}
            for one in kept
        ],
        "convention": CONVENTION.format(filler=asker.filler),
        "notes": left_out_note(asker, spec),
    }
    if only is None and label is None:
        keep_document(workspace.store, "words", dataset, document)
    return document


def _by_word(text: str) -> dict[str, list[tuple[int, int]]]:
    """Where each word stands in a text, by the word in lower case."""
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for start, end in word_places(text):
        found[text[start:end].casefold()].append((start, end))
    return found


def _texts(rows: Sequence[int], at_text: Sequence[int], drops: "np.ndarray", ids: Sequence[str]) -> dict[str, float]:
    """By id the drop in each text, the largest first."""
    found = {ids[at_text[row]]: float(drops[row]) for row in rows}
    return dict(sorted(found.items(), key=lambda one: -abs(one[1])))


def find_spans(workspace: "Workspace", run: Run) -> list[dict[str, Any]]:
    """What each span of a run over the evidence does to the label that it was followed by, the largest first.

    Spans of the same words, in any case, are one, with a mean over their texts.

    Returns:
        Of each `span`, `label`, `n`, `drop`, `above` (the drop less its mean without as many words elsewhere; None
        where there is no elsewhere), `matters` (in how many texts no random stretch drops as much) and `texts` (drop
        by id).
    """
    dataset = workspace.store.datasets.get(run.dataset)
    assert dataset is not None
    samples = dict(stored_samples(workspace.store, dataset.read_as("evidence"), dataset.n))
    found: dict[tuple[str, str], list[tuple[str, float, float | None, bool]]] = defaultdict(list)
    for row in workspace.store.results.of_run(run.run):
        if row.repeat or not row.prediction:
            continue
        said = msgspec.json.decode(row.prediction, type=Prediction)
        sample = samples[row.sample]
        for trial in said.spans:
            p = said.probs[trial.explains]
            without = trial.masked if said.removal == "mask" else trial.deleted
            drop = p - without[trial.explains]
            random = [p - one for one in trial.random]
            words = " … ".join(sample.text[start:end] for start, end in trial.places)
            above = drop - fmean(random) if random else None
            found[words.casefold(), trial.explains].append(
                (sample.id, drop, above, bool(random) and drop > max(random))
            )
    rows: list[dict[str, Any]] = []
    for (words, label), trials in found.items():
        beside = [above for _, _, above, _ in trials if above is not None]
        rows.append(
            {
                "span": words,
                "label": label,
                "n": len(trials),
                "drop": fmean(drop for _, drop, _, _ in trials),
                "above": fmean(beside) if beside else None,
                "matters": sum(one for *_, one in trials),
                "texts": {key: drop for key, drop, _, _ in sorted(trials, key=lambda trial: -abs(trial[1]))},
            }
        )
    return sorted(rows, key=lambda one: (-abs(one["above"] or 0.0), one["span"], one["label"]))
