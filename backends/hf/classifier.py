"""Sequence classifiers with labels of their own, and NLI models that judge labels they were never trained on."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any

import torch

from emotui.backends.base import (
    Attribute,
    Attribution,
    Classification,
    Classify,
    ModelCard,
    Refused,
    Regress,
    Regressed,
    Score,
    Scores,
)
from emotui.backends.hf.encoders import Encoder, Framed
from emotui.backends.hf.families import labels_of, nli_places
from emotui.backends.hf.loading import Loaded
from emotui.backends.hf.prompts import Prompts, frame
from emotui.backends.hf.settings import Settings
from emotui.backends.hf.tracing import Tracer
from emotui.backends.words import word_places

LABEL_SET = "labels"
"""The name of a classifier's one label set."""


def is_regression(config: Any) -> bool:
    """Whether the head gives numbers and no logits: as the configuration says, or because it has one output alone.

    transformers trains a head with one output by the squared error, unless it is told what the problem is.
    """
    kind = getattr(config, "problem_type", None)
    return bool(kind == "regression" if kind else config.num_labels == 1)


class Classifier:
    """A classifier behind the protocol: `classify`, `score` (yes and no of each label) and `attribute`."""

    def __init__(self, card: ModelCard, loaded: Loaded, prompts: Prompts, settings: Settings) -> None:
        self.card = card
        self._encoder = Encoder(loaded, settings)
        self._prompts = prompts
        self._frame = frame(loaded.tokenizer, 1)
        self._limit = loaded.context
        self._labels = labels_of(loaded.config)
        kind = getattr(loaded.config, "problem_type", None)
        self._multi = kind == "multi_label_classification" if kind else settings.multi_label
        self._tracer = Tracer(self._encoder, prompts, self._frame, mask=card.mask is not None)

    def classify(self, requests: Sequence[Classify]) -> list[Classification | Refused]:
        """Probabilities over the model's labels (of given ones among them, as they are). Long texts are cut."""
        logits, cut = self._logits(*_masked(requests))
        probabilities = (logits.sigmoid() if self._multi else logits.softmax(-1)).tolist()
        results: list[Classification | Refused] = []
        for request, row, truncated in zip(requests, probabilities, cut, strict=True):
            probs = dict(zip(self._labels, row, strict=True))
            if (why := self._strange(request.labels or ())) or (why := _strange_set(request.label_set)):
                results.append(Refused(why))
                continue
            if request.labels is not None:
                probs = {label: probs[label] for label in request.labels}
            results.append(Classification(probs, max(probs, key=lambda key: probs[key]), self._multi, truncated))
        return results

    def score(self, requests: Sequence[Score]) -> list[Scores | Refused]:
        """Log-probabilities that each label holds (yes) and that it does not (no)."""
        logits, _ = self._logits(*_masked(requests))
        results: list[Scores | Refused] = []
        for request, row in zip(requests, logits, strict=True):
            if why := self._strange(request.questions):
                results.append(Refused(why))
                continue
            odds = [self._odds(row, self._labels.index(question)) for question in request.questions]
            results.append(_from_odds(odds))
        return results

    def attribute(self, requests: Sequence[Attribute]) -> list[Attribution | Refused]:
        """The drop of a label's log-odds when each word is left out, or what a gradient makes of each word.

        By default of the likeliest label.
        """
        results: list[Attribution | Refused] = []
        for request in requests:
            if why := self._strange((request.label,) if request.label is not None else ()):
                results.append(Refused(why))
                continue
            text = request.text
            if request.method != "removal":
                named = request.label is not None
                at = self._labels.index(str(request.label)) if named else int(self._logits([text])[0][0].argmax())
                results.append(self._tracer.trace(request, self._labels[at], partial(self._all_odds, place=at)))
                continue
            places = word_places(text)
            logits, _ = self._logits([text, *(text[:start] + text[end:] for start, end in places)])
            chosen = int(logits[0].argmax()) if request.label is None else self._labels.index(request.label)
            odds = [self._odds(row, chosen) for row in logits]
            words = tuple((start, end, odds[0] - less) for (start, end), less in zip(places, odds[1:], strict=True))
            results.append(Attribution(self._labels[chosen], words))
        return results

    def _logits(self, texts: Sequence[str], masks: Sequence[str] = ()) -> tuple[torch.Tensor, list[bool]]:
        """(texts, labels) in float64, and which texts were cut. Args: masks: of each text; none: nothing is masked."""
        room = None if self._limit is None else max(0, self._limit - self._frame.extra)
        ids = [self._prompts.text(text, mask) for text, mask in zip_longest(texts, masks, fillvalue="")]
        framed = [self._frame.ids(each[:room]) for each in ids]
        rows = self._encoder.run(framed, lambda out, mask, indices: list(out.logits.double().cpu()))
        found = torch.stack(rows) if rows else torch.zeros((0, len(self._labels)), dtype=torch.float64)
        return found, [room is not None and len(each) > room for each in ids]

    def _odds(self, row: torch.Tensor, place: int) -> float:
        """The log-odds of one label."""
        return float(self._all_odds(row[None], place))

    def _all_odds(self, rows: torch.Tensor, place: int) -> torch.Tensor:
        """(rows,). Args: rows: logits."""
        if self._multi:
            return rows[:, place]
        others = torch.cat([rows[:, :place], rows[:, place + 1 :]], 1)
        return rows[:, place] - others.logsumexp(1) if others.shape[1] else 0 * rows[:, place]

    def _strange(self, labels: Sequence[str]) -> str:
        unknown = [label for label in labels if label not in self._labels]
        return f"the model has no label {unknown[0]!r}; it has: {', '.join(self._labels)}" if unknown else ""


