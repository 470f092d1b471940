"""A GGUF model that answers the workbench's requests, one after the other."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from msgspec.structs import replace
from rich.filesize import decimal

from emotui.backends.base import (
    Generate,
    Generation,
    ModelCard,
    Progress,
    Rank,
    Ranked,
    Refused,
    Score,
    Scores,
)
from emotui.backends.free_memory import free_memory
from emotui.backends.gguf import scoring
from emotui.backends.gguf.context import Context, ContextSize
from emotui.backends.gguf.extra_buffers import allow_extra_buffers
from emotui.backends.gguf.files import ModelFiles
from emotui.backends.gguf.grammar import Grammar
from emotui.backends.gguf.library import cores, open_library
from emotui.backends.gguf.memory import CPU_BATCH, GPU_BATCH, Plan, bytes_a_token, flash_type, make_plan
from emotui.backends.gguf.prompts import Prompts
from emotui.backends.gguf.rooms import MOST_ON_A_CPU, MOST_ON_A_GPU, ON_A_GPU, Rooms
from emotui.backends.gguf.settings import Settings
from emotui.backends.gguf.vocabulary import Vocabulary, composes
from emotui.backends.gguf.weights import Weights
from emotui.backends.gguf.writing import write_all
from emotui.backends.weights_hash import weights_hash
from emotui.backends.yesno import Forms, find_forms
from emotui.errors import ModelError

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
        found = scoring.score(self._context, self._forms, prompts)
        return replace(found, prompt=self._vocabulary.shown(prompts[0])) if request.echo else found

    def _rank(self, request: Rank) -> Ranked | Refused:
        prefix, continuations = self._prompts.ranking(request)
        if not continuations or not all(continuations):
            return Refused("a continuation is empty" if continuations else "there is no continuation to rank")
        longest = len(prefix) + max(map(len, continuations))
        return (
            self._too_long(len(prefix)) or self._too_long(longest) or scoring.rank(self._context, prefix, continuations)
        )

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
            notes.append("this build crashes with repacked weights: they are off (docs/llamacpp.md)")
        return tuple(notes)
