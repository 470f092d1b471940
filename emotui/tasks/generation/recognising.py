"""ERS: which emotion a classifier, or a model that judges, finds in a text, and which target its label means."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from emotui.backends.base import ModelCard
from emotui.backends.host import ModelProcess
from emotui.errors import BadInput, ModelError
from emotui.metrics.ers import ers_report
from emotui.records import ClassGold, Generation
from emotui.tasks.asking import Asking
from emotui.tasks.generation.whole import folded, place
from emotui.tasks.rephrase.task import Prediction as Label
from emotui.tasks.rephrase.task import Rephrase
from emotui.tasks.task import AskModel

BATCH = 64

GOEMOTIONS_TO_UNIC: Mapping[str, str] = MappingProxyType(
    {
        "admiration": "contentment",
        "amusement": "joy",
        "annoyance": "disgust",
        "approval": "contentment",
        "caring": "contentment",
        "confusion": "confusion",
        "curiosity": "confusion",
        "disappointment": "disappointment",
        "disapproval": "disappointment",
        "disgust": "disgust",
        "excitement": "joy",
        "grief": "disappointment",
        "joy": "joy",
        "love": "joy",
        "gratitude": "contentment",
        "neutral": "neutral",
        "optimism": "contentment",
        "realization": "surprise",
        "relief": "contentment",
        "remorse": "disappointment",
        "sadness": "disappointment",
        "surprise": "surprise",
    }
)
"""Labels of GoEmotions to UniC's seven emotions, where both sides are just these: this project's own judgement, for the
paper's classifiers have other labels and it does not say how it maps them. The others have no image."""

UNIC = ("confusion", "contentment", "disappointment", "disgust", "joy", "neutral", "surprise")
"""The emotions of section 6.2."""


class Recognised(msgspec.Struct, frozen=True):
    """What one classifier finds: the target meant by its label, a text each; None where it means none of them.

    `images`: its labels to targets. `unmapped`: how often it gave a label that means no target, by label. `unread`:
    texts without an answer, such as one that the model does not finish.
    """

    spec: str
    way: str
    labels: tuple[str, ...]
    found: tuple[str | None, ...]
    images: Mapping[str, str]
    unmapped: Mapping[str, int]
    unread: int

    def document(self, places: Sequence[int], targets: Sequence[str]) -> dict[str, Any]:
        """The figures of the texts at these places."""
        return ers_report([targets[at] for at in places], [self.found[at] for at in places])


def recognise(
    model: ModelProcess,
    records: Sequence[Generation],
    mapping: Mapping[str, str],
    targets: Sequence[str] = (),
    *,
    strict: bool = True,
) -> Recognised:
    """Ask a model for the emotion of each emotional text, in batches.

    Args:
        mapping: a person's own, the model's label to target.
        targets: further ones that its labels may mean, beside those of the records.
        strict: whether the target of each record must be known.

    Raises:
        BadInput: targets that no label of the model means, a line for each record; where not `strict`, there are just
            none such among the values of `images`.
        ModelError: the model can give no label.
    """
    card = model.load()
    targets = tuple(dict.fromkeys([*targets, *(one.target for one in records)]))
    task = Rephrase()
    ways = task.ways(card)
    # A judge behind a server writes its label: yes and no for each of seven would be seven questions a text.
    way = next(way for way in ("classify", "rank", "zs", "score", *ways) if way in ways)
    if way == "classify" and card.labels:
        name, labels = _label_set(card, targets, mapping)
        images = _images(labels, targets, mapping)
        options: dict[str, object] = {"labels": list(labels), "label_set": name}
        if strict:
            _check(card, labels, images, records)
    else:
        labels, images = targets, {label: label for label in targets}
        options = {"labels": list(labels)}
    said = _labels(task.with_options(options, 1), Asking(model), way, [one.emotional for one in records])
    found, unmapped = [], dict[str, int]()
    for one in said:
        image = None if one is None else images.get(one)
        found.append(image)
        if one is not None and image is None:
            unmapped[one] = unmapped.get(one, 0) + 1
    unread = sum(one is None for one in said)
    return Recognised(card.spec, way, tuple(labels), tuple(found), images, unmapped, unread)


def _labels(task: Rephrase, model: AskModel, way: str, texts: Sequence[str]) -> list[str | None]:
    samples = [ClassGold(id=str(at), text=text) for at, text in enumerate(texts)]
    found: list[str | None] = []
    for start in range(0, len(samples), BATCH):
        some = samples[start : start + BATCH]
        for sample, answer in zip(some, task.ask(some, model, way, [0] * len(some)), strict=True):
            if answer.again:
                raise ModelError(answer.why or "the model went away")
            label: Label | None = None if answer.raw is None else task.parse(sample, answer.raw, way)
            found.append(label.label or None if label else None)
    return found


def _label_set(card: ModelCard, targets: Sequence[str], mapping: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """The smallest of the model's label sets that has all targets, by name or mapping; else the one with most."""
    own = {name: labels for name, labels in card.labels.items() if name != "score"} or dict(card.labels)

    def rank(name: str) -> tuple[int, int]:
        reached = {folded(image) for image in _images(own[name], targets, mapping).values()}
        return -len(reached & set(map(folded, targets))), len(own[name])

    chosen = min(own, key=rank)
    return chosen, tuple(own[chosen])


def _images(labels: Sequence[str], targets: Sequence[str], mapping: Mapping[str, str]) -> dict[str, str]:
    """Label to target: by a person's mapping, else by the same name, else GoEmotions' labels by UniC's seven."""
    by_name = {folded(target): target for target in targets}
    given = {folded(theirs): folded(ours) for theirs, ours in mapping.items()}
    usual = {} if given or not set(by_name) <= set(UNIC) else GOEMOTIONS_TO_UNIC
    found = {}
    for label in labels:
        name = folded(label)
        wanted = given.get(name) or (name if name in by_name else usual.get(name))
        if wanted is not None and wanted in by_name:
            found[label] = by_name[wanted]
    return found


def _check(card: ModelCard, labels: Sequence[str], images: Mapping[str, str], records: Sequence[Generation]) -> None:
    reached = set(images.values())
    problems = [
        f"{place(one)}: {card.spec} does not know the target {one.target!r}: say which of its labels mean it by "
        f'--map-labels FILE, with lines such as {labels[0]} = "{one.target}"; its labels: {", ".join(labels)}'
        for one in records
        if one.target not in reached
    ]
    if problems:
        raise BadInput(*problems)
