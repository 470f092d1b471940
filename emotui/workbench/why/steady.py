"""How steady a model's answers are: the same question in other words, beside how far people disagree.

Nothing that is changed here changes what a text says: the order of the labels, their names, a typing error, the way of
asking. Li, Papay and Klinger (2025) find that the order of labels alone moves models more than people.
"""

import hashlib
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from emotui.backends.words import word_places
from emotui.errors import BadInput, ModelError
from emotui.metrics.beside import beside, of_ratios, with_beside
from emotui.records import LabelsGold
from emotui.store.query import Dataset
from emotui.tasks.label_questions import CLASSIFY, HEADS
from emotui.tasks.parts import shared_of
from emotui.tasks.prompting.settings import COT, ZERO_SHOT
from emotui.tasks.registry import task_named
from emotui.workbench.why.asking import LabelAsker, OnText, keep_document, labelled_texts, left_out_note

if TYPE_CHECKING:
    from emotui.metrics.states import Bits
    from emotui.workbench.workspace import Workspace

VARIANTS = 3
"""Orders of the labels, and texts with typing errors, that are asked about."""

TYPOS = 20
"""Words for each typing error, one at least."""

FACTORS = ("order", "names", "typos", "prompt")

OTHER_NAMES: Mapping[str, str] = {
    "joy": "joyful",
    "happiness": "happy",
    "happy": "happiness",
    "trust": "trusting",
    "fear": "afraid",
    "surprise": "surprised",
    "sadness": "sad",
    "sad": "sadness",
    "disgust": "disgusted",
    "anger": "angry",
    "angry": "anger",
    "anticipation": "expectant",
    "contempt": "contemptuous",
    "love": "loving",
    "guilt": "guilty",
    "shame": "ashamed",
    "pride": "proud",
    "relief": "relieved",
    "disappointment": "disappointed",
    "annoyance": "annoyed",
    "confusion": "confused",
    "curiosity": "curious",
    "excitement": "excited",
    "gratitude": "grateful",
    "grief": "grieving",
    "nervousness": "nervous",
    "optimism": "optimistic",
    "remorse": "remorseful",
    "embarrassment": "embarrassed",
}
"""Nouns of emotions to adjectives, and adjectives to nouns: other words for the same label."""

CONVENTION = (
    "steady 1: flips: share of answers whose set of labels is not that of the plain question; labels_changed: share of "
    "all yes and no that changed; likeliest: of answers whose likeliest label is another; moved: mean change of a "
    "probability; people: the first two between each two annotators of a text"
)


class _Variant(msgspec.Struct, frozen=True):
    """The texts of a question, with options of the labels task, and the other names that labels have in it."""

    texts: Sequence[LabelsGold]
    options: Mapping[str, object] = {}
    renamed: Mapping[str, str] = {}


class _Answers(msgspec.Struct, frozen=True):
    """What was given to each text, and with which probability: (n, k) each; None where there are no probabilities."""

    given: Any
    probs: Any = None


