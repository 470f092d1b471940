"""Which words an answer follows, by its gradient: gradient times input, and integrated gradients (captum).

What is traced is the same number as where a word is left out: the label's log-odds, or those of yes against no. It is
followed down to the embeddings of the text's own tokens; what stands around them, and where each token stands, is held
as it is.

Sources: Simonyan and others 2014, Shrikumar and others 2016 (gradient times input); Sundararajan, Taly and Yan 2017
(integrated gradients, completeness).
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

import torch

from emotui.backends import yesno
from emotui.backends.base import Attribute, Attribution, Message, Refused, Score, Scores
from emotui.backends.hf.batching import TOKENS
from emotui.backends.hf.encoders import Encoder
from emotui.backends.hf.loading import Loaded
from emotui.backends.hf.prompts import Frame, Prompts, TracedPrompt
from emotui.backends.hf.settings import Settings
from emotui.backends.hf.span_models import Token, needs_offsets, piece_tokens, read_tokens
from emotui.backends.rendering import with_question
from emotui.backends.words import word_places
from emotui.errors import ModelError
from emotui.installing import check_captum

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
    table: Any = None,
) -> tuple[list[float], float, float]:
    """Of each of the text's tokens its part; and the number that is traced, of the text and of what it is set against.

    Args:
        own: the places of the text's tokens among all.
        forward: from tokens (rows, tokens) to the number that is traced, (rows,).
        blank: the token that stands for a text of nothing.
        budget: tokens of a batch.
        table: looks up the embeddings of these tokens, and of no others; None: the model's own.

    Raises:
        ModelError: the model has no such token.
    """
    from captum.attr import LayerGradientXActivation, LayerIntegratedGradients

    table = loaded.model.get_input_embeddings() if table is None else table
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


# Which words the yes or no of a model that writes follows.


class Traceable(Protocol):
    """A model that writes, and whose yes or no can be followed back."""

    def score(self, requests: Sequence[Score]) -> list[Scores | Refused]:
        """As the protocol has it."""

    def yes_or_no(self) -> yesno.Forms:
        """The tokens that say yes, and no. Raises ModelError where the vocabulary has none."""

    def traced_prompt(self, messages: Sequence[Message]) -> TracedPrompt | Refused:
        """What is read, as `score` reads it."""

    def answering(self, ids: Sequence[int]) -> Callable[[torch.Tensor], torch.Tensor]:
        """From tokens (rows, tokens) in place of these to logits (rows, vocabulary) of the answer's first token."""

    def tracing(self) -> AbstractContextManager[Any]:
        """While it is open, the module that it gives looks up the embeddings of what is read, and of nothing else."""


class ChatTracer:
    """Which words a model that writes goes by in its yes or no: its `attribute`.

    Args:
        backend: the model, which scores.
    """

    def __init__(self, backend: Traceable, loaded: Loaded, prompts: Prompts, settings: Settings) -> None:
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
        prompt = self._backend.traced_prompt(with_question(request.messages, request.question))
        if isinstance(prompt, Refused):
            return prompt
        tokens = self._tokens_of(request, prompt)
        if isinstance(tokens, Refused):
            return tokens
        yes, no = (torch.tensor(list(side), device=loaded.device) for side in (forms.yes, forms.no))
        answering = self._backend.answering(prompt.ids)

        def forward(read: torch.Tensor) -> torch.Tensor:
            logits = answering(read).double()
            return logits[:, yes.to(logits.device)].logsumexp(1) - logits[:, no.to(logits.device)].logsumexp(1)

        blank = blank_token(loaded.tokenizer, loaded.tokenizer.eos_token_id, mask=False)
        try:
            with self._backend.tracing() as table:
                values, whole, without = traced(
                    loaded, prompt.ids, list(tokens), forward, request, blank, self._budget, table
                )
        except torch.OutOfMemoryError:
            raise
        except (RuntimeError, NotImplementedError, AssertionError) as error:
            why = (str(error).splitlines() or [type(error).__name__])[0]
            raise ModelError(f"no gradient can be taken through this model: {why}") from error
        words, rest = by_word(values, list(tokens.values()), word_places(request.text))
        return Attribution(label, words, whole, without, rest)

    def _tokens_of(self, request: Attribute, prompt: TracedPrompt) -> dict[int, Token] | Refused:
        """By their place in a prompt the tokens of the text in it; they stand where they do in the text."""
        tokens = piece_tokens(self._prompts, prompt.pieces)
        behind = _user(request.messages).rpartition(request.text)[2]
        start = "".join(piece.text for piece in prompt.pieces).rfind(
            f"{request.text}{behind}{request.question}".rstrip()
        )
        end = start + len(request.text)
        if start < 0 or len(prompt.ids) != prompt.before + len(tokens) + prompt.behind:
            return Refused("the chat template changes the text: its words are not found in the prompt")
        return {
            place + prompt.before: Token(
                token.id, max(token.start, start) - start, min(token.end, end) - start, token.word
            )
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
