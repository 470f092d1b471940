"""What comes out of each layer, in one forward pass: each state is reduced at its layer, and no other is kept.

transformers' own `output_hidden_states` keeps every token of every layer; a hook at a layer keeps a row a text.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from msgspec.structs import replace

from emotui.backends.base import (
    Classify,
    Generate,
    HiddenStates,
    Push,
    Pushed,
    Rank,
    Ranked,
    Refused,
    States,
    chosen_layers,
    hidden_states_of,
)
from emotui.backends.hf.batching import TOKENS, Batches
from emotui.backends.hf.encoders import Framed, pads_left, takes_types
from emotui.backends.hf.loading import Loaded
from emotui.backends.hf.prompts import Frame, Prompts, frame
from emotui.backends.hf.seq2seq import padded
from emotui.backends.hf.settings import Settings
from emotui.backends.hf.span_models import needs_offsets, read_tokens
from emotui.backends.words import word_places
from emotui.errors import ModelError

CLOSE = 2e-2
"""Log-probabilities read at the last layer and the model's own may be so far apart, in its precision."""

Reduce = Callable[[int, torch.Tensor], None]
"""Called with a layer's number and its states, (rows, tokens, size)."""


def layers_of(model: Any) -> "torch.nn.ModuleList | None":
    """A model's layers in the order in which they compute; None where these do not stand in one list (ALBERT).

    XLNet's states have texts and tokens the other way round, and are not read.
    """
    depth = getattr(model.config.get_text_config(), "num_hidden_layers", None)
    if pads_left(model.config) or getattr(model.config, "is_encoder_decoder", False):
        return None
    lists = [
        part
        for name, part in model.base_model.named_modules()
        if isinstance(part, torch.nn.ModuleList) and len(part) == depth and "vision" not in name
    ]
    return lists[0] if lists else None


