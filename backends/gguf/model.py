"""A GGUF model that answers the workbench's requests, one after the other."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from msgspec.structs import replace
from rich.filesize import decimal

from emotui.backends.base import (
    Generate,
    Generation,
    Message,
    ModelCard,
    Progress,
    Rank,
    Ranked,
    Refused,
    Score,
    Scores,
)
from emotui.backends.gguf.context import Context, ContextSize, Logits
from emotui.backends.gguf.files import ModelFiles
from emotui.backends.gguf.header import Header
from emotui.backends.gguf.library import cores, open_library
from emotui.backends.gguf.memory import (
    CPU_BATCH,
    GPU_BATCH,
    Plan,
    allow_extra_buffers,
    bytes_a_token,
    flash_type,
    make_plan,
)
from emotui.backends.gguf.settings import Settings
from emotui.backends.gguf.vocabulary import Vocabulary, composes
from emotui.backends.gguf.weights import Weights
from emotui.backends.gguf.writing import Grammar, write_all
from emotui.backends.rendering import ChatTemplate, Piece, Specials, plain_prompt, with_question
from emotui.backends.weights_hash import weights_hash
from emotui.backends.yesno import Answer, Forms, find_forms, read_logits
from emotui.bounded import free_memory
from emotui.errors import ModelError

# `Score` and `Rank`: the shared beginning is read once, then each question or continuation from there.


def score(context: Context, forms: Forms, prompts: Sequence[Sequence[int]]) -> Scores:
    """Yes against no as the next token of each prompt. Args: prompts: one or more, each fits into the context."""
    answers = [read_logits(forms, row) for row in next_tokens(context, prompts)]
    return as_scores(answers)


def next_tokens(context: Context, prompts: Sequence[Sequence[int]]) -> list[Logits]:
    """For each prompt (vocabulary,) what comes next; what they all begin with is computed once."""
    shared = common_length(prompts)
    if not shared:
        return [context.read(prompt) for prompt in prompts]
    context.read(prompts[0][:shared])
    return context.branch([prompt[shared:] for prompt in prompts])


def rank(context: Context, prefix: Sequence[int], continuations: Sequence[Sequence[int]]) -> Ranked:
    """Log-probability of each continuation after the prefix ; one token or more each."""
    sums, greedy = [], []
    first = context.read(prefix)[None]
    # What follows a continuation's last token is not asked for.
    longer = [continuation[:-1] for continuation in continuations if len(continuation) > 1]
    further = iter(context.branch(longer, every=True))
    for continuation in continuations:
        rows = np.concatenate([first, next(further)]) if len(continuation) > 1 else first
        exact = rows.astype(np.float64)
        places = np.arange(len(continuation))
        logprobs = exact[places, continuation] - np.logaddexp.reduce(exact, axis=1)
        sums.append(float(logprobs.sum()))
        greedy.append(bool((rows.argmax(axis=1) == np.asarray(continuation)).all()))
    return Ranked(tuple(sums), tuple(len(each) for each in continuations), tuple(greedy))


def as_scores(answers: Sequence[Answer]) -> Scores:
    """One request's answers as its result."""
    return Scores(
        yes=tuple(answer.yes for answer in answers),
        no=tuple(answer.no for answer in answers),
        mass=tuple(answer.mass for answer in answers),
        shares=tuple(answer.shares for answer in answers),
    )


def common_length(prompts: Sequence[Sequence[int]]) -> int:
    """How many tokens all prompts share at their beginning, less the last of the shortest: each has one of its own."""
    shortest = min(len(prompt) for prompt in prompts)
    first = prompts[0]
    for place in range(shortest - 1):
        if any(prompt[place] != first[place] for prompt in prompts):
            return place
    return shortest - 1


# Which memory answers are written in: the one that scores are read in, or one with a room for each of them.

_SHARE = 0.25
"""Of the free memory, what the rooms may take."""
MOST_ON_A_CPU = 32
"""Answers written together at most: a tenth more tokens a second than 16 (benchmarks/models/side_by_side.py)."""
ON_A_GPU, MOST_ON_A_GPU = 32, 255
"""Answers written together on a GPU, at first and at most: whoever asks takes twice as many again and again while that
makes more texts a second. llama.cpp has 256 sequences (LLAMA_MAX_SEQ), one of which reads the prompts."""
_WHOLE = 256
"""llama.cpp's rooms have a multiple of so many tokens."""