def find_flips(
    workspace: "Workspace",
    spec: str,
    dataset: Dataset,
    *,
    limit: int | None = None,
    variants: int = VARIANTS,
    names: Mapping[str, str] | None = None,
    way: str | None = None,
    options: Mapping[str, object] | None = None,
    seed: int = 0,
    on_text: OnText = lambda done, n: None,
) -> dict[str, Any]:
    """Which answers flip under which change: the document of `emotui steady`.

    Args:
        variants: of the order of labels, and of typing errors.
        names: other names by label; None: `OTHER_NAMES`.
        options: of the labels task.

    Raises:
        BadInput: there is no text, or a name in `names` is no label.
        ModelError: the model cannot be asked, or gave no answer about a text.
    """
    samples = labelled_texts(workspace, dataset, limit)
    if not samples:
        raise BadInput(f"{dataset.name} has no text")
    model, given = workspace.model(spec), dict(options or {})
    plain = LabelAsker(model, samples, way, given, store=workspace.store)
    labels = plain.labels
    if unknown := set(names or {}) - set(labels):
        raise BadInput(f"{', '.join(sorted(unknown))}: no label of the question ({', '.join(labels)})")

    changed, skipped = _changes(plain, samples, variants, names, seed)
    asked: list[tuple[str, _Variant, LabelAsker]] = []
    for factor, each in changed.items():
        for variant in each:
            changed_way = {**given, **variant.options}
            own = plain
            if variant.options:
                own = LabelAsker(model, samples, plain.way, changed_way, store=workspace.store)
            asked.append((factor, variant, own))
    others = [one for one in task_named("labels").ways(model.load()) if one != plain.way]
    for one in others:
        try:
            own = LabelAsker(model, samples, one, {"labels": list(labels)}, store=workspace.store)
        except BadInput as error:  # heads, say, are for other labels than those of the classifier
            skipped[f"prompt.{one}"] = f"left out: {error}"
        else:
            asked.append(("prompt", _Variant(samples), own))
    if not others:
        skipped["prompt"] = f"there is one way of asking {spec}: {plain.way or 'its own'}"

    n = len(samples) * (1 + len(asked))
    done = 0

    def given_by(asker: LabelAsker, variant: _Variant) -> _Answers:
        nonlocal done
        texts = [(one.id, one.text or "") for one in variant.texts]
        said = asker.ask(texts, lambda at, _: on_text(done + at, n))
        done += len(texts)
        names_of = [variant.renamed.get(label, label) for label in labels]
        table = np.array([[name in one.labels for name in names_of] for one in said], dtype=np.uint8)
        if any(not one.probs for one in said):
            return _Answers(table)
        return _Answers(table, np.array([[one.probs[name] for name in names_of] for one in said]))

    base = given_by(plain, _Variant(samples))
    answers: dict[str, list[_Answers]] = {}
    for factor, variant, asker in asked:
        try:
            answers.setdefault(factor, []).append(given_by(asker, variant))
        except ModelError as error:
            if factor != "prompt":
                raise
            skipped[f"prompt.{asker.way}"] = f"left out: {error}"

    found = {factor: answers[factor] for factor in FACTORS if answers.get(factor)}
    parts: dict[str, tuple[Any, Any]] = {}
    rows: dict[str, dict[str, Any]] = {}
    for factor, replies in found.items():
        moved = np.stack([one.given != base.given for one in replies])
        v, count, k = moved.shape
        sides = {
            "flips": (moved.any(2).sum(0), np.full(count, float(v))),
            "labels_changed": (moved.sum((0, 2)), np.full(count, float(v * k))),
        }
        known = [one.probs for one in replies if one.probs is not None]
        if base.probs is not None and known:
            tops = np.stack([probs.argmax(1) != base.probs.argmax(1) for probs in known])
            sides["likeliest"] = tops.sum(0), np.full(count, float(len(known)))
            away = np.stack([np.abs(probs - base.probs).mean(1) for probs in known])
            sides["moved"] = away.sum(0), np.full(count, float(len(known)))
        rows[factor] = {"variants": v} | {name: float(top.sum() / over.sum()) for name, (top, over) in sides.items()}
        rows[factor]["by_label"] = {label: float(moved[:, :, at].mean()) for at, label in enumerate(labels)}
        parts |= {f"factors.{factor}.{name}": side for name, side in sides.items()}
    people, people_parts = _people(samples, labels)
    parts |= {f"people.{name}": side for name, side in people_parts.items()}
    shared = shared_of(samples)
    document = {
        "dataset": dataset.name,
        "model": spec,
        "way": plain.way,
        "n": len(samples),
        "labels": list(labels),
        "factors": rows,
        "people": people,
        "flipped": _flipped(samples, base, found, labels),
        "notes": {f"factors.{factor}": why for factor, why in skipped.items()} | left_out_note(plain, spec),
        "conventions": {"steady": CONVENTION},
    }
    document = with_beside(document, beside(of_ratios(parts, list(shared.values())), list(shared.values())))
    keep_document(workspace.store, "steady", dataset, document)
    return document