@contextmanager
def reading(layers: torch.nn.ModuleList, wanted: Sequence[int], reduce: Reduce) -> Iterator[None]:
    """While the body runs, `reduce` sees what goes into the first layer (0) and comes out of the k-th (k)."""
    handles = []

    def before(_: Any, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        reduce(0, given[0] if given else named["hidden_states"])

    def after(number: int) -> Callable[..., None]:
        def see(_: Any, __: Any, out: Any) -> None:
            reduce(number, out[0] if isinstance(out, tuple) else out)

        return see

    for number in sorted(set(wanted)):
        if number == 0:
            handles.append(layers[0].register_forward_pre_hook(before, with_kwargs=True))
        else:
            handles.append(layers[number - 1].register_forward_hook(after(number)))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def pushing(layers: torch.nn.ModuleList, layer: int, direction: torch.Tensor) -> Iterator[None]:
    """While the body runs, a direction (size,) is added to every token's state at a layer, numbered as by `reading`."""

    def moved(states: torch.Tensor) -> torch.Tensor:
        return states + direction.to(states.device, states.dtype)

    def before(_: Any, given: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        if given:
            return (moved(given[0]), *given[1:]), named
        return given, {**named, "hidden_states": moved(named["hidden_states"])}

    def after(_: Any, __: Any, out: Any) -> Any:
        return (moved(out[0]), *out[1:]) if isinstance(out, tuple) else moved(out)

    if layer == 0:
        handle = layers[0].register_forward_pre_hook(before, with_kwargs=True)
    else:
        handle = layers[layer - 1].register_forward_hook(after)
    try:
        yield
    finally:
        handle.remove()


class Pusher:
    """A model's `push`: its own answers while a direction is added (activation addition; Turner and others 2023).

    Args:
        backend: a classifier or NLI model, or one that writes.
    """

    def __init__(self, backend: Any, loaded: Loaded, settings: Settings) -> None:
        layers = layers_of(loaded.model)
        assert layers is not None
        self._backend, self._layers, self._settings = backend, layers, settings
        self._size = int(loaded.model.config.get_text_config().hidden_size)

    def push(self, requests: Sequence[Push]) -> list[Pushed | Refused]:
        """What is answered to each request; those that add the same are asked together."""
        groups: dict[tuple[int, bytes, float], list[int]] = {}
        found: list[Any] = [None] * len(requests)
        for place, one in enumerate(requests):
            layers = chosen_layers((one.layer,), len(self._layers))
            if isinstance(layers, Refused):
                found[place] = layers
            elif len(one.direction) != 4 * self._size:
                found[place] = Refused(f"a state here has {self._size} numbers, not {len(one.direction) / 4:g}")
            else:
                groups.setdefault((one.layer, one.direction, one.strength), []).append(place)
        for (layer, direction, strength), places in groups.items():
            some = [requests[place] for place in places]
            vector = strength * torch.from_numpy(np.frombuffer(direction, np.float32).copy())
            with pushing(self._layers, layer, vector) if strength else nullcontext():
                answers = self._asked(some)
            for place, answer in zip(places, answers, strict=True):
                found[place] = answer
        return found

    def _asked(self, requests: Sequence[Push]) -> list[Pushed | Refused]:
        if hasattr(self._backend, "classify"):
            answers = self._backend.classify([Classify(one.text, labels=one.labels) for one in requests])
            return [one if isinstance(one, Refused) else Pushed(one.probs) for one in answers]
        found: list[Any] = [Pushed({}) for _ in requests]

        def ask(places: list[int], method: str, of: Callable[[Push], Any], take: Callable[[int, Any], Any]) -> None:
            answers = getattr(self._backend, method)([of(requests[place]) for place in places]) if places else []
            for place, answer in zip(places, answers, strict=True):
                if isinstance(answer, Refused) or isinstance(found[place], Refused):
                    found[place] = answer if isinstance(answer, Refused) else found[place]
                else:
                    found[place] = replace(found[place], **take(place, answer))

        def shares(place: int, ranked: Ranked) -> dict[str, Any]:
            each = torch.tensor(ranked.logprobs, dtype=torch.float64).softmax(0).tolist()
            return {"probs": dict(zip(requests[place].continuations, each, strict=True))}

        ask(
            [place for place, one in enumerate(requests) if one.continuations],
            "rank",
            lambda one: Rank(one.opening, one.continuations, one.messages),
            shares,
        )
        ask(
            [place for place, one in enumerate(requests) if one.text],
            "rank",
            lambda one: Rank("", (one.text,)),
            lambda _, ranked: {"logprob": ranked.logprobs[0], "tokens": ranked.tokens[0]},
        )
        writing = [place for place, one in enumerate(requests) if one.write]
        if writing and self._settings.batching == "continuous":
            raise ModelError("what is pushed is written row by row: leave batching=continuous out")
        ask(
            writing,
            "generate",
            lambda one: Generate(one.messages, max_tokens=one.write, opening=one.opening),
            lambda _, generation: {"written": generation.text},
        )
        return found


class _Input:
    """One request as the model reads it: its tokens, and the places of the tokens of each row that is wanted."""

    def __init__(self, framed: Framed, rows: Sequence[Sequence[int]], words: Sequence[tuple[int, int]], cut: bool):
        self.framed, self.rows, self.words, self.cut = framed, rows, tuple(words), cut


Table = Sequence[Sequence[float]]
"""By layer a number for each continuation."""


@dataclass(frozen=True, slots=True)
class _Row:
    """One row of a batch that is read by the lens: what stands before the endings' last tokens.

    `endings`: by their place among the request's continuations.
    """

    request: int
    prefix: tuple[int, ...]
    source: tuple[int, ...]
    endings: Mapping[int, tuple[int, ...]]
    layers: tuple[int, ...]


def _refused(result: object) -> bool:
    return isinstance(result, Refused)


class StateReader:
    """A model's `states`. Args: writes: whether it is a causal model, which has no frame around a text."""

    def __init__(self, loaded: Loaded, prompts: Prompts, settings: Settings, *, writes: bool = False) -> None:
        layers = layers_of(loaded.model)
        if layers is None:
            raise ModelError("this model's layers do not stand in one list: their states cannot be read")
        self._layers, self._loaded, self._prompts = layers, loaded, prompts
        self._batches = Batches(settings.batch_tokens or TOKENS.get(loaded.device.type, TOKENS["cpu"]))
        begins = (tuple(prompts.begins), ())
        self._frame = Frame(begins, ((0,) * len(begins[0]), ()), (0,)) if writes else frame(loaded.tokenizer, 1)
        self._types = not writes and takes_types(loaded.config, loaded.tokenizer)
        self._writes = writes
        self._unembed: Unembedding | None = None

    def states(self, requests: Sequence[States]) -> list[HiddenStates | Refused]:
        """The states of each text. Long texts are cut; a chat that is too long is refused.

        Raises:
            ModelError: words are asked for, and the tokeniser does not say where its tokens stand.
        """
        depth = len(self._layers)
        prepared = [self._prepared(request, depth) for request in requests]
        places = [place for place, one in enumerate(prepared) if not isinstance(one, Refused)]
        inputs: list[_Input] = [prepared[place] for place in places]  # type: ignore[misc]

        def compute(indices: list[int]) -> list[HiddenStates]:
            asked = [requests[places[index]].layers for index in indices]
            return self._computed([inputs[index] for index in indices], asked)

        found = self._batches.run([len(one.framed[0]) for one in inputs], compute, Refused)
        results: list[Any] = list(prepared)
        for place, one in zip(places, found, strict=True):
            results[place] = one
        reading_out = [place for place in places if requests[place].continuations and not _refused(results[place])]
        read = self._read_out([requests[place] for place in reading_out], [prepared[place] for place in reading_out])
        for place, table in zip(reading_out, read, strict=True):
            results[place] = table if isinstance(table, Refused) else replace(results[place], logprobs=table)
        return results

    def _prepared(self, request: States, depth: int) -> _Input | Refused:
        layers = chosen_layers(request.layers, depth)
        if isinstance(layers, Refused):
            return layers
        if (request.messages or request.continuations) and not self._writes:
            return Refused("only a model that writes reads a chat, or continuations")
        if request.messages:
            return self._chat(request)
        room = None if self._loaded.context is None else max(0, self._loaded.context - self._frame.extra)
        if request.over == "words":
            needs_offsets(self._loaded.tokenizer, "this model")
            tokens = read_tokens(self._prompts, request.text)
            ids, cut = [token.id for token in tokens][:room], room is not None and len(tokens) > room
            words = word_places(request.text)
            held = [
                [at for at, token in enumerate(tokens[:room]) if token.start < end and start < token.end]
                for start, end in words
            ]
            there = [at for at, places in enumerate(held) if places]
            rows, words = [held[at] for at in there], [words[at] for at in there]
        else:
            whole = self._prompts.text(request.text)
            ids, cut, words = whole[:room], room is not None and len(whole) > room, []
            rows = [[len(ids) - 1]] if request.over == "last" and ids else [list(range(len(ids)))]
        framed = self._frame.ids(ids)
        first = len(self._frame.around[0])
        # Of a text without a token what stands around it is all that there is.
        rows = [[first + at for at in row] or list(range(len(framed[0]))) for row in rows]
        if not framed[0]:
            return Refused("the text has no token")
        return _Input(framed, rows, words, cut)

    def _chat(self, request: States) -> _Input | Refused:
        if request.over != "last":
            return Refused("of a chat the state of the last token alone is read (over: last)")
        try:
            ids = self._prompts.chat(request.messages, request.opening, thinking=False)
        except ModelError as error:
            return Refused(str(error))
        context = self._loaded.context
        if context is not None and len(ids) > context:
            return Refused(f"the prompt has {len(ids):,} tokens, and the model's context holds {context:,}")
        return _Input((ids, [0] * len(ids)), [[len(ids) - 1]], (), False)

    @torch.inference_mode()
    def _computed(self, inputs: Sequence[_Input], asked: Sequence[tuple[int, ...] | None]) -> list[HiddenStates]:
        """The states of one batch."""
        depth = len(self._layers)
        each = [tuple(range(depth + 1)) if layers is None else layers for layers in asked]
        wanted = sorted({layer for layers in each for layer in layers})
        ids, mask, more = self._batch(inputs)
        means = torch.zeros((len(inputs), max(len(one.rows) for one in inputs), ids.shape[1]), device=ids.device)
        for row, one in enumerate(inputs):
            for at, places in enumerate(one.rows):
                means[row, at, places] = 1 / len(places)
        held: dict[int, np.ndarray] = {}

        def reduce(layer: int, states: torch.Tensor) -> None:
            held[layer] = (means.to(states.device) @ states.float()).cpu().numpy()

        with reading(self._layers, wanted, reduce):
            self._forward(ids, mask, more)
        found = []
        for row, (one, layers) in enumerate(zip(inputs, each, strict=True)):
            size = next(iter(held.values())).shape[2] if held else 1
            own = [held[layer][row, : len(one.rows)] for layer in layers]
            states = np.stack(own) if own else np.zeros((0, len(one.rows), size), np.float32)
            found.append(hidden_states_of(states, layers, depth, one.words, truncated=one.cut))
        return found

    def _batch(self, inputs: Sequence[_Input]) -> tuple[torch.Tensor, torch.Tensor, dict[str, Any]]:
        pad = self._loaded.tokenizer.pad_token_id or 0
        ids, mask = padded([one.framed[0] for one in inputs], pad, self._loaded.device)
        more: dict[str, Any] = {}
        if self._types:
            more["token_type_ids"], _ = padded([one.framed[1] for one in inputs], 0, self._loaded.device)
        return ids, mask, more

    def _forward(self, ids: torch.Tensor, mask: torch.Tensor, more: Mapping[str, Any]) -> torch.Tensor:
        """Without the head. Returns: the last states, (rows, tokens, size)."""
        cache = {"use_cache": False} if self._writes else {}
        out = self._loaded.model.base_model(input_ids=ids, attention_mask=mask, **more, **cache)
        last: torch.Tensor = out[0]
        return last

    # Logit lens.

    def _read_out(self, requests: Sequence[States], inputs: Sequence[Any]) -> list[Table | Refused]:
        """Of each request the log-probabilities of its continuations, a row a layer."""
        if requests and self._unembed is None:
            self._unembed = Unembedding(self._loaded, self._layers)
        found: list[Table | Refused] = []
        rows: list[_Row] = []
        for number, (request, one) in enumerate(zip(requests, inputs, strict=True)):
            endings = [tuple(self._prompts.text(text)) for text in request.continuations]
            prefix, layers = tuple(one.framed[0]), chosen_layers(request.layers, len(self._layers))
            longest = len(prefix) + max(map(len, endings)) - 1
            context = self._loaded.context
            if not all(endings):
                found.append(Refused("a continuation is empty"))
            elif context is not None and longest > context:
                found.append(Refused(f"the prompt has {longest:,} tokens, and the model's context holds {context:,}"))
            else:
                assert not isinstance(layers, Refused)
                table = [[0.0] * len(endings) for _ in layers]
                found.append(table)
                # The last token of an ending is read, not computed from: all of one token share the bare prefix.
                for source in dict.fromkeys(ending[:-1] for ending in endings):
                    own = {at: ending for at, ending in enumerate(endings) if ending[:-1] == source}
                    rows.append(_Row(number, prefix, source, own, layers))
        sizes = [len(row.prefix) + len(row.source) for row in rows]

        def refuse(why: str) -> Any:
            raise ModelError(why)

        tables = self._batches.run(sizes, lambda places: self._lens([rows[place] for place in places]), refuse)
        for row, read in zip(rows, tables, strict=True):
            lines: Any = found[row.request]
            for line, layer in zip(lines, row.layers, strict=True):
                for at, value in read[layer].items():
                    line[at] = value
        return [one if isinstance(one, Refused) else tuple(map(tuple, one)) for one in found]

    @torch.inference_mode()
    def _lens(self, rows: Sequence[_Row]) -> list[dict[int, dict[int, float]]]:
        """Of each row by layer, by the place of a continuation, its log-probability."""
        assert self._unembed is not None
        unembed, pad = self._unembed, self._loaded.tokenizer.pad_token_id or 0
        ids, mask = padded([[*row.prefix, *row.source] for row in rows], pad, self._loaded.device)
        read: list[dict[int, dict[int, float]]] = [{} for _ in rows]

        def reduce(layer: int, states: torch.Tensor) -> None:
            for place, row in enumerate(rows):
                if layer in row.layers:
                    start = len(row.prefix) - 1
                    logprobs = unembed(states[place, start : start + 1 + len(row.source)]).log_softmax(-1)
                    for at, ending in row.endings.items():
                        tokens = torch.tensor(ending, device=logprobs.device)[:, None]
                        read[place].setdefault(layer, {})[at] = float(logprobs.gather(1, tokens).sum())

        with reading(self._layers, [layer for row in rows for layer in row.layers], reduce):
            self._forward(ids, mask, {})
        return read


class Unembedding:
    """From a state of any layer to logits: the model's last norm, its unembedding and what it does to logits.

    Raises:
        ModelError: read so at its last layer, the model says something else than it does.
    """

    def __init__(self, loaded: Loaded, layers: torch.nn.ModuleList) -> None:
        self._head = loaded.model.get_output_embeddings()
        text = loaded.model.config.get_text_config()
        self._cap = float(getattr(text, "final_logit_softcapping", None) or 0.0)
        self._scale = float(getattr(text, "logit_scale", None) or 1.0) / float(
            getattr(text, "logits_scaling", None) or 1.0
        )
        self._norm: Any = None
        self._check(loaded, layers)

    def __call__(self, states: torch.Tensor) -> torch.Tensor:
        """Logits in float32. Args: states: (n, size). Returns: (n, vocabulary)."""
        states = states.to(self._head.weight.device)  # of a model on several devices
        normed = states if self._norm is None else self._norm(states)
        logits: torch.Tensor = self._head(normed).float() * self._scale
        return self._cap * torch.tanh(logits / self._cap) if self._cap else logits

    @torch.inference_mode()
    def _check(self, loaded: Loaded, layers: torch.nn.ModuleList) -> None:
        """Find the norm, and see that what is read at the last layer is what the model says."""
        held: list[torch.Tensor] = []
        ids = torch.arange(4, device=loaded.device)[None] % loaded.model.config.get_text_config().vocab_size
        with reading(layers, [len(layers)], lambda _, states: held.append(states)):
            own = loaded.model(input_ids=ids, use_cache=False).logits[0].float().log_softmax(-1)
        apart = []
        for norm in (None, *_norms(loaded.model.base_model, layers)):
            self._norm = norm
            read = self(held[0][0]).log_softmax(-1).to(own.device)
            # Only what the model finds likely: elsewhere a low precision has no digits to agree in.
            apart.append((float((own.exp() * (own - read).abs()).sum(-1).max()), norm))
        distance, self._norm = min(apart, key=lambda pair: pair[0])
        if not distance < CLOSE:
            raise ModelError("this model does more behind its last layer than a norm and an unembedding: no logit lens")


def _norms(base: Any, layers: torch.nn.ModuleList) -> list[Any]:
    """Norms that stand beside the layers, not within one of them."""
    inside = {id(part) for part in layers.modules()}
    return [
        part
        for name, part in base.named_modules()
        if id(part) not in inside and ("norm" in type(part).__name__.lower() or name.rpartition(".")[2] == "ln_f")
    ]
