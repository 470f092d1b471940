"""A model under other names for its labels: `hf:DIRECTORY#map_labels=FILE`."""

import hashlib
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any
from urllib.parse import quote, unquote

import msgspec
from msgspec.structs import replace

from emotui.backends.base import (
    Attribute,
    Attribution,
    Backend,
    Classification,
    Classify,
    Evidence,
    Extract,
    ModelCard,
    Refused,
    Regress,
    Regressed,
    Score,
    Scores,
)
from emotui.bounded import read_text
from emotui.errors import BadInput, BadModel
from emotui.toml_text import parse_toml

OPTION = "map_labels"
"""In a SPEC, and in a card's identity for the hash of what the file says."""

MAPPED = "; labels mapped by "
"""In a convention, before the hash of the mapping of predicted labels that scores were computed under."""


def with_label_map(spec: str, path: str) -> str:
    """The SPEC of the same model under the names of a file."""
    return f"{spec}{'&' if '#' in spec else '#'}{OPTION}={quote(path, safe='/')}"


def split_label_map(spec: str) -> tuple[str, str | None]:
    """A SPEC without the option, and the file that it names; None: there is none."""
    model, sign, rest = spec.partition("#")
    options = rest.split("&") if sign else []
    others = [option for option in options if not option.startswith(f"{OPTION}=")]
    if len(others) == len(options):
        return spec, None
    path = next(option for option in options if option not in others).partition("=")[2]
    return (f"{model}#{'&'.join(others)}" if others else model), unquote(path)