class ZeroShot:
    """An NLI model: does the text entail that it expresses the label (Yin et al. 2019)?

    `classify`, `score` and `attribute`, of labels that are given with each request.
    """

    def __init__(self, card: ModelCard, loaded: Loaded, prompts: Prompts, settings: Settings) -> None:
        self.card = card
        self._encoder = Encoder(loaded, settings)
        self._prompts, self._settings = prompts, settings
        self._frame = frame(loaded.tokenizer, 2)
        self._limit = loaded.context
        places = nli_places(labels_of(loaded.config))
        assert places is not None
        self._entails, self._contradicts = places
        self._tracer = Tracer(self._encoder, prompts, self._frame, mask=card.mask is not None)

    def classify(self, requests: Sequence[Classify]) -> list[Classification | Refused]:
        """Over given labels: the softmax of their entailment, or, with `multi_label`, each against contradiction."""
        asked = [(request.text, label, request.mask) for request in requests for label in request.labels or ()]
        logits, cut = self._logits(asked)
        results: list[Classification | Refused] = []
        end = 0
        for request in requests:
            if not request.labels:
                results.append(Refused("an NLI model has no labels of its own: give the labels to choose from"))
                continue
            start, end = end, end + len(request.labels)
            rows = logits[start:end]
            if self._settings.multi_label:
                values = (rows[:, self._entails] - rows[:, self._contradicts]).sigmoid().tolist()
            else:
                values = rows[:, self._entails].softmax(0).tolist()
            probs: Mapping[str, float] = dict(zip(request.labels, values, strict=True))
            best = max(probs, key=lambda key: probs[key])
            results.append(Classification(probs, best, self._settings.multi_label, any(cut[start:end])))
        return results

    def score(self, requests: Sequence[Score]) -> list[Scores | Refused]:
        """Entailment (yes) against contradiction (no) of each label or statement; what is neither does not count."""
        asked = [
            (request.text, question if request.stated else self._hypothesis(question), request.mask)
            for request in requests
            for question in request.questions
        ]
        logits, _ = self._judged(asked)
        odds = iter((logits[:, self._entails] - logits[:, self._contradicts]).tolist())
        return [_from_odds([next(odds) for _ in request.questions]) for request in requests]

    def attribute(self, requests: Sequence[Attribute]) -> list[Attribution | Refused]:
        """The drop of a given label's log-odds (entailment against contradiction) when each word is left out, or what
        a gradient makes of each word.
        """
        results: list[Attribution | Refused] = []
        for request in requests:
            if request.label is None:
                results.append(Refused("an NLI model has no labels of its own: name the one that words are to carry"))
                continue
            if request.method != "removal":
                statement = self._prompts.text(self._hypothesis(request.label))
                results.append(self._tracer.trace(request, request.label, self._all_odds, statement))
                continue
            text, places = request.text, word_places(request.text)
            texts = [text, *(text[:start] + text[end:] for start, end in places)]
            logits, _ = self._logits([(each, request.label, "") for each in texts])
            odds = (logits[:, self._entails] - logits[:, self._contradicts]).tolist()
            words = tuple((start, end, odds[0] - less) for (start, end), less in zip(places, odds[1:], strict=True))
            results.append(Attribution(request.label, words))
        return results

    def _all_odds(self, rows: torch.Tensor) -> torch.Tensor:
        return rows[:, self._entails] - rows[:, self._contradicts]

    def _hypothesis(self, label: str) -> str:
        return self._settings.hypothesis.replace("{}", label)

    def _logits(self, asked: Sequence[tuple[str, str, str]]) -> tuple[torch.Tensor, list[bool]]:
        """Of texts, labels and what is a mask in the text, as `_judged`."""
        return self._judged([(text, self._hypothesis(label), mask) for text, label, mask in asked])

    def _judged(self, asked: Sequence[tuple[str, str, str]]) -> tuple[torch.Tensor, list[bool]]:
        """(texts and statements, 3) in float64, and which texts were cut to leave room for the statement."""
        framed: list[Framed] = []
        cut: list[bool] = []
        for text, statement, mask in asked:
            premise = self._prompts.text(text, mask)
            hypothesis = self._prompts.text(statement)
            room = None if self._limit is None else max(0, self._limit - self._frame.extra - len(hypothesis))
            framed.append(self._frame.ids(premise[:room], hypothesis))
            cut.append(room is not None and len(premise) > room)
        rows = self._encoder.run(framed, lambda out, mask, indices: list(out.logits.double().cpu()))
        return (torch.stack(rows) if rows else torch.zeros((0, 3), dtype=torch.float64)), cut