def _changes(
    asker: LabelAsker, samples: Sequence[LabelsGold], variants: int, names: Mapping[str, str] | None, seed: int
) -> tuple[dict[str, list[_Variant]], dict[str, str]]:
    """By factor each of its variants; and why there are none of a factor."""
    draw = np.random.default_rng(seed)
    labels = asker.labels
    found: dict[str, list[_Variant]] = {}
    skipped: dict[str, str] = {}
    if asker.way in (ZERO_SHOT, COT) and len(labels) > 1:
        orders = [[labels[at] for at in draw.permutation(len(labels)).tolist()] for _ in range(variants)]
        found["order"] = [_Variant(samples, {"labels": order}) for order in orders]
    else:
        skipped["order"] = "each label is asked about by itself, or not by name: their order is not shown to the model"
    known = {label: OTHER_NAMES.get(label.casefold()) for label in labels} if names is None else names
    renamed = {label: other for label, other in known.items() if other and other not in labels}
    if asker.way in (CLASSIFY, HEADS):
        skipped["names"] = "the model has labels of its own: it does not read their names"
    elif not renamed:
        skipped["names"] = "no other names of these labels are known (--names FILE gives them)"
    else:
        options = {"labels": [renamed.get(label, label) for label in labels]}
        found["names"] = [_Variant(samples, options, renamed)]
    found["typos"] = [_Variant([_mistyped(one, seed + at) for one in samples]) for at in range(variants)]
    return found, skipped


def mistyped(text: str, seed: int) -> str:
    """A text in which two neighbouring letters are exchanged in one word of twenty, in one at least.

    Words of fewer than four letters stay, and so do first and last letters and all names of labels' case: a reader
    takes the word for what it was. The same seed and text give the same errors.
    """
    words = [(start, end) for start, end in word_places(text) if end - start >= 4 and text[start:end].isalpha()]
    words = [place for place in words if len(set(text[place[0] + 1 : place[1] - 1])) > 1]
    if not words:
        return text
    digest = hashlib.sha256(f"{seed}/{text}".encode()).digest()
    draw = np.random.default_rng(int.from_bytes(digest[:8]))
    letters = list(text)
    count = min(max(1, len(word_places(text)) // TYPOS), len(words))
    for at in draw.choice(len(words), count, replace=False).tolist():
        start, end = words[at]
        places = [i for i in range(start + 1, end - 2) if letters[i] != letters[i + 1]]
        if places:
            i = places[int(draw.integers(len(places)))]
            letters[i], letters[i + 1] = letters[i + 1], letters[i]
    return "".join(letters)


def _mistyped(sample: LabelsGold, seed: int) -> LabelsGold:
    return LabelsGold(id=sample.id, text=mistyped(sample.text or "", seed), meta=sample.meta)


def _people(
    samples: Sequence[LabelsGold], asked: Sequence[str]
) -> tuple[dict[str, Any] | None, dict[str, tuple[Any, Any]]]:
    """How far two people who labelled the same text differ, over all such pairs; None where there are none.

    Labels count that a model was asked about, and those that people gave beside.
    """
    labels = {*asked, *(label for one in samples for said in one.annotators.values() for label in said)}
    flips, changed, pairs = (np.zeros(len(samples)) for _ in range(3))
    for at, one in enumerate(samples):
        for a, b in combinations(one.annotators.values(), 2):
            pairs[at] += 1
            flips[at] += set(a) != set(b)
            changed[at] += len(set(a) ^ set(b))
    if not pairs.sum():
        return None, {}
    sides = {"flips": (flips, pairs), "labels_changed": (changed, pairs * len(labels))}
    rates = {name: float(top.sum() / over.sum()) for name, (top, over) in sides.items()}
    return {"n": int((pairs > 0).sum()), "pairs": int(pairs.sum())} | rates, sides


def _flipped(
    samples: Sequence[LabelsGold], base: _Answers, answers: Mapping[str, Sequence[_Answers]], labels: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """By id the plain answer, and what else was said under each factor; texts with the most flips first."""
    found: dict[str, dict[str, Any]] = {}
    count: dict[str, int] = {}
    for at, sample in enumerate(samples):
        others: dict[str, list[list[str]]] = {}
        for factor, each in answers.items():
            said = [_names(one.given[at], labels) for one in each if (one.given[at] != base.given[at]).any()]
            others |= {factor: said} if said else {}
        if others:
            count[sample.id] = sum(len(said) for said in others.values())
            found[sample.id] = {"plain": _names(base.given[at], labels), **others}
    return dict(sorted(found.items(), key=lambda one: -count[one[0]]))


def _names(row: "Bits", labels: Sequence[str]) -> list[str]:
    return [label for label, there in zip(labels, row.tolist(), strict=True) if there]
