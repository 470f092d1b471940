"""EPS, EAS and perplexity: what each needs a model for, asked in batches, and what a text gets where there is none."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from emotui.backends.base import Classify, Generate, Generation, Rank, Refused
from emotui.backends.grammars import numbers_of
from emotui.backends.host import ModelProcess, lacks
from emotui.errors import BadInput, ModelError
from emotui.metrics.eas import EAS_EMOTIONS, EAS_MOST, eas
from emotui.metrics.eps import EPS_LABELS, eps_label
from emotui.metrics.fluency import perplexity
from emotui.tasks.asking import Asking, embedded
from emotui.tasks.prompting.files import Prompt, as_chat, filled
from emotui.tasks.prompting.settings import ZERO_SHOT
from emotui.tasks.values.task import read_numbers

BATCH = 64
WINDOW = 256
"""Words that are read at once for perplexity: GPT-2 has room for 1,024 tokens."""

EAS_PROMPT = Prompt(
    "Text:\n{text}\n\n"
    "How strongly does this text show each of these emotions: {emotions}? Give each a number from 0, not at all, to "
    "100, as strongly as a text can. Reply with nothing but a JSON object with a number for each, such as {example}.",
    "You read short texts and rate the emotions in them, in numbers.",
)
_EXAMPLE = "{" + ", ".join(f'"{emotion}": 50' for emotion in EAS_EMOTIONS) + "}"
_ROOM = 160


def eps_by_nli(model: ModelProcess, texts: Sequence[str]) -> list[str | None]:
    """The label of each text among `EPS_LABELS` by an NLI model; None of one that it refuses or does not finish.

    Raises:
        BadInput: the model has labels of its own.
        ModelError: it cannot classify.
    """
    card = model.load()
    if "classify" not in card.capabilities:
        raise ModelError(lacks(card.spec, "classify"))
    if card.labels:
        raise BadInput(
            f"{card.spec} has labels of its own: --nli needs an NLI model, such as hf:facebook/bart-large-mnli"
        )
    answers = _asked(model, [Classify(text, labels=EPS_LABELS) for text in texts])
    return [None if isinstance(answer, Refused) else eps_label(answer.probs) for answer in answers]


def eas_by_model(model: ModelProcess, texts: Sequence[str]) -> list[float | None]:
    """EAS of each text by a model that writes; None where its answer does not have all six ratings from 0 to 100.

    Raises:
        ModelError: it cannot write.
    """
    card = model.load()
    if "generate" not in card.capabilities:
        raise ModelError(lacks(card.spec, "generate"))
    requests = [_eas_request(text, grammar=True) for text in texts]
    try:
        answers = list(_asked(model, requests))
    except ModelError:
        if model.pid is None:
            raise
        # A model that follows no grammar says so; its answers are parsed then.
        answers = list(_asked(model, [_eas_request(text, grammar=False) for text in texts]))
    return [_rated(answer) for answer in answers]


def _eas_request(text: str, *, grammar: bool) -> Generate:
    fields = {"text": text, "emotions": ", ".join(EAS_EMOTIONS), "example": _EXAMPLE}
    held = numbers_of(EAS_EMOTIONS) if grammar else None
    return Generate(as_chat(EAS_PROMPT, filled(EAS_PROMPT.user, fields)), max_tokens=_ROOM, grammar=held)


def _rated(answer: Generation | Refused) -> float | None:
    if isinstance(answer, Refused):
        return None
    ratings, _ = read_numbers(answer.text, ZERO_SHOT, EAS_EMOTIONS)
    if any(not 0 <= ratings.get(emotion, -1) <= EAS_MOST for emotion in EAS_EMOTIONS):
        return None
    return eas(ratings)


class Fluency(msgspec.Struct, frozen=True):
    """`of`: the perplexity of each distinct text, None of one that the model refuses or that has no word.

    `tokens`, `words`: that were read of all of them.
    """

    of: Mapping[str, float | None]
    tokens: int
    words: int

    def in_tokens(self, words: int) -> float | None:
        """How many tokens so many words of these texts are, on average."""
        return words * self.tokens / self.words if self.words else None


def perplexities(model: ModelProcess, texts: Sequence[str], stride: int) -> Fluency:
    """Perplexity of each distinct text by a causal model.

    A text is read after the model's token for the beginning of a text, so its first token counts too. A text of more
    than `WINDOW` words is read in windows of so many that move on by `stride` words: each token is counted once, with
    the words before it in its window as context.

    Raises:
        ModelError: the model does not rank continuations.
    """
    card = model.load()
    if "rank" not in card.capabilities:
        raise ModelError(lacks(card.spec, "rank"))
    different = list(dict.fromkeys(texts))
    pieces = [(text, request) for text in different for request in _windows(text, stride)]
    sums: dict[str, tuple[float, int] | None] = dict.fromkeys(different, (0.0, 0))
    for (text, _), answer in zip(pieces, _asked(model, [request for _, request in pieces]), strict=True):
        before = sums[text]
        if isinstance(answer, Refused) or before is None:
            sums[text] = None
        else:
            sums[text] = before[0] + answer.logprobs[0], before[1] + answer.tokens[0]
    return Fluency(
        {text: None if total is None else perplexity(*total) for text, total in sums.items()},
        tokens=sum(total[1] for total in sums.values() if total is not None),
        words=sum(len(text.split()) for text, total in sums.items() if total is not None),
    )


def _windows(text: str, stride: int) -> Iterator[Rank]:
    words = text.split()
    step = min(stride, WINDOW)
    if not words:
        return
    yield Rank("", (" ".join(words[:WINDOW]),))
    for start in range(WINDOW, len(words), step):
        context = words[max(0, start + step - WINDOW) : start]
        yield Rank(" ".join(context), (("" if not context else " ") + " ".join(words[start : start + step]),))


def _asked(model: ModelProcess, requests: Sequence[Any]) -> Iterator[Any]:
    """The answers; `Refused` in place of one that the model does not finish when asked for nothing else."""
    ask = Asking(model)
    for start in range(0, len(requests), BATCH):
        yield from ask(requests[start : start + BATCH])


def stride_note(stride: int, read: Fluency) -> str:
    """By what a window moves on, in words and in tokens."""
    tokens = read.in_tokens(stride)
    told = "" if tokens is None else f", about {tokens:.0f} tokens of these texts"
    return f"texts of more than {WINDOW} words are read in windows that move on by {stride} words{told}"


def embedder_of(model: ModelProcess) -> Any:
    """A function from texts to (n, d) embeddings of them, as `embedded` has them.

    Raises ModelError where the model cannot embed.
    """

    def embed(texts: Sequence[str]) -> NDArray[np.floating]:
        card = model.load()
        if "embed" not in card.capabilities:
            raise ModelError(lacks(card.spec, "embed"))
        return embedded(model, texts)

    return embed


MISSING: Mapping[str, str] = {
    "eas": "needs a model that writes, which rates six emotions: --eas-model SPEC (hf:, gguf: or openai:; the paper "
    "asks GPT-5-nano)",
    "ppl": "needs a causal model: --ppl-model SPEC (hf: or gguf:; the paper has hf:gpt2)",
}
"""Why a figure is null where its model is not given."""

EPS_STAND_IN = (
    "by the sentence that lies nearest to the text, embedded by {embedder}: a rough stand-in, not the NLI model of the "
    "paper (for that --nli hf:facebook/bart-large-mnli)"
)