class Rooms:
    """A second memory of one model, made when answers are first asked for together, and larger when that is too small.

    Args:
        make: a context of so many sequences with room for so many tokens each. Raises ModelError: it does not fit.
        token_bytes: what keys and values of a token take.
        free: bytes that can be had now; None where that is not known.
        most: answers at a time.
    """

    def __init__(
        self,
        shared: Context,
        make: Callable[[int, int], Context],
        token_bytes: float,
        free: Callable[[], int | None],
        most: int = MOST_ON_A_CPU,
    ) -> None:
        self._shared, self._make, self._token_bytes, self._free = shared, make, token_bytes, free
        self._most = most if shared.branches else 0
        self._own: Context | None = None
        self._wanted = 0
        """How many rooms it was to have."""

    def of(self, needs: Sequence[int]) -> Context:
        """Where so many answers are best written. Args: needs: tokens of prompt and answer of each."""
        count = min(len(needs), self._most)
        if count < 2:
            return self._shared
        longest = min(max(needs), self._shared.capacity)
        if self._own is not None and longest <= self._own.capacity and count <= self._wanted:
            return self._own
        self.close()
        self._wanted = count
        tokens = -(-longest // _WHOLE) * _WHOLE
        free = self._free()
        if free is not None:
            count = min(count, int(free * _SHARE / max(1.0, tokens * self._token_bytes)) - 1)
        self._own = self._made(count, tokens)
        return self._own or self._shared

    def _made(self, count: int, tokens: int) -> Context | None:
        """Rooms for so many, or for half as many as often as there is no memory for them; None for fewer than two."""
        while count > 1:
            try:
                own = self._make(count, tokens)
            except ModelError:
                count //= 2
                continue
            own.capacity = min(own.capacity, self._shared.capacity)  # an answer is as long here as there
            return own
        return None

    def close(self) -> None:
        """Free the rooms; the shared memory stays."""
        if self._own is not None:
            self._own.close()
            self._own = None


# From requests to token ids: the model's own chat template where it has one, plain text where not.


class Prompts:
    """How prompts for one model are written.

    Raises:
        ModelError: the file's chat template cannot be read.
    """

    def __init__(self, header: Header, vocabulary: Vocabulary, *, thinking: bool) -> None:
        self._vocabulary = vocabulary
        source = header.metadata.get("tokenizer.chat_template")
        self._specials = Specials(vocabulary.control_names())
        names = {"bos_token": vocabulary.name(vocabulary.bos), "eos_token": vocabulary.name(vocabulary.eos)}
        self.template = ChatTemplate(source, names, self._specials) if isinstance(source, str) and source else None
        self._thinking = thinking
        self.ends_thought = self.template.ends_thought if thinking and self.template is not None else ""
        """What ends the thoughts of a model that thinks before it writes; empty where it does not."""
        if thinking and (self.template is None or self.template.thinking == "none"):
            raise ModelError("This model has no thinking mode that its chat template could turn on: set thinking=off")

    def ids(self, messages: Sequence[Message], opening: str = "", *, thinking: bool = False) -> list[int]:
        """The prompt up to where the model writes on.

        Raises:
            ModelError: the template refuses these messages.
        """
        if self.template is None:
            return self.plain(plain_prompt(messages) + (f" {opening}" if opening else ""))
        pieces = self.template.render(messages, opening=opening, thinking=thinking)
        return self._vocabulary.with_bos(self._vocabulary.encode_pieces(pieces))

    def to_write(self, messages: Sequence[Message], opening: str) -> list[int]:
        """The prompt of a generation, with thinking as the options have it."""
        return self.ids(messages, opening, thinking=self._thinking)

    def plain(self, text: str) -> list[int]:
        """A text without a frame, which holds no control tokens whatever it looks like."""
        return self._vocabulary.with_bos(self._vocabulary.encode_pieces(self._specials.pieces(text)))

    def questions(self, request: Score) -> list[list[int]]:
        """The whole prompt of each question."""
        if request.messages:
            asked = [with_question(request.messages, question) for question in request.questions]
        else:
            asked = [(Message("user", f"{request.text}\n\n{question}"),) for question in request.questions]
        thought = bool(self.ends_thought) and self.template is not None and self.template.holds_thought(request.opening)
        return [self.ids(messages, request.opening, thinking=thought) for messages in asked]

    def ranking(self, request: Rank) -> tuple[list[int], list[list[int]]]:
        """The shared prefix (one token or more) and each continuation."""
        prefix = self.ids(request.messages, request.prefix) if request.messages else self.plain(request.prefix)
        if not prefix:
            start = self._vocabulary.bos if self._vocabulary.bos >= 0 else self._vocabulary.eos
            if start < 0:
                raise ModelError("The prefix is empty, and this model has no token to begin with")
            prefix = [start]
        return prefix, [self._continuation(text) for text in request.continuations]

    def _continuation(self, text: str) -> list[int]:
        first, *rest = self._specials.pieces(text) or [Piece("")]
        begun = self._vocabulary.encode_pieces([first]) if first.literal else self._vocabulary.encode_inside(first.text)
        return [*begun, *self._vocabulary.encode_pieces(rest)]


_Request = TypeVar("_Request", Generate, Score, Rank)
_Result = TypeVar("_Result", list[int], Scores, Ranked)


class GgufModel:
    """A loaded model. One thread at a time: llama.cpp aborts on more.

    Raises:
        ModelError: it cannot be loaded; one line.
    """

    def __init__(self, spec: str, files: ModelFiles, settings: Settings, progress: Progress) -> None:
        library = self._library = open_library()
        self._path = files.parts[0]
        gpus = library.gpus()
        plan = make_plan(files, settings, gpus, free_memory())
        identity = weights_hash(files.parts, progress)
        extra = allow_extra_buffers(library, settings, progress)
        self._weights = Weights(library, self._path, gpu_layers=plan.gpu_layers, extra_buffers=extra, progress=progress)
        composed = composes(files.header.metadata.get("tokenizer.ggml.pre"))
        self._vocabulary = Vocabulary(library, self._weights, composed=composed)
        self._prompts = Prompts(files.header, self._vocabulary, thinking=settings.thinking == "on")
        batch = settings.batch or (GPU_BATCH if plan.gpu_layers else CPU_BATCH)
        size = ContextSize(plan.context, min(batch, plan.context), flash_type(settings, plan))
        threads = settings.threads or cores()

        def make(size: ContextSize, sequences: int = 0) -> Context:
            return Context(library, self._weights, size, settings, self._vocabulary.size, threads, sequences=sequences)

        def free() -> int | None:
            return sum(gpu.free for gpu in library.gpus()) if plan.gpu_layers else free_memory()

        self._context = make(size)
        grows = bool(plan.gpu_layers and self._context.branches)
        self._rooms = Rooms(
            self._context,
            lambda sequences, tokens: make(ContextSize(tokens, size.batch, size.flash), sequences),
            bytes_a_token(files.header, settings.kv),
            free,
            min(MOST_ON_A_GPU if grows else MOST_ON_A_CPU, size.batch - 1),
        )
        self._room = settings.thinking_room
        self._forms: Forms | None = None
        try:
            self._forms = find_forms(self._vocabulary.pieces())
        except ModelError as error:
            self._no_forms = str(error)
        self.card = ModelCard(
            spec=spec,
            name=files.header.name,
            capabilities=("generate", "rank") if self._forms is None else ("generate", "score", "rank"),
            identity={
                "kind": "gguf",
                "weights": identity,
                "library": library.build,
                "context": str(plan.context),
                "kv": settings.kv,
                "batch": str(size.batch),
                "gpu_layers": str(plan.gpu_layers),
                "flash": str(size.flash),
                "extra_buffers": str(extra),
                "thinking": settings.thinking,
                **({"unicode": "NFC"} if composed else {}),
                **({"thinking_room": str(settings.thinking_room)} if settings.thinking == "on" else {}),
            },
            notes=self._notes(files, plan, settings, extra),
            together=ON_A_GPU if grows else 0,
            grows_to=MOST_ON_A_GPU if grows else 0,
        )

    def generate(self, requests: Sequence[Generate]) -> list[Generation | Refused]:
        """Write one continuation a request, several side by side."""
        prompts = self._each(requests, self._to_write)
        asked = [(one, ids) for one, ids in zip(requests, prompts, strict=True) if not isinstance(ids, Refused)]
        thoughts = (self._prompts.ends_thought, self._room) if self._prompts.ends_thought else None
        beside = 0 if thoughts is None else thoughts[1]
        context = self._rooms.of([len(ids) + beside + one.max_tokens for one, ids in asked])
        found = iter(write_all(context, self._vocabulary, self._grammar, asked, thoughts))
        results = [prompt if isinstance(prompt, Refused) else next(found) for prompt in prompts]
        return [
            replace(result, prompt=self._vocabulary.shown(prompt))
            if request.echo and isinstance(result, Generation) and not isinstance(prompt, Refused)
            else result
            for request, prompt, result in zip(requests, prompts, results, strict=True)
        ]

    def score(self, requests: Sequence[Score]) -> list[Scores | Refused]:
        """Yes against no for each question."""
        return self._each(requests, self._score)

    def rank(self, requests: Sequence[Rank]) -> list[Ranked | Refused]:
        """How likely each continuation is."""
        return self._each(requests, self._rank)

    def close(self) -> None:
        """Free the memory."""
        self._rooms.close()
        self._context.close()
        self._weights.close()

    def _each(
        self, requests: Sequence[_Request], answer: Callable[[_Request], _Result | Refused]
    ) -> list[_Result | Refused]:
        results: list[_Result | Refused] = []
        for request in requests:
            try:
                results.append(answer(request))
            except ModelError as error:
                results.append(Refused(str(error)))
        return results

    def _to_write(self, request: Generate) -> list[int] | Refused:
        """The prompt's tokens, or why it cannot be continued."""
        prompt = self._prompts.to_write(request.messages, request.opening)
        if refused := self._too_long(len(prompt), room=1):  # the answer needs a place too
            return refused
        return prompt or Refused("the prompt is empty")

    def _grammar(self, text: str) -> Grammar:
        return Grammar(self._library, self._vocabulary, text)

    def _score(self, request: Score) -> Scores | Refused:
        if self._forms is None:
            return Refused(self._no_forms)
        if not request.questions:
            return Refused("no question was asked")
        prompts = self._prompts.questions(request)
        if refused := self._too_long(max(map(len, prompts))):
            return refused
        found = score(self._context, self._forms, prompts)
        return replace(found, prompt=self._vocabulary.shown(prompts[0])) if request.echo else found

    def _rank(self, request: Rank) -> Ranked | Refused:
        prefix, continuations = self._prompts.ranking(request)
        if not continuations or not all(continuations):
            return Refused("a continuation is empty" if continuations else "there is no continuation to rank")
        longest = len(prefix) + max(map(len, continuations))
        return self._too_long(len(prefix)) or self._too_long(longest) or rank(self._context, prefix, continuations)

    def _too_long(self, tokens: int, room: int = 0) -> Refused | None:
        if tokens + room <= self._context.capacity:
            return None
        return Refused(f"the prompt has {tokens:,} tokens, and the model's context holds {self._context.capacity:,}")

    def _notes(self, files: ModelFiles, plan: Plan, settings: Settings, extra: bool) -> tuple[str, ...]:
        header = files.header
        notes = [
            f"{header.architecture} {header.quantisation}".strip()
            + f", {decimal(files.size)}, context {plan.context} of {header.context or 'unknown'} tokens, "
            + (f"{plan.gpu_layers} of {plan.layers} layers on the GPU" if plan.gpu_layers else "on the CPU")
        ]
        if plan.context > header.context > 0:
            notes.append(f"the context is longer than the {header.context} tokens that the model was trained for")
        if self._prompts.template is None:
            notes.append("the file has no chat template: prompts are plain texts that the model continues")
        elif not self._prompts.template.takes_system:
            notes.append("the chat template knows no system's turn: its text begins the user's first one")
        if self._forms is None:
            notes.append(self._no_forms)
        if not extra and settings.extra_buffers == "auto":
            notes.append("this build crashes with repacked weights: they are off (docs/models.md)")
        return tuple(notes)
