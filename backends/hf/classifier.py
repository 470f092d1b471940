"""Sequence classifiers with labels of their own, and NLI models that judge labels they were never trained on."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import torch

from emotui.backends.base import (
    Attribute,
    Attribution,
    Classification,
    Classify,
    Message,
    ModelCard,
    Refused,
    Regress,
    Regressed,
    Score,
    Scores,
)
from emotui.backends.hf.batching import TOKENS
from emotui.backends.hf.encoders import Encoder, Framed
from emotui.backends.hf.families import labels_of, nli_places
from emotui.backends.hf.loading import Loaded
from emotui.backends.hf.prompts import Frame, Prompts, frame
from emotui.backends.hf.settings import Settings
from emotui.backends.hf.span_models import Token, needs_offsets, piece_tokens, read_tokens
from emotui.backends.rendering import with_question
from emotui.backends.words import word_places
from emotui.errors import ModelError
from emotui.installing import check_captum

if TYPE_CHECKING:
    from emotui.backends.hf.causal import Causal

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


# Which words an answer follows, by its gradient: gradient times input, and integrated gradients (captum).
#
# What is traced is the same number as where a word is left out: the label's log-odds. It is followed down to the
# embeddings of the text's own tokens; what stands around them, and where each token stands, is held as it is.
#
# Sources: Simonyan and others 2014, Shrikumar and others 2016 (gradient times input); Sundararajan, Taly and Yan 2017
# (integrated gradients, completeness).

Odds = Callable[[torch.Tensor], torch.Tensor]
"""From logits (rows, outputs) in float64 to the number that is traced, (rows,)."""


def by_word(
    values: Sequence[float], tokens: Sequence[Token], words: Sequence[tuple[int, int]]
) -> tuple[tuple[tuple[int, int, float], ...], float]:
    """The sum over the tokens of each word that has one, and the sum over the tokens of none (signs between words).

    A token is of the word in which most of its letters stand, the first of several: so the sums come to that of all.
    """
    sums: dict[tuple[int, int], float] = {}
    rest = 0.0
    for value, token in zip(values, tokens, strict=True):
        shared = [min(token.end, end) - max(token.start, start) for start, end in words]
        best = max(range(len(words)), key=lambda at: (shared[at], -at), default=None)
        if best is None or shared[best] <= 0:
            rest += value
        else:
            sums[words[best]] = sums.get(words[best], 0.0) + value
    return tuple((*word, sums[word]) for word in words if word in sums), rest


class Tracer:
    """A classifier's answers, followed back to words.

    Args:
        frame: of the texts that the model reads together, the traced one first.
        mask: whether the tokeniser's mask token is one that the model has learnt from.
    """

    def __init__(self, encoder: Encoder, prompts: Prompts, frame: Frame, *, mask: bool) -> None:
        self._encoder, self._prompts, self._frame = encoder, prompts, frame
        self._blank = blank_token(encoder.loaded.tokenizer, mask=mask)

    def trace(self, request: Attribute, label: str, odds: Odds, *behind: Sequence[int]) -> Attribution | Refused:
        """What each word adds to the label's log-odds.

        Args:
            behind: the tokens of what is read behind the text.

        Raises:
            ModelError: captum is not installed, or the tokeniser does not say where its tokens stand.
        """
        check_captum()
        needs_offsets(self._prompts.tokenizer, "this model")
        limit = self._encoder.loaded.context
        room = None if limit is None else max(0, limit - self._frame.extra - sum(map(len, behind)))
        tokens = read_tokens(self._prompts, request.text)
        cut, tokens = room is not None and len(tokens) > room, tokens[:room]
        if not tokens:
            return Refused("the text has no token")
        ids, kinds = self._frame.ids([token.id for token in tokens], *behind)
        first = len(self._frame.around[0])
        own = list(range(first, first + len(tokens)))
        loaded = self._encoder.loaded
        types = torch.tensor([list(kinds)], device=loaded.device) if self._encoder.takes_types else None

        def forward(read: torch.Tensor) -> torch.Tensor:
            named = {} if types is None else {"token_type_ids": types.expand(len(read), -1)}
            return odds(loaded.model(input_ids=read, attention_mask=torch.ones_like(read), **named).logits.double())

        values, whole, without = traced(loaded, ids, own, forward, request, self._blank, self._encoder.budget)
        words, rest = by_word(values, tokens, word_places(request.text))
        return Attribution(label, words, whole, without, rest, cut)


def traced(
    loaded: Loaded,
    ids: Sequence[int],
    own: Sequence[int],
    forward: Odds,
    request: Attribute,
    blank: int | None,
    budget: int,
) -> tuple[list[float], float, float]:
    """Of each of the text's tokens its part; and the number that is traced, of the text and of what it is set against.

    Args:
        own: the places of the text's tokens among all.
        forward: from tokens (rows, tokens) to the number that is traced, (rows,).
        blank: the token that stands for a text of nothing.
        budget: tokens of a batch.

    Raises:
        ModelError: the model has no such token.
    """
    from captum.attr import LayerGradientXActivation, LayerIntegratedGradients

    table = loaded.model.get_input_embeddings()
    read = torch.tensor([list(ids)], device=loaded.device)
    at = list(own)
    with torch.no_grad():
        whole = float(forward(read))
        against, reference = table(read).clone(), read.clone()
        if request.method == "gradient":
            against[:, at] = 0
        else:
            if blank is None:
                raise ModelError("this model has no token that says nothing: there is nothing to integrate from")
            reference[:, at] = blank
            against[:, at] = table(reference)[:, at]
        with _embedded(table, against):
            nothing = float(forward(read))
    with torch.enable_grad():
        if request.method == "gradient":
            found = LayerGradientXActivation(forward, table).attribute(read)
        else:
            found = LayerIntegratedGradients(forward, table).attribute(
                read,
                baselines=reference,
                n_steps=request.steps,
                internal_batch_size=max(1, budget // read.shape[1]),
            )
    values: list[float] = found[0, at].detach().double().sum(-1).tolist()
    return values, whole, nothing


def blank_token(tokenizer: Any, *others: int | None, mask: bool) -> int | None:
    """What stands for a text of nothing: the mask token, else padding, an unknown word, or one of the others."""
    named = (tokenizer.mask_token_id if mask else None, tokenizer.pad_token_id, tokenizer.unk_token_id, *others)
    return next((int(token) for token in named if token is not None), None)


@contextmanager
def _embedded(table: Any, states: torch.Tensor) -> Iterator[None]:
    """While the body runs, the embeddings of whatever is read are these."""
    handle = table.register_forward_hook(lambda *_: states)
    try:
        yield
    finally:
        handle.remove()


class ChatTracer:
    """Which words a model that writes goes by in its yes or no: its `attribute`.

    Args:
        backend: the model, which scores.
    """

    def __init__(self, backend: "Causal", loaded: Loaded, prompts: Prompts, settings: Settings) -> None:
        self._backend, self._loaded, self._prompts = backend, loaded, prompts
        # Backwards, each token's states at every layer are held.
        self._budget = (settings.batch_tokens or TOKENS.get(loaded.device.type, TOKENS["cpu"])) // 4

    def attribute(self, requests: Sequence[Attribute]) -> list[Attribution | Refused]:
        """What the log-odds of yes lose without each word of a text, or what a gradient makes of each word.

        Raises:
            ModelError: as `score`; captum is missing, or no gradient can be taken through this model.
        """
        return [self._attributed(request) for request in requests]

    def _attributed(self, request: Attribute) -> Attribution | Refused:
        if not request.question or request.label is None or request.text not in _user(request.messages):
            return Refused("a model that writes has no labels of its own: it is to be asked about one, yes or no")
        if not request.text:
            return Refused("the text has no token")
        if request.method != "removal":
            return self._traced(request, request.label)
        text, places = request.text, word_places(request.text)
        before, _, behind = _user(request.messages).rpartition(text)
        asked = [
            Score(each, (request.question,), _with_user(request.messages, f"{before}{each}{behind}"))
            for each in (text, *(text[:start] + text[end:] for start, end in places))
        ]
        odds: list[float] = []
        for one in self._backend.score(asked):
            if isinstance(one, Refused):
                return one
            odds.append(one.yes[0] - one.no[0])
        words = tuple((start, end, odds[0] - less) for (start, end), less in zip(places, odds[1:], strict=True))
        return Attribution(request.label, words)

    def _traced(self, request: Attribute, label: str) -> Attribution | Refused:
        check_captum()
        needs_offsets(self._prompts.tokenizer, "this model")
        forms, loaded = self._backend.yes_or_no(), self._loaded
        ids = self._backend.checked(with_question(request.messages, request.question), "", thinking=False)
        if isinstance(ids, Refused):
            return ids
        tokens = self._tokens_of(request, ids)
        if isinstance(tokens, Refused):
            return tokens
        yes, no = (torch.tensor(list(side), device=loaded.device) for side in (forms.yes, forms.no))
        last: dict[str, Any] = (
            {"logits_to_keep": 1} if "logits_to_keep" in inspect.signature(loaded.model.forward).parameters else {}
        )

        def forward(read: torch.Tensor) -> torch.Tensor:
            mask = torch.ones_like(read)
            out = loaded.model(input_ids=read, attention_mask=mask, use_cache=False, **last)
            logits = out.logits[:, -1].double()
            return logits[:, yes.to(logits.device)].logsumexp(1) - logits[:, no.to(logits.device)].logsumexp(1)

        blank = blank_token(loaded.tokenizer, loaded.tokenizer.eos_token_id, mask=False)
        try:
            values, whole, without = traced(loaded, ids, list(tokens), forward, request, blank, self._budget)
        except torch.OutOfMemoryError:
            raise
        except (RuntimeError, NotImplementedError, AssertionError) as error:
            why = (str(error).splitlines() or [type(error).__name__])[0]
            raise ModelError(f"no gradient can be taken through this model: {why}") from error
        words, rest = by_word(values, list(tokens.values()), word_places(request.text))
        return Attribution(label, words, whole, without, rest)

    def _tokens_of(self, request: Attribute, ids: Sequence[int]) -> dict[int, Token] | Refused:
        """By their place in a prompt the tokens of the text in it; they stand where they do in the text."""
        pieces = self._prompts.pieces(with_question(request.messages, request.question), thinking=False)
        tokens = piece_tokens(self._prompts, pieces)
        shift = len(self._prompts.begins) - self._prompts.extra_begins([token.id for token in tokens])
        behind = _user(request.messages).rpartition(request.text)[2]
        start = "".join(piece.text for piece in pieces).rfind(f"{request.text}{behind}{request.question}".rstrip())
        end = start + len(request.text)
        if start < 0 or len(ids) != len(tokens) + shift:
            return Refused("the chat template changes the text: its words are not found in the prompt")
        return {
            place + shift: Token(token.id, max(token.start, start) - start, min(token.end, end) - start, token.word)
            for place, token in enumerate(tokens)
            if token.start < end and start < token.end
        }


def _user(messages: Sequence[Message]) -> str:
    """The user's last message."""
    return next((one.content for one in reversed(messages) if one.role == "user"), "")


def _with_user(messages: Sequence[Message], content: str) -> tuple[Message, ...]:
    """The messages with another last one of the user's."""
    place = max(at for at, one in enumerate(messages) if one.role == "user")
    return (*messages[:place], Message("user", content), *messages[place + 1 :])