def _masked(requests: Sequence[Classify] | Sequence[Score]) -> tuple[list[str], list[str]]:
    """Their texts, and what is a mask in each."""
    return [request.text for request in requests], [request.mask for request in requests]


def _strange_set(label_set: str | None) -> str:
    return "" if label_set in (None, LABEL_SET) else f"the model has one label set, {LABEL_SET!r}, not {label_set!r}"


def _from_odds(odds: Sequence[float]) -> Scores:
    values = torch.tensor(odds, dtype=torch.float64)
    yes, no = torch.nn.functional.logsigmoid(values), torch.nn.functional.logsigmoid(-values)
    return Scores(tuple(yes.tolist()), tuple(no.tolist()), (1.0,) * len(odds))


# Sequence classifiers whose head gives numbers: valence, arousal, a scale of the model's own.

NAMES = "values"
"""Under which name a card has what the numbers are called."""


class Regressor:
    """A regression head behind the protocol: `regress`."""

    def __init__(self, card: ModelCard, loaded: Loaded, prompts: Prompts, settings: Settings) -> None:
        self.card = card
        self._encoder = Encoder(loaded, settings)
        self._prompts = prompts
        self._frame = frame(loaded.tokenizer, 1)
        self._limit = loaded.context
        self._names = labels_of(loaded.config)

    def regress(self, requests: Sequence[Regress]) -> list[Regressed | Refused]:
        """The head's outputs as they are, without a softmax or sigmoid. Long texts are cut."""
        room = None if self._limit is None else max(0, self._limit - self._frame.extra)
        ids = [self._prompts.text(request.text) for request in requests]
        framed = [self._frame.ids(each[:room]) for each in ids]
        rows = self._encoder.run(framed, lambda out, mask, indices: list(out.logits.double().cpu()))
        return [
            Regressed(dict(zip(self._names, row.tolist(), strict=True)), room is not None and len(each) > room)
            for row, each in zip(rows, ids, strict=True)
        ]