def hash_of(mapping: Mapping[str, str]) -> str:
    """Names a mapping of labels, whatever their order: the first 8 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(msgspec.json.encode(dict(mapping), order="sorted")).hexdigest()[:8]


def read_label_map(path: str) -> dict[str, str]:
    """A TOML file of lines `theirs = "ours"`.

    Raises:
        BadInput: it cannot be read, or holds anything else; `FILE:LINE: what` where the line is known.
    """
    try:
        found = parse_toml(path, read_text(path))
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise BadInput(f"{path}: not UTF-8") from None
    wrong = [
        f"{path}: {name!r} must be a label in quotes" for name, label in found.items() if not isinstance(label, str)
    ]
    if not found:
        wrong = [f'{path}: there is no label in it; write lines such as joy = "happy"']
    if wrong:
        raise BadInput(*wrong)
    return found


class Relabelled:
    """A loaded model whose labels have other names; what has no name in the map keeps its own.

    Several labels under one name are one label: of labels that exclude each other its probability is their sum, of
    others that of at least one of them, taken as independent, 1 - prod (1 - p), as GoEmotions' labels are brought to
    Ekman's (`emotui.backends.embedded.labels.grouped`). Heads for yes and no, words that carry a label, and numbers are
    of one label each: such a name is refused there.

    Args:
        names: the model's labels to the new names.
        path: the file that they are from, for refusals.

    Raises:
        BadModel: the model has no labels of its own, or not one that is named; one line.
    """

    def __init__(self, backend: Backend, names: Mapping[str, str], path: str) -> None:
        own = backend.card
        known = list(dict.fromkeys(label for group in own.labels.values() for label in group))
        if not known:
            raise BadModel(f"{own.spec} has no labels of its own that {path} could rename")
        strange = [label for label in names if label not in known]
        if strange:
            raise BadModel(f"{path}: {own.spec} has no label {strange[0]!r}; it has: {', '.join(known)}")
        self._backend: Any = backend
        self._names = dict(names)
        self._sets = {name: self._grouped(group) for name, group in own.labels.items()}
        self.card = self._renamed(own)

    def __getattr__(self, name: str) -> Any:
        """What has nothing to do with labels is the model's own."""
        return getattr(self._backend, name)

    def classify(self, requests: Sequence[Classify]) -> list[Classification | Refused]:
        """As the model's own, over the new names."""
        chosen = [self._set_of(request) for request in requests]
        asked = [
            choice if isinstance(choice, Refused) else replace(request, label_set=choice, labels=None)
            for request, choice in zip(requests, chosen, strict=True)
        ]
        return [
            answer if isinstance(answer, Refused) else self._merged(request, str(choice), answer)
            for request, choice, answer in zip(requests, chosen, _answered(self._backend.classify, asked), strict=True)
        ]

    def score(self, requests: Sequence[Score]) -> list[Scores | Refused]:
        """As the model's own; questions that are new names are asked by the model's."""
        heads = self._sets.get("score") or next(iter(self._sets.values()))

        def asked(request: Score) -> Score | Refused:
            several = [question for question in request.questions if len(heads.get(question, "-")) > 1]
            if several:
                return self._several(several[0], heads[several[0]])
            return replace(request, questions=tuple(heads.get(each, [each])[0] for each in request.questions))

        return _answered(self._backend.score, [asked(request) for request in requests])

    def attribute(self, requests: Sequence[Attribute]) -> list[Attribution | Refused]:
        """As the model's own, of a label under its new name."""
        first = next(iter(self._sets.values()))

        def asked(request: Attribute) -> Attribute | Refused:
            theirs = first.get(request.label, [request.label]) if request.label is not None else [None]
            if len(theirs) > 1:
                return self._several(str(request.label), [str(label) for label in theirs])
            return replace(request, label=theirs[0])

        answers: list[Attribution | Refused] = _answered(self._backend.attribute, list(map(asked, requests)))
        return [
            answer
            if isinstance(answer, Refused)
            else replace(answer, label=self._names.get(answer.label, answer.label))
            for answer in answers
        ]

    def extract(self, requests: Sequence[Extract]) -> list[tuple[Evidence, ...] | Refused]:
        """As the model's own, each span under its new name."""
        return [
            answer
            if isinstance(answer, Refused)
            else type(answer)(replace(span, label=self._names.get(span.label, span.label)) for span in answer)
            for answer in self._backend.extract(requests)
        ]

    def regress(self, requests: Sequence[Regress]) -> list[Regressed | Refused]:
        """As the model's own, each number under its new name."""
        several = next(((name, own) for group in self._sets.values() for name, own in group.items() if own[1:]), None)
        if several is not None:
            return [self._several(*several)] * len(requests)
        return [
            answer
            if isinstance(answer, Refused)
            else replace(answer, values={self._names.get(name, name): value for name, value in answer.values.items()})
            for answer in self._backend.regress(requests)
        ]

    def _grouped(self, labels: Sequence[str]) -> dict[str, list[str]]:
        """New names in the order of the labels, to the labels under each."""
        found: dict[str, list[str]] = {}
        for label in labels:
            found.setdefault(self._names.get(label, label), []).append(label)
        return found

    def _renamed(self, own: ModelCard) -> ModelCard:
        cuts = {
            name: {
                ours: own.thresholds[name][theirs[0]]
                for ours, theirs in group.items()
                if len(theirs) == 1 and theirs[0] in own.thresholds[name]
            }
            for name, group in self._sets.items()
            if name in own.thresholds
        }
        mark = hashlib.sha256(msgspec.json.encode(self._names, order="sorted")).hexdigest()
        return replace(
            own,
            labels={name: tuple(group) for name, group in self._sets.items()},
            thresholds=cuts,
            identity={**own.identity, OPTION: mark},
        )

    def _set_of(self, request: Classify) -> str | Refused:
        """The label set that a request is about: the one that it names, else the first with all its labels."""
        sets = {name: group for name, group in self._sets.items() if name not in ("score", "spans")}
        if request.label_set is not None and request.label_set not in sets:
            return Refused(f"the model has no label set {request.label_set!r}; it has: {', '.join(sets)}")
        names = [request.label_set] if request.label_set is not None else list(sets)
        wanted = request.labels or ()
        fitting = next((name for name in names if set(wanted) <= set(sets[name])), None)
        if fitting is not None:
            return fitting
        known = sets[names[0]]
        unknown = next(label for label in wanted if label not in known)
        return Refused(f"the model has no label {unknown!r}; it has: {', '.join(known)}")

    def _merged(self, request: Classify, name: str, answer: Classification) -> Classification:
        group = self._sets[name]
        wanted = request.labels or tuple(group)
        probs = {ours: _together([answer.probs[each] for each in group[ours]], answer.multi_label) for ours in wanted}
        return replace(answer, probs=probs, label=max(probs, key=lambda ours: probs[ours]))

    def _several(self, ours: str, theirs: Sequence[str]) -> Refused:
        return Refused(
            f"{ours!r} is several labels of the model ({', '.join(theirs)}), and this asks about one at a time"
        )


def _together(probs: Sequence[float], independent: bool) -> float:
    if len(probs) == 1:
        return probs[0]
    return 1 - prod(1 - p for p in probs) if independent else min(1.0, sum(probs))


def _answered(method: Any, asked: Sequence[Any]) -> list[Any]:
    """The answers to what is no refusal already, each in its place."""
    answers = iter(method([request for request in asked if not isinstance(request, Refused)]))
    return [request if isinstance(request, Refused) else next(answers) for request in asked]
